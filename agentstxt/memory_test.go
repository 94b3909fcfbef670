package agentstxt

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/flight"
	"github.com/lookleap/lookleap/internal/test/alloctest"
)

// TestMemory: the memory of cached files is not much more than its estimate, whatever they contain.
func TestMemory(t *testing.T) {
	file := func(line string) []byte {
		var b strings.Builder
		b.WriteString("User-agent: *\n")
		for i := 0; b.Len() < 256<<10; i++ {
			fmt.Fprintf(&b, line+"\n", i)
		}
		return []byte(b.String())
	}
	robots := func(line string) func() (any, int) {
		data := file(line)
		return func() (any, int) {
			f := ParseRobots(data, "ExampleBot")
			return f, f.memory()
		}
	}
	policy := func(line string) func() (any, int) {
		data := []byte(signed(strings.Split(strings.TrimSuffix(string(file(line))[len("User-agent: *\n"):], "\n"), "\n")...))
		return func() (any, int) {
			p, err := Parse(data, Options{Limits: Limits{Directives: 1 << 20}})
			if err != nil {
				t.Fatal(err)
			}
			return p, p.memory()
		}
	}
	foreign := func(line string) func() (any, int) {
		data := file(line)
		return func() (any, int) {
			p := Judge(Response{Status: 200, ContentType: plainText, Body: data}, Web("ExampleBot"))
			return p, p.memory()
		}
	}
	for name, load := range map[string]func() (any, int){
		"robots-short-rules": robots("Disallow: /%d"), "robots-one-rule": robots("Allow: /"), "robots-patterns": robots("Disallow: /*%d$"),
		"robots-long-rules": robots("Disallow: /" + strings.Repeat("%%41", 200) + "%d"), "robots-comments": robots("# %d"), "robots-letters": robots("Disallow: /é%d"),
		"robots-sitemaps": robots("Sitemap: https://a.example/%d"),
		"short-rules":     policy("/%d ALLOW"), "conditions": policy("/%d ALLOW limit=1 delay=2"), "patterns": policy("/*%d ALLOW"),
		"foreign-rules": foreign("Disallow: /%d"),
	} {
		t.Run("O61/accept-estimate-of-"+name, func(t *testing.T) {
			alloctest.CheckEstimate(t, load)
		})
	}
	t.Run("O61/reject-files-beyond-the-memory", func(t *testing.T) {
		c := NewClient(&lookleap.Host{}, Options{Limits: Limits{Memory: 1 << 20}})
		p := mustParse(t, Options{}, numbered(5000, "/%d DISALLOW")...)
		f := ParseRobots([]byte(strings.Repeat("# x\n", 10_000)), "ExampleBot")
		until := time.Now().Add(time.Hour)
		for i := range 100 {
			origin := fmt.Sprintf("https://%d.example", i)
			c.policies.known.Put(origin, flight.Loaded[*knownFile[*Policy]]{Value: &knownFile[*Policy]{value: p}, Until: until})
			c.robots.known.Put(origin, flight.Loaded[*knownFile[*RobotsFile]]{Value: &knownFile[*RobotsFile]{value: f}, Until: until})
		}
		if n := c.policies.known.Bytes(); n < 1<<19 || n > 1<<20 {
			t.Errorf("%d bytes of policies are cached", n)
		}
		if n := c.robots.known.Bytes(); n < 1<<19 || n > 1<<20 {
			t.Errorf("%d bytes of robots.txt are cached", n)
		}
	})
}
