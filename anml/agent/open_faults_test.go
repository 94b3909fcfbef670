package agent

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
)

// TestLeftWhileReading: a caller who left receives no page, and an error that says so, wherever
// the reading was.
func TestLeftWhileReading(t *testing.T) {
	type caller struct {
		ctx   context.Context
		leave context.CancelFunc
	}
	leaving := func(c caller) http.Handler { // its response comes too late
		return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			c.leave()
			select {
			case <-r.Context().Done():
			case <-t.Context().Done():
			}
		})
	}
	left := func(t *testing.T, err error, subject string) {
		t.Helper()
		var e *lookleap.Error
		if !errors.As(err, &e) || e.Code != lookleap.CodeCancelled || e.Subject != subject || e.Message != "the caller did not wait" {
			t.Errorf("got %v", err)
		}
	}
	begin := func(t *testing.T) caller {
		ctx, leave := context.WithCancel(t.Context())
		t.Cleanup(leave)
		return caller{ctx, leave}
	}
	t.Run("document", func(t *testing.T) {
		c, f := begin(t), newFinding(t)
		f.site.Handle("/page", leaving(c))
		u, err := f.s.parseURL(pageURL)
		must(t, err)
		p, err := f.s.retrieve(c.ctx, u)
		if left(t, err, pageURL); p != nil || len(f.told) > 0 { // the server is not to blame
			t.Errorf("%v, %v", p, f.told)
		}
	})
	t.Run("linked-document", func(t *testing.T) {
		c, f := begin(t), newFinding(t)
		f.site.Body("/page", "text/html", `<link rel="alternate" type="application/anml+xml" href="/doc">`).Handle("/doc", leaving(c))
		p, err := f.s.Open(c.ctx, pageURL)
		if left(t, err, pageURL); p != nil {
			t.Error("there is a page")
		}
		f.requests("shop.example", "GET /page", "GET /doc")
	})
	t.Run("site-ref-of-a-response", func(t *testing.T) {
		c := begin(t)
		s := newStage(t, setting{doc: gettable, answer: document(
			`<head><title>Done</title><site-ref domain="other.example" canonical="https://other.example/"/></head>`)})
		s.net.Site("other.example").Handle("/", leaving(c))
		r, err := s.page.Do(c.ctx, Call{Action: "a"})
		if left(t, err, "https://www.shop.example/a"); r == nil || r.Page != nil {
			t.Errorf("%+v", r)
		}
		if got := s.sent("other.example"); len(got) != 1 {
			t.Error(got)
		}
	})
	t.Run("informs-of-a-response", func(t *testing.T) {
		const api = "xn--80ak6aa92e.shop.example" // looks like Latin letters, which is found out last before informs are recorded
		c := begin(t)
		s := newStage(t, setting{doc: strings.Replace(gettable, `"/a"`, `"https://`+api+`/a"`, 1), host: func(h *lookleap.Host) {
			h.Observe = func(_ context.Context, e lookleap.Event) {
				if e.Code == CodeImpersonation {
					c.leave()
				}
			}
		}})
		s.net.Site(api).Handle("/a", document(floods["many-informs"].doc))
		r, err := s.page.Do(c.ctx, Call{Action: "a"})
		if left(t, err, "https://"+api+"/a"); r == nil || r.Page != nil {
			t.Errorf("%+v", r)
		}
	})
}
