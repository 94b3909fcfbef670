package lookleaptest_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"strings"
	"testing"

	"github.com/lookleap/lookleap/internal/test/alloctest"
	"github.com/lookleap/lookleap/lookleaptest"
)

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
