package agent

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/lookleaptest"
)

// The rows about using a document again (sections 6.3, 8.1 and 8.1.1).

const pageURL = shopOrigin + "/page"

// serves puts a document with a lifetime of its own ("" for none) at the page's
// URL, dated by the lab's clock. A header "Date: none" leaves the date out.
func (f *finding) serves(ttl string, header ...string) {
	doc := service(titled)
	if ttl != "" {
		doc = strings.Replace(doc, "<anml ", `<anml ttl="`+ttl+`" `, 1)
	}
	f.site.HandleFunc("/page", func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Date", f.net.Clock().Now().Format(http.TimeFormat))
		h.Set("Content-Type", anml.MediaTypeXML)
		for i := 0; i < len(header); i += 2 {
			switch name, value := header[i], header[i+1]; {
			case name == "Date" && value == "none":
				h["Date"] = nil
			case name == "Date":
				h.Set(name, value)
			default:
				h.Add(name, value)
			}
		}
		if tag := h.Get("Etag"); tag != "" && r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = w.Write([]byte(doc))
	})
}

// opens opens the page.
func (f *finding) opens() *Page {
	f.Helper()
	p, err := f.s.Open(f.Context(), pageURL)
	must(f, err)
	return p
}

// usedFor checks that the page, once opened, is used without asking for exactly
// that long.
func (f *finding) usedFor(d time.Duration) {
	f.Helper()
	f.net.Journal().Clear()
	f.opens()
	if d > 0 {
		f.net.Clock().Advance(d - time.Second)
		f.opens()
		if n := len(f.net.Journal().Paths("shop.example")); n != 1 {
			f.Errorf("%d requests a second before %v", n, d)
		}
		f.net.Clock().Advance(time.Second)
	}
	f.opens()
	if n := len(f.net.Journal().Paths("shop.example")); n != 2 {
		f.Errorf("%d requests after %v", n, d)
	}
}

func datedAt(d time.Duration) string { return start.Add(d).Format(http.TimeFormat) }

func TestLifetimes(t *testing.T) {
	const ttl, none = "", ""
	for _, c := range []struct {
		id, name, ttl string
		header        []string
		want          time.Duration
	}{
		{"ANML-8.1-12", "accept-ttl", "60", nil, time.Minute},
		{"ANML-8.1-12", "accept-without-date", "60", []string{"Date", "none"}, time.Minute},
		{"ANML-8.1-12", "accept-less-its-age", "60", []string{"Age", "20"}, 40 * time.Second},
		{"ANML-8.1-12", "accept-since-its-date", "60", []string{"Date", datedAt(-45 * time.Second)}, 15 * time.Second},
		{"ANML-8.1-12", "accept-the-greater-age", "60", []string{"Date", datedAt(-10 * time.Second), "Age", "30"}, 30 * time.Second},
		{"ANML-8.1-12", "reject-a-date-to-come", "60", []string{"Date", datedAt(time.Hour)}, time.Minute},
		{"ANML-8.1-12", "reject-an-invalid-ttl", "soon", nil, 0},
		{"ANML-8.1-12", "reject-an-invalid-ttl-beside-a-lifetime", "soon", []string{"Cache-Control", "max-age=60"}, 0},
		{"ANML-8.1.1-02", "reject-no-cache", "3600", []string{"Cache-Control", "no-cache"}, 0},
		{"ANML-8.1.1-02", "reject-no-cache-of-a-field", "3600", []string{"Cache-Control", `max-age=60, no-cache="Set-Cookie"`}, 0},
		{"ANML-8.1.1-02", "reject-pragma", "3600", []string{"Pragma", "no-cache"}, 0},
		{"ANML-8.1.1-02", "accept-pragma-beside-cache-control", "3600", []string{"Pragma", "no-cache", "Cache-Control", "max-age=60"}, time.Minute},
		{"ANML-8.1.1-03", "accept-the-header's", "3600", []string{"Cache-Control", "max-age=60"}, time.Minute},
		{"ANML-8.1.1-03", "accept-the-document's", "60", []string{"Cache-Control", "max-age=3600"}, time.Minute},
		{"ANML-8.1.1-03", "reject-the-header's-nothing", "60", []string{"Cache-Control", "max-age=0"}, 0},
		{"ANML-8.1.1-03", "reject-the-document's-nothing", "0", []string{"Cache-Control", "max-age=60"}, 0},
		{"ANML-8.1.1-03", "accept-the-smallest-of-two", "3600", []string{"Cache-Control", "max-age=60", "Cache-Control", "max-age=30"}, 30 * time.Second},
		{"ANML-8.1.1-03", "reject-nonsense", "3600", []string{"Cache-Control", "max-age=soon"}, 0},
		{"ANML-8.1.1-03", "accept-from-one-base", "60", []string{"Cache-Control", "max-age=90", "Age", "40"}, 20 * time.Second},
		{"ANML-8.1.1-04", "accept-privately", "50", []string{"Cache-Control", "s-maxage=10, max-age=100"}, 50 * time.Second},
		{"ANML-8.1.1-06", "accept-expires", none, []string{"Expires", datedAt(time.Minute)}, time.Minute},
		{"ANML-8.1.1-06", "accept-max-age-over-expires", none, []string{"Expires", datedAt(time.Hour), "Cache-Control", "max-age=60"}, time.Minute},
		{"ANML-8.1.1-06", "reject-a-bad-expires", "60", []string{"Expires", "0"}, 0},
		{"ANML-8.1.1-06", "accept-ttl-alone", "60", nil, time.Minute},
		{"ANML-8.1.1-06", "reject-heuristics", none, []string{"Last-Modified", datedAt(-1000 * time.Hour)}, 0},
		{"ANML-8.1.1-06", "reject-silence", none, nil, 0},
		{"ANML-8.1.1-06", "accept-a-day-at-most", "9999999", nil, 24 * time.Hour},
		{"ANML-6.3-01", "accept-vary-by-what-is-always-sent", "60", []string{"Vary", "Accept, accept-encoding", "Vary", "User-Agent"}, time.Minute},
		{"ANML-6.3-01", "accept-vary-by-accept-language", "60", []string{"Vary", "Accept-Language,"}, time.Minute},
		{"ANML-6.3-01", "accept-vary-by-origin", "60", []string{"Vary", "Origin"}, time.Minute},
		{"ANML-6.3-01", "reject-vary-by-authorization", "60", []string{"Vary", "Authorization"}, 0},
		{"ANML-6.3-01", "reject-vary-by-an-unknown-field", "60", []string{"Vary", "Accept", "Vary", "X-Shop"}, 0},
		{"ANML-6.3-01", "reject-vary-by-anything", "60", []string{"Vary", "*"}, 0},
		{"ANML-6.3-01", "reject-vary-by-what-a-fetcher-adds", "60", []string{"Vary", "Accept, Cookie"}, 0},
		{"ANML-7.4-03", "accept-vary", "60", []string{"Vary", "Accept"}, time.Minute},
		{"ANML-15.1-01", "accept-vary", "60", []string{"Vary", "Accept"}, time.Minute},
		{"K23", "reject-no-store", "1000000000", []string{"Cache-Control", "no-store"}, 0},
		{"K23", "accept-the-smaller", "3600", []string{"Cache-Control", "max-age=5"}, 5 * time.Second},
		{"K23", "reject-a-date-to-come", "", []string{"Cache-Control", "max-age=5", "Date", datedAt(1000 * time.Hour)}, 5 * time.Second},
		{"K23", "reject-two-headers", "3600", []string{"Cache-Control", "max-age=3600", "Cache-Control", "no-store"}, 0},
		{"K23", "reject-quotes", "3600", []string{"Cache-Control", `max-age="5"`}, 0},
		{"K23", "accept-a-day-at-most", "1000000000", []string{"Cache-Control", "max-age=99999999999999999999"}, 24 * time.Hour},
	} {
		t.Run(c.id+"/"+c.name, func(t *testing.T) {
			f := newFinding(t)
			f.serves(c.ttl, c.header...)
			f.usedFor(c.want)
		})
	}
	t.Run("ANML-6.3-01/reject-the-other-serialization", func(t *testing.T) {
		f := newFinding(t)
		f.serves("60", "Vary", "Accept")
		f.opens()
		other := f.session(func(_ *User, o *Options) { o.Format = new(anml.JSON) })
		if _, err := other.Open(t.Context(), pageURL); err != nil || len(f.net.Journal().Paths("shop.example")) != 2 {
			t.Error(err, f.net.Journal().Paths("shop.example"))
		}
	})
}

func TestNoStore(t *testing.T) {
	for _, id := range []string{"ANML-8.1.1-01", "K23"} {
		t.Run(id+"/reject-keeping-anything", func(t *testing.T) {
			store := lookleap.NewMemoryStore()
			f := newFinding(t, func(u *User, _ *Options) { u.Store = store })
			f.serves("3600", "Cache-Control", "no-store", "Etag", `"1"`)
			before, _ := store.Keys(t.Context(), "")
			a, b := f.opens(), f.opens()
			if a == b || !a.opened.noStore {
				t.Error("the page was kept")
			}
			for _, r := range f.net.Journal().Requests("shop.example") {
				equals(t, r.Header.Get("If-None-Match"), "")
			}
			if after, _ := store.Keys(t.Context(), ""); len(after) != len(before) || f.s.pages.kept.Len() != 0 {
				t.Error(after)
			}
		})
	}
	t.Run("ANML-8.1.1-01/reject-what-was-kept-before", func(t *testing.T) {
		f := newFinding(t)
		f.serves("60", "Etag", `"1"`)
		f.opens()
		f.serves("60", "Etag", `"1"`, "Cache-Control", "no-store")
		f.net.Clock().Advance(time.Minute)
		f.opens() // a 304 that forbids to keep it
		equals(t, f.s.pages.kept.Len(), 0)
	})
	t.Run("ANML-8.1.1-01/accept-documents-in-memory-alone", func(t *testing.T) {
		store := lookleap.NewMemoryStore()
		f := newFinding(t, func(u *User, _ *Options) { u.Store = store })
		f.serves("3600", "Cache-Control", "max-age=3600")
		f.opens()
		keys, _ := store.Keys(t.Context(), "")
		for _, key := range keys {
			if value, _ := store.Get(t.Context(), key); strings.Contains(string(value), "Shop") {
				t.Errorf("%s holds the document", key)
			}
		}
	})
}

func TestRevalidation(t *testing.T) {
	for _, id := range []string{"ANML-8.1.1-02", "ANML-8.1.1-06"} {
		t.Run(id+"/accept-unchanged", func(t *testing.T) {
			f := newFinding(t)
			f.serves("", "Cache-Control", "no-cache", "Etag", `"1"`, "Last-Modified", datedAt(-time.Hour))
			a := f.opens()
			f.net.Clock().Advance(time.Minute)
			b := f.opens()
			r := f.net.Journal().Requests("shop.example")
			if len(r) != 2 || r[1].Header.Get("If-None-Match") != `"1"` || r[1].Header.Get("If-Modified-Since") != datedAt(-time.Hour) || r[0].Header.Get("If-None-Match") != "" {
				t.Errorf("%+v", r)
			}
			if a.doc != b.doc || a == b || !b.opened.received.Equal(start.Add(time.Minute)) || !b.opened.base.Equal(b.opened.received) || a.digest != b.digest {
				t.Error("a 304 did not renew the page")
			}
		})
		t.Run(id+"/accept-changed", func(t *testing.T) {
			f := newFinding(t)
			f.serves("", "Cache-Control", "no-cache", "Etag", `"1"`)
			a := f.opens()
			f.serves("", "Cache-Control", "no-cache", "Etag", `"2"`)
			if b := f.opens(); a.doc == b.doc {
				t.Error("the old document")
			}
		})
		t.Run(id+"/accept-without-validators", func(t *testing.T) {
			f := newFinding(t)
			f.serves("60", "Cache-Control", "no-cache")
			f.opens()
			f.opens()
			f.requests("shop.example", "GET /page", "GET /page")
		})
	}
	t.Run("ANML-8.1.1-06/accept-a-304-that-renews", func(t *testing.T) {
		f := newFinding(t)
		f.serves("", "Cache-Control", "max-age=60", "Etag", `"1"`)
		f.usedFor(time.Minute)
		f.net.Clock().Advance(59 * time.Second) // the 304 counts from its own time
		f.opens()
		equals(t, len(f.net.Journal().Paths("shop.example")), 2)
	})
	t.Run("ANML-8.1.1-06/accept-the-lifetime-of-a-304", func(t *testing.T) {
		f := newFinding(t)
		f.serves("", "Cache-Control", "max-age=60", "Etag", `"1"`)
		f.opens()
		f.net.Clock().Advance(time.Hour)
		f.serves("", "Cache-Control", "max-age=10", "Etag", `"1"`)
		f.usedFor(10 * time.Second)
	})
	t.Run("ANML-8.1.1-06/accept-a-304-without-age", func(t *testing.T) { // the old age is not that of the 304
		f := newFinding(t)
		f.serves("60", "Etag", `"1"`, "Age", "50")
		f.opens()
		f.net.Clock().Advance(time.Hour)
		f.serves("60", "Etag", `"1"`)
		f.usedFor(time.Minute)
	})
	t.Run("ANML-8.1.1-06/accept-a-304-without-date", func(t *testing.T) {
		f := newFinding(t)
		f.serves("60", "Etag", `"1"`)
		f.opens()
		f.net.Clock().Advance(time.Hour)
		f.serves("60", "Etag", `"1"`, "Date", "none")
		f.usedFor(time.Minute)
	})
	t.Run("ANML-8.1.1-06/reject-no-store-of-a-redirect-to-a-304", func(t *testing.T) {
		f := newFinding(t)
		f.serves("60", "Etag", `"1"`)
		for _, header := range [][]string{nil, {"Cache-Control", "no-store"}} {
			f.site.Status("/a", 301, append([]string{"Location", "/page"}, header...)...)
			must(t, second(f.s.Open(t.Context(), shopOrigin+"/a")))
			if n := f.s.pages.kept.Len(); (n == 0) != (header != nil) {
				t.Errorf("%d pages are kept", n)
			}
			f.net.Clock().Advance(time.Minute)
		}
	})
	t.Run("ANML-8.1.1-06/reject-a-304-of-another-place", func(t *testing.T) {
		f := newFinding(t)
		f.serves("", "Cache-Control", "no-cache", "Etag", `"1"`)
		f.opens()
		f.site.Status("/page", 307, "Location", "/other").HandleFunc("/other", func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("If-None-Match") != "" {
				w.WriteHeader(http.StatusNotModified)
				return
			}
			w.Header().Set("Content-Type", anml.MediaTypeXML)
			_, _ = w.Write([]byte(service("<head><title>Other</title></head>")))
		})
		equals(t, f.opens().Document().Head().Title(), "Other")
	})
	for name, c := range map[string]struct {
		sent, tag string // entity tags: with the page, with the 304
		again     bool   // the page is asked for whole
	}{
		"reject-a-304-of-another-tag": {`"1"`, `"2"`, true},
	} {
		t.Run("ANML-8.1.1-06/"+name, func(t *testing.T) {
			f := newFinding(t)
			f.serves("", "Cache-Control", "no-cache", "Etag", c.sent)
			old := f.opens()
			f.site.HandleFunc("/page", func(w http.ResponseWriter, r *http.Request) {
				if c.tag != "" {
					w.Header().Set("Etag", c.tag)
				}
				if r.Header.Get("If-None-Match") != "" {
					w.WriteHeader(http.StatusNotModified)
					return
				}
				document("<head><title>New</title></head>").ServeHTTP(w, r)
			})
			if p := f.opens(); (p.doc != old.doc) != c.again {
				t.Error(p.Document().Head().Title())
			}
		})
	}
}

func TestCachedBytesAreBounded(t *testing.T) {
	f := newFinding(t)
	for i := range 3 * maxCachedBytes >> 20 / 2 {
		path := fmt.Sprint("/", i)
		f.site.Handle(path, document(titled+"<body>"+strings.Repeat("x", 1000<<10)+"</body>", "Cache-Control", "max-age=60"))
		_, err := f.s.Open(t.Context(), shopOrigin+path)
		must(t, err)
	}
	if n := f.s.pages.kept.Len(); n != 16 || f.s.pages.size > maxCachedBytes {
		t.Errorf("%d pages, %d bytes", n, f.s.pages.size)
	}
}

// placesIn lists what a store knows of places.
func placesIn(s lookleap.Store) []string {
	gone, _ := s.Keys(context.Background(), keyGone)
	moved, _ := s.Keys(context.Background(), keyMoved)
	return append(gone, moved...)
}

// The rows about using a page while it is asked for again, and what happens to one
// that is on its way (section 8.1.1).

// inBubble runs a test in a bubble, on a lab whose clock stands still.
func inBubble(t *testing.T, test func(*finding)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := newFinding(t)
		test(f)
		synctest.Wait()
	})
}

func TestStaleWhileRevalidate(t *testing.T) {
	const swr = "max-age=60, stale-while-revalidate=600"
	stale := func(f *finding, ttl string, d time.Duration, header ...string) (old, now *Page) {
		f.serves(ttl, append([]string{"Cache-Control", swr, "Etag", `"1"`}, header...)...)
		old = f.opens()
		f.net.Journal().Clear()
		f.net.Clock().Advance(d)
		now = f.opens()
		return old, now
	}
	t.Run("ANML-8.1.1-05/accept-within-ttl", func(t *testing.T) {
		inBubble(t, func(f *finding) {
			old, now := stale(f, "300", 200*time.Second)
			equals(f, old, now)
			for range 10 {
				f.opens()
			}
			synctest.Wait()
			f.requests("shop.example", "GET /page")
			if renewed := f.opens(); renewed == old || !renewed.opened.received.Equal(start.Add(200*time.Second)) {
				f.Error("the page was not renewed")
			}
			f.requests("shop.example", "GET /page")
		})
	})
	for name, c := range map[string]struct {
		ttl    string
		at     time.Duration
		header []string
	}{
		"beyond-ttl":         {"300", 301 * time.Second, nil},
		"at-ttl":             {"300", 300 * time.Second, nil},
		"beyond-the-window":  {"", 660 * time.Second, nil},
		"no-cache":           {"300", 100 * time.Second, []string{"Cache-Control", "no-cache"}},
		"must-revalidate":    {"300", 100 * time.Second, []string{"Cache-Control", "must-revalidate"}},
		"depends-on-cookies": {"300", 100 * time.Second, []string{"Vary", "Cookie"}},
	} {
		t.Run("ANML-8.1.1-05/reject-"+name, func(t *testing.T) {
			inBubble(t, func(f *finding) {
				if old, now := stale(f, c.ttl, c.at, c.header...); old == now {
					f.Error("a stale page was served")
				}
			})
		})
	}
	t.Run("ANML-8.1.1-02/reject-no-cache-with-a-window", func(t *testing.T) {
		inBubble(t, func(f *finding) {
			if old, now := stale(f, "300", 100*time.Second, "Cache-Control", "no-cache"); old == now {
				f.Error("a page was served that had to be asked for again")
			}
		})
	})
	t.Run("ANML-8.1.1-05/accept-without-ttl", func(t *testing.T) {
		inBubble(t, func(f *finding) {
			if old, now := stale(f, "", 659*time.Second); old != now {
				f.Error("the stale page was not served")
			}
		})
	})
	t.Run("ANML-8.1.1-05/accept-that-fails", func(t *testing.T) {
		inBubble(t, func(f *finding) {
			old, _ := stale(f, "300", 59*time.Second)
			f.site.Status("/page", 500)
			f.net.Clock().Advance(time.Minute)
			f.opens()
			synctest.Wait()
			f.requests("shop.example", "GET /page") // one attempt
			_ = old
		})
	})
}

// TestOpeningAfterForgetting: who opens a page after it was forgotten does not get
// what others asked for before.
func TestOpeningAfterForgetting(t *testing.T) {
	t.Run("O20/reject-older-load", func(t *testing.T) {
		inBubble(t, func(f *finding) {
			f.serves("60")
			f.site.Fault("/page", lookleaptest.Delay(time.Second))
			var before, after *Page
			var wg sync.WaitGroup
			wg.Go(func() { before = f.opens() })
			synctest.Wait()
			if err := f.s.ForgetDiscovery(f.Context(), shopOrigin); err != nil {
				f.Error(err)
			}
			wg.Go(func() { after = f.opens() })
			synctest.Wait()
			f.net.Clock().Advance(2 * time.Second)
			wg.Wait()
			if n := len(f.net.Journal().Paths("shop.example")); n != 2 || before == after {
				f.Errorf("%d requests", n)
			}
			equals(f, f.opens(), after)
		})
	})
}
