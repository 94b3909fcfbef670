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
	{"one-exchange", "RoundTrip sends the request once, as it is, and returns the response as it is", "",
		ofFetcher(fetcherScript.once)},
	{"exchanges-are-separate", "an exchange leaves nothing behind for the next one: no cookie, " +
		"no answer that may not be stored, no body", "", ofFetcher(fetcherScript.separately)},
	{"no-redirects", "RoundTrip returns a redirect and does not follow it", "", ofFetcher(fetcherScript.noRedirect)},
	{"no-retries", "in a Host, RoundTrip returns an error or a response after one request, " +
		"also if the server resets the connection or responds 503", "", ofFetcher(fetcherScript.noRetry)},
	{"failures-are-errors", "a refused connection, an invalid certificate and an incomplete body are errors", "",
		ofFetcher(fetcherScript.failures)},
	{"reports-connections", "the connection is reported through net/http/httptrace before the request is sent", "",
		ofFetcher(fetcherScript.traced)},
	{"cancellation", "RoundTrip, and reading the body, return an error when the context ends", "",
		ofFetcher(fetcherScript.cancelled)},
	{"concurrent-use", "concurrent calls return the responses to their own requests", "",
		ofFetcher(fetcherScript.concurrently)},
}

// fetcherScript is a fetcher on an internet with one site.
type fetcherScript struct {
	*trial[openFetcher]
	net     *Internet
	fetcher lookleap.Fetcher
	site    *Site
}

func ofFetcher(verify func(fetcherScript)) func(*trial[openFetcher]) {
	return func(r *trial[openFetcher]) {
		n := ForTest(r)
		site := n.Site("shop.example").File("/", "text/plain", "welcome")
		verify(fetcherScript{r, n, r.open()(r.TB, n), site})
	}
}

// maxScriptBody is how many bytes a response may have. The site sends a few; a fetcher
// whose bodies do not end must fail the test, not the machine.
const maxScriptBody = 1 << 20

// send sends a request and reads the whole response.
func (s fetcherScript) send(
	ctx context.Context, method, path, body string, header ...string,
) (resp *http.Response, text string, err error) {
	req, err := http.NewRequestWithContext(ctx, method, s.site.URL(path), strings.NewReader(body))
	s.must(err, "NewRequest")
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	text, err = attemptIn(&s.probe, ctx, func(context.Context) (string, error) {
		answer, err := s.fetcher.RoundTrip(req)
		if err != nil {
			return "", err
		}
		resp = answer
		data, err := io.ReadAll(io.LimitReader(resp.Body, maxScriptBody+1))
		if len(data) > maxScriptBody {
			err = fmt.Errorf("the body of the response has more than %d bytes", maxScriptBody)
		}
		return string(data), errors.Join(err, resp.Body.Close())
	})
	return resp, text, err
}

// get sends a request without a body, which must get a response.
func (s fetcherScript) get(path string) (*http.Response, string) {
	s.Helper()
	resp, text, err := s.send(context.Background(), "GET", path, "")
	s.must(err, "RoundTrip")
	return resp, text
}

func (s fetcherScript) arrived(n int) {
	s.Helper()
	if got := s.net.Journal().Requests(); len(got) != n {
		s.broken("%d requests arrived instead of %d", len(got), n)
	}
}

func (s fetcherScript) once() {
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
	case got.Method != "POST" || got.Target != "/order?a=%20b" || string(got.Body) != "tea" ||
		got.Header.Get("X-Question") != "6 times 7":
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
	if resp, _ := s.get("/missing"); resp.StatusCode != http.StatusNotFound {
		s.broken("a response with the status 404 was returned as %s", resp.Status)
	}
}

func (s fetcherScript) separately() {
	var answers atomic.Int32
	s.site.HandleFunc("/count", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Set-Cookie", "id=7; Path=/")
		_, _ = fmt.Fprint(w, "answer ", answers.Add(1))
	})
	for i := range 3 {
		_, text := s.get("/count")
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

func (s fetcherScript) noRedirect() {
	s.site.Redirect("/old", "/")
	resp, _ := s.get("/old")
	s.arrived(1)
	if resp.StatusCode != http.StatusFound || resp.Header.Get("Location") != "/" {
		s.broken("the response was returned as %s", resp.Status)
	}
}

// noRetry tests the fetcher in a Host, which refuses the repetitions that it sees,
// such as those of an http.Transport.
func (s fetcherScript) noRetry() {
	s.fetcher = &lookleap.Host{Fetcher: s.fetcher}
	s.get("/")
	s.site.Status("/busy", http.StatusServiceUnavailable, "Retry-After", "0")
	if resp, _ := s.get("/busy"); resp.StatusCode != http.StatusServiceUnavailable {
		s.broken("the response was returned as %s", resp.Status)
	}
	s.arrived(2)
	s.site.Fault("/reset", Reset()) // on the connection of the first requests
	if _, _, err := s.send(context.Background(), "GET", "/reset", ""); err == nil {
		s.broken("a connection that was reset is not an error")
	}
	s.arrived(3)
}

func (s fetcherScript) failures() {
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

func (s fetcherScript) traced() {
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

func (s fetcherScript) cancelled() {
	s.site.Fault("/mute", Mute()).File("/stall", "text/plain", strings.Repeat("text ", 1000)).Fault("/stall", Stall())
	for _, path := range []string{"/mute", "/stall"} {
		ctx, cancel := context.WithTimeout(context.Background(), s.patience/50)
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

func (s fetcherScript) concurrently() {
	s.site.HandleFunc("/echo*", func(w http.ResponseWriter, req *http.Request) { _, _ = io.WriteString(w, req.URL.Path) })
	s.together(16, func(ctx context.Context, i int) error {
		path := fmt.Sprint("/echo/", i)
		_, text, err := s.send(ctx, "GET", path, "")
		if err == nil && text != path {
			err = fmt.Errorf("the response to %s was %q", path, text)
		}
		return err
	})
}
