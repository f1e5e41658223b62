package drill

import "time"

// freeze stops the victim with a signal, as a debugger or a stopped machine
// would: nothing that the kernel lacks is to blame.
func freeze() Mode {
	return Mode{
		Name:    "freeze",
		Summary: "the victim is stopped (SIGSTOP) for up to 3 s",
		Truth:   []string{"process-stopped"},
		Disk:    victimDisk,
		Signs:   []Sign{{Counter: "wait.stopped", AtLeast: 0.1}},
		Plan:    func(f Facts) Plan { return Plan{Victim: f.victim(), Freeze: 3 * time.Second} },
	}
}
