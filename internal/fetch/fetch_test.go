package fetch_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/lookleaptest"
)

func parse(t testing.TB, raw string) domain.URL {
	t.Helper()
	u, err := domain.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// failure is the error of an exchange that must have failed with a code.
func failure(t testing.TB, resp *fetch.Response, err error, code lookleap.Code) *fetch.Error {
	t.Helper()
	var e *fetch.Error
	if !errors.As(err, &e) {
		t.Fatalf("no *Error but %v", err)
	}
	if resp != nil || e.Code != code || lookleap.CodeOf(err) != code {
		t.Errorf("code %q, want %q: %v (answer %v)", e.Code, code, err, resp)
	}
	return e
}

func do(t testing.TB, f lookleap.Fetcher, r *fetch.Request, url string) (*fetch.Response, error) {
	t.Helper()
	r.URL = parse(t, url)
	return fetch.Do(t.(*testing.T).Context(), f, r)
}

func must(t testing.TB, f lookleap.Fetcher, r *fetch.Request, url string) *fetch.Response {
	t.Helper()
	resp, err := do(t, f, r, url)
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

func TestDoRefusesMisuse(t *testing.T) {
	n := lookleaptest.ForTest(t)
	n.Site("shop.example").File("/", "text/plain", "")
	for name, r := range map[string]*fetch.Request{
		"reserved-header":   {URL: parse(t, "https://shop.example/"), Header: http.Header{"Host": {"bank.example"}}},
		"reserved-encoding": {URL: parse(t, "https://shop.example/"), Header: http.Header{"accept-encoding": {"br"}}},
		"tunnel":            {URL: parse(t, "https://shop.example/"), Method: "CONNECT"},
	} {
		t.Run(name, func(t *testing.T) {
			resp, err := fetch.Do(t.Context(), n.Fetcher(lookleap.FetcherOptions{}), r)
			failure(t, resp, err, lookleap.CodeUsage)
		})
	}
	nowhere, err := fetch.Do(t.Context(), n.Fetcher(lookleap.FetcherOptions{}), new(fetch.Request))
	failure(t, nowhere, err, lookleap.CodeBadURL)
	http, err := domain.Rules{Schemes: []string{"http"}}.Parse("http://shop.example/")
	if err != nil {
		t.Fatal(err)
	}
	resp, err := fetch.Do(t.Context(), n.Fetcher(lookleap.FetcherOptions{}), &fetch.Request{URL: http})
	failure(t, resp, err, lookleap.CodeNotHTTPS)
	if requests := n.Journal().Requests(); len(requests) != 0 {
		t.Errorf("requests %v", requests)
	}
}

// deaf is a Fetcher that does not look at the context of what it sends.
type deaf struct{ asked int }

func (d *deaf) RoundTrip(r *http.Request) (*http.Response, error) {
	d.asked++
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
}

func TestNothingIsSentForACallerWhoLeft(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	d := &deaf{}
	resp, err := fetch.Do(ctx, &lookleap.Host{Fetcher: d}, &fetch.Request{URL: parse(t, "https://www.example/")})
	failure(t, resp, err, lookleap.CodeCancelled)
	if d.asked != 0 {
		t.Error("it was sent")
	}
}

// TestBodyOfACallerWhoLeft has a caller leave when the connection is there: a
// Fetcher that sends on all the same gets no byte of the body.
func TestBodyOfACallerWhoLeft(t *testing.T) {
	n := lookleaptest.ForTest(t)
	n.Site("www.example").File("/", "text/plain", "")
	ctx, cancel := context.WithCancel(t.Context())
	var sent []byte
	f := fetcherFunc(func(r *http.Request) (*http.Response, error) {
		probe, err := http.NewRequestWithContext(r.Context(), http.MethodGet, r.URL.String(), nil)
		if err != nil {
			return nil, err
		}
		if resp, err := n.Fetcher(lookleap.FetcherOptions{}).RoundTrip(probe); err == nil { // which reports its connection
			_ = resp.Body.Close()
		}
		cancel()
		sent, err = io.ReadAll(r.Body)
		return nil, err
	})
	resp, err := fetch.Do(ctx, f, &fetch.Request{Method: "POST", Body: []byte("secret"), URL: parse(t, "https://www.example/")})
	failure(t, resp, err, lookleap.CodeCancelled)
	if len(sent) != 0 {
		t.Errorf("it got %q", sent)
	}
}

// TestOuterTimeoutIsTheCallersEnd has a guard read a policy while it serves a
// request whose own time runs out: that says nothing about the policy.
func TestOuterTimeoutIsTheCallersEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := lookleaptest.ForTest(t)
		n.Site("policy.example").Fault("/", lookleaptest.Mute())
		var inner error
		guard := fetcherFunc(func(req *http.Request) (*http.Response, error) {
			_, inner = fetch.Do(req.Context(), n.Fetcher(lookleap.FetcherOptions{}), &fetch.Request{URL: parse(t, "https://policy.example/")})
			return nil, inner
		})
		resp, err := do(t, guard, &fetch.Request{Limits: fetch.Limits{Time: time.Second}}, "https://shop.example/")
		failure(t, resp, err, lookleap.CodeTimeout)
		if !fetch.Cancelled(inner) {
			t.Errorf("the policy's exchange: %v", inner)
		}
	})
}

func TestBodiesThatIgnoreTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck, _ := io.Pipe()
		deaf := fetcherFunc(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: stuck, ContentLength: -1}, nil
		})
		resp, err := do(t, deaf, new(fetch.Request), "https://shop.example/")
		failure(t, resp, err, lookleap.CodeTooSlow)
	})
}

func TestFailures(t *testing.T) {
	tests := []struct {
		name      string
		prepare   func(*lookleaptest.Internet, *lookleaptest.Site)
		code      lookleap.Code
		transient bool
	}{
		{"refused", func(_ *lookleaptest.Internet, s *lookleaptest.Site) { s.Connection(lookleaptest.ConnectionRefused) }, lookleap.CodeConnRefused, true},
		{"reset", func(_ *lookleaptest.Internet, s *lookleaptest.Site) { s.Connection(lookleaptest.ConnectionResetInTLS) }, lookleap.CodeConnReset, true},
		{"reset-after-request", func(_ *lookleaptest.Internet, s *lookleaptest.Site) { s.HTTP1().Fault("/", lookleaptest.Reset()) }, lookleap.CodeConnReset, true},
		{"reset-in-body-http1", func(_ *lookleaptest.Internet, s *lookleaptest.Site) { s.HTTP1().Fault("/", lookleaptest.ResetBody()) }, lookleap.CodeConnReset, true},
		{"reset-stream-http2", func(_ *lookleaptest.Internet, s *lookleaptest.Site) {
			s.HandleFunc("/", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
		}, lookleap.CodeConnReset, true},
		{"truncated-http1", func(_ *lookleaptest.Internet, s *lookleaptest.Site) { s.HTTP1().Fault("/", lookleaptest.Truncated()) }, lookleap.CodeTruncated, true},
		{"truncated-chunks", func(_ *lookleaptest.Internet, s *lookleaptest.Site) { s.HTTP1().Fault("/", lookleaptest.CutChunks()) }, lookleap.CodeTruncated, true},
		{"no-framing", func(_ *lookleaptest.Internet, s *lookleaptest.Site) {
			s.HTTP1().Fault("/", lookleaptest.Raw("HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nhalf of the tr"))
		}, lookleap.CodeTruncated, true},
		{"expired", func(_ *lookleaptest.Internet, s *lookleaptest.Site) { s.Certificate(lookleaptest.CertificateExpired) }, lookleap.CodeTLS, false},
		{"wrong-name", func(_ *lookleaptest.Internet, s *lookleaptest.Site) { s.Certificate(lookleaptest.CertificateWrongName) }, lookleap.CodeTLS, false},
		{"self-signed", func(_ *lookleaptest.Internet, s *lookleaptest.Site) {
			s.Certificate(lookleaptest.CertificateSelfSigned)
		}, lookleap.CodeTLS, false},
		{"unknown-ca", func(_ *lookleaptest.Internet, s *lookleaptest.Site) { s.Certificate(lookleaptest.CertificateUnknownCA) }, lookleap.CodeTLS, false},
		{"old-tls", func(_ *lookleaptest.Internet, s *lookleaptest.Site) { s.MaxTLS(0x0302) }, lookleap.CodeTLSTooOld, false},
		{"not-tls", func(_ *lookleaptest.Internet, s *lookleaptest.Site) { s.Connection(lookleaptest.ConnectionNotTLS) }, lookleap.CodeTLS, false},
		{"private", func(_ *lookleaptest.Internet, s *lookleaptest.Site) { s.At("10.0.0.1") }, lookleap.CodeBlockedAddress, false},
		{"bogus", func(n *lookleaptest.Internet, _ *lookleaptest.Site) { n.Name("shop.example").Bogus() }, lookleap.CodeDNSSECBogus, false},
		{"servfail", func(n *lookleaptest.Internet, _ *lookleaptest.Site) { n.Name("shop.example").ServFail() }, lookleap.CodeDNSError, false},
		{"no-name", func(n *lookleaptest.Internet, _ *lookleaptest.Site) { n.Name("shop.example").Clear() }, lookleap.CodeNoAddress, false},
		{"no-http", func(_ *lookleaptest.Internet, s *lookleaptest.Site) {
			s.HTTP1().Fault("/", lookleaptest.Raw("SSH-2.0-OpenSSH\r\n"))
		}, lookleap.CodeUnreachable, false},
		{"switching-protocols", func(_ *lookleaptest.Internet, s *lookleaptest.Site) {
			s.HTTP1().Fault("/", lookleaptest.Raw("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"))
		}, lookleap.CodeBadStatus, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			n := lookleaptest.ForTest(t)
			test.prepare(n, n.Site("shop.example").File("/", "text/plain", strings.Repeat("x", 50_000)))
			for _, f := range []lookleap.Fetcher{n.Fetcher(lookleap.FetcherOptions{}), n.StubHost()} {
				resp, err := do(t, f, new(fetch.Request), "https://shop.example/")
				if e := failure(t, resp, err, test.code); e.Transient != test.transient || fetch.Transient(err) != test.transient {
					t.Errorf("transient %v: %v", e.Transient, err)
				}
			}
		})
	}
}

// The Fetchers that break their contract.
type fetcherFunc func(*http.Request) (*http.Response, error)

func (f fetcherFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestStrangeFetchers(t *testing.T) {
	tests := []struct {
		name string
		f    fetcherFunc
		code lookleap.Code
	}{
		{"nothing", func(*http.Request) (*http.Response, error) { return nil, nil }, lookleap.CodeInternal},
		{"panic", func(*http.Request) (*http.Response, error) { panic("no") }, lookleap.CodeInternal},
		{"empty-answer", func(*http.Request) (*http.Response, error) { return new(http.Response), nil }, lookleap.CodeInternal},
		{"no-body", func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Header: http.Header{}}, nil
		}, lookleap.CodeInternal},
		{"denied", func(*http.Request) (*http.Response, error) { return nil, lookleap.ErrDenied }, lookleap.CodeDenied},
		{"unknown-error", func(*http.Request) (*http.Response, error) { return nil, errors.New("something") }, lookleap.CodeUnreachable},
		{"denied-that-looks-like-a-timeout", func(*http.Request) (*http.Response, error) {
			return nil, errors.Join(context.DeadlineExceeded, lookleap.ErrDenied)
		}, lookleap.CodeDenied},
		{"own-timeout", func(*http.Request) (*http.Response, error) { return nil, context.DeadlineExceeded }, lookleap.CodeTimeout},
		{"both", func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: http.NoBody}, errors.New("and yet")
		}, lookleap.CodeUnreachable},
		{"status-zero", func(*http.Request) (*http.Response, error) {
			return &http.Response{Header: http.Header{}, Body: http.NoBody}, nil
		}, lookleap.CodeBadStatus},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			resp, err := do(t, test.f, new(fetch.Request), "https://shop.example/")
			failure(t, resp, err, test.code)
		})
	}
}

// TestFetcherThatPanics: the error says what the Fetcher did.
func TestFetcherThatPanics(t *testing.T) {
	resp, err := do(t, fetcherFunc(func(*http.Request) (*http.Response, error) { panic("broken plug-in") }), new(fetch.Request), "https://shop.example/")
	if e := failure(t, resp, err, lookleap.CodeInternal); !strings.Contains(e.Error(), "broken plug-in") {
		t.Error(e)
	}
}

// TestFetcherThatFollowsByItself refuses what a client brought back from a place
// that no rule was asked about.
func TestFetcherThatFollowsByItself(t *testing.T) {
	n := lookleaptest.ForTest(t)
	n.Site("shop.example").Redirect("/", "https://other.example/").File("/plain", "text/plain", "")
	n.Site("other.example").File("/", "text/plain", "other")
	client := &http.Client{Transport: n.Fetcher(lookleap.FetcherOptions{})}
	f := fetcherFunc(client.Do)
	resp, err := do(t, f, new(fetch.Request), "https://shop.example/")
	failure(t, resp, err, lookleap.CodeRedirectForbidden)
	must(t, f, new(fetch.Request), "https://shop.example/plain")
}

func TestBudget(t *testing.T) {
	n := lookleaptest.ForTest(t)
	n.Site("shop.example").File("/", "text/plain", "").RedirectChain("/far", 3, "")
	budget := fetch.NewBudget(3)
	r := &fetch.Request{Budget: budget, Redirect: fetch.SameOrigin}
	must(t, n.Fetcher(lookleap.FetcherOptions{}), r, "https://shop.example/")
	if budget.Left() != 2 {
		t.Errorf("%d left", budget.Left())
	}
	resp, err := do(t, n.Fetcher(lookleap.FetcherOptions{}), r, "https://shop.example/far") // needs 4
	failure(t, resp, err, lookleap.CodeBudget)
	resp, err = do(t, n.Fetcher(lookleap.FetcherOptions{}), r, "https://shop.example/")
	failure(t, resp, err, lookleap.CodeBudget)
	if got := len(n.Journal().Requests()); got != 3 {
		t.Errorf("%d requests", got)
	}
	if (*fetch.Budget)(nil).Left() != -1 || !(*fetch.Budget)(nil).Take() {
		t.Error("a nil budget bounds")
	}
}

func TestRateLimitedAnswers(t *testing.T) {
	n := lookleaptest.ForTest(t)
	n.Clock().Freeze()
	n.Site("shop.example").Status("/", http.StatusTooManyRequests, "Retry-After", "120").Status("/forever", http.StatusServiceUnavailable, "Retry-After", "9999999999")
	t.Run("F20/reject-429-is-an-answer-and-no-success", func(t *testing.T) {
		resp := must(t, n.StubHost(), new(fetch.Request), "https://shop.example/")
		if resp.OK() || resp.Status != 429 || resp.RetryAfter != 2*time.Minute || resp.Body != nil {
			t.Errorf("%+v", resp)
		}
		if got := len(n.Journal().Requests()); got != 1 {
			t.Errorf("%d requests: it was tried again", got)
		}
	})
	t.Run("F19/reject-503-for-ever", func(t *testing.T) {
		if resp := must(t, n.StubHost(), new(fetch.Request), "https://shop.example/forever"); resp.RetryAfter != 24*time.Hour {
			t.Errorf("%v", resp.RetryAfter)
		}
	})
}

func TestHeaderLimits(t *testing.T) {
	tests := []struct {
		name  string
		fault lookleaptest.Fault
	}{
		{"F13/reject-megabyte", lookleaptest.HeaderBomb(1 << 20)},
		{"F13/reject-just-over", lookleaptest.HeaderBomb(40 << 10)},
		{"F13/reject-33-KiB", lookleaptest.HeaderBomb(33 << 10)},
		{"F13/reject-informational-flood", lookleaptest.Informational(103, 100_000)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for _, http1 := range []bool{false, true} {
				n := lookleaptest.ForTest(t)
				site := n.Site("bomb.example").Fault("/", test.fault)
				if http1 {
					site.HTTP1()
				}
				for name, f := range map[string]lookleap.Fetcher{"ours": n.Fetcher(lookleap.FetcherOptions{}), "foreign": n.Unguarded()} {
					resp, err := do(t, f, new(fetch.Request), "https://bomb.example/")
					if e := failure(t, resp, err, lookleap.CodeHeaderTooLarge); e.Transient {
						t.Errorf("%s, http1 %v: %+v", name, http1, e)
					}
				}
			}
		})
	}
	t.Run("F13/accept-30-KiB", func(t *testing.T) {
		for _, http1 := range []bool{false, true} {
			n := lookleaptest.ForTest(t)
			site := n.Site("big.example").Fault("/", lookleaptest.HeaderBomb(30<<10))
			if http1 {
				site.HTTP1()
			}
			for _, f := range []lookleap.Fetcher{n.Fetcher(lookleap.FetcherOptions{}), n.Unguarded()} {
				must(t, f, new(fetch.Request), "https://big.example/")
			}
		}
	})
	t.Run("F13/reject-many-lines", func(t *testing.T) {
		n := lookleaptest.ForTest(t)
		n.Site("bomb.example").Fault("/", lookleaptest.Header("Link", slices.Repeat([]string{"</x>; rel=next"}, 100_000)...))
		for _, f := range []lookleap.Fetcher{n.Fetcher(lookleap.FetcherOptions{}), n.Unguarded()} {
			if resp, err := do(t, f, new(fetch.Request), "https://bomb.example/"); err == nil || fetch.Transient(err) {
				t.Errorf("%v, %v", resp, err)
			}
		}
	})
	t.Run("F13/accept-hints", func(t *testing.T) {
		n := lookleaptest.ForTest(t)
		n.Site("shop.example").Fault("/", lookleaptest.Informational(103, 3), lookleaptest.HeaderBomb(20<<10))
		must(t, n.Fetcher(lookleap.FetcherOptions{}), new(fetch.Request), "https://shop.example/")
	})
}
