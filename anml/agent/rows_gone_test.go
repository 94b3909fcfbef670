package agent

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
)

// The rows about a 410 at the well-known URI (section 6.5.1).

func TestGone(t *testing.T) {
	keeping := func(f **finding, t *testing.T) (Store, func(*User, *Options)) {
		store := NewMemoryStore()
		keep := func(u *User, _ *Options) { u.Store = store }
		*f = newFinding(t, keep)
		return store, keep
	}
	for _, id := range []string{"ANML-6.5.1-14", "ANML-6.5.1-15", "K25"} {
		t.Run(id+"/reject-for-good", func(t *testing.T) {
			var f *finding
			store, keep := keeping(&f, t)
			f.site.Status(wellKnownPath, 410)
			f.fails(f.s, CodeGone)
			f.site.Handle(wellKnownPath, document(titled))
			f.fails(f.s, CodeGone)
			f.fails(f.session(keep), CodeGone)
			_, err := f.session(keep).Open(t.Context(), shopDoc)
			f.wants(err, CodeGone)
			f.requests("shop.example", getWellKnown)
			if keys := placesIn(store); !slices.Equal(keys, []string{"gone/" + shopDoc}) {
				t.Error(keys)
			}
		})
	}
	t.Run("ANML-6.5.1-15/accept-other-urls", func(t *testing.T) {
		var f *finding
		keeping(&f, t)
		f.site.Status(wellKnownPath, 410).Handle("/a", document(titled))
		f.fails(f.s, CodeGone)
		if _, err := f.s.Open(t.Context(), shopOrigin+"/a"); err != nil {
			t.Error(err)
		}
	})
	t.Run("K25/accept-after-the-cap", func(t *testing.T) {
		var f *finding
		store, keep := keeping(&f, t)
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
			var f *finding
			store, keep := keeping(&f, t)
			f.site.Status(wellKnownPath, 410)
			f.net.Site("shop.example.net").Status(wellKnownPath, 410)
			f.fails(f.s, CodeGone)
			_, err := f.s.Discover(t.Context(), "https://shop.example.net")
			f.wants(err, CodeGone)
			f.site.Handle(wellKnownPath, document(titled))
			if err := f.s.ForgetDiscovery(t.Context(), shopOrigin); err != nil {
				t.Fatal(err)
			}
			f.finds(f.s, "Shop")
			f.finds(f.session(keep), "Shop")
			if keys := placesIn(store); !slices.Equal(keys, []string{"gone/https://shop.example.net/.well-known/anml"}) {
				t.Error(keys)
			}
		})
	}
	t.Run("ANML-6.5.1-14/reject-another-origin's-word", func(t *testing.T) {
		var f *finding
		_, keep := keeping(&f, t)
		f.site.Status(wellKnownPath, 302, "Location", "https://bank.example/a")
		f.net.Site("bank.example").Status("/a", 410)
		f.fails(f.s, CodeNoANML)
		f.net.Journal().Clear()
		f.fails(f.session(keep), CodeNoANML) // the redirect is not followed to what is gone
		f.requests("shop.example", getWellKnown)
		f.requests("bank.example")
		_, err := f.session(keep).Open(t.Context(), "https://bank.example/a")
		f.wants(err, CodeGone)
	})
	t.Run("ANML-6.5.1-14/accept-the-origin's-own-word-elsewhere", func(t *testing.T) {
		var f *finding
		_, keep := keeping(&f, t)
		f.site.Status(wellKnownPath, 302, "Location", "/a").Status("/a", 410)
		f.fails(f.s, CodeGone)
		f.net.Journal().Clear()
		f.fails(f.session(keep), CodeGone)
		f.requests("shop.example")
	})
	for name, record := range map[string]string{"damaged": "{", "undated": "{}", "of-a-wrong-clock": `{"at":"2099-01-01T00:00:00Z"}`} {
		t.Run("K25/accept-after-the-cap-a-record-"+name, func(t *testing.T) {
			var f *finding
			store, keep := keeping(&f, t)
			f.site.Handle(wellKnownPath, document(titled))
			if err := store.Put(t.Context(), "gone/"+shopDoc, []byte(record)); err != nil {
				t.Fatal(err)
			}
			f.fails(f.s, CodeGone)
			f.net.Clock().Advance(30*24*time.Hour - time.Second)
			f.fails(f.session(keep), CodeGone)
			f.requests("shop.example")
			f.net.Clock().Advance(time.Second)
			f.finds(f.session(keep), "Shop")
		})
	}
	t.Run("ANML-6.5.1-15/reject-what-a-site-ref-found-gone", func(t *testing.T) {
		var f *finding
		keeping(&f, t)
		f.net.Site("bank.example").Status(wellKnownPath, 410)
		f.site.Handle("/a", document(`<head><title>Shop</title><site-ref domain="bank.example" canonical="https://bank.example/.well-known/anml"/></head>`))
		for range 2 {
			if _, err := f.s.Open(t.Context(), shopOrigin+"/a"); err != nil {
				t.Fatal(err)
			}
		}
		_, err := f.s.Discover(t.Context(), "https://bank.example")
		f.wants(err, CodeGone)
		f.requests("bank.example", getWellKnown)
	})
	for _, call := range []string{"Put", "Delete", "Keys"} {
		t.Run("ANML-6.5.1-14/accept-a-store-that-fails-to-"+call, func(t *testing.T) {
			store := &failingStore{Store: NewMemoryStore()}
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
		store := &failingStore{Store: NewMemoryStore()}
		f := newFinding(t, func(u *User, _ *Options) { u.Store = store })
		f.site.Handle(wellKnownPath, document(titled))
		store.fails = "Get"
		f.fails(f.s, lookleap.CodeIO)
		f.requests("shop.example")
	})
}
