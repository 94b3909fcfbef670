package lookleaptest_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

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
		header  time.Duration // until the header is there
		all     time.Duration // until the body is
		timeout bool
	}{
		"Delay":   {lookleaptest.Delay(7 * time.Second), 7 * time.Second, 7 * time.Second, false},
		"Dribble": {lookleaptest.Dribble(time.Second), 0, time.Duration(len(page)) * time.Second, false},
		"Stall":   {lookleaptest.Stall(), 0, time.Hour, true},
		"Mute":    {lookleaptest.Mute(), time.Hour, time.Hour, true},
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, net *lookleaptest.Internet, site *lookleaptest.Site) {
				site.Fault("/page", c.fault)
				begin := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				req, _ := http.NewRequestWithContext(ctx, "GET", site.URL("/page"), nil)
				resp, err := net.Unguarded().RoundTrip(req)
				if took := time.Since(begin); took != c.header {
					t.Error("the header took", took)
				}
				body := ""
				if err == nil {
					var data []byte
					data, err = io.ReadAll(resp.Body)
					resp.Body.Close()
					body = string(data)
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
	site := net.Site("shop.example").File("/page", "text/plain", page).Fault("/page", arrival(arrived), lookleaptest.Delay(time.Hour))
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
	for name, fault := range map[string]lookleaptest.Fault{"Truncated": lookleaptest.Truncated(), "CutChunks": lookleaptest.CutChunks(), "ResetBody": lookleaptest.ResetBody()} {
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
		if _, _, err := fetch(t.Context(), net.Unguarded(), site.URL("/page")); err == nil || !strings.Contains(err.Error(), "malformed HTTP") {
			t.Error(err)
		}
	})
}

func TestFaultsCompose(t *testing.T) {
	both(t, func(t *testing.T, net *lookleaptest.Internet, site *lookleaptest.Site) {
		begin := time.Now()
		site.Fault("/page", lookleaptest.Dribble(12*time.Second), lookleaptest.Replace("other"), lookleaptest.Header("Content-Type", "text/html"))
		resp, body, err := fetch(t.Context(), net.Unguarded(), site.URL("/page"))
		if err != nil || body != "other" || resp.Header.Get("Content-Type") != "text/html" || time.Since(begin) != time.Minute {
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
