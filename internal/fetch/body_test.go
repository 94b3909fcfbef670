package fetch_test

import (
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/internal/test/alloctest"
	"github.com/lookleap/lookleap/lookleaptest"
)

// zip is one gzip member.
func zip(data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(data)
	w.Close()
	return b.Bytes()
}

// encoded answers with these bytes under these Content-Encoding headers.
func encoded(body []byte, encodings ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Encoding"] = encodings
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		w.Write(body)
	}
}

func TestContentEncoding(t *testing.T) {
	hello := []byte("hello")
	zipped := zip(hello)
	empty := zip(nil)
	tests := []struct {
		name      string
		body      []byte
		encodings []string
		code      lookleap.Code
	}{
		{"F14/accept-none", hello, nil, ""},
		{"F14/accept-identity", hello, []string{"identity"}, ""},
		{"F14/accept-gzip", zipped, []string{"gzip"}, ""},
		{"F14/accept-gzip-in-capitals", zipped, []string{"GZIP"}, ""},
		{"F14/accept-two-members", append(zip([]byte("hel")), zip([]byte("lo"))...), []string{"gzip"}, ""},
		{"F14/reject-gzip-twice", zip(zipped), []string{"gzip, gzip"}, lookleap.CodeEncoding},
		{"F14/reject-gzip-in-two-headers", zip(zipped), []string{"gzip", "gzip"}, lookleap.CodeEncoding},
		{"F14/reject-identity-and-gzip", zipped, []string{"identity, gzip"}, lookleap.CodeEncoding},
		{"F14/reject-br", hello, []string{"br"}, lookleap.CodeEncoding},
		{"F14/reject-deflate", hello, []string{"deflate"}, lookleap.CodeEncoding},
		{"F14/reject-zstd", hello, []string{"zstd"}, lookleap.CodeEncoding},
		{"F14/reject-unknown", hello, []string{"x-mine"}, lookleap.CodeEncoding},
		{"F14/reject-lying-gzip", hello, []string{"gzip"}, lookleap.CodeEncoding},
		{"F14/reject-long-lying-gzip", bytes.Repeat(hello, 100), []string{"gzip"}, lookleap.CodeEncoding},
		{"F14/reject-cut-gzip", zipped[:len(zipped)-3], []string{"gzip"}, lookleap.CodeTruncated},
		{"F14/reject-cut-gzip-header", zipped[:5], []string{"gzip"}, lookleap.CodeTruncated},
		{"F14/reject-one-lying-octet", hello[:1], []string{"gzip"}, lookleap.CodeEncoding},
		{"F14/reject-no-gzip-at-all", nil, []string{"gzip"}, lookleap.CodeTruncated},
		{"F14/reject-garbage-after-gzip", append(bytes.Clone(zipped), "garbage of some length"...), []string{"gzip"}, lookleap.CodeEncoding},
		{"F14/reject-zeros-after-gzip", append(bytes.Clone(zipped), make([]byte, 64)...), []string{"gzip"}, lookleap.CodeEncoding},
		{"F14/reject-wrong-checksum", flip(zipped, len(zipped)-6), []string{"gzip"}, lookleap.CodeEncoding},
		{"F14/reject-corrupt-gzip", flip(zipped, 11), []string{"gzip"}, lookleap.CodeEncoding},
		{"F14/reject-unknown-deflate-block", append(bytes.Clone(zipped[:10]), 7, 0, 0, 0, 0, 0, 0, 0, 0), []string{"gzip"}, lookleap.CodeEncoding},
		{"F14/reject-bomb", zip(make([]byte, 64<<20)), []string{"gzip"}, lookleap.CodeTooLarge},
		{"F14/reject-bomb-of-members", bytes.Repeat(zip(make([]byte, 64<<10)), 1000), []string{"gzip"}, lookleap.CodeTooLarge},
		{"F14/reject-bomb-of-empty-members", bytes.Repeat(empty, 100_000), []string{"gzip"}, lookleap.CodeTooLarge},
	}
	n := lookleaptest.ForTest(t)
	site := n.Site("shop.example")
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			site.Handle("/", encoded(test.body, test.encodings...))
			resp, err := do(t, n.Fetcher(lookleap.FetcherOptions{}), new(fetch.Request), "https://shop.example/")
			if test.code == "" {
				if err != nil || string(resp.Body) != "hello" {
					t.Errorf("%+v, %v", resp, err)
				}
				return
			}
			failure(t, resp, err, test.code)
		})
	}
}

func flip(b []byte, at int) []byte {
	b = bytes.Clone(b)
	b[at] ^= 0xff
	return b
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func TestLengths(t *testing.T) {
	lengths := func(announced int64, body string) fetcherFunc {
		return func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), ContentLength: announced}, nil
		}
	}
	must(t, lengths(5, "hello"), new(fetch.Request), "https://shop.example/")
	must(t, lengths(-1, "hello"), new(fetch.Request), "https://shop.example/")
	for _, announced := range []int64{4, 6, 0} {
		resp, err := do(t, lengths(announced, "hello"), new(fetch.Request), "https://shop.example/")
		failure(t, resp, err, lookleap.CodeTruncated)
	}
}

// TestMemoryWhileRefusing counts all that is ever allocated, which is more than
// what is in use at any time.
func TestMemoryWhileRefusing(t *testing.T) {
	const limit = 4 << 20
	answer := func(h http.Header, length int64, body func() io.Reader) fetcherFunc {
		return func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Header: h, Body: io.NopCloser(body()), ContentLength: length}, nil
		}
	}
	bomb := zip(make([]byte, 64<<20))
	gzipped := http.Header{"Content-Encoding": {"gzip"}}
	tests := []struct {
		name string
		f    fetcherFunc
		most int // of limit, in percent
	}{
		{"announced", answer(http.Header{}, 1<<40, func() io.Reader { return zeros{} }), 10},
		{"endless", answer(http.Header{}, -1, func() io.Reader { return zeros{} }), 110},
		{"bomb", answer(gzipped, int64(len(bomb)), func() io.Reader { return bytes.NewReader(bomb) }), 120},
	}
	for _, test := range tests {
		t.Run("F14/reject-"+test.name+"-in-bounded-memory", func(t *testing.T) {
			alloctest.AtMost(t, limit*test.most/100, func() {
				resp, err := do(t, test.f, &fetch.Request{Limits: fetch.Limits{Body: limit}}, "https://shop.example/")
				failure(t, resp, err, lookleap.CodeTooLarge)
			})
		})
	}
	t.Run("F14/accept-in-bounded-memory", func(t *testing.T) {
		f := answer(http.Header{}, -1, func() io.Reader { return io.LimitReader(zeros{}, limit) })
		alloctest.AtMost(t, limit*21/10, func() { must(t, f, &fetch.Request{Limits: fetch.Limits{Body: limit}}, "https://shop.example/") })
	})
}

func FuzzBody(f *testing.F) {
	f.Add([]byte("hello"), "", int64(-1), false)
	f.Add(zip([]byte("hello")), "gzip", int64(-1), false)
	f.Add(zip(make([]byte, 10_000)), "gzip", int64(3), true)
	f.Fuzz(func(t *testing.T, body []byte, encoding string, length int64, uncompressed bool) {
		answer := fetcherFunc(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Header: http.Header{"Content-Encoding": {encoding}}, Body: io.NopCloser(bytes.NewReader(body)),
				ContentLength: max(length, -1), Uncompressed: uncompressed}, nil
		})
		resp, err := fetch.Do(t.Context(), answer, &fetch.Request{URL: parse(t, "https://shop.example/"), Limits: fetch.Limits{Body: 1000}})
		if (resp == nil) == (err == nil) || resp != nil && len(resp.Body) > 1000 {
			t.Errorf("%+v, %v", resp, err)
		}
	})
}

// brokenBody breaks the contract of a body.
type brokenBody struct {
	read  func([]byte) (int, error)
	close func() error
}

func (b brokenBody) Read(p []byte) (int, error) { return b.read(p) }
func (b brokenBody) Close() error               { return b.close() }

func TestBrokenBodies(t *testing.T) {
	nothing := func([]byte) (int, error) { return 0, nil }
	fine := func() error { return nil }
	for name, body := range map[string]brokenBody{
		"read-panics":     {func([]byte) (int, error) { panic("boom") }, fine},
		"close-panics":    {nothing, func() error { panic("boom") }},
		"returns-nothing": {nothing, fine},
		"less-than-none":  {func([]byte) (int, error) { return -1, nil }, fine},
		"more-than-all":   {func(p []byte) (int, error) { return len(p) + 1, nil }, fine},
	} {
		t.Run(name, func(t *testing.T) {
			f := fetcherFunc(func(*http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: 200, Header: http.Header{}, Body: body, ContentLength: -1}, nil
			})
			resp, err := fetch.Do(t.Context(), f, &fetch.Request{URL: parse(t, "https://shop.example/")})
			if resp != nil || lookleap.CodeOf(err) != lookleap.CodeInternal {
				t.Errorf("got %v, %v", resp, err)
			}
		})
	}
}

// TestEmptyBody: a body of no bytes is sent as one, with its length.
func TestEmptyBody(t *testing.T) {
	n := lookleaptest.ForTest(t)
	var length int64 = -1
	var encoding []string
	n.Site("shop.example").HTTP1().HandleFunc("/", func(_ http.ResponseWriter, r *http.Request) { length, encoding = r.ContentLength, r.TransferEncoding })
	must(t, n.Fetcher(lookleap.FetcherOptions{}), &fetch.Request{Method: "POST", Body: []byte{}}, "https://shop.example/")
	if length != 0 || len(encoding) != 0 {
		t.Errorf("length %d, encoding %v", length, encoding)
	}
}

// TestAnswersForOneUser: what is answered to credentials is for their user alone.
func TestAnswersForOneUser(t *testing.T) {
	n := lookleaptest.ForTest(t)
	n.Site("shop.example").File("/", "text/plain", "")
	n.Site("mutual.example").File("/", "text/plain", "").ClientAuth(tls.RequireAndVerifyClientCert)
	withCertificate := n.Fetcher(lookleap.FetcherOptions{ClientCertificates: []tls.Certificate{n.ClientCertificate("agent")}})
	for name, c := range map[string]struct {
		url    string
		header http.Header
		want   bool
	}{
		"accept-for-all":       {"https://shop.example/", http.Header{"Accept": {"text/plain"}}, false},
		"reject-authorization": {"https://shop.example/", http.Header{"Authorization": {"Bearer x"}}, true},
		"reject-cookie":        {"https://shop.example/", http.Header{"Cookie": {"a=b"}}, true},
		"reject-certificate":   {"https://mutual.example/", nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			if resp := must(t, withCertificate, &fetch.Request{Header: c.header}, c.url); resp.Freshness.OneUser != c.want {
				t.Errorf("for one user: %t", resp.Freshness.OneUser)
			}
		})
	}
}

// incompressible returns the gzip form of n bytes that it does not make shorter.
func incompressible(t *testing.T, n int) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.NoCompression)
	if err != nil {
		t.Fatal(err)
	}
	w.Write(make([]byte, n))
	w.Close()
	return b.Bytes()
}

// TestGzipLimit: the limit of a compressed body is that of what it decompresses to, with some room
// for data that gzip cannot make smaller, and none for members that decompress to nothing.
func TestGzipLimit(t *testing.T) {
	all := func(_ *fetch.Response, r io.Reader) error {
		_, err := io.Copy(io.Discard, r)
		return err
	}
	members := func(size int) []byte { // exactly so many bytes of empty members
		empty := zip(nil)
		last := append(bytes.Clone(empty[:10]), make([]byte, size%len(empty))...) // with a file name
		for i := range last[10:] {
			last[10+i] = 'a'
		}
		if len(last) > 10 {
			last[3], last[len(last)-1] = 8, 0
		}
		return append(bytes.Repeat(empty, size/len(empty)-1), append(last, empty[10:]...)...)
	}
	for _, limit := range []int{1, 100, 64 << 10} {
		room := limit + limit/8 + 1<<10
		for name, c := range map[string]struct {
			body []byte
			ok   bool
		}{
			"accept-as-much-as-allowed": {incompressible(t, limit), true},
			"reject-a-byte-more":        {incompressible(t, limit+1), false},
			"accept-members-in-room":    {members(room - 1), true},
			"reject-members-beyond":     {members(room), false},
		} {
			t.Run("F14/"+name, func(t *testing.T) {
				n := lookleaptest.ForTest(t)
				n.Site("shop.example").HandleFunc("/", encoded(c.body, "gzip"))
				want := lookleap.CodeOK
				if !c.ok {
					want = lookleap.CodeTooLarge
				}
				if _, err := do(t, n.Fetcher(lookleap.FetcherOptions{}), &fetch.Request{Limits: fetch.Limits{Body: limit}}, "https://shop.example/"); lookleap.CodeOf(err) != want {
					t.Errorf("limit %d, %d bytes: %v", limit, len(c.body), err)
				}
				r := &fetch.Request{Limits: fetch.Limits{Body: limit}, Stream: all}
				if _, err := do(t, n.Fetcher(lookleap.FetcherOptions{}), r, "https://shop.example/"); lookleap.CodeOf(err) != want {
					t.Errorf("limit %d, %d bytes as a stream: %v", limit, len(c.body), err)
				}
			})
		}
	}
}
