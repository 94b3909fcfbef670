package agent

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/internal/lab"
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

// TestPlacesAndErrorsAreRecorded: where a page was found, and what the error of a request quotes, is
// told by the service too.
func TestPlacesAndErrorsAreRecorded(t *testing.T) {
	told := func(t *testing.T, s *Session) {
		t.Helper()
		if got := domains(sourcesOf(s, "b.example", secret)); got != "shop.example" {
			t.Errorf("told by %q", got)
		}
	}
	t.Run("O03/reject-place-of-a-page", func(t *testing.T) {
		f := newFinding(t)
		f.site.Redirect("/page", "/orders/"+secret).Handle("/orders/"+secret, document(titled))
		f.opens()
		told(t, f.s)
	})
	t.Run("O03/reject-error-of-a-page", func(t *testing.T) {
		f := newFinding(t)
		s := f.on(fetcherFunc(func(*http.Request) (*http.Response, error) {
			return nil, errors.New(`malformed HTTP status code "` + secret + `"`)
		}), Options{})
		_, err := s.Open(t.Context(), pageURL)
		hasCode(t, err, lookleap.CodeUnreachable)
		told(t, s)
	})
}

// TestDroppedPages: after a failure the page that was kept is not used to ask whether it changed.
func TestDroppedPages(t *testing.T) {
	for name, c := range map[string]struct {
		now  http.Handler
		code lookleap.Code
	}{
		"reject-failure":           {lab.Status(http.StatusInternalServerError), lookleap.CodeBadStatus},
		"reject-unusable-document": {scripted(http.StatusOK, "text", "Content-Type", "text/plain"), lookleap.CodeMediaType},
	} {
		t.Run("ANML-8.1.1-06/"+name, func(t *testing.T) {
			f := newFinding(t)
			asked := func() string {
				requests := f.net.Journal().Requests("shop.example")
				return requests[len(requests)-1].Header.Get("If-None-Match")
			}
			f.serves("60", "Etag", `"1"`)
			f.opens()
			for _, want := range []string{`"1"`, ""} {
				f.net.Clock().Advance(2 * time.Minute)
				f.site.Handle("/page", c.now)
				_, err := f.s.Open(t.Context(), pageURL)
				hasCode(t, err, c.code)
				if got := asked(); got != want {
					t.Errorf("If-None-Match: %q, want %q", got, want)
				}
			}
		})
	}
}

// TestFailureWithoutATime: a page whose server does not say when to come back is requested again.
func TestFailureWithoutATime(t *testing.T) {
	f := newFinding(t)
	f.site.Status("/page", http.StatusInternalServerError)
	for range 2 {
		_, err := f.s.Open(t.Context(), pageURL)
		hasCode(t, err, lookleap.CodeBadStatus)
	}
	f.requests("shop.example", "GET /page", "GET /page")
	if n := f.s.memory.closed.Len(); n != 0 {
		t.Errorf("%d URLs are remembered", n)
	}
}

// errGoneByName is an error of a Fetcher that has the code of a 410.
type errGoneByName struct{ error }

func (errGoneByName) ReasonCode() lookleap.Code { return CodeGone }

// noting is a store that notes what it is asked to keep of discovery, and does not keep it.
type noting struct {
	Store
	keys *[]string
}

func (n noting) Put(ctx context.Context, key string, value []byte) error {
	if !strings.HasPrefix(key, keyGone) {
		return n.Store.Put(ctx, key, value)
	}
	*n.keys = append(*n.keys, key)
	return errTest
}

// TestGoneFaults: only a response says that a document is gone, whatever the store does.
func TestGoneFaults(t *testing.T) {
	t.Run("ANML-6.5.1-14/reject-what-cannot-be-stored", func(t *testing.T) { // it counts, and the error says so
		for path, want := range map[string][]string{
			wellKnownPath: {keyGone + shopDoc}, "/a": {keyGone + shopOrigin + "/a", keyGone + shopDoc},
		} {
			var keys []string
			f := newFinding(t, func(u *User, _ *Options) { u.Store = noting{NewMemoryStore(), &keys} })
			f.site.Redirect(wellKnownPath, path).Status(path, 410)
			_, err := f.s.Open(t.Context(), shopDoc)
			if hasCode(t, err, CodeGone); !errors.Is(err, errTest) || !slices.Equal(keys, want) {
				t.Errorf("%v, %q", err, keys)
			}
		}
	})
	t.Run("ANML-6.5.1-14/reject-word-of-a-fetcher", func(t *testing.T) {
		f := newFinding(t)
		s := f.on(fetcherFunc(func(*http.Request) (*http.Response, error) { return nil, errGoneByName{errTest} }), Options{})
		_, err := s.Open(t.Context(), shopDoc)
		hasCode(t, err, CodeNoANML)
	})
}

// TestReadLimits: a document is read up to the session's limit, and its server's own site is
// looked for.
func TestReadLimits(t *testing.T) {
	t.Run("accept-larger-than-by-default", func(t *testing.T) {
		long := titled + "<body>" + strings.Repeat(`<section id="s"><text>`+strings.Repeat("word ", 1000)+`</text></section>`, 300) + "</body>"
		for limit, code := range map[int]lookleap.Code{2 << 20: lookleap.CodeOK, 1 << 20: lookleap.CodeTooLarge} {
			f := newFinding(t, func(_ *User, o *Options) { o.Limits.Document = limit })
			f.site.Handle("/page", document(long))
			_, err := f.s.Open(t.Context(), pageURL)
			hasCode(t, err, code)
		}
	})
	t.Run("reject-larger-than-the-host-allows", func(t *testing.T) { // however small that is
		f := newFinding(t, func(_ *User, o *Options) { o.Read.Limits.Bytes = 1 })
		f.site.Handle("/page", document(titled))
		_, err := f.s.Open(t.Context(), pageURL)
		hasCode(t, err, lookleap.CodeLimit)
	})
	t.Run("accept-without-a-namespace", func(t *testing.T) { // in the media type of ANML
		f := newFinding(t, func(_ *User, o *Options) { o.Read.AcceptMissingNamespace = true })
		f.site.Body("/page", anml.MediaTypeXML, `<anml version="1.0" role="service">`+titled+`</anml>`)
		f.opens()
	})
	t.Run("accept-its-own-charset-and-version", func(t *testing.T) { // not those in the host's options
		findings := make(map[string]int)
		for charset, version := range map[string]string{"": "", "utf-16": "9.0"} {
			f := newFinding(t, func(_ *User, o *Options) { o.Read.Charset, o.Read.Version = charset, version })
			f.site.Handle("/page", document(titled))
			findings[charset] = len(f.opens().Document().Findings())
		}
		if findings[""] != findings["utf-16"] {
			t.Error(findings)
		}
	})
	t.Run("accept-any-site-over-http", func(t *testing.T) { // which is no server's own
		f := newFinding(t)
		host := f.net.Host()
		host.Fetcher = f.net.ForeignTransport()
		s := sessionOn(t, host, f.user(), Options{InsecureHTTP: true, Read: anml.ReadOptions{Self: []string{"shop.example"}}})
		f.site.Plain().Handle("/page", document(`<site domain="other.example">`+titled+`</site>`))
		p, err := s.Open(t.Context(), "http://shop.example/page")
		must(t, err)
		for _, f := range p.Document().Findings() {
			if f.Code == anml.CodeNoServingSite {
				t.Error(f)
			}
		}
	})
	t.Run("reject-without-own-site", func(t *testing.T) {
		for domain, want := range map[string]bool{"other.example": true, "shop.example": false} {
			f := newFinding(t)
			f.site.Handle("/page", document(`<site domain="`+domain+`">`+titled+`</site>`))
			missing := func(f lookleap.Finding) bool { return f.Code == anml.CodeNoServingSite }
			if got := slices.ContainsFunc(f.opens().Document().Findings(), missing); got != want {
				t.Errorf("%s: %t", domain, got)
			}
		}
	})
}

// TestLinksOfAWellKnownPage: a web page at the well-known URI is no document, and leads to none.
func TestLinksOfAWellKnownPage(t *testing.T) {
	f := newFinding(t)
	f.site.Body(wellKnownPath, "text/html", `<link rel="alternate" type="application/anml+xml" href="/doc">`).Handle("/doc", document(titled))
	_, err := f.s.Open(t.Context(), shopDoc)
	hasCode(t, err, CodeNoANML)
	f.requests("shop.example", getWellKnown)
}

// TestWants: only a named serialization is a wish.
func TestWants(t *testing.T) {
	for accept, want := range map[string]string{
		"": "", "*/*": "", "text/html, application/*": "", "application/anml+xml": "application/anml+xml",
		"Application/ANML+JSON;q=0.5, text/html": "application/anml+json", "application/anml+xml;q=0.5, */*;q=0.1": "application/anml+xml",
		"application/anml+xml;q=0.2, application/anml+json": "application/anml+json",
	} {
		got := ""
		if f, ok := wants(http.Header{"Accept": {accept}}); ok {
			got = f.MediaType()
		}
		if got != want {
			t.Errorf("%q: %q, want %q", accept, got, want)
		}
	}
}
