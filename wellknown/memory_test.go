package wellknown_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"runtime"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/wellknown"
)

// answers gives every request the same answer, without a network whose buffers
// would count too.
type answers func(*http.Request) *http.Response

func (a answers) RoundTrip(r *http.Request) (*http.Response, error) { return a(r), nil }

// endless is a body without end.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

// TestRefusalIsCheap reads documents that do not end, and counts every octet that
// was ever allocated for them.
func TestRefusalIsCheap(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := io.CopyN(z, endless{}, 64<<20); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		body   func() io.Reader
		coding string
	}{
		"WK-4-01/reject-endless-cheaply": {func() io.Reader { return endless{} }, ""},
		"WK-4-01/reject-bomb-cheaply":    {func() io.Reader { return bytes.NewReader(packed.Bytes()) }, "gzip"},
	} {
		t.Run(name, func(t *testing.T) {
			host := &lookleap.Host{Fetcher: answers(func(r *http.Request) *http.Response {
				header := http.Header{"Content-Type": {"text/plain"}}
				if c.coding != "" {
					header.Set("Content-Encoding", c.coding)
				}
				return &http.Response{StatusCode: 200, Header: header, Body: io.NopCloser(c.body()), ContentLength: -1, Request: r, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}
			})}
			client := wellknown.NewClient(host, wellknown.Options{})
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			r, err := client.Fetch(t.Context(), "https://site.example", "security.txt")
			runtime.ReadMemStats(&after)
			if err != nil || r.Code != lookleap.CodeTooLarge || r.Body != nil {
				t.Fatalf("%v, %v", r, err)
			}
			used := after.TotalAlloc - before.TotalAlloc
			t.Logf("%.2f times the limit", float64(used)/wellknown.MaxDocument)
			if used > 3*wellknown.MaxDocument {
				t.Errorf("%d octets", used)
			}
		})
	}
}
