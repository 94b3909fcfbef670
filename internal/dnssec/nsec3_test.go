package dnssec

import (
	"errors"
	"testing"

	"github.com/miekg/dns"
)

// question3 asks hashed denial records one question. It returns what they establish as text.
type question3 func(d *denial) (string, error)

// questions3 are all that a lookup asks hashed records.
func questions3(n, encloser name) map[string]question3 {
	return map[string]question3{
		"nxdomain": func(d *denial) (string, error) { p, err := d.nameError(n); return proofText(p), err },
		"nodata":   func(d *denial) (string, error) { p, err := d.noData(n, dns.TypeA); return proofText(p), err },
		"wildcard": func(d *denial) (string, error) { p, err := d.noCloser(n, encloser); return proofText(p), err },
		"cut": func(d *denial) (string, error) {
			c, err := d.cutAt(n)
			return [...]string{"unknown", "none", "unsigned", "opted out"}[c], err
		},
		"record": func(d *denial) (string, error) {
			denied, err := d.isCompactlyDenied(n)
			if denied {
				return "denied", err
			}
			return "none", err
		},
	}
}

// TestHashBudget: a question that needs one hash more than the budget allows has no answer, and
// no name is hashed twice.
func TestHashBudget(t *testing.T) {
	lines := []string{"z. z.+ SOA NS", "b.z.- b.z.+ optout", "*.z.- *.z.+"}
	for kind, hashes := range map[string]int{
		"nxdomain": 5, // x.y.b.z, y.b.z, b.z, z and *.z
		"nodata":   5, "cut": 4, "wildcard": 1, "record": 1,
	} {
		t.Run("G17", func(t *testing.T) {
			ask := questions3(wire(t, "x.y.b.z."), wire(t, "z."))[kind]
			for limit := range hashes {
				t.Run("reject-"+kind, func(t *testing.T) {
					d := nsec3s(t, "z.", lines...)
					clear(d.nsec3.hashed)
					d.nsec3.budget.limits.Hashes = limit
					got, err := ask(d)
					var over *BudgetError
					if !errors.As(err, &over) || over.What != "hashed names" || over.Zone != "z" {
						t.Errorf("%d hashes: %s, %v", limit, got, err)
					}
				})
			}
			t.Run("accept-"+kind, func(t *testing.T) {
				d := nsec3s(t, "z.", lines...)
				clear(d.nsec3.hashed)
				d.nsec3.budget.limits.Hashes = hashes
				if got, err := ask(d); err != nil {
					t.Errorf("%d hashes: %s, %v", hashes, got, err)
				}
			})
		})
	}
	t.Run("G17", func(t *testing.T) {
		t.Run("reject-nxdomain-below-a-known-name", func(t *testing.T) { // which costs no hash
			d := nsec3s(t, "z.", lines...)
			clear(d.nsec3.hashed)
			d.nsec3.budget.limits.Hashes = 1
			hashOf(t, d.nsec3, "z.")
			var over *BudgetError
			if got, err := d.nameError(wire(t, "x.z.")); !errors.As(err, &over) {
				t.Errorf("%s, %v", proofText(got), err)
			}
		})
	})
}

// TestTooManyIterations: records with more iterations than are computed leave the zone insecure,
// whatever they say, and cost no hash.
func TestTooManyIterations(t *testing.T) {
	for kind, want := range map[string]string{
		"nxdomain": "opted out", "nodata": "opted out", "wildcard": "opted out", "cut": "opted out", "record": "none",
	} {
		t.Run("RFC9276-3.2", func(t *testing.T) {
			t.Run("accept-"+kind+"-as-insecure", func(t *testing.T) {
				d := nsec3s(t, "z.", "b.z. b.z.+ NXNAME", "z. z.+ SOA NS")
				clear(d.nsec3.hashed)
				d.nsec3.iterations = d.nsec3.budget.limits.Iterations + 1
				got, err := questions3(wire(t, "b.z."), wire(t, "z."))[kind](d)
				if err != nil || got != want || d.nsec3.budget.hashes.Load() != 0 {
					t.Errorf("%s after %d hashes, %v, want %s", got, d.nsec3.budget.hashes.Load(), err, want)
				}
			})
		})
		t.Run("RFC9276-3.2", func(t *testing.T) {
			t.Run("accept-"+kind+"-at-the-limit", func(t *testing.T) {
				d := nsec3s(t, "z.", "b.z. b.z.+ NXNAME", "z. z.+ SOA NS")
				d.nsec3.iterations = d.nsec3.budget.limits.Iterations
				if got, err := questions3(wire(t, "b.z."), wire(t, "z."))[kind](d); err != nil || got == "opted out" {
					t.Errorf("%s, %v", got, err)
				}
			})
		})
	}
}
