package main

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestProgress shows the line after a while, on a terminal alone, and takes it away.
func TestProgress(t *testing.T) {
	for name, c := range map[string]struct {
		takes time.Duration
		want  string
	}{
		"quick": {patience / 2, ""},
		"slow":  {patience * 2, "\r\x1b[Klooking at \"https://x.example/\\u{7}\" …\r\x1b[K"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out strings.Builder
				done := (&progress{w: &out}).working("https://x.example/\a")
				time.Sleep(c.takes)
				done()
				if out.String() != c.want {
					t.Errorf("%q, want %q", out.String(), c.want)
				}
			})
		})
	}
	t.Run("names-the-check", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var out strings.Builder
			p := &progress{w: &out}
			done := p.working("x")
			p.step("address")
			time.Sleep(2 * patience)
			p.step("skills")
			done()
			if got := out.String(); !strings.Contains(got, `"x": address …`) || !strings.Contains(got, `"x": skills …`) {
				t.Errorf("%q", got)
			}
		})
	})
	if newProgress(&strings.Builder{}).w != io.Discard {
		t.Error("a pipe is told")
	}
}
