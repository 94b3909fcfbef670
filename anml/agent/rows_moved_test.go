package agent

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/lab"
)

// The rows about redirects of the well-known URI (section 6.5.1).

func TestMoved(t *testing.T) {
	permanent := func(f *finding, path, to string, status int) { f.site.Status(path, status, "Location", to) }
	for name, status := range map[string]int{"301": 301, "308": 308} {
		t.Run("ANML-6.5.1-08/accept-"+name, func(t *testing.T) {
			f := newFinding(t)
			permanent(f, wellKnownPath, "/new", status)
			f.site.Handle("/new", document(titled))
			if p := f.finds(f.s, "Shop"); p.URL() != shopOrigin+"/new" {
				t.Error(p.URL())
			}
			f.requests("shop.example", getWellKnown, "GET /new")
		})
	}
	t.Run("ANML-6.5.1-08/reject-too-far", func(t *testing.T) {
		f := newFinding(t)
		f.site.RedirectChain("/chain", 5, "/end").Handle("/end", document(titled))
		f.site.RedirectChain("/short", 4, "/end").RedirectChain("/loop", 3, "/loop")
		if _, err := f.s.Open(t.Context(), shopOrigin+"/short"); err != nil {
			t.Error(err)
		}
		for _, path := range []string{"/chain", "/loop"} {
			_, err := f.s.Open(t.Context(), shopOrigin+path)
			f.wants(err, lookleap.CodeTooManyRedirects)
		}
	})
	t.Run("ANML-6.5.1-08/reject-to-plain-http", func(t *testing.T) {
		for _, insecure := range []bool{false, true} {
			f := newFinding(t, func(_ *User, o *Options) { o.InsecureHTTP = insecure })
			f.site.Plain().Handle("/a", document(titled))
			permanent(f, wellKnownPath, "http://shop.example/a", 301)
			f.fails(f.s, lookleap.CodeNotHTTPS)
			f.requests("shop.example", getWellKnown)
		}
	})
	t.Run("ANML-6.5.1-08/reject-to-a-private-address", func(t *testing.T) {
		f := newFinding(t)
		f.net.Site("inside.example").At("10.0.0.1").Handle("/a", document(titled))
		permanent(f, wellKnownPath, "https://inside.example/a", 301)
		f.fails(f.s, lookleap.CodeBlockedAddress)
		if n := len(f.net.Journal().Dials("10.0.0.1")); n != 0 {
			t.Errorf("%d dials", n)
		}
	})
	t.Run("ANML-6.5.1-09/accept-the-target-next-time", func(t *testing.T) {
		store := NewMemoryStore()
		keep := func(u *User, _ *Options) { u.Store = store }
		f := newFinding(t, keep)
		permanent(f, wellKnownPath, "/new", 301)
		f.site.Handle("/new", document(titled))
		f.finds(f.s, "Shop")
		f.net.Journal().Clear()
		p := f.finds(f.s, "Shop")
		f.requests("shop.example", "GET /new")
		if p.Trace()[0].Source != SourceMoved || p.opened.wellKnown {
			t.Error(p.Trace())
		}
		f.net.Journal().Clear()
		f.finds(f.session(keep), "Shop")
		f.requests("shop.example", "GET /new")
		f.net.Clock().Advance(31 * 24 * time.Hour)
		f.net.Journal().Clear()
		f.finds(f.session(keep), "Shop")
		f.requests("shop.example", getWellKnown, "GET /new")
	})
	for name, dead := range map[string]func(*finding){
		"404":         func(f *finding) { f.site.Status("/new", 404) },
		"410":         func(f *finding) { f.site.Status("/new", 410) },
		"unreachable": func(f *finding) { f.site.Fault("/new", lab.Reset()) },
	} {
		t.Run("ANML-6.5.1-09/accept-back-from-a-dead-target-"+name, func(t *testing.T) {
			f := newFinding(t)
			permanent(f, wellKnownPath, "/new", 301)
			f.site.Handle("/new", document(titled))
			f.finds(f.s, "Shop")
			dead(f)
			f.site.Handle(wellKnownPath, document("<head><title>Back</title></head>"))
			f.net.Journal().Clear()
			p := f.finds(f.s, "Back")
			if got := f.asked("shop.example"); len(got) != 2 || got[0] != "GET /new" || got[1] != getWellKnown || len(p.Trace()) != 2 {
				t.Error(got, p.Trace())
			}
			f.net.Journal().Clear()
			f.finds(f.s, "Back")
			f.requests("shop.example", getWellKnown)
		})
	}
	t.Run("ANML-6.5.1-09/reject-crossing-domains-unseen", func(t *testing.T) {
		f := newFinding(t)
		permanent(f, wellKnownPath, "https://bank.example/a", 301)
		f.net.Site("bank.example").Handle("/a", document(titled))
		for range 2 {
			if p := f.finds(f.s, "Shop"); p.ServingDomain() != "bank.example" || p.opened.wellKnown {
				t.Error(p.ServingDomain())
			}
		}
		if len(f.told) != 1 || f.told[0].Kind != NoticeMoved || !strings.Contains(f.told[0].Text, "bank.example") || f.told[0].Origin != shopOrigin {
			t.Errorf("%+v", f.told)
		}
	})
	t.Run("ANML-6.5.1-09/reject-what-plain-http-says", func(t *testing.T) {
		f := newFinding(t)
		f.net.Site("bank.example").Handle("/a", document(titled))
		permanent(f, wellKnownPath, "https://bank.example/a", 301)
		f.site.Plain()
		s := f.on(f.net.ForeignTransport(), Options{InsecureHTTP: true})
		for range 2 {
			if _, err := s.Discover(t.Context(), "http://shop.example"); err != nil {
				t.Fatal(err)
			}
		}
		f.requests("shop.example", getWellKnown, getWellKnown)
	})
	t.Run("ANML-6.5.1-09/accept-one-record-of-one-redirect", func(t *testing.T) {
		store := &failingStore{Store: NewMemoryStore()}
		f := newFinding(t, func(u *User, _ *Options) { u.Store = store })
		permanent(f, wellKnownPath, "/new", 301)
		f.site.Handle("/new", document(titled, "Cache-Control", "max-age=60"))
		before := store.calls["Put"]
		for range 3 { // the second and third from memory
			f.finds(f.s, "Shop")
		}
		if n := store.calls["Put"] - before; n != 1 {
			t.Errorf("%d records", n)
		}
	})
	t.Run("ANML-6.5.1-09/accept-although-the-session-closes", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			store := NewMemoryStore()
			f := newFinding(t, func(u *User, _ *Options) { u.Store = store })
			permanent(f, wellKnownPath, "/new", 301)
			f.site.Handle("/new", document(titled))
			f.finds(f.s, "Shop")
			f.site.Fault("/new", lab.Mute())
			time.AfterFunc(time.Second, func() { _ = f.s.Close() })
			f.fails(f.s, lookleap.CodeClosed)
			if keys := placesIn(store); len(keys) != 1 {
				t.Error("what was known is forgotten: ", keys)
			}
		})
	})
	for name, status := range map[string]int{"302": 302, "307": 307, "303": 303} {
		t.Run("ANML-6.5.1-10/accept-"+name, func(t *testing.T) {
			f := newFinding(t)
			permanent(f, wellKnownPath, "/new", status)
			f.site.Handle("/new", document(titled))
			f.finds(f.s, "Shop")
		})
		t.Run("ANML-6.5.1-11/accept-"+name, func(t *testing.T) {
			store := NewMemoryStore()
			f := newFinding(t, func(u *User, _ *Options) { u.Store = store })
			permanent(f, wellKnownPath, "/new", status)
			f.site.Handle("/new", document(titled, "Cache-Control", "max-age=3600"))
			f.finds(f.s, "Shop")
			f.net.Journal().Clear()
			f.finds(f.s, "Shop")
			f.requests("shop.example", getWellKnown, "GET /new")
			if keys := placesIn(store); len(keys) != 0 {
				t.Error(keys)
			}
		})
	}
	for _, status := range []int{300, 304} {
		t.Run("ANML-6.5.1-10/reject-"+http.StatusText(status), func(t *testing.T) {
			f := newFinding(t)
			permanent(f, wellKnownPath, "/new", status)
			f.fails(f.s, CodeInconclusive)
			for _, got := range f.asked("shop.example") {
				if got != getWellKnown {
					t.Error(got)
				}
			}
		})
	}
	t.Run("ANML-6.5.1-11/accept-the-leading-permanent-run", func(t *testing.T) {
		f := newFinding(t)
		permanent(f, wellKnownPath, "/b", 301)
		permanent(f, "/b", "/c", 308)
		permanent(f, "/c", "/d", 302)
		permanent(f, "/d", "/e", 301)
		f.site.Handle("/e", document(titled))
		f.finds(f.s, "Shop")
		f.net.Journal().Clear()
		f.finds(f.s, "Shop")
		f.requests("shop.example", "GET /c", "GET /d", "GET /e")
	})
	t.Run("ANML-6.5.1-11/reject-after-a-temporary-one", func(t *testing.T) {
		f := newFinding(t)
		permanent(f, wellKnownPath, "/b", 302)
		permanent(f, "/b", "/c", 301)
		f.site.Handle("/c", document(titled))
		f.finds(f.s, "Shop")
		f.net.Journal().Clear()
		f.finds(f.s, "Shop")
		f.requests("shop.example", getWellKnown, "GET /b", "GET /c")
	})
}
