package spec

import (
	"strings"
	"testing"
)

func TestMutationTable(t *testing.T) {
	const scores = "# comment\na/x.go\t00\t19\t1\t2\t3\t4\na/y.go\nb/z.go\nc/w.go\t00\t1\t0\t0\t0\t0\n"
	got, err := mutationTable(scores)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| `a` | 2 | 1 | 20 | 95 % | 4 |\n",
		"| `b` | 1 | 0 | 0 | not measured | 0 |\n",
		"| `c` | 1 | 1 | 1 | 100 % | 0 |\n",
		"Not measured: `a/y.go`, `b/z.go`.\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	for name, bad := range map[string]string{"fields": "a/x.go\t00\t1\n", "number": "a/x.go\t00\t1\tx\t0\t0\t0\n"} {
		if _, err := mutationTable(bad); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	t.Run("committed", func(t *testing.T) {
		if _, err := mutationTable(mutationScores); err != nil {
			t.Error(err)
		}
	})
}
