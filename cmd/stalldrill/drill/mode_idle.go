package drill

// idle is the victim alone: what it feels when nothing is wrong.
func idle() Mode {
	return Mode{
		Name:     "idle",
		Summary:  "harmless: the victim alone",
		Harmless: true,
		Disk:     victimDisk,
		Signs:    calm(),
		Plan:     func(f Facts) Plan { return Plan{Victim: f.victim()} },
	}
}

// calm are the signs of a harmless mode: none of ours is paused or reclaims.
func calm() []Sign {
	return []Sign{{Counter: "wait.balance_dirty_pages*", None: true}}
}
