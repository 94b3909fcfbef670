package roundtrip_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"testing"

	"github.com/lookleap/lookleap/internal/roundtrip"
)

// reason is an error that is only a code.
type reason string

func (r reason) Error() string { return string(r) }

var options = roundtrip.Options{Fail: func(code, _ string) error { return reason(code) }}

// closing is a body that knows whether it was closed.
type closing struct {
	io.Reader
	closed bool
}

func (c *closing) Close() error { c.closed = true; return nil }

// TestQueries: a query that cannot be written is not sent, and the body of its request is closed.
func TestQueries(t *testing.T) {
	for query, sent := range map[string]bool{"": true, "a=b%20c": true, "~": true, " ": false, " a": false, "a b": false, "a\n": false, "\x7f": false} {
		req, body, asked := request("POST", nil), &closing{}, false
		req.URL.RawQuery = query
		for _, req.Body = range []io.ReadCloser{nil, body} {
			_, err := roundtrip.Do(fetcherFunc(func(*http.Request) (*http.Response, error) { asked = true; return nil, nil }), req, options)
			if asked != sent || (err == nil) != sent || !sent && err != reason(roundtrip.CodeBadURL) {
				t.Errorf("%q: sent %v, %v", query, asked, err)
			}
		}
		if body.closed == sent {
			t.Errorf("%q: closed %v", query, body.closed)
		}
	}
}

// TestResponses: what becomes of the responses of a transport, of their bodies and of the context.
func TestResponses(t *testing.T) {
	failed := errors.New("failed")
	for name, c := range map[string]struct {
		status int // 0: no response
		err    error
		want   error
	}{
		"accept":                {200, nil, nil},
		"accept-nothing":        {0, nil, nil},
		"reject-error":          {0, failed, failed},
		"reject-error-and-body": {200, failed, failed},
		"reject-protocol":       {101, nil, reason(roundtrip.CodeBadStatus)},
	} {
		for kind, body := range map[string]io.ReadCloser{"body": &closing{Reader: strings.NewReader("x")}, "empty": http.NoBody, "nil": nil} {
			t.Run(name+"-"+kind, func(t *testing.T) {
				var ctx context.Context
				req := request("GET", nil)
				resp, err := roundtrip.Do(fetcherFunc(func(req *http.Request) (*http.Response, error) {
					if ctx = req.Context(); c.status == 0 {
						return nil, c.err
					}
					return &http.Response{StatusCode: c.status, Body: body}, c.err
				}), req, options)
				if err != c.want || (resp != nil) != (c.want == nil && c.status > 0) {
					t.Fatalf("%v, %v", resp, err)
				}
				kept, _ := body.(*closing)
				if kept != nil && c.status > 0 && kept.closed != (c.want != nil) {
					t.Errorf("closed: %v", kept.closed)
				}
				if goesOn := resp != nil && kept != nil; (ctx.Err() == nil) != goesOn {
					t.Errorf("the exchange goes on: %v", ctx.Err() == nil)
				}
				if resp == nil {
					return
				}
				if resp.Request != req || (resp.Body == nil) != (body == nil) {
					t.Errorf("%+v", resp)
				}
				if kept != nil {
					if text, err := io.ReadAll(resp.Body); string(text) != "x" || err != nil || ctx.Err() == nil {
						t.Errorf("%q, %v; the exchange ended: %v", text, err, ctx.Err())
					}
				}
			})
		}
	}
}

// TestFollowed: a response is to the request that was sent, or it is refused.
func TestFollowed(t *testing.T) {
	earlier := &http.Response{}
	for name, c := range map[string]struct {
		sent, answered string // URLs; "": none
		from           *http.Response
		ok             bool
	}{
		"accept-same":                 {"https://shop.example/act?a", "https://shop.example/act?a", nil, true},
		"accept-capital-host":         {"https://shop.example/act", "https://SHOP.example/act", nil, true},
		"accept-without-URLs":         {"", "", nil, true},
		"reject-other-host":           {"https://shop.example/act", "https://other.example/act", nil, false},
		"reject-other-port":           {"https://shop.example/act", "https://shop.example:444/act", nil, false},
		"reject-other-scheme":         {"https://shop.example/act", "http://shop.example/act", nil, false},
		"reject-other-path":           {"https://shop.example/act", "https://shop.example/", nil, false},
		"reject-other-query":          {"https://shop.example/act?a", "https://shop.example/act?b", nil, false},
		"reject-URL-of-none":          {"", "https://shop.example/act", nil, false},
		"reject-no-URL":               {"https://shop.example/act", "", nil, false},
		"reject-redirect-to-same-URL": {"https://shop.example/act", "https://shop.example/act", earlier, false},
	} {
		t.Run("O63/"+name, func(t *testing.T) {
			at := func(text string) *url.URL {
				if text == "" {
					return nil
				}
				u, err := url.Parse(text)
				if err != nil {
					t.Fatal(err)
				}
				return u
			}
			req := request("GET", nil)
			req.URL = at(c.sent)
			_, err := roundtrip.Do(fetcherFunc(func(*http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: 200, Request: &http.Request{URL: at(c.answered), Response: c.from}}, nil
			}), req, options)
			if (err == nil) != c.ok || err != nil && err != reason(roundtrip.CodeRedirectForbidden) {
				t.Error(err)
			}
		})
	}
}

// TestNotes: what a transport says about a response stays when Do replaces its request.
func TestNotes(t *testing.T) {
	req := request("GET", nil)
	do := func(answer func(out *http.Request, resp *http.Response)) *http.Response {
		t.Helper()
		resp, err := roundtrip.Do(fetcherFunc(func(out *http.Request) (*http.Response, error) {
			resp := &http.Response{StatusCode: 200}
			answer(out, resp)
			return resp, nil
		}), req, options)
		if err != nil {
			t.Fatal(err)
		}
		return resp
	}
	noted := do(func(out *http.Request, resp *http.Response) { resp.Request = out; roundtrip.Annotate(resp, "note") })
	if got := roundtrip.Note(noted.Request.Context()); got != "note" || noted.Request == req || noted.Request.URL != req.URL {
		t.Errorf("%v of %+v", got, noted.Request)
	}
	for name, answer := range map[string]func(*http.Request, *http.Response){
		"no-request":  func(_ *http.Request, resp *http.Response) { roundtrip.Annotate(resp, "lost") },
		"no-note":     func(out *http.Request, resp *http.Response) { resp.Request = out },
		"own-request": func(_ *http.Request, resp *http.Response) { resp.Request = req },
	} {
		if resp := do(answer); resp.Request != req || roundtrip.Note(resp.Request.Context()) != nil {
			t.Errorf("%s: %+v", name, resp.Request)
		}
	}
}

// secured is a connection with a state of TLS.
type secured struct {
	net.Conn
	state  tls.ConnectionState
	closed bool
}

func (c *secured) ConnectionState() tls.ConnectionState { return c.state }
func (c *secured) Close() error                         { c.closed = true; return nil }

// TestReports plays what a transport may report.
func TestReports(t *testing.T) {
	do := func(report func(*httptrace.ClientTrace)) error {
		_, err := roundtrip.Do(fetcherFunc(func(req *http.Request) (*http.Response, error) {
			report(httptrace.ContextClientTrace(req.Context()))
			return nil, nil
		}), request("POST", nil), options)
		return err
	}
	for name, c := range map[string]struct {
		lookups int
		want    error
	}{"accept-4-attempts": {4, nil}, "reject-5-attempts": {5, reason(roundtrip.CodeConnReset)}} {
		t.Run("O48/"+name, func(t *testing.T) {
			if err := do(func(trace *httptrace.ClientTrace) {
				for range c.lookups {
					trace.GetConn("shop.example:443")
				}
			}); err != c.want {
				t.Error(err)
			}
		})
	}
	for interim, want := range map[int]error{16: nil, 17: reason(roundtrip.CodeHeaderTooLarge)} {
		if err := do(func(trace *httptrace.ClientTrace) {
			for i := range interim {
				if err := trace.Got1xxResponse(103, nil); (err == nil) != (i < 16) {
					t.Errorf("interim response %d: %v", i+1, err)
				}
			}
			for range 5 {
				trace.GetConn("shop.example:443") // the first failure counts
			}
		}); want != nil && err != want || err == nil {
			t.Errorf("%d interim responses: %v", interim, err)
		}
	}
	for name, c := range map[string]struct {
		second tls.ConnectionState
		closed bool
	}{
		"http2": {tls.ConnectionState{NegotiatedProtocol: "h2"}, false}, // others use it, and nothing is written to it
		"http1": {tls.ConnectionState{NegotiatedProtocol: "http/1.1"}, true},
	} {
		t.Run("O48/reject-second-connection-of-"+name, func(t *testing.T) {
			first, second := &secured{}, &secured{state: c.second} // a state without a verified certificate is of the same host
			err := do(func(trace *httptrace.ClientTrace) {
				trace.GotConn(httptrace.GotConnInfo{Conn: first})
				trace.WroteHeaders()
				trace.GotConn(httptrace.GotConnInfo{Conn: second})
			})
			if err != reason(roundtrip.CodeConnReset) || second.closed != c.closed || first.closed {
				t.Errorf("%v, closed: %v", err, second.closed)
			}
		})
	}
	t.Run("O48/reject-attempt-after-the-request-was-sent", func(t *testing.T) {
		if err := do(func(trace *httptrace.ClientTrace) {
			trace.GotConn(httptrace.GotConnInfo{Conn: &secured{}})
			trace.WroteHeaders()
			trace.GetConn("shop.example:443")
		}); err != reason(roundtrip.CodeConnReset) {
			t.Error(err)
		}
	})
}

// TestApart: an exchange during another one is not seen by the trace of the other one.
func TestApart(t *testing.T) {
	type key struct{}
	callers := &httptrace.ClientTrace{}
	plain := context.WithValue(t.Context(), key{}, "value")
	for name, ctx := range map[string]context.Context{"traced": httptrace.WithClientTrace(plain, callers), "untraced": plain} {
		before := httptrace.ContextClientTrace(ctx)
		check := func(where string, ctx context.Context) {
			t.Helper()
			if apart := roundtrip.Apart(ctx); httptrace.ContextClientTrace(apart) != before || apart.Value(key{}) != "value" {
				t.Errorf("%s: %s: another trace, or another value", name, where)
			}
		}
		check("alone", ctx)
		ask := func(ctx context.Context, f fetcherFunc) {
			if _, err := roundtrip.Do(f, request("GET", nil).WithContext(ctx), options); err != nil {
				t.Error(err)
			}
		}
		ask(ctx, func(req *http.Request) (*http.Response, error) {
			check("in an exchange", req.Context())
			ask(req.Context(), func(req *http.Request) (*http.Response, error) {
				check("in an exchange of an exchange", req.Context())
				return nil, nil
			})
			watched := 0
			ask(roundtrip.Watched(req.Context(), &httptrace.ClientTrace{GetConn: func(string) { watched++ }}), func(req *http.Request) (*http.Response, error) {
				httptrace.ContextClientTrace(req.Context()).GetConn("shop.example:443")
				return nil, nil
			})
			if watched != 1 {
				t.Errorf("%s: %d reports", name, watched)
			}
			return nil, nil
		})
	}
}

// TestOwnConnections: a connection over TLS is another request's if this one is plain, and the other
// way round only if its certificate is for another host.
func TestOwnConnections(t *testing.T) {
	for name, c := range map[string]struct {
		url   string
		first net.Conn
		ok    bool
	}{
		"accept-tls-before-plain":   {"http://shop.example/", &secured{}, true},
		"reject-plain-before-plain": {"http://shop.example/", &layered{}, false},
		"reject-plain-before-tls":   {"https://shop.example/", &layered{}, false},
		"reject-tls-before-tls":     {"https://shop.example/", &secured{}, false},
	} {
		t.Run("O48/"+name, func(t *testing.T) {
			req := request("POST", nil)
			req.URL, _ = url.Parse(c.url)
			_, err := roundtrip.Do(fetcherFunc(func(req *http.Request) (*http.Response, error) {
				trace := httptrace.ContextClientTrace(req.Context())
				trace.GotConn(httptrace.GotConnInfo{Conn: c.first})
				trace.WroteHeaders()
				trace.GotConn(httptrace.GotConnInfo{Conn: &layered{}})
				return nil, nil
			}), req, options)
			if (err == nil) != c.ok || err != nil && err != reason(roundtrip.CodeConnReset) {
				t.Error(err)
			}
		})
	}
}

// layered is a connection that may be above another one.
type layered struct {
	net.Conn
	below  net.Conn
	closed bool
}

func (l *layered) NetConn() net.Conn { return l.below }
func (l *layered) Close() error      { l.closed = true; return nil }

// TestClose: closing a connection closes what is below it, too.
func TestClose(t *testing.T) {
	roundtrip.Close(nil)
	below := &secured{}
	above := &layered{below: below}
	if roundtrip.Close(above); !above.closed || !below.closed {
		t.Errorf("closed: %v, below: %v", above.closed, below.closed)
	}
	if got := roundtrip.Below(above); got != below {
		t.Errorf("below is %v", got)
	}
	if got := roundtrip.Below(below); got != nil {
		t.Errorf("below the last one is %v", got)
	}
}

// failing is a body whose Close fails.
type failing struct{ io.Reader }

var errClose = errors.New("not closed")

func (failing) Close() error { return errClose }

// TestCloseEndsTheExchange: a body that is closed early ends the exchange, and says how closing went.
func TestCloseEndsTheExchange(t *testing.T) {
	var ctx context.Context
	resp, err := roundtrip.Do(fetcherFunc(func(req *http.Request) (*http.Response, error) {
		ctx = req.Context()
		return &http.Response{StatusCode: 200, Body: failing{strings.NewReader("x")}}, nil
	}), request("GET", nil), options)
	if err != nil || ctx.Err() != nil {
		t.Fatal(err, ctx.Err())
	}
	if err := resp.Body.Close(); err != errClose || ctx.Err() == nil {
		t.Errorf("%v; the exchange ended: %v", err, ctx.Err())
	}
}
