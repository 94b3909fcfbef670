package plaintext

import "testing"

func TestPlural(t *testing.T) {
	for n, want := range map[int]string{0: "0 checks", 1: "1 check", 2: "2 checks"} {
		if got := Plural(n, "check", "checks"); got != want {
			t.Errorf("%q", got)
		}
	}
}
