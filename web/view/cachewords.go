package view

// ageFill is the fill of a bar: solid, hatched or striped, so that ages are told
// apart without colour.
func ageFill(age string) string {
	switch age {
	case ageRecent:
		return "url(#cache-recent)"
	case ageOld:
		return "url(#cache-old)"
	}
	return "currentColor"
}

func ageAbout(age string) string {
	switch age {
	case ageActive:
		return "being written, or made ready to be"
	case ageRecent:
		return "written in the last minutes"
	}
	return "what reads from these reads cold data"
}

// cacheNote explains the columns that are there.
func cacheNote(b CacheBroker) string {
	text := "Evicted: was in memory and was reclaimed, as far as the kernel still knows; lately: would still be there with a little more memory."
	if !b.Exact {
		text = "This kernel tells only what is in memory (mincore): what was evicted and what is unwritten needs Linux 6.5."
	}
	if b.Compared {
		return text + " Came in, left: at least so much since the look before."
	}
	return text + " What came in and left shows from the second look on."
}
