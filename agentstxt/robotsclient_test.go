package agentstxt

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/lookleaptest"
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
					w.site.Handle(from, lookleaptest.Status(302, more...))
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
