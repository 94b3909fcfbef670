package fetch_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/lookleaptest"
)

func TestStream(t *testing.T) {
	all := func(_ *fetch.Response, r io.Reader) error {
		_, err := io.Copy(io.Discard, r)
		return err
	}
	deaf := func(_ *fetch.Response, r io.Reader) error { // takes every failure for an end
		_, _ = io.Copy(io.Discard, r)
		return nil
	}
	again := func(_ *fetch.Response, r io.Reader) error { // reads on after a failure
		_, _ = io.Copy(io.Discard, r)
		if n, err := r.Read(make([]byte, 10)); n != 0 || err == nil {
			t.Errorf("after a failure: %d bytes, %v", n, err)
		}
		return nil
	}
	first := func(_ *fetch.Response, r io.Reader) error {
		_, err := io.ReadFull(r, make([]byte, 10))
		return err
	}
	for _, c := range []struct {
		name   string
		faults []lookleaptest.Fault
		stream func(*fetch.Response, io.Reader) error
		want   lookleap.Code
	}{
		{"accept-all", nil, all, lookleap.CodeOK},
		{"accept-gzip", []lookleaptest.Fault{lookleaptest.Gzip()}, all, lookleap.CodeOK},
		{"accept-early-stop", []lookleaptest.Fault{lookleaptest.Endless()}, first, lookleap.CodeOK},
		{"reject-endless", []lookleaptest.Fault{lookleaptest.Endless()}, deaf, lookleap.CodeTooLarge},
		{"reject-huge", []lookleaptest.Fault{lookleaptest.Huge(10 << 20)}, all, lookleap.CodeTooLarge},
		{"reject-bomb", []lookleaptest.Fault{lookleaptest.GzipBomb(64)}, deaf, lookleap.CodeTooLarge},
		{"reject-truncated", []lookleaptest.Fault{lookleaptest.Truncated()}, deaf, lookleap.CodeTruncated},
		{"reject-gzip-cut", []lookleaptest.Fault{lookleaptest.GzipCut()}, deaf, lookleap.CodeTruncated},
		{"reject-no-gzip", []lookleaptest.Fault{lookleaptest.Header("Content-Encoding", "gzip")}, all, lookleap.CodeEncoding},
		{"reject-broken-gzip", []lookleaptest.Fault{lookleaptest.Replace("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\x07"), lookleaptest.Header("Content-Encoding", "gzip")}, deaf, lookleap.CodeEncoding},
		{"reject-read-after-the-limit", []lookleaptest.Fault{lookleaptest.Endless()}, again, lookleap.CodeTooLarge},
		{"reject-read-after-truncation", []lookleaptest.Fault{lookleaptest.Truncated()}, again, lookleap.CodeTruncated},
		{"reject-unknown-encoding", []lookleaptest.Fault{lookleaptest.Header("Content-Encoding", "br")}, all, lookleap.CodeEncoding},
		{"reject-no-length-and-no-chunks", []lookleaptest.Fault{lookleaptest.Raw("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nhello")}, all, lookleap.CodeTruncated},
		{"reject-by-sink", nil, func(*fetch.Response, io.Reader) error { return lookleap.ErrDenied }, lookleap.CodeDenied},
	} {
		t.Run(c.name, func(t *testing.T) {
			net := lookleaptest.ForTest(t)
			net.Site("big.example").HTTP1().File("/x", "text/plain", strings.Repeat("x", 1<<19)).Fault("/x", c.faults...)
			u, _ := domain.Parse("https://big.example/x")
			resp, err := fetch.Do(t.Context(), net.StubHost(), &fetch.Request{URL: u, Stream: c.stream})
			if lookleap.CodeOf(err) != c.want || (resp == nil) != (err != nil) || resp != nil && resp.Body != nil {
				t.Fatalf("got %v", err)
			}
			if c.want == lookleap.CodeDenied && !errors.Is(err, lookleap.ErrDenied) {
				t.Error("the sink's error is lost")
			}
		})
	}
}
