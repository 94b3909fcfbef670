package agent

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/internal/lab"
)

// The shop of most tests.
const (
	shopOrigin = "https://shop.example"
	shopDoc    = "https://shop.example/.well-known/anml"
	titled     = "<head><title>Shop</title></head>"
)

// finding is a lab with one shop, and a session that looks for its document.
type finding struct {
	*testing.T
	net  *lab.Internet
	site *lab.Site
	s    *Session
	told []Notice
}

func newFinding(t *testing.T, change ...func(*User, *Options)) *finding {
	t.Helper()
	f := &finding{T: t, net: newLab(t)}
	f.site = f.net.Site("shop.example")
	f.s = f.session(change...)
	return f
}

// session begins another session on the same lab.
func (f *finding) session(change ...func(*User, *Options)) *Session {
	f.Helper()
	u := User{Notify: func(_ context.Context, n Notice) { f.told = append(f.told, n) }}
	var o Options
	for _, c := range change {
		c(&u, &o)
	}
	return newSession(f.T, f.net, u, o)
}

// scripted is a handler with a status, a body, and pairs of header names and values.
func scripted(status int, body string, header ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Add(header[i], header[i+1])
		}
		if len(w.Header().Values("Content-Type")) == 0 && body != "" {
			w.Header().Set("Content-Type", anml.MediaTypeXML)
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	})
}

// document answers with a document of these sections.
func document(sections string, header ...string) http.Handler {
	return scripted(http.StatusOK, service(sections), header...)
}

// asked lists the requests that reached a host.
func (f *finding) asked(host string) []string { return f.net.Journal().Paths(host) }

// wants checks the code of an error, and what it is made of.
func (f *finding) wants(err error, code lookleap.Code) {
	f.Helper()
	if got := lookleap.CodeOf(err); got != code {
		f.Errorf("code %s, want %s: %v", got, code, err)
	}
	var e *lookleap.Error
	if err != nil && (!errors.As(err, &e) || e.Error() == "") {
		f.Errorf("%T is no *lookleap.Error", err)
	}
}

// finds discovers the shop's document and checks its title.
func (f *finding) finds(s *Session, title string) *Page {
	f.Helper()
	p, err := s.Discover(f.Context(), shopOrigin)
	if err != nil {
		f.Fatal(err)
	}
	if got := p.Document().Head().Title(); got != title {
		f.Errorf("title %q, want %q", got, title)
	}
	return p
}

// fails discovers nothing, with a code.
func (f *finding) fails(s *Session, code lookleap.Code) notFound {
	f.Helper()
	p, err := s.Discover(f.Context(), shopOrigin)
	f.wants(err, code)
	e, trace := new(lookleap.Error), new(DiscoveryTrace)
	if errors.As(err, &trace); p != nil || !errors.As(err, &e) {
		f.Fatalf("%v, %v", p, err)
	}
	response := responseBehind(err)
	return notFound{err, e.Subject, response.Status, response.RetryAfter, trace.Attempts}
}

// notFound is a discovery that found nothing.
type notFound struct {
	error
	Subject    string
	Status     int
	RetryAfter time.Duration
	Trace      []Attempt
}

// requests checks how many requests reached a host.
func (f *finding) requests(host string, want ...string) {
	f.Helper()
	if got := f.asked(host); !slices.Equal(got, want) {
		f.Errorf("requests to %s: %q, want %q", host, got, want)
	}
}

const getWellKnown = "GET " + wellKnownPath

func hasFinding(p *Page, code lookleap.Code) bool {
	return slices.ContainsFunc(p.Findings(), func(f lookleap.Finding) bool { return f.Code == code && f.Message != "" })
}

// placesIn lists what a store knows of places.
func placesIn(s Store) []string {
	gone, _ := s.Keys(context.Background(), keyGone)
	moved, _ := s.Keys(context.Background(), keyMoved)
	return append(gone, moved...)
}

type fetcherFunc func(*http.Request) (*http.Response, error)

func (f fetcherFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// on is a session on a foreign Fetcher.
func (f *finding) on(fetcher lookleap.Fetcher, o Options) *Session {
	f.Helper()
	host := f.net.Host()
	host.Fetcher = fetcher
	u := User{Notify: func(_ context.Context, n Notice) { f.told = append(f.told, n) }}
	s, err := New(host, o).NewSession(u)
	if err != nil {
		f.Fatal(err)
	}
	return s
}

// failingStore fails one of its methods, and counts the calls of each.
type failingStore struct {
	Store
	fails string
	calls map[string]int
}

var errStore = errors.New("disk on fire")

func (f *failingStore) call(method string) error {
	if f.calls == nil {
		f.calls = make(map[string]int)
	}
	if f.calls[method]++; f.fails == method {
		return errStore
	}
	return nil
}

func (f *failingStore) Get(ctx context.Context, key string) ([]byte, error) {
	if err := f.call("Get"); err != nil {
		return nil, err
	}
	return f.Store.Get(ctx, key)
}

func (f *failingStore) Put(ctx context.Context, key string, value []byte) error {
	if err := f.call("Put"); err != nil {
		return err
	}
	return f.Store.Put(ctx, key, value)
}

func (f *failingStore) Delete(ctx context.Context, key string) error {
	if err := f.call("Delete"); err != nil {
		return err
	}
	return f.Store.Delete(ctx, key)
}

func (f *failingStore) Keys(ctx context.Context, prefix string) ([]string, error) {
	if err := f.call("Keys"); err != nil {
		return nil, err
	}
	return f.Store.Keys(ctx, prefix)
}

func (e notFound) Unwrap() error { return e.error }
