package gallery

// Paths are the pages of a scene that are worth a picture and a golden file.
func Paths(scene string) []string {
	switch scene {
	case "stalling":
		return []string{"/", "/incidents", "/incidents/f-dirty", "/findings", "/findings/f-dirty", "/disks", "/signatures", "/signatures/dirty-throttling", "/audit", "/status"}
	case "mended":
		return []string{"/findings/f-dirty", "/incidents/f-dirty"}
	case "two-incidents":
		return []string{"/", "/incidents"}
	case "store-down", "denied":
		return []string{"/", "/status"}
	case "page-cache", "page-cache-many", "page-cache-denied":
		return []string{"/pagecache"}
	case "logs":
		return []string{"/", "/logs", "/findings/f-dirty", "/incidents/f-dirty"}
	case "jvm":
		return []string{"/", "/jvm"}
	case "logs-many", "logs-none":
		return []string{"/logs"}
	case "triage": // with [Given]
		return []string{"/triage", "/given/possible", "/given/many", "/given/nothing", "/given/large", "/given/busy"}
	case "many-disks":
		return []string{"/disks"}
	case "hostile":
		return []string{"/", "/disks", "/incidents", "/incidents/f-dirty", "/findings/f-dirty", "/pagecache", "/logs", "/jvm", "/audit", "/status"}
	}
	return []string{"/"}
}
