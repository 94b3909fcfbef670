package simulation

import (
	"flag"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/lookleap/lookleap/internal/test/alloctest"
)

var (
	seeds  = flag.Uint64("seeds", 60, "how many seeds TestSeeds runs")
	oneRun = flag.Uint64("seed", 0, "the only seed that TestSeeds runs, with a trace")
	first  = flag.Uint64("first", 1, "the first seed that TestSeeds runs")
)

// run plays a seed in a bubble of its own.
func run(t *testing.T, seed uint64, planted *bug, verbose func(string, ...any)) (broken []string) {
	synctest.Test(t, func(t *testing.T) { broken = play(t, seed, planted, verbose).broken })
	return broken
}

func TestSeeds(t *testing.T) {
	if *oneRun != 0 {
		for _, b := range run(t, *oneRun, nil, t.Logf) {
			t.Error(b)
		}
		return
	}
	for seed := *first; seed < *first+*seeds; seed++ {
		if broken := run(t, seed, nil, nil); len(broken) > 0 {
			t.Fatalf("seed %d:\n%s", seed, strings.Join(broken, "\n"))
		}
	}
}

var bugSeeds = flag.Uint64("bug-seeds", 400, "within how many seeds TestPlantedBugs must find each bug")

// TestPlantedBugs shows that the invariants can fail: each planted bug breaks its own within
// some seeds.
func TestPlantedBugs(t *testing.T) {
	for _, b := range bugs {
		t.Run(b.name, func(t *testing.T) {
			if alloctest.Race && b.name == "claim-in-two-steps" {
				t.Skip("this planted bug is a data race itself")
			}
			for seed := uint64(1); seed <= *bugSeeds; seed++ {
				for _, broken := range run(t, seed, b, nil) {
					if strings.Contains(broken, b.breaks) {
						t.Logf("found with seed %d: %s", seed, broken)
						return
					}
				}
			}
			t.Errorf("not found with %d seeds", *bugSeeds)
		})
	}
}

// TestReplay shows that a seed decides everything that happens.
func TestReplay(t *testing.T) {
	for seed := range uint64(5) {
		var first []string
		for round := range 3 {
			var events []string
			run(t, seed+1, nil, func(format string, args ...any) {
				events = append(events, random.ReplaceAllString(fmt.Sprintf(format, args...), ""))
			})
			if round == 0 {
				first = events
			} else if !slices.Equal(first, events) {
				for i := range min(len(first), len(events)) {
					if first[i] != events[i] {
						t.Fatalf("seed %d, event %d:\n%s\n%s", seed+1, i, first[i], events[i])
					}
				}
				t.Fatalf("seed %d: %d events, then %d", seed+1, len(first), len(events))
			}
		}
	}
}

// random matches what differs from run to run: the ids of plans, which are random.
var random = regexp.MustCompile(`[A-Z2-7]{26}`)
