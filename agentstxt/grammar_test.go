package agentstxt

import "testing"

// survey takes octets in words of eight; what it finds must not depend on where
// in a word they stand.
func TestSurvey(t *testing.T) {
	const plain = "/abcdefghijklmnopqrstuvwxyz"
	for at := 2; at < len(plain); at++ {
		for piece, want := range map[string]uint8{"//": slash, "/.": slash, "%": 0, ";": 0, "?": 0, "*": 0, "é": 0, "./": slash, "/": 0} {
			path := plain[:at] + piece + plain[at:]
			var all uint8
			for i := range len(path) {
				all |= octets[path[i]]
			}
			if gotAll, steps := survey(path); gotAll != all || steps != want {
				t.Errorf("survey(%q) = %b, %b, want %b, %b", path, gotAll, steps, all, want)
			}
		}
	}
}
