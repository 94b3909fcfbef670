package lookleaptest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/lookleap/lookleap"
)

// TestFetcher tests an implementation of [lookleap.Fetcher]. Open returns one that reaches
// the sites of an internet, for example with the Dial method of the [Internet] and its
// certificate authority, or around the fetcher of its FetcherOptions.
func TestFetcher(t *testing.T, open func(t testing.TB, n *Internet) lookleap.Fetcher) {
	t.Helper()
	testContract(t, overInternet(open), fetcherPromises)
}

// overInternet is the engine of parts that reach an internet.
func overInternet[T any](open func(t testing.TB, n *Internet) T) Engine[func(testing.TB, *Internet) T] {
	return Engine[func(testing.TB, *Internet) T]{
		Open: func(testing.TB, string) func(testing.TB, *Internet) T { return open }, Private: true,
	}
}

type openFetcher = func(testing.TB, *Internet) lookleap.Fetcher

var fetcherPromises = []promise[openFetcher]{
	{
		name:   "one-exchange",
		text:   "RoundTrip sends the request once, as it is, and returns the response as it is",
		verify: fetchesOnce,
	}, {
		name:   "exchanges-are-separate",
		text:   "an exchange leaves nothing behind for the next one: no cookie, no answer that may not be stored, no body",
		verify: fetchesSeparately,
	}, {
		name:   "no-redirects",
		text:   "RoundTrip returns a redirect and does not follow it",
		verify: fetchesNoRedirect,
	}, {
		name:   "no-retries",
		text:   "in a Host, RoundTrip returns an error or a response after one request, also if the server resets the connection or responds 503",
		verify: fetchesNoRetry,
	}, {
		name:   "failures-are-errors",
		text:   "a refused connection, an invalid certificate and an incomplete body are errors",
		verify: fetchesFailures,
	}, {
		name:   "reports-connections",
		text:   "the connection is reported through net/http/httptrace before the request is sent",
		verify: fetchesTraced,
	}, {
		name:   "cancellation",
		text:   "RoundTrip, and reading the body, return an error when the context ends",
		verify: fetchesCancelled,
	}, {
		name:   "concurrent-use",
		text:   "concurrent calls return the responses to their own requests",
		verify: fetchesConcurrently,
	},
}

// fetcherScript is a fetcher on an internet with one site.
type fetcherScript struct {
	*trial[openFetcher]
	net     *Internet
	fetcher lookleap.Fetcher
	site    *Site
}

func openFetch(r *trial[openFetcher]) fetcherScript {
	r.Helper()
	n := NewInternet()
	r.Cleanup(n.Close)
	site := n.Site("shop.example").File("/", "text/plain", "welcome")
	return fetcherScript{r, n, r.open()(r.TB, n), site}
}

// maxScriptBody is how many bytes a response may have. The site sends a few; a fetcher
// whose bodies do not end must fail the test, not the machine.
const maxScriptBody = 1 << 20

// send sends a request and reads the whole response.
func (s fetcherScript) send(ctx context.Context, method, path, body string, header ...string) (resp *http.Response, text string, err error) {
	err = s.attemptIn(ctx, func(ctx context.Context) error {
		var reader io.Reader
		if body != "" {
			reader = strings.NewReader(body)
		}
		req, err := http.NewRequestWithContext(ctx, method, s.site.URL(path), reader)
		if err != nil {
			return err
		}
		for i := 0; i+1 < len(header); i += 2 {
			req.Header.Set(header[i], header[i+1])
		}
		if resp, err = s.fetcher.RoundTrip(req); err != nil {
			return err
		}
		data, err := io.ReadAll(io.LimitReader(resp.Body, maxScriptBody+1))
		if len(data) > maxScriptBody {
			err = fmt.Errorf("the body of the response has more than %d bytes", maxScriptBody)
		}
		text = string(data)
		return errors.Join(err, resp.Body.Close())
	})
	return resp, text, err
}

func (s fetcherScript) arrived(n int) {
	s.Helper()
	if got := s.net.Journal().Requests(); len(got) != n {
		s.broken("%d requests arrived instead of %d", len(got), n)
	}
}

func fetchesOnce(r *trial[openFetcher]) {
	s := openFetch(r)
	s.site.HandleFunc("/order", func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("X-Answer", "42")
		w.Header().Add("X-Twice", "one")
		w.Header().Add("X-Twice", "two")
		w.WriteHeader(http.StatusCreated)
		_, _ = io.Copy(w, req.Body)
	})
	resp, text, err := s.send(context.Background(), "POST", "/order?a=%20b", "tea", "X-Question", "6 times 7")
	s.must(err, "RoundTrip")
	s.arrived(1)
	got := s.net.Journal().Requests()[0]
	switch {
	case got.Method != "POST" || got.Target != "/order?a=%20b" || string(got.Body) != "tea" || got.Header.Get("X-Question") != "6 times 7":
		s.broken("the request arrived as %s %s with the body %q", got.Method, got.Target, got.Body)
	case resp.StatusCode != http.StatusCreated || resp.Header.Get("X-Answer") != "42" || text != "tea":
		s.broken("the response was returned as %s with the body %q", resp.Status, text)
	case !slices.Equal(resp.Header.Values("X-Twice"), []string{"one", "two"}):
		s.broken("a header that the response has twice was returned as %q", resp.Header.Values("X-Twice"))
	}
	long := strings.Repeat("tea ", 64<<10)
	_, text, err = s.send(context.Background(), "POST", "/order", long)
	if err != nil || text != long {
		s.broken("a body of %d bytes was returned with %d bytes and the error %v", len(long), len(text), err)
	}
	resp, _, err = s.send(context.Background(), "GET", "/missing", "")
	s.must(err, "RoundTrip")
	if resp.StatusCode != http.StatusNotFound {
		s.broken("a response with the status 404 was returned as %s", resp.Status)
	}
}

func fetchesSeparately(r *trial[openFetcher]) {
	s := openFetch(r)
	var answers atomic.Int32
	s.site.HandleFunc("/count", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Set-Cookie", "id=7; Path=/")
		_, _ = fmt.Fprint(w, "answer ", answers.Add(1))
	})
	for i := range 3 {
		_, text, err := s.send(context.Background(), "GET", "/count", "")
		s.must(err, "RoundTrip")
		if want := fmt.Sprint("answer ", i+1); text != want {
			s.broken("the body of the response %q was returned as %q", want, text)
		}
	}
	s.arrived(3)
	for _, got := range s.net.Journal().Requests() {
		if cookie := got.Header.Get("Cookie"); cookie != "" {
			s.broken("a request was sent with the cookie %q of an earlier response", cookie)
		}
	}
}

func fetchesNoRedirect(r *trial[openFetcher]) {
	s := openFetch(r)
	s.site.Redirect("/old", "/")
	resp, _, err := s.send(context.Background(), "GET", "/old", "")
	s.must(err, "RoundTrip")
	s.arrived(1)
	if resp.StatusCode != http.StatusFound || resp.Header.Get("Location") != "/" {
		s.broken("the response was returned as %s", resp.Status)
	}
}

// fetchesNoRetry tests the fetcher in a Host, which refuses the repetitions that it sees,
// such as those of an http.Transport.
func fetchesNoRetry(r *trial[openFetcher]) {
	s := openFetch(r)
	s.fetcher = &lookleap.Host{Fetcher: s.fetcher}
	if _, _, err := s.send(context.Background(), "GET", "/", ""); err != nil {
		s.broken("a first request returned the error %q", err)
	}
	s.site.Status("/busy", http.StatusServiceUnavailable, "Retry-After", "0")
	resp, _, err := s.send(context.Background(), "GET", "/busy", "")
	s.must(err, "RoundTrip")
	if resp.StatusCode != http.StatusServiceUnavailable {
		s.broken("the response was returned as %s", resp.Status)
	}
	s.arrived(2)
	s.site.Fault("/reset", Reset()) // on the connection of the first requests
	if _, _, err := s.send(context.Background(), "GET", "/reset", ""); err == nil {
		s.broken("a connection that was reset is not an error")
	}
	s.arrived(3)
}

func fetchesFailures(r *trial[openFetcher]) {
	s := openFetch(r)
	s.site.File("/long", "text/plain", strings.Repeat("text ", 1000)).Fault("/long", Truncated())
	for _, failure := range []struct {
		what string
		set  func()
		path string
	}{
		{"an incomplete body", func() {}, "/long"},
		{"an invalid certificate", func() { s.site = s.net.Site("fake.example").Certificate(CertificateUnknownCA) }, "/"},
		{"a refused connection", func() { s.site = s.net.Site("off.example").Connection(ConnectionRefused) }, "/"},
	} {
		failure.set()
		if _, _, err := s.send(context.Background(), "GET", failure.path, ""); err == nil || errors.Is(err, errHung) {
			s.broken("for %s, the error is %v", failure.what, err)
		}
	}
}

func fetchesTraced(r *trial[openFetcher]) {
	s := openFetch(r)
	var remote string
	ctx := httptrace.WithClientTrace(context.Background(), &httptrace.ClientTrace{
		GotConn: func(c httptrace.GotConnInfo) {
			if len(s.net.Journal().Requests()) == 0 {
				remote = c.Conn.RemoteAddr().String()
			}
		},
	})
	_, _, err := s.send(ctx, "GET", "/", "")
	s.must(err, "RoundTrip")
	if want := netip.AddrPortFrom(s.site.Addr(), 443).String(); remote != want {
		s.broken("the reported connection has the address %q instead of %q", remote, want)
	}
}

func fetchesCancelled(r *trial[openFetcher]) {
	s := openFetch(r)
	s.site.Fault("/mute", Mute()).File("/stall", "text/plain", strings.Repeat("text ", 1000)).Fault("/stall", Stall())
	for _, path := range []string{"/mute", "/stall"} {
		ctx, cancel := context.WithTimeout(context.Background(), s.engine.Patience/50)
		_, _, err := s.send(ctx, "GET", path, "")
		cancel()
		if err == nil || errors.Is(err, errHung) {
			s.broken("for a server that does not respond, the error is %v", err)
		}
	}
	if _, _, err := s.send(cancelled(), "GET", "/never", ""); err == nil {
		s.broken("a request whose context had ended was sent")
	}
	for _, got := range s.net.Journal().Requests() {
		if got.Path == "/never" {
			s.broken("a request whose context had ended was sent")
		}
	}
}

func fetchesConcurrently(r *trial[openFetcher]) {
	s := openFetch(r)
	s.site.HandleFunc("/echo*", func(w http.ResponseWriter, req *http.Request) { _, _ = io.WriteString(w, req.URL.Path) })
	for i, err := range r.together(16, func(ctx context.Context, i int) error {
		path := fmt.Sprint("/echo/", i)
		_, text, err := s.send(ctx, "GET", path, "")
		if err == nil && text != path {
			err = fmt.Errorf("the response to %s was %q", path, text)
		}
		return err
	}) {
		if err != nil {
			s.broken("caller %d of 16: %v", i, err)
		}
	}
}
