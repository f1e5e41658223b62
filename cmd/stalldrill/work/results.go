package work

// Results are what a worker prints at its end.
type Results struct {
	Rows   []Row    `json:"rows"`
	Errors []string `json:"errors,omitempty"` // tasks that could not go on, and why
}

// Row is what one task felt in one phase. A task that ran late because the one
// before took long feels that too: Wait counts from the intended start, Call
// only the operation itself.
type Row struct {
	Operation string `json:"operation"`
	Phase     string `json:"phase"`
	Count     uint64 `json:"count"`
	Wait      Felt   `json:"wait"`
	Call      Felt   `json:"call"`
}
