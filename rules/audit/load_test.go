package audit

import "testing"

func TestBuiltInHasNoMistakes(t *testing.T) {
	p, problems := Load()
	for _, problem := range problems {
		t.Error(problem)
	}
	if p.Len() == 0 {
		t.Error("no checks")
	}
}
