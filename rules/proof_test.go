package rules

import "testing"

func TestProof(t *testing.T) {
	for _, c := range []struct {
		proof      Proof
		word, text string
	}{
		{Proof{}, "", ""},
		{Proof{Recordings: []string{"a", "b"}}, "recording", "proven on recordings of a real kernel: a, b"},
		{Proof{Drills: []string{"x"}, Synthetic: "version 2"}, "drill", "proven by live drill: x; synthetic: version 2"},
		{Proof{Synthetic: "one node here"}, "synthetic", "synthetic only: one node here"},
	} {
		if c.proof.Word() != c.word || c.proof.String() != c.text {
			t.Errorf("%+v: %q, %q", c.proof, c.proof.Word(), c.proof.String())
		}
	}
}

func TestShippedSignaturesSayHowTheyAreProven(t *testing.T) {
	for _, s := range loadBuiltIn(t).Signatures {
		if s.Proven.Word() == "" {
			t.Errorf("%s: no `proven`", s.ID)
		}
	}
}
