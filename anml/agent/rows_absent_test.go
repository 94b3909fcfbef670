package agent

import (
	"testing"
	"time"
)

// The rows about a 404 at the well-known URI (section 6.5.1).

func TestAbsent(t *testing.T) {
	t.Run("ANML-6.5.1-04/reject-404", func(t *testing.T) {
		f := newFinding(t)
		f.site.Status(wellKnownPath, 404)
		e := f.fails(f.s, CodeNoANML)
		if e.Subject != shopOrigin || e.Status != 404 || len(e.Trace) != 1 || e.Trace[0].Status != 404 || len(f.told) != 0 {
			t.Errorf("%+v", e)
		}
	})
	t.Run("ANML-6.5.1-04/reject-a-page-in-its-place", func(t *testing.T) {
		f := newFinding(t)
		f.site.Body(wellKnownPath, "text/html", "<title>oops</title>")
		f.fails(f.s, CodeNoANML)
		f.fails(f.s, CodeNoANML)
		f.requests("shop.example", getWellKnown)
	})
	t.Run("ANML-6.5.1-05/reject-a-second-request", func(t *testing.T) {
		f := newFinding(t)
		f.site.Status(wellKnownPath, 404)
		f.fails(f.s, CodeNoANML)
		f.site.Handle(wellKnownPath, document(titled))
		f.net.Clock().Advance(time.Hour)
		f.fails(f.s, CodeNoANML)
		_, err := f.s.Open(t.Context(), shopDoc)
		f.wants(err, CodeNoANML)
		f.requests("shop.example", getWellKnown)
	})
	t.Run("ANML-6.5.1-05/accept-another-port", func(t *testing.T) {
		f := newFinding(t)
		f.site.Status(wellKnownPath, 404)
		f.fails(f.s, CodeNoANML)
		f.net.Site("www.shop.example").Handle(wellKnownPath, document(titled))
		if _, err := f.s.Discover(t.Context(), "https://www.shop.example"); err != nil {
			t.Error(err)
		}
	})
	for _, c := range []struct {
		name    string
		header  []string
		refused time.Duration // still
		again   time.Duration
	}{
		{"after-its-lifetime", []string{"Cache-Control", "max-age=300"}, 299 * time.Second, 300 * time.Second},
		{"not-before-a-minute", []string{"Cache-Control", "max-age=1"}, 59 * time.Second, time.Minute},
		{"no-cache", []string{"Cache-Control", "no-cache"}, 59 * time.Second, time.Minute},
		{"not-beyond-a-day", []string{"Cache-Control", "max-age=9999999"}, 24*time.Hour - time.Second, 24 * time.Hour},
		{"silent", nil, 24*time.Hour - time.Second, 24 * time.Hour},
	} {
		t.Run("ANML-6.5.1-06/accept-"+c.name, func(t *testing.T) {
			f := newFinding(t)
			f.site.Status(wellKnownPath, 404, c.header...)
			f.fails(f.s, CodeNoANML)
			f.site.Handle(wellKnownPath, document(titled))
			f.net.Clock().Advance(c.refused)
			f.fails(f.s, CodeNoANML)
			f.net.Clock().Advance(c.again - c.refused)
			f.finds(f.s, "Shop")
		})
	}
	for _, id := range []string{"ANML-6.5.1-06", "ANML-6.5.1-07"} {
		t.Run(id+"/accept-a-new-session", func(t *testing.T) {
			store := NewMemoryStore()
			keep := func(u *User, _ *Options) { u.Store = store }
			f := newFinding(t, keep)
			f.site.Status(wellKnownPath, 404)
			f.fails(f.s, CodeNoANML)
			if keys := placesIn(store); len(keys) != 0 {
				t.Error("a 404 was stored: ", keys)
			}
			f.site.Handle(wellKnownPath, document(titled))
			f.finds(f.session(keep), "Shop")
		})
	}
}
