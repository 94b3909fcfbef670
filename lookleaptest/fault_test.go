package lookleaptest_test

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap/internal/test/alloctest"
	"github.com/lookleap/lookleap/lookleaptest"
)

const page = "0123456789abcdefghijklmnopqrstuvwxyz"

// both runs a test in a bubble of its own over HTTP/1.1 and over HTTP/2.
func both(t *testing.T, test func(t *testing.T, net *lookleaptest.Internet, site *lookleaptest.Site)) {
	t.Helper()
	for _, proto := range []string{"HTTP/1.1", "HTTP/2.0"} {
		t.Run(proto, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				net := lookleaptest.ForTest(t)
				site := net.Site("shop.example").File("/page", "text/plain", page)
				if proto == "HTTP/1.1" {
					site.HTTP1()
				}
				test(t, net, site)
				for _, r := range net.Journal().Requests() {
					if r.Proto != proto {
						t.Error("spoke", r.Proto)
					}
				}
			})
		})
	}
}

func TestSlowFaults(t *testing.T) {
	for name, c := range map[string]struct {
		fault   lookleaptest.Fault
		header  time.Duration // until the header is there, if it comes
		all     time.Duration // until the body is
		timeout bool
	}{
		"Delay":   {lookleaptest.Delay(7 * time.Second), 7 * time.Second, 7 * time.Second, false},
		"Dribble": {lookleaptest.Dribble(time.Second), 0, time.Duration(len(page)) * time.Second, false},
		"Stall":   {lookleaptest.Stall(), 0, time.Hour, true},
		"Mute":    {lookleaptest.Mute(), 0, time.Hour, true},
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, net *lookleaptest.Internet, site *lookleaptest.Site) {
				site.Fault("/page", c.fault)
				begin := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				var header time.Duration
				ctx = httptrace.WithClientTrace(ctx,
					&httptrace.ClientTrace{GotFirstResponseByte: func() { header = time.Since(begin) }})
				_, body, err := fetch(ctx, net.Unguarded(), site.URL("/page"))
				if header != c.header {
					t.Error("the header took", header)
				}
				if took := time.Since(begin); took != c.all {
					t.Error("all took", took)
				}
				if c.timeout != errors.Is(err, context.DeadlineExceeded) || !c.timeout && body != page {
					t.Errorf("%q %v", body, err)
				}
			})
		})
	}
}

// A test that moves the clock need not wait, even without a bubble.
func TestSlowFollowsTheClock(t *testing.T) {
	net := lookleaptest.ForTest(t)
	net.Clock().Freeze()
	arrived, done := make(chan struct{}), make(chan string)
	site := net.Site("shop.example").File("/page", "text/plain", page).
		Fault("/page", arrival(arrived), lookleaptest.Delay(time.Hour))
	go func() {
		_, body, _ := fetch(t.Context(), net.Unguarded(), site.URL("/page"))
		done <- body
	}()
	<-arrived
	for { // it may begin to wait only after the clock has moved
		net.Clock().Advance(time.Hour)
		select {
		case body := <-done:
			if body != page {
				t.Error(body)
			}
			return
		default:
			runtime.Gosched()
		}
	}
}

// arrival is a fault that tells of the first request, and spoils nothing.
func arrival(first chan<- struct{}) lookleaptest.Fault {
	var once sync.Once
	return lookleaptest.Wrap(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			once.Do(func() { close(first) })
			next.ServeHTTP(w, r)
		})
	})
}

func TestCutFaults(t *testing.T) {
	for name, fault := range map[string]lookleaptest.Fault{
		"Truncated": lookleaptest.Truncated(), "CutChunks": lookleaptest.CutChunks(), "ResetBody": lookleaptest.ResetBody(),
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, net *lookleaptest.Internet, site *lookleaptest.Site) {
				site.Fault("/page", fault)
				resp, body, err := fetch(t.Context(), net.Unguarded(), site.URL("/page"))
				if err == nil || resp == nil {
					t.Fatal(resp, err)
				}
				// An HTTP/2 client may drop what it got when the connection breaks.
				if body != page[:18] && (resp.ProtoMajor == 1 || body != "") {
					t.Error(body)
				}
				if http1 := resp.ProtoMajor == 1; http1 && name != "ResetBody" && !errors.Is(err, io.ErrUnexpectedEOF) {
					t.Error(err)
				} else if http1 && name == "ResetBody" && !errors.Is(err, lookleaptest.ErrReset) {
					t.Error(err)
				}
				if (name != "CutChunks") != (resp.ContentLength == int64(len(page))) {
					t.Error("announced", resp.ContentLength)
				}
			})
		})
	}
}

func TestReset(t *testing.T) {
	both(t, func(t *testing.T, net *lookleaptest.Internet, site *lookleaptest.Site) {
		site.Fault("/page", lookleaptest.Reset())
		_, _, err := fetch(t.Context(), net.Unguarded(), site.URL("/page"))
		if err == nil || !errors.Is(err, lookleaptest.ErrReset) {
			t.Error(err)
		}
	})
}

func TestRawFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := lookleaptest.ForTest(t)
		site := net.Site("shop.example").File("/page", "text/plain", page)
		for _, c := range []struct {
			fault lookleaptest.Fault
			body  string
			err   error
		}{
			{lookleaptest.Raw("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nok"), "o", nil},
			{lookleaptest.Raw("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok"), "ok", io.ErrUnexpectedEOF},
			{lookleaptest.Raw("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok"), "ok", nil},
			{lookleaptest.Raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n"), "ok", io.ErrUnexpectedEOF},
		} {
			site.Fault("/page", c.fault)
			_, body, err := fetch(t.Context(), net.Unguarded(), site.URL("/page"))
			if body != c.body || !errors.Is(err, c.err) {
				t.Errorf("%q %v", body, err)
			}
		}
		site.Fault("/page", lookleaptest.Raw("this is no HTTP"))
		if _, _, err := fetch(t.Context(), net.Unguarded(), site.URL("/page")); err == nil ||
			!strings.Contains(err.Error(), "malformed HTTP") {
			t.Error(err)
		}
	})
}

func TestFaultsCompose(t *testing.T) {
	both(t, func(t *testing.T, net *lookleaptest.Internet, site *lookleaptest.Site) {
		begin := time.Now()
		site.Fault("/page", lookleaptest.Dribble(12*time.Second), lookleaptest.Replace("other"),
			lookleaptest.Header("Content-Type", "text/html"))
		resp, body, err := fetch(t.Context(), net.Unguarded(), site.URL("/page"))
		if err != nil || body != "other" || resp.Header.Get("Content-Type") != "text/html" ||
			time.Since(begin) != time.Minute {
			t.Error(resp, body, err, time.Since(begin))
		}
		site.Fault("/page")
		if _, body, err := fetch(t.Context(), net.Unguarded(), site.URL("/page")); err != nil || body != page {
			t.Error("not healed:", body, err)
		}
		site.Fault("/new", lookleaptest.Gzip())
		if resp, _, err := fetch(t.Context(), net.Unguarded(), site.URL("/new")); err != nil || resp.StatusCode != 200 {
			t.Error("nothing to spoil:", resp, err)
		}
	})
}

// raw asks with an Accept-Encoding of its own, so that the transport unpacks nothing.
func raw(t *testing.T, net *lookleaptest.Internet, url string) *http.Response {
	t.Helper()
	req, _ := http.NewRequestWithContext(t.Context(), "GET", url, nil)
	req.Header.Set("Accept-Encoding", "gzip")
	resp, err := net.Unguarded().RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// Neither is a terabyte stored, nor is more of it made than the client reads.
func TestHugeIsNotStored(t *testing.T) {
	both(t, func(t *testing.T, net *lookleaptest.Internet, site *lookleaptest.Site) {
		site.Fault("/page", lookleaptest.Huge(1<<40))
		alloctest.AtMost(t, 16<<20, func() {
			resp := raw(t, net, site.URL("/page"))
			io.CopyN(io.Discard, resp.Body, 1<<20)
			resp.Body.Close()
			if resp.ContentLength != 1<<40 {
				t.Errorf("%d bytes are announced", resp.ContentLength)
			}
		})
	})
}

func TestEncodings(t *testing.T) {
	both(t, func(t *testing.T, net *lookleaptest.Internet, site *lookleaptest.Site) {
		unpack := func(r io.Reader) string {
			z, err := gzip.NewReader(r)
			if err != nil {
				return err.Error()
			}
			data, err := io.ReadAll(z)
			if err != nil {
				return err.Error()
			}
			return string(data)
		}
		for _, c := range []struct {
			faults []lookleaptest.Fault
			says   string
			read   func(io.Reader) string
			body   string
		}{
			{[]lookleaptest.Fault{lookleaptest.Gzip()}, "gzip", unpack, page},
			{[]lookleaptest.Fault{lookleaptest.Gzip(), lookleaptest.Gzip()}, "gzip, gzip",
				func(r io.Reader) string { return unpack(strings.NewReader(unpack(r))) }, page},
			{[]lookleaptest.Fault{lookleaptest.GzipCut()}, "gzip", unpack, io.ErrUnexpectedEOF.Error()},
			{[]lookleaptest.Fault{lookleaptest.Header("Content-Encoding", "gzip")}, "gzip", unpack, gzip.ErrHeader.Error()},
		} {
			site.Fault("/page", c.faults...)
			resp := raw(t, net, site.URL("/page"))
			if got := c.read(resp.Body); got != c.body || resp.Header.Get("Content-Encoding") != c.says {
				t.Errorf("%s: %q", c.says, got)
			}
		}
	})
}

func TestGzipBomb(t *testing.T) {
	both(t, func(t *testing.T, net *lookleaptest.Internet, site *lookleaptest.Site) {
		site.Fault("/page", lookleaptest.GzipBomb(64))
		resp := raw(t, net, site.URL("/page"))
		if resp.ContentLength > 1<<20 {
			t.Error("sent", resp.ContentLength)
		}
		z, err := gzip.NewReader(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := io.Copy(io.Discard, z); n != 64<<20 || err != nil {
			t.Error(n, err)
		}
	})
}

func TestHeaderFaults(t *testing.T) {
	both(t, func(t *testing.T, net *lookleaptest.Internet, site *lookleaptest.Site) {
		ask := func(f lookleaptest.Fault) http.Header {
			site.Fault("/page", f)
			return raw(t, net, site.URL("/page")).Header
		}
		if h := ask(lookleaptest.HeaderBomb(100 << 10)); len(h["X-Bomb"]) != 100 || len(h["X-Bomb"][99]) != 1024 {
			t.Error(len(h["X-Bomb"]))
		}
		if _, there := ask(lookleaptest.Header("Content-Type"))["Content-Type"]; there {
			t.Error("there is a Content-Type")
		}
		if h := ask(lookleaptest.Header("Content-Type", "text/plain", "text/html")); len(h["Content-Type"]) != 2 {
			t.Error(h)
		}
		if h := ask(lookleaptest.Header("Retry-After", "-5")); h.Get("Retry-After") != "-5" {
			t.Error(h)
		}
	})
}

func TestInformational(t *testing.T) {
	both(t, func(t *testing.T, net *lookleaptest.Internet, site *lookleaptest.Site) {
		site.Fault("/page", lookleaptest.Informational(103, 4))
		seen := 0
		ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
			Got1xxResponse: func(code int, _ textproto.MIMEHeader) error { seen++; return nil },
		})
		resp, body, err := fetch(ctx, net.Unguarded(), site.URL("/page"))
		if err != nil || resp.StatusCode != 200 || body != page || seen != 4 {
			t.Error(resp, body, err, seen)
		}
	})
}
