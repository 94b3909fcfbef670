package agent

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/lookleaptest"
)

// keeping returns a finding of a user with a store, and an option for another session with that store.
func keeping(t *testing.T) (*finding, lookleap.Store, func(*User, *Options)) {
	store := lookleap.NewMemoryStore()
	keep := func(u *User, _ *Options) { u.Store = store }
	return newFinding(t, keep), store, keep
}

// The rows about a 410 at the well-known URI (section 6.5.1).

func TestGone(t *testing.T) {
	for _, id := range []string{"ANML-6.5.1-14", "ANML-6.5.1-15", "K25"} {
		t.Run(id+"/reject-for-good", func(t *testing.T) {
			f, store, keep := keeping(t)
			f.site.Status(wellKnownPath, 410)
			f.fails(f.s, CodeGone)
			f.site.Handle(wellKnownPath, document(titled))
			f.fails(f.s, CodeGone)
			f.fails(f.session(keep), CodeGone)
			hasCode(f, second(f.session(keep).Open(t.Context(), shopDoc)), CodeGone)
			f.requests("shop.example", getWellKnown)
			sameList(t, placesIn(store), []string{"gone/" + shopDoc})
		})
	}
	t.Run("ANML-6.5.1-15/reject-without-a-store", func(t *testing.T) {
		f := newFinding(t)
		f.site.Status(wellKnownPath, 410)
		f.fails(f.s, CodeGone)
		f.site.Handle(wellKnownPath, document(titled))
		f.fails(f.s, CodeGone)
		hasCode(f, second(f.s.Open(t.Context(), shopDoc)), CodeGone)
		f.requests("shop.example", getWellKnown)
	})
	t.Run("ANML-6.5.1-15/reject-by-a-redirect", func(t *testing.T) {
		f, _, keep := keeping(t)
		f.site.Status(wellKnownPath, 410).Redirect("/a", wellKnownPath)
		f.fails(f.s, CodeGone)
		f.site.Handle(wellKnownPath, document(titled))
		for _, s := range []*Session{f.s, f.session(keep)} {
			hasCode(f, second(s.Open(t.Context(), shopOrigin+"/a")), CodeGone)
		}
		f.requests("shop.example", getWellKnown, "GET /a", "GET /a")
	})
	t.Run("ANML-6.5.1-15/accept-other-urls", func(t *testing.T) {
		f, _, _ := keeping(t)
		f.site.Status(wellKnownPath, 410).Handle("/a", document(titled))
		f.fails(f.s, CodeGone)
		must(t, second(f.s.Open(t.Context(), shopOrigin+"/a")))
	})
	t.Run("K25/accept-after-the-cap", func(t *testing.T) {
		f, store, keep := keeping(t)
		f.site.Status(wellKnownPath, 410)
		f.fails(f.s, CodeGone)
		f.site.Handle(wellKnownPath, document(titled))
		f.net.Clock().Advance(30*24*time.Hour - time.Second)
		f.fails(f.session(keep), CodeGone)
		f.fails(f.s, CodeGone)
		f.net.Clock().Advance(time.Second)
		f.finds(f.session(keep), "Shop")
		f.finds(f.s, "Shop")
		if keys := placesIn(store); len(keys) != 0 {
			t.Error("what is over stays in the store: ", keys)
		}
	})
	for _, id := range []string{"K25", "ANML-6.5.1-15"} {
		t.Run(id+"/accept-after-the-user-resets-it", func(t *testing.T) {
			f, store, keep := keeping(t)
			f.site.Status(wellKnownPath, 410)
			f.net.Site("shop.example.net").Status(wellKnownPath, 410)
			f.fails(f.s, CodeGone)
			hasCode(f, second(f.s.Discover(t.Context(), "https://shop.example.net")), CodeGone)
			f.site.Handle(wellKnownPath, document(titled))
			must(t, f.s.ForgetDiscovery(t.Context(), shopOrigin))
			f.finds(f.s, "Shop")
			f.finds(f.session(keep), "Shop")
			sameList(t, placesIn(store), []string{"gone/https://shop.example.net/.well-known/anml"})
		})
	}
	t.Run("ANML-6.5.1-14/reject-until-the-cap", func(t *testing.T) {
		for _, keeps := range []bool{false, true} {
			f := newFinding(t, func(u *User, _ *Options) {
				if keeps {
					u.Store = lookleap.NewMemoryStore()
				}
			})
			f.site.Status(wellKnownPath, 410)
			f.fails(f.s, CodeGone)
			f.site.Handle(wellKnownPath, document(titled))
			f.net.Clock().Advance(30*24*time.Hour - time.Second)
			f.fails(f.s, CodeGone)
			f.requests("shop.example", getWellKnown)
			f.net.Clock().Advance(time.Second)
			f.finds(f.s, "Shop")
		}
	})
	t.Run("ANML-6.5.1-14/reject-until-the-cap-in-other-sessions", func(t *testing.T) {
		f, store, keep := keeping(t)
		f.site.Status(wellKnownPath, 410)
		f.fails(f.s, CodeGone)
		f.site.Handle(wellKnownPath, document(titled))
		for range 30 {
			f.net.Clock().Advance(24*time.Hour - time.Second/30)
			f.fails(f.session(keep), CodeGone)
		}
		f.requests("shop.example", getWellKnown)
		f.net.Clock().Advance(time.Second)
		f.finds(f.session(keep), "Shop")
		if keys := placesIn(store); len(keys) != 0 {
			t.Error(keys)
		}
	})
	t.Run("ANML-6.5.1-14/accept-410-of-another-document", func(t *testing.T) {
		f, store, keep := keeping(t)
		f.site.Status("/a", 410).Handle(wellKnownPath, document(titled))
		hasCode(f, second(f.s.Open(t.Context(), shopOrigin+"/a")), lookleap.CodeBadStatus)
		if keys := placesIn(store); len(keys) != 0 {
			t.Error(keys)
		}
		f.finds(f.session(keep), "Shop")
	})
	t.Run("ANML-6.5.1-14/reject-word-of-a-host-below", func(t *testing.T) {
		f, store, _ := keeping(t)
		f.site.Status(wellKnownPath, 302, "Location", "https://www.shop.example/a")
		f.net.Site("www.shop.example").Status("/a", 410)
		f.fails(f.s, CodeNoANML)
		sameList(t, placesIn(store), []string{"gone/https://www.shop.example/a"})
		f.net.Journal().Clear()
		f.fails(f.s, CodeNoANML) // as a 404, which is not asked for again at once
		f.requests("shop.example")
	})
	t.Run("ANML-6.5.1-14/reject-both-urls-of-a-redirect", func(t *testing.T) {
		f, store, keep := keeping(t)
		f.site.Status(wellKnownPath, 302, "Location", "/a").Status("/a", 410)
		f.fails(f.s, CodeGone)
		sameList(t, placesIn(store), []string{"gone/" + shopDoc, "gone/" + shopOrigin + "/a"})
		f.site.Handle("/a", document(titled))
		f.net.Journal().Clear()
		hasCode(f, second(f.session(keep).Open(t.Context(), shopOrigin+"/a")), CodeGone)
		f.requests("shop.example")
	})
	t.Run("ANML-6.5.1-14/reject-what-plain-http-says", func(t *testing.T) {
		f := newFinding(t)
		f.site.Plain().Status(wellKnownPath, 410)
		host, store := f.net.StubHost(), lookleap.NewMemoryStore()
		host.Fetcher = f.net.Unguarded()
		hasCode(t, second(sessionOn(t, host, User{Store: store}, Options{}).Discover(t.Context(), "http://shop.example")), lookleap.CodeNotHTTPS)
		if keys := placesIn(store); len(keys) != 0 {
			t.Error(keys)
		}
	})
	t.Run("ANML-6.5.1-14/reject-another-origin's-word", func(t *testing.T) {
		f, _, keep := keeping(t)
		f.site.Status(wellKnownPath, 302, "Location", "https://bank.example/a")
		f.net.Site("bank.example").Status("/a", 410)
		f.fails(f.s, CodeNoANML)
		f.net.Journal().Clear()
		f.fails(f.session(keep), CodeNoANML) // the redirect is not followed to what is gone
		f.requests("shop.example", getWellKnown)
		f.requests("bank.example")
		f.site.Redirect("/b", "https://bank.example/a")
		for _, url := range []string{"https://bank.example/a", shopOrigin + "/b"} { // which is no place of discovery
			hasCode(f, second(f.session(keep).Open(t.Context(), url)), CodeGone)
		}
	})
	t.Run("ANML-6.5.1-14/accept-the-origin's-own-word-elsewhere", func(t *testing.T) {
		f, _, keep := keeping(t)
		f.site.Status(wellKnownPath, 302, "Location", "/a").Status("/a", 410)
		f.fails(f.s, CodeGone)
		f.net.Journal().Clear()
		f.fails(f.session(keep), CodeGone)
		f.requests("shop.example")
	})
	for name, record := range map[string]string{"damaged": "{", "undated": "{}", "of-a-wrong-clock": `{"at":"2099-01-01T00:00:00Z"}`} {
		t.Run("K25/accept-after-the-cap-a-record-"+name, func(t *testing.T) {
			f, store, keep := keeping(t)
			f.site.Handle(wellKnownPath, document(titled))
			must(t, store.Put(t.Context(), "gone/"+shopDoc, nil, []byte(record), time.Time{}))
			f.fails(f.s, CodeGone)
			f.net.Clock().Advance(30*24*time.Hour - time.Second)
			f.fails(f.session(keep), CodeGone)
			f.requests("shop.example")
			f.net.Clock().Advance(time.Second)
			f.finds(f.session(keep), "Shop")
		})
	}
	t.Run("ANML-6.5.1-15/reject-what-a-site-ref-found-gone", func(t *testing.T) {
		f, _, _ := keeping(t)
		f.net.Site("bank.example").Status(wellKnownPath, 410)
		f.site.Handle("/a", document(`<head><title>Shop</title><site-ref domain="bank.example" canonical="https://bank.example/.well-known/anml"/></head>`))
		for range 2 {
			must(t, second(f.s.Open(t.Context(), shopOrigin+"/a")))
		}
		hasCode(f, second(f.s.Discover(t.Context(), "https://bank.example")), CodeGone)
		f.requests("bank.example", getWellKnown)
	})
	for _, call := range []string{"Put", "Delete", "Keys"} {
		t.Run("ANML-6.5.1-14/accept-a-store-that-fails-to-"+call, func(t *testing.T) {
			store := &failingStore{Store: lookleap.NewMemoryStore()}
			keep := func(u *User, _ *Options) { u.Store = store }
			f := newFinding(t, keep)
			store.fails = call
			f.site.Status(wellKnownPath, 410)
			e := f.fails(f.s, CodeGone)
			if told := errors.Is(e, errStore); told != (call == "Put") {
				t.Error(e)
			}
			f.fails(f.s, CodeGone)
			f.requests("shop.example", getWellKnown)
			f.net.Clock().Advance(30 * 24 * time.Hour)
			f.site.Handle(wellKnownPath, document(titled))
			f.finds(f.s, "Shop") // a record that cannot be deleted is over all the same
			if err := f.s.ForgetDiscovery(t.Context(), shopOrigin); (err == nil) != (call == "Put") {
				t.Error(err)
			}
		})
	}
	t.Run("ANML-6.5.1-14/reject-a-store-that-fails", func(t *testing.T) {
		store := &failingStore{Store: lookleap.NewMemoryStore()}
		f := newFinding(t, func(u *User, _ *Options) { u.Store = store })
		f.site.Handle(wellKnownPath, document(titled))
		store.fails = "Get"
		f.fails(f.s, lookleap.CodeIO)
		hasCode(f, second(f.s.Open(t.Context(), shopDoc)), lookleap.CodeIO)
		f.requests("shop.example")
	})
}

// The rows about redirects of the well-known URI (section 6.5.1).

func TestMoved(t *testing.T) {
	permanent := func(f *finding, path, to string, status int) { f.site.Status(path, status, "Location", to) }
	for name, status := range map[string]int{"301": 301, "308": 308} {
		t.Run("ANML-6.5.1-08/accept-"+name, func(t *testing.T) {
			f := newFinding(t)
			permanent(f, wellKnownPath, "/new", status)
			f.site.Handle("/new", document(titled))
			equals(t, f.finds(f.s, "Shop").URL(), shopOrigin+"/new")
			f.requests("shop.example", getWellKnown, "GET /new")
		})
	}
	t.Run("ANML-6.5.1-08/reject-too-far", func(t *testing.T) {
		f := newFinding(t)
		f.site.RedirectChain("/chain", 5, "/end").Handle("/end", document(titled))
		f.site.RedirectChain("/short", 4, "/end").RedirectChain("/loop", 3, "/loop")
		must(t, second(f.s.Open(t.Context(), shopOrigin+"/short")))
		for _, path := range []string{"/chain", "/loop"} {
			hasCode(f, second(f.s.Open(t.Context(), shopOrigin+path)), lookleap.CodeTooManyRedirects)
		}
	})
	t.Run("ANML-6.5.1-08/reject-to-plain-http", func(t *testing.T) {
		f := newFinding(t)
		f.site.Plain().Handle("/a", document(titled))
		permanent(f, wellKnownPath, "http://shop.example/a", 301)
		f.fails(f.s, lookleap.CodeNotHTTPS)
		f.requests("shop.example", getWellKnown)
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
		f, _, keep := keeping(t)
		permanent(f, wellKnownPath, "/new", 301)
		f.site.Handle("/new", document(titled))
		f.finds(f.s, "Shop")
		f.net.Journal().Clear()
		p := f.finds(f.s, "Shop")
		f.requests("shop.example", "GET /new")
		if p.opened.wellKnown {
			t.Error(p.opened)
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
		"unreachable": func(f *finding) { f.site.Fault("/new", lookleaptest.Reset()) },
	} {
		t.Run("ANML-6.5.1-09/accept-back-from-a-dead-target-"+name, func(t *testing.T) {
			f := newFinding(t)
			permanent(f, wellKnownPath, "/new", 301)
			f.site.Handle("/new", document(titled))
			f.finds(f.s, "Shop")
			dead(f)
			f.site.Handle(wellKnownPath, document("<head><title>Back</title></head>"))
			f.net.Journal().Clear()
			f.finds(f.s, "Back")
			if got := f.net.Journal().Paths("shop.example"); len(got) != 2 || got[0] != "GET /new" || got[1] != getWellKnown {
				t.Error(got)
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
		hasCode(t, second(f.on(f.net.Unguarded(), Options{}).Discover(t.Context(), "http://shop.example")), lookleap.CodeNotHTTPS)
		f.requests("shop.example")
	})
	t.Run("ANML-6.5.1-09/reject-a-record-of-a-time-to-come", func(t *testing.T) { // the clock was set back
		store := lookleap.NewMemoryStore()
		f := newFinding(t, func(u *User, _ *Options) { u.Store = store })
		f.site.Handle(wellKnownPath, document(titled))
		must(t, store.Put(t.Context(), keyMoved+shopOrigin, nil, []byte(`{"url":"https://shop.example/new","at":"2099-01-01T00:00:00Z"}`), time.Time{}))
		f.finds(f.s, "Shop")
		f.requests("shop.example", getWellKnown)
	})
	t.Run("ANML-6.5.1-09/accept-where-the-target-moves", func(t *testing.T) {
		f := newFinding(t)
		permanent(f, wellKnownPath, "/new", 301)
		f.site.Handle("/new", document(titled)).Handle("/newer", document(titled))
		f.finds(f.s, "Shop")
		permanent(f, "/new", "/newer", 308)
		f.finds(f.s, "Shop")
		f.net.Journal().Clear()
		f.finds(f.s, "Shop")
		f.requests("shop.example", "GET /newer")
	})
	t.Run("ANML-6.5.1-09/accept-one-record-of-one-redirect", func(t *testing.T) {
		store := &failingStore{Store: lookleap.NewMemoryStore()}
		f := newFinding(t, func(u *User, _ *Options) { u.Store = store })
		permanent(f, wellKnownPath, "/new", 301)
		f.site.Handle("/new", document(titled, "Cache-Control", "max-age=60"))
		before := store.calls["Put"]
		for range 3 { // the second and third from memory
			f.finds(f.s, "Shop")
		}
		equals(t, store.calls["Put"]-before, 1)
	})
	t.Run("ANML-6.5.1-09/accept-although-the-session-closes", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			store := lookleap.NewMemoryStore()
			f := newFinding(t, func(u *User, _ *Options) { u.Store = store })
			permanent(f, wellKnownPath, "/new", 301)
			f.site.Handle("/new", document(titled))
			f.finds(f.s, "Shop")
			f.site.Fault("/new", lookleaptest.Mute())
			time.AfterFunc(time.Second, func() { _ = f.s.Close() })
			f.fails(f.s, lookleap.CodeClosed)
			equals(t, len(placesIn(store)), 1)
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
			store := lookleap.NewMemoryStore()
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
			for _, got := range f.net.Journal().Paths("shop.example") {
				equals(t, got, getWellKnown)
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
