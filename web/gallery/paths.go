package gallery

// Paths are the pages of a scene that are worth a picture and a golden file.
func Paths(scene string) []string {
	switch scene {
	case "stalling":
		return []string{"/", "/findings", "/findings/f-dirty", "/disks", "/signatures", "/signatures/dirty-throttling", "/audit", "/status"}
	case "store-down", "denied":
		return []string{"/", "/status"}
	case "many-disks":
		return []string{"/disks"}
	case "hostile":
		return []string{"/", "/disks", "/findings/f-dirty", "/audit", "/status"}
	}
	return []string{"/"}
}
