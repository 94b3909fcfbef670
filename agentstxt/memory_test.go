package agentstxt

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/flight"
)

// TestMemory: the memory of cached files is not much more than its estimate, whatever they contain.
func TestMemory(t *testing.T) {
	heap := func() int {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	file := func(line string) []byte {
		var b strings.Builder
		b.WriteString("User-agent: *\n")
		for i := 0; b.Len() < 256<<10; i++ {
			fmt.Fprintf(&b, line+"\n", i)
		}
		return []byte(b.String())
	}
	var kept []any
	robots := func(line string) func() int {
		data := file(line)
		return func() int {
			f := ParseRobots(data, "ExampleBot")
			kept = append(kept, f)
			return f.memory()
		}
	}
	policy := func(line string) func() int {
		data := []byte(signed(strings.Split(strings.TrimSuffix(string(file(line))[len("User-agent: *\n"):], "\n"), "\n")...))
		return func() int {
			p, err := Parse(data, Options{Limits: Limits{Directives: 1 << 20}})
			if err != nil {
				t.Fatal(err)
			}
			kept = append(kept, p)
			return p.memory()
		}
	}
	foreign := func(line string) func() int {
		data := file(line)
		return func() int {
			p := Judge(Response{Status: 200, ContentType: plainText, Body: data}, Web("ExampleBot"))
			kept = append(kept, p)
			return p.memory()
		}
	}
	for name, load := range map[string]func() int{
		"robots-short-rules": robots("Disallow: /%d"), "robots-one-rule": robots("Allow: /"), "robots-patterns": robots("Disallow: /*%d$"),
		"robots-long-rules": robots("Disallow: /" + strings.Repeat("%%41", 200) + "%d"), "robots-comments": robots("# %d"), "robots-letters": robots("Disallow: /é%d"),
		"robots-sitemaps": robots("Sitemap: https://a.example/%d"),
		"short-rules":     policy("/%d ALLOW"), "conditions": policy("/%d ALLOW limit=1 delay=2"), "patterns": policy("/*%d ALLOW"),
		"foreign-rules": foreign("Disallow: /%d"),
	} {
		t.Run("O61/accept-estimate-of-"+name, func(t *testing.T) {
			kept = nil
			before, estimated := heap(), 0
			for range 10 {
				estimated += load()
			}
			if used := heap() - before; used > 2*estimated {
				t.Errorf("%d bytes are estimated, %d are used", estimated, used)
			}
			kept = nil
		})
	}
	t.Run("O61/reject-files-beyond-the-memory", func(t *testing.T) {
		c := NewClient(&lookleap.Host{}, Options{Limits: Limits{Memory: 1 << 20}})
		p := mustParse(t, Options{}, numbered(5000, "/%d DISALLOW")...)
		f := ParseRobots([]byte(strings.Repeat("# x\n", 10_000)), "ExampleBot")
		until := time.Now().Add(time.Hour)
		for i := range 100 {
			origin := fmt.Sprintf("https://%d.example", i)
			c.policies.Put(origin, flight.Loaded[*cachedPolicy]{Value: &cachedPolicy{policy: p}, Until: until})
			c.robots.Put(origin, flight.Loaded[*robotsEntry]{Value: &robotsEntry{file: f}, Until: until})
		}
		if n := c.policies.Bytes(); n < 1<<19 || n > 1<<20 {
			t.Errorf("%d bytes of policies are cached", n)
		}
		if n := c.robots.Bytes(); n < 1<<19 || n > 1<<20 {
			t.Errorf("%d bytes of robots.txt are cached", n)
		}
	})
}
