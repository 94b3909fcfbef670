package agentstxt

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/lab"
)

// meeting is a handler for several files that answers once each of them was asked for.
type meeting struct{ waiting sync.WaitGroup }

func (m *meeting) serve(file string) http.Handler {
	m.waiting.Add(1)
	arrived := sync.OnceFunc(m.waiting.Done)
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		arrived()
		m.waiting.Wait()
		served(file).ServeHTTP(rw, r)
	})
}

func TestBothFilesAtOnce(t *testing.T) {
	web := Web("ExampleBot")
	inWorld(t, "AGT-1-01/accept-both-files-at-once", web, func(w *world) {
		var m meeting
		w.serves(m.serve(signed("/b DISALLOW")))
		w.site.Handle("/robots.txt", m.serve("User-agent: *\nDisallow: /c\n"))
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				if d, err := w.client.Decide(w.Context(), "https://shop.example/a"); err != nil || !d.Allowed {
					w.Error(d, err)
				}
			})
		}
		wg.Wait()
		w.asked(2)
	})
	inWorld(t, "AGT-1-01/accept-both-files-at-once-again", web, func(w *world) {
		w.bothFiles(signed("/b DISALLOW"), "User-agent: *\nDisallow: /c\n")
		if _, err := w.client.Decide(w.Context(), "https://shop.example/a"); err != nil {
			w.Fatal(err)
		}
		w.pass(2 * time.Hour)
		var m meeting
		w.serves(m.serve(signed("/b DISALLOW")))
		w.site.Handle("/robots.txt", m.serve("User-agent: *\nDisallow: /a\n"))
		if d, err := w.client.Decide(w.Context(), "https://shop.example/a"); err != nil || d.Code != CodeRobotsDisallowed {
			w.Error(d, err)
		}
		w.asked(4)
	})
	inWorld(t, "AGT-1-01/reject-when-the-caller-leaves", web, func(w *world) {
		w.bothFiles(signed("/b DISALLOW"), "")
		w.site.Handle("/robots.txt", http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
		ctx, cancel := context.WithTimeout(w.Context(), time.Second)
		defer cancel()
		if d, err := w.client.Decide(ctx, "https://shop.example/a"); d.Allowed || !errors.Is(err, ctx.Err()) || ctx.Err() == nil {
			w.Error(d, err)
		}
	})
}

func TestSharedRobots(t *testing.T) {
	web := Web("ExampleBot")
	decide := func(w *world, c *Client, path string, want lookleap.Code) {
		w.Helper()
		if d, err := c.Decide(w.Context(), "https://shop.example"+path); err != nil || d.Code != want {
			w.Errorf("%s: %v, %v, want %s", path, d, err, want)
		}
	}
	// robotsAsked returns the entity tags by which robots.txt was asked for.
	robotsAsked := func(w *world) string {
		var asked []string
		for _, r := range w.net.Journal().Requests() {
			if r.Path == "/robots.txt" {
				asked = append(asked, "["+r.Header.Get("If-None-Match")+"]")
			}
		}
		return strings.Join(asked, "")
	}
	memory := func() lookleap.Cache { return lookleap.NewMemoryCache(100) }
	inWorld(t, "AGT-10-01/accept-one-robots-fetch-for-all-processes", web, func(w *world) {
		other := w.two(memory(), Web("OtherBot"))
		w.servesFile(signed("/b DISALLOW"))
		w.robots("User-agent: ExampleBot\nDisallow: /a\n\nUser-agent: *\nDisallow: /c\n", "ETag", `"1"`)
		decide(w, w.client, "/a", CodeRobotsDisallowed)
		decide(w, other, "/a", CodeUnlisted) // each process reads it by its own token
		decide(w, other, "/c", CodeRobotsDisallowed)
		if got := robotsAsked(w); got != "[]" {
			w.Error(got)
		}
		w.pass(time.Hour)
		decide(w, other, "/c", CodeRobotsDisallowed)
		decide(w, w.client, "/a", CodeRobotsDisallowed)
		if got := robotsAsked(w); got != `[]["1"]` {
			w.Error(got)
		}
	})
	inWorld(t, "AGT-10-01/reject-what-another-process-sees-within-a-minute", web, func(w *world) {
		other := w.two(memory(), web)
		w.servesFile(signed("/b DISALLOW"))
		w.robots("User-agent: *\nDisallow: /c\n", "Cache-Control", "max-age=86400")
		decide(w, other, "/a", CodeUnlisted)
		w.robots("User-agent: *\nDisallow: /a\n", "Cache-Control", "max-age=86400")
		w.host.Cache.Delete(w.Context(), robotsFile.prefix+"https://shop.example")
		w.pass(time.Second)
		decide(w, w.client, "/a", CodeRobotsDisallowed) // it knew nothing, so it asked the server
		w.pass(time.Minute)
		decide(w, other, "/a", CodeRobotsDisallowed)
	})
	inWorld(t, "AGT-10-01/reject-a-file-for-one-user", web, func(w *world) {
		other := w.two(memory(), web)
		w.servesFile(signed("/b DISALLOW"))
		w.robots("User-agent: *\nDisallow: /a\n", "Cache-Control", "private, max-age=3600")
		decide(w, w.client, "/a", CodeRobotsDisallowed)
		w.robots("User-agent: *\nDisallow: /c\n")
		decide(w, other, "/a", CodeUnlisted)
	})
	inWorld(t, "AGT-10-01/accept-a-missing-file-of-another-process", web, func(w *world) {
		other := w.two(memory(), web)
		w.servesFile(signed("/b DISALLOW"))
		w.site.Status("/robots.txt", 404)
		decide(w, w.client, "/a", CodeUnlisted)
		decide(w, other, "/a", CodeUnlisted)
		if got := robotsAsked(w); got != "[]" {
			w.Error(got)
		}
	})
	inWorld(t, "AGT-10-01/accept-the-copy-of-another-process-while-the-server-fails", web, func(w *world) {
		other := w.two(memory(), web)
		w.servesFile(signed("/b DISALLOW"))
		w.robots("User-agent: *\nDisallow: /c\n")
		decide(w, w.client, "/c", CodeRobotsDisallowed)
		w.site.Status("/robots.txt", 503)
		w.pass(2 * time.Hour)
		decide(w, other, "/a", CodeUnlisted)
		w.pass(23 * time.Hour)
		decide(w, other, "/a", lookleap.CodeUnavailable)
	})
	inWorld(t, "AGT-10-01/accept-one-attempt-while-the-server-fails", web, func(w *world) {
		limiter := lookleap.NewMemoryLimiter()
		w.host.Limiter = limiter
		host := w.net.Host()
		host.Limiter = limiter
		other := NewClient(host, web)
		w.servesFile(signed("/b DISALLOW"))
		w.site.Handle("/robots.txt", http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Retry-After", "600")
			rw.WriteHeader(503)
		}))
		decide(w, w.client, "/a", lookleap.CodeUnavailable)
		decide(w, other, "/a", lookleap.CodeUnavailable)
		if got := robotsAsked(w); got != "[]" {
			w.Error(got)
		}
		w.robots("User-agent: *\nDisallow: /c\n")
		w.pass(11 * time.Minute)
		decide(w, other, "/a", CodeUnlisted)
	})
	inWorld(t, "AGT-10-01/reject-a-damaged-entry", web, func(w *world) {
		other := w.two(memory(), web)
		w.servesFile(signed("/b DISALLOW"))
		w.robots("User-agent: *\nDisallow: /a\n")
		decide(w, w.client, "/a", CodeRobotsDisallowed)
		key := robotsFile.prefix + "https://shop.example"
		stored, until, err := w.host.Cache.Get(w.Context(), key)
		if err != nil {
			w.Fatal(err)
		}
		w.host.Cache.Put(w.Context(), key, []byte(strings.Replace(string(stored), "shop", "evil", 1)), until)
		decide(w, other, "/a", CodeRobotsDisallowed)
		if got := robotsAsked(w); got != "[][]" {
			w.Error(got)
		}
	})
}

// TestRedirectedRobots: what a redirect says on the way to a robots.txt file, and on the first of
// several redirects, holds for the file.
func TestRedirectedRobots(t *testing.T) {
	for name, header := range map[string][]string{
		"private": {"Cache-Control", "private"}, "no-store": {"Cache-Control", "no-store"}, "set-cookie": {"Set-Cookie", "user=1"},
		"capitals": {"Cache-Control", "PRIVATE"}, "second-field": {"Cache-Control", "public", "Cache-Control", "private"},
	} {
		for path, hops := range map[string]int{"/robots.txt": 1, "/agents.txt": 3} {
			inWorld(t, "O34/reject-shared-"+name+path, Web("ExampleBot"), func(w *world) {
				other := w.two(lookleap.NewMemoryCache(10), Web("ExampleBot"))
				policy, robots := signed("/b DISALLOW"), "User-agent: *\nDisallow: /c\n"
				w.bothFiles(policy, robots)
				file := served(map[string]string{"/agents.txt": policy, "/robots.txt": robots}[path])
				for hop := range hops {
					from, to := path, fmt.Sprintf("/hop%d", hop+1)
					if hop > 0 {
						from = fmt.Sprintf("/hop%d", hop)
					}
					more := []string{"Location", to, "Cache-Control", "max-age=3600"}
					if hop == 0 {
						more = append([]string{"Location", to}, header...)
					}
					w.site.Handle(from, lab.Status(302, more...))
					w.site.Handle(to, file)
				}
				asked := func() (n int) {
					for _, request := range w.net.Journal().Paths("shop.example") {
						if request == "GET "+path {
							n++
						}
					}
					return n
				}
				for n, c := range []*Client{w.client, other} {
					if d, err := c.Decide(w.Context(), "https://shop.example/a"); err != nil || !d.Allowed || asked() != n+1 {
						w.Errorf("%+v, %v after %d requests", d, err, asked())
					}
				}
			})
		}
	}
}
