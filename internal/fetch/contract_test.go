package fetch_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/internal/lab"
)

// answering is a Fetcher that reports no connection and always answers the same.
func answering(resp http.Response, body string) fetcherFunc {
	return func(*http.Request) (*http.Response, error) {
		resp := resp
		if resp.Header == nil {
			resp.Header = http.Header{}
		}
		resp.Body = io.NopCloser(strings.NewReader(body))
		return &resp, nil
	}
}

// TestHeaderSize: the size of a header is that of its lines, with what separates name and value.
func TestHeaderSize(t *testing.T) {
	f := answering(http.Response{StatusCode: 200, Header: http.Header{"A": {"12", "345"}, "Bcd": {""}}}, "")
	const size = len("A: 12\r\n") + len("A: 345\r\n") + len("Bcd: \r\n")
	for limit, want := range map[int]lookleap.Code{size - 1: lookleap.CodeHeaderTooLarge, size: lookleap.CodeOK} {
		if _, err := do(t, f, &fetch.Request{Limits: fetch.Limits{Header: limit}}, "https://shop.example/"); lookleap.CodeOf(err) != want {
			t.Errorf("%d bytes of %d: %v", size, limit, err)
		}
	}
}

// TestRequestOfAFetcher: what a Fetcher is asked to send.
func TestRequestOfAFetcher(t *testing.T) {
	for name, c := range map[string]struct {
		request fetch.Request
		accept  []string
		agent   string
	}{
		"accept-nothing-wanted":   {fetch.Request{}, nil, fetch.UserAgent},
		"accept-types":            {fetch.Request{Accept: []string{"a/b", "c/d"}}, []string{"a/b, c/d"}, fetch.UserAgent},
		"accept-own-accept":       {fetch.Request{Header: http.Header{"Accept": {"*/*"}}, Accept: []string{"a/b"}}, []string{"*/*"}, fetch.UserAgent},
		"accept-own-user-agent":   {fetch.Request{Header: http.Header{"User-Agent": {"mine"}}}, nil, "mine"},
		"accept-other-header":     {fetch.Request{Header: http.Header{"X-Mine": {"1"}}}, nil, fetch.UserAgent},
		"accept-name-not-capital": {fetch.Request{Header: http.Header{"user-agent": {"mine"}}}, nil, "mine"},
	} {
		t.Run(name, func(t *testing.T) {
			var got *http.Request
			f := fetcherFunc(func(r *http.Request) (*http.Response, error) {
				got = r
				return &http.Response{StatusCode: http.StatusNoContent, Header: http.Header{}, Body: http.NoBody}, nil
			})
			must(t, f, &c.request, "https://shop.example/")
			if strings.Join(got.Header["Accept"], "|") != strings.Join(c.accept, "|") || len(got.Header["Accept"]) != len(c.accept) || got.Header.Get("User-Agent") != c.agent {
				t.Errorf("header %v", got.Header)
			}
			if got.Header.Get("Accept-Encoding") != "gzip" || got.Header.Get("X-Mine") != c.request.Header.Get("X-Mine") || len(c.request.Header) > 1 {
				t.Errorf("header %v of %v", got.Header, c.request.Header)
			}
			if got.Proto != "HTTP/1.1" || got.ProtoMajor != 1 || got.ProtoMinor != 1 || got.Host != "shop.example" || got.Body != nil || got.ContentLength != 0 {
				t.Errorf("request %+v", got)
			}
		})
	}
}

// TestEndsOfBodies: only a body of HTTP/1 that nothing but the end of its connection ends may be cut
// without notice.
func TestEndsOfBodies(t *testing.T) {
	open := http.Response{StatusCode: 200, ProtoMajor: 1, ProtoMinor: 1, Close: true, ContentLength: -1}
	with := func(change func(*http.Response)) http.Response {
		resp := open
		change(&resp)
		return resp
	}
	gzipped := http.Header{"Content-Encoding": {"gzip"}}
	read := func(_ *fetch.Response, r io.Reader) error {
		_, err := io.Copy(io.Discard, r)
		return err
	}
	for name, c := range map[string]struct {
		resp http.Response
		body string
		want lookleap.Code
	}{
		"reject-end-of-the-connection": {open, "hello", lookleap.CodeTruncated},
		"accept-http2":                 {with(func(r *http.Response) { r.ProtoMajor = 2 }), "hello", lookleap.CodeOK},
		"accept-open-connection":       {with(func(r *http.Response) { r.Close = false }), "hello", lookleap.CodeOK},
		"accept-length":                {with(func(r *http.Response) { r.ContentLength = 5 }), "hello", lookleap.CodeOK},
		"accept-chunks":                {with(func(r *http.Response) { r.TransferEncoding = []string{"chunked"} }), "hello", lookleap.CodeOK},
		"accept-decompressed":          {with(func(r *http.Response) { r.Uncompressed = true }), "hello", lookleap.CodeOK},
		"accept-gzip":                  {with(func(r *http.Response) { r.Header = gzipped }), string(zip([]byte("hello"))), lookleap.CodeOK},
		"reject-cut-gzip":              {with(func(r *http.Response) { r.Header = gzipped }), string(zip([]byte("hello"))[:20]), lookleap.CodeTruncated},
		"accept-decompressed-with-the-compressed-length": {with(func(r *http.Response) { r.Uncompressed, r.ContentLength = true, 3 }), "hello", lookleap.CodeOK},
	} {
		t.Run(name, func(t *testing.T) {
			for kind, stream := range map[string]func(*fetch.Response, io.Reader) error{"whole": nil, "stream": read} {
				if _, err := do(t, answering(c.resp, c.body), &fetch.Request{Stream: stream}, "https://shop.example/"); lookleap.CodeOf(err) != c.want {
					t.Errorf("%s: %v", kind, err)
				}
			}
		})
	}
}

// TestIdleReads: a body may return nothing a hundred times in a row, however often it does so.
func TestIdleReads(t *testing.T) {
	for name, c := range map[string]struct {
		reads string // ".": a hundred that return nothing, "!": one that does, "x": a byte
		want  lookleap.Code
	}{
		"accept-hundred-before-the-end":     {".", lookleap.CodeOK},
		"accept-hundred-before-a-byte":      {".x.x.", lookleap.CodeOK},
		"accept-hundred-after-a-byte":       {"x.", lookleap.CodeOK},
		"reject-one-more-before-the-end":    {".!", lookleap.CodeInternal},
		"reject-one-more-after-some-others": {"x.x.!x", lookleap.CodeInternal},
	} {
		t.Run(name, func(t *testing.T) {
			reads := strings.NewReplacer(".", strings.Repeat("!", 100)).Replace(c.reads)
			body := brokenBody{
				read: func(p []byte) (int, error) {
					if reads == "" {
						return 0, io.EOF
					}
					next := reads[0]
					reads = reads[1:]
					if next == '!' {
						return 0, nil
					}
					return copy(p, "x"), nil
				},
				close: func() error { return nil },
			}
			f := fetcherFunc(func(*http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: 200, Header: http.Header{}, Body: body, ContentLength: -1}, nil
			})
			if _, err := do(t, f, new(fetch.Request), "https://shop.example/"); lookleap.CodeOf(err) != c.want {
				t.Error(err)
			}
		})
	}
}

// TestBudgetOfNothing: a budget below 1 has no request.
func TestBudgetOfNothing(t *testing.T) {
	for n, left := range map[int]int{-1: 0, 0: 0, 1: 1} {
		if b := fetch.NewBudget(n); b.Left() != left || b.Take() != (left > 0) || b.Take() || b.Left() != 0 {
			t.Errorf("%d: %d left", n, b.Left())
		}
	}
}

// TestFreshnessOfHops: a redirect that must not be stored makes the response one that must not.
func TestFreshnessOfHops(t *testing.T) {
	n := lab.ForTest(t)
	n.Site("shop.example").Body("/b", "text/plain", "").Status("/a", http.StatusFound, "Location", "/b", "Cache-Control", "no-store")
	for path, want := range map[string]bool{"/a": true, "/b": false} {
		if resp := must(t, n.Fetcher(), &fetch.Request{Redirect: fetch.Anywhere}, "https://shop.example"+path); resp.Freshness.NoStore != want {
			t.Errorf("%s: %+v", path, resp.Freshness)
		}
	}
}

// TestArrivedBeforeARedirect: a server has received a request if only the target of its redirect
// could not be reached.
func TestArrivedBeforeARedirect(t *testing.T) {
	n := lab.ForTest(t)
	n.Site("shop.example").Redirect("/", "https://gone.example/")
	n.Site("gone.example").Connection(lab.Refused)
	_, err := do(t, n.Fetcher(), &fetch.Request{Redirect: fetch.Anywhere}, "https://shop.example/")
	if lookleap.CodeOf(err) != lookleap.CodeConnRefused || !fetch.MayHaveArrived(err) {
		t.Errorf("may have arrived: %t, %v", fetch.MayHaveArrived(err), err)
	}
}

// TestOwnTimeoutOfAFetcher: a Fetcher that stops before the exchange's time is over has its own
// reason.
func TestOwnTimeoutOfAFetcher(t *testing.T) {
	own := &timeout{"my own time is over"}
	f := fetcherFunc(func(r *http.Request) (*http.Response, error) {
		httptrace.ContextClientTrace(r.Context()).GetConn("shop.example:443")
		return nil, own
	})
	resp, err := do(t, f, &fetch.Request{Limits: fetch.Limits{Time: time.Hour}}, "https://shop.example/")
	if e := failure(t, resp, err, lookleap.CodeTimeout); !errors.Is(e, own) || !strings.Contains(e.Error(), own.text) {
		t.Error(e)
	}
}

type timeout struct{ text string }

func (e *timeout) Error() string { return e.text }
func (*timeout) Timeout() bool   { return true }
func (*timeout) Temporary() bool { return true }
