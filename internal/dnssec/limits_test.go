package dnssec

import (
	"testing"
	"time"
)

// TestLeft: an answer that is kept grows older, by whole seconds.
func TestLeft(t *testing.T) {
	now := time.Unix(1.7e9, 0)
	for name, c := range map[string]struct {
		until time.Time
		want  time.Duration
	}{
		"not-kept": {time.Time{}, 10 * time.Second},
		"new":      {now.Add(10 * time.Second), 10 * time.Second},
		"older":    {now.Add(3900 * time.Millisecond), 3 * time.Second},
		"over":     {now.Add(-time.Second), 0},
		"longer":   {now.Add(time.Minute), 10 * time.Second},
	} {
		if got := (answer{&Result{TTL: 10 * time.Second}, c.until}).left(now); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestErrorTexts compares what a user reads.
func TestErrorTexts(t *testing.T) {
	for want, err := range map[string]error{
		"www.example.com: DNSSEC validation failed in zone example.com: the signature does not verify (EDE 6)": &BogusError{
			Name: "www.example.com", Zone: "example.com", EDE: EDEBogus, Reason: "the signature does not verify"},
		"validating www.example.com takes more than 4 keys with the same tag (zone example.com): do not use the name; the zone is " +
			"broken or made to exhaust validators (KeyTrap), which its operator must fix": &BudgetError{
			Name: "www.example.com", Zone: "example.com", What: "keys with the same tag", Limit: 4},
		"looking up www.example.com takes more than 8 aliases: the operator of its zone must shorten the chain of aliases and zones": &BudgetError{
			Name: "www.example.com", What: "aliases", Limit: 8},
		`name "a b": the character ' ' cannot be part of it`: &NameError{"a b", "the character ' ' cannot be part of it"},
	} {
		if got := err.Error(); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
	named := inZone("\x01z\x00", &BudgetError{Zone: "first", What: "keys"})
	if over, ok := named.(*BudgetError); !ok || over.Zone != "first" {
		t.Error(named)
	}
}
