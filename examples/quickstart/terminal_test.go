package main

import (
	"bufio"
	"context"
	"io"
	"strings"
	"testing"
)

// TestLive lets a user decide at a terminal: whatever they say, the story goes
// on to a true end.
func TestLive(t *testing.T) {
	for name, c := range map[string]struct {
		keys string
		want string
	}{
		"agrees":    {strings.Repeat("y\n", 9), "the trip is booked"},
		"declines":  {strings.Repeat("n\n", 9), "you said no"},
		"goes-away": {"", "you said no"},
		"only-acts": {"yes\nn\nn\nn\n", "the trip is booked"},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			sc, err := choose("booking", false)
			if err != nil {
				t.Fatal(err)
			}
			user := &terminal{bufio.NewReader(strings.NewReader(c.keys)), &out}
			got := &tally{by: map[outcome]int{}}
			play(context.Background(), sc[0], printer{w: &out}, user, got)
			if got.wrong != 0 || !strings.Contains(out.String(), c.want) || !strings.Contains(out.String(), "[y/N]") {
				t.Errorf("%s", &out)
			}
		})
	}
	if newTerminal(strings.NewReader(""), io.Discard) != nil {
		t.Error("a pipe is a terminal")
	}
}
