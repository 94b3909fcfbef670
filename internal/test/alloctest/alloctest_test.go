package alloctest

import "testing"

var sink []byte

// recorded is a test that notes whether it failed.
type recorded struct {
	testing.TB
	failed bool
}

func (r *recorded) Helper()               {}
func (r *recorded) Errorf(string, ...any) { r.failed = true }

func TestAtMost(t *testing.T) {
	if Race {
		t.Skip("nothing is measured")
	}
	for name, c := range map[string]struct {
		first, later int
		failed       bool
	}{
		"accept-below":                   {1 << 10, 1 << 10, false},
		"accept-what-another-part-took":  {8 << 20, 1 << 10, false},
		"reject-what-is-above-each-time": {8 << 20, 2 << 20, true},
	} {
		t.Run(name, func(t *testing.T) {
			size, r := c.first, &recorded{TB: t}
			AtMost(r, 1<<20, func() { sink, size = make([]byte, size), c.later })
			if r.failed != c.failed {
				t.Errorf("failed: %v", r.failed)
			}
		})
	}
}
