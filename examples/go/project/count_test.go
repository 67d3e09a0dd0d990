package wordcount

import "testing"

func TestCount(t *testing.T) {
	for text, want := range map[string]int{"": 0, "one": 1, " two  words ": 2} {
		if got := Count(text); got != want {
			t.Errorf("Count(%q) = %d, want %d", text, got, want)
		}
	}
}
