package roundtrip_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/lookleaptest"
)

type fetcherFunc func(*http.Request) (*http.Response, error)

func (f fetcherFunc) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// ways are the fetchers that hold an exchange to one request.
var ways = map[string]func(t *testing.T, n *lookleaptest.Internet) lookleap.Fetcher{
	"guarded": func(t *testing.T, n *lookleaptest.Internet) lookleap.Fetcher {
		return n.Fetcher(lookleap.FetcherOptions{})
	},
	"host": func(t *testing.T, n *lookleaptest.Internet) lookleap.Fetcher {
		return &lookleap.Host{Fetcher: n.Fetcher(lookleap.FetcherOptions{}), Resolver: n.Stub()}
	},
	"host-foreign": func(t *testing.T, n *lookleaptest.Internet) lookleap.Fetcher {
		return &lookleap.Host{Fetcher: n.Unguarded(), Resolver: n.Stub()}
	},
}

// requests are those that the standard client would repeat, for one reason or another.
var requests = map[string]func() *http.Request{
	"get":  func() *http.Request { return request("GET", nil) },
	"head": func() *http.Request { return request("HEAD", nil) },
	"post-no-body": func() *http.Request {
		return request("POST", http.NoBody)
	},
	"post-empty-body": func() *http.Request { return request("POST", strings.NewReader("")) },
	"post-body":       func() *http.Request { return request("POST", strings.NewReader("secret")) },
	"post-idempotency-key": func() *http.Request {
		return request("POST", strings.NewReader("secret"), "Idempotency-Key", "1")
	},
	"post-no-body-idempotency-key": func() *http.Request { return request("POST", nil, "Idempotency-Key", "1") },
	"delete-x-idempotency-key":     func() *http.Request { return request("DELETE", nil, "x-idempotency-key", "1") },
	"query":                        func() *http.Request { return request("QUERY", strings.NewReader("secret")) },
}

func request(method string, body io.Reader, header ...string) *http.Request {
	req, err := http.NewRequest(method, "https://shop.example/act", body)
	if err != nil {
		panic(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header[header[i]] = header[i+1 : i+2]
	}
	return req
}

// faults are answers to a stream for which a client may send its request again.
var faults = map[string]func(f *http2.Framer, stream uint32) error{
	"protocol-error": func(f *http2.Framer, stream uint32) error { return f.WriteRSTStream(stream, http2.ErrCodeProtocol) },
	"refused-stream": func(f *http2.Framer, stream uint32) error {
		return f.WriteRSTStream(stream, http2.ErrCodeRefusedStream)
	},
	"cancel": func(f *http2.Framer, stream uint32) error { return f.WriteRSTStream(stream, http2.ErrCodeCancel) },
	"http1-required": func(f *http2.Framer, stream uint32) error {
		return f.WriteRSTStream(stream, http2.ErrCodeHTTP11Required)
	},
	"goaway":       func(f *http2.Framer, stream uint32) error { return f.WriteGoAway(0, http2.ErrCodeNo, nil) },
	"goaway-below": func(f *http2.Framer, stream uint32) error { return f.WriteGoAway(stream-1, http2.ErrCodeNo, nil) },
	"goaway-error": func(f *http2.Framer, stream uint32) error { return f.WriteGoAway(0, http2.ErrCodeEnhanceYourCalm, nil) },
	"close":        func(*http2.Framer, uint32) error { return io.ErrUnexpectedEOF },
	"interim-and-refused": func(f *http2.Framer, stream uint32) error {
		// :status 103
		err := f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: []byte("\x08\x03103"), EndHeaders: true})
		return errors.Join(err, f.WriteRSTStream(stream, http2.ErrCodeRefusedStream))
	},
}

func exchange(t *testing.T, f lookleap.Fetcher, req *http.Request) error {
	t.Helper()
	resp, err := f.RoundTrip(req)
	if err == nil {
		_, err = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	return err
}

func TestOneRequest(t *testing.T) {
	for way, fetcher := range ways {
		for name, fault := range faults {
			t.Run("O48/reject-"+way+"-"+name, func(t *testing.T) {
				for kind, build := range requests {
					for _, used := range []bool{false, true} { // is the connection
						synctest.Test(t, func(t *testing.T) {
							n := lookleaptest.ForTest(t)
							var s *frameServer
							s = serveFrames(n, func(f *http2.Framer, stream uint32) error {
								if stream == 0 {
									return nil
								}
								if used && s.count() == 1 {
									return hello(f, stream)
								}
								return fault(f, stream)
							})
							f := fetcher(t, n)
							want := 1
							if used {
								want++
								if err := exchange(t, f, request("GET", nil)); err != nil {
									t.Fatal(err)
								}
							}
							err := exchange(t, f, build())
							if err == nil {
								t.Errorf("%s: answered", kind)
							}
							if got := s.count(); got != want {
								t.Errorf("%s, used %v: %d requests, want %d: %v", kind, used, got, want, err)
							}
							if dials := len(n.Journal().Dials()); dials > 2 {
								t.Errorf("%s, used %v: %d dials", kind, used, dials)
							}
						})
					}
				}
			})
		}
		for name, after := range map[string]error{"goaway": nil, "goaway-and-close": io.EOF} {
			t.Run("O48/reject-"+way+"-before-any-request-"+name, func(t *testing.T) {
				for kind, build := range requests {
					for _, late := range []bool{false, true} { // is the request: after the answer to its connection was read
						synctest.Test(t, func(t *testing.T) { endedBeforeUse(t, fetcher, kind, build(), after, late) })
					}
				}
			})
		}
	}
}

// endedBeforeUse has each connection end before a request is written to it. A client without a
// bound makes connections for ever, although it sends nothing.
func endedBeforeUse(t *testing.T, fetcher func(*testing.T, *lookleaptest.Internet) lookleap.Fetcher, kind string, req *http.Request, after error, late bool) {
	const mostDials = 5
	n := lookleaptest.ForTest(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := serveFrames(n, func(f *http2.Framer, stream uint32) error {
		if len(n.Journal().Dials()) > 2*mostDials {
			cancel() // a client without a bound ends here
		}
		return errors.Join(f.WriteGoAway(0, http2.ErrCodeNo, nil), after)
	})
	if late {
		ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { time.Sleep(time.Millisecond) }})
	}
	begin := time.Now()
	if err := exchange(t, fetcher(t, n), req.WithContext(ctx)); err == nil {
		t.Errorf("%s: answered", kind)
	}
	dials, sent := len(n.Journal().Dials()), s.count()
	if dials > mostDials || sent > 1 || time.Since(begin) > 10*time.Second {
		t.Errorf("%s, late %v: %d connections, %d requests, %v", kind, late, dials, sent, time.Since(begin))
	}
	if late && sent > 0 {
		t.Errorf("%s: the request was sent before its connection ended", kind)
	}
}

// TestOneRequestOverHTTP1 has connections end after a request was written.
func TestOneRequestOverHTTP1(t *testing.T) {
	for way, fetcher := range ways {
		t.Run("O48/reject-"+way+"-http1", func(t *testing.T) {
			for kind, build := range requests {
				for name, fault := range map[string]lookleaptest.Fault{"reset": lookleaptest.Reset(), "close": lookleaptest.Wrap(func(http.Handler) http.Handler {
					return http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
				})} {
					synctest.Test(t, func(t *testing.T) {
						n := lookleaptest.ForTest(t)
						n.Site("shop.example").HTTP1().File("/", "text/plain", "hello").Fault("/act", fault)
						f := fetcher(t, n)
						var both sync.WaitGroup // so that two connections are idle
						for range 2 {
							both.Go(func() {
								req := request("GET", nil)
								req.URL.Path = "/"
								if err := exchange(t, f, req); err != nil {
									t.Error(err)
								}
							})
						}
						both.Wait()
						if err := exchange(t, f, build()); err == nil {
							t.Errorf("%s, %s: answered", kind, name)
						}
						if got := len(n.Journal().Requests()); got != 3 {
							t.Errorf("%s, %s: %d requests: %v", kind, name, got-2, n.Journal().Paths("shop.example"))
						}
					})
				}
			}
		})
	}
}

// TestTransportThatRepeats plays a transport by its reports, one step at a time.
func TestTransportThatRepeats(t *testing.T) {
	repeat := func(report func(ctx context.Context, trace *httptrace.ClientTrace)) error {
		host := &lookleap.Host{Fetcher: fetcherFunc(func(req *http.Request) (*http.Response, error) {
			report(req.Context(), httptrace.ContextClientTrace(req.Context()))
			return &http.Response{StatusCode: 200, Body: http.NoBody, Request: req}, nil
		})}
		return exchange(t, host, request("POST", nil))
	}
	t.Run("O48/reject-connections-without-end", func(t *testing.T) {
		looked := 0
		err := repeat(func(ctx context.Context, trace *httptrace.ClientTrace) {
			for looked = 0; looked < 1000 && ctx.Err() == nil; looked++ {
				trace.GetConn("shop.example:443")
			}
		})
		if lookleap.CodeOf(err) != lookleap.CodeConnReset || looked > 5 {
			t.Errorf("%d connections: %v", looked, err)
		}
	})
	t.Run("O48/reject-second-connection-closed-before-it-is-used", func(t *testing.T) {
		first, server := net.Pipe()
		defer server.Close()
		defer first.Close()
		second, server := net.Pipe()
		defer server.Close()
		err := repeat(func(_ context.Context, trace *httptrace.ClientTrace) {
			trace.GotConn(httptrace.GotConnInfo{Conn: first})
			trace.WroteHeaders()
			trace.GotConn(httptrace.GotConnInfo{Conn: second, Reused: true})
			if _, err := second.Write([]byte("POST")); !errors.Is(err, io.ErrClosedPipe) {
				t.Errorf("writing: %v", err)
			}
		})
		if lookleap.CodeOf(err) != lookleap.CodeConnReset {
			t.Error(err)
		}
	})
	t.Run("O48/accept-second-connection-when-nothing-was-written", func(t *testing.T) {
		conn, server := net.Pipe()
		defer server.Close()
		defer conn.Close()
		if err := repeat(func(_ context.Context, trace *httptrace.ClientTrace) {
			for range 3 {
				trace.GetConn("shop.example:443")
				trace.GotConn(httptrace.GotConnInfo{Conn: conn})
			}
		}); err != nil {
			t.Error(err)
		}
	})
}

func TestControlCharactersInQuery(t *testing.T) {
	for way, fetcher := range ways {
		t.Run("O48/reject-"+way+"-query", func(t *testing.T) {
			for _, query := range []string{"a\r\nX: y", "a\nb", "a\x00", "a b", "a\tb", "a\x7f"} {
				n := lookleaptest.ForTest(t)
				serveFrames(n, func(f *http2.Framer, stream uint32) error {
					if stream == 0 {
						return nil
					}
					return f.WriteRSTStream(stream, http2.ErrCodeProtocol)
				})
				req := request("GET", nil)
				req.URL.RawQuery = query
				if err := exchange(t, fetcher(t, n), req); lookleap.CodeOf(err) != lookleap.CodeBadURL {
					t.Errorf("%q: %v", query, err)
				}
				if dials := n.Journal().Dials(); len(dials) != 0 {
					t.Errorf("%q: %d dials", query, len(dials))
				}
			}
		})
	}
	t.Run("O48/accept-query", func(t *testing.T) {
		n := lookleaptest.ForTest(t)
		n.Site("shop.example").File("/act", "text/plain", "")
		req := request("GET", nil)
		req.URL.RawQuery = "a=%0d%0a&b=ü"
		if err := exchange(t, n.Fetcher(lookleap.FetcherOptions{}), req); err != nil {
			t.Error(err)
		}
	})
}

// TestLoadSkill has a package make its exchanges with a server that resets each.
func TestLoadSkill(t *testing.T) {
	for name, fault := range faults {
		t.Run("O48/reject-dvs-load-"+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := lookleaptest.ForTest(t)
				s := serveFrames(n, func(f *http2.Framer, stream uint32) error {
					if stream == 0 {
						return nil
					}
					return fault(f, stream)
				})
				sent := 0
				guarded := n.Fetcher(lookleap.FetcherOptions{})
				host := &lookleap.Host{Resolver: n.Stub(), Now: n.Clock().Now, Fetcher: fetcherFunc(func(req *http.Request) (*http.Response, error) {
					sent++
					return guarded.RoundTrip(req)
				})}
				if _, err := dvs.NewLoader(host, dvs.Options{}).Load(t.Context(), "https://shop.example/skills/refund/SKILL.md"); err == nil {
					t.Error("loaded")
				}
				if got := s.count(); got != sent || got > 3 {
					t.Errorf("%d requests for %d exchanges", got, sent)
				}
			})
		})
	}
}
