package agentstxt

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"

	"github.com/lookleap/lookleap/internal/roundtrip"
)

// asksForGzip reports whether the guard is to ask for a compressed response and decode
// it, as [http.Transport] does: only if the caller says nothing about encodings or ranges.
func asksForGzip(req *http.Request) bool {
	header := roundtrip.Canonical(req.Header)
	return req.Method != http.MethodHead && header.Get("Accept-Encoding") == "" && header.Get("Range") == ""
}

// withGzip returns a copy of a request that asks for a compressed response.
func withGzip(req *http.Request) *http.Request {
	header := roundtrip.Canonical(req.Header).Clone()
	if header == nil {
		header = make(http.Header)
	}
	header.Set("Accept-Encoding", "gzip")
	asked := *req
	asked.Header = header
	return &asked
}

// decode makes a compressed response look like one that was never compressed.
func decode(resp *http.Response) {
	if resp.Body == nil || !strings.EqualFold(resp.Header.Get("Content-Encoding"), "gzip") {
		return
	}
	resp.Header.Del("Content-Encoding")
	resp.Header.Del("Content-Length")
	resp.ContentLength = -1
	resp.Uncompressed = true
	resp.Body = &gzipBody{raw: resp.Body}
}

// gzipBody decodes a body while it is read.
type gzipBody struct {
	raw     io.ReadCloser
	decoder *gzip.Reader
	err     error // of the beginning of the data
}

func (b *gzipBody) Read(p []byte) (int, error) {
	if b.decoder == nil && b.err == nil {
		b.decoder, b.err = gzip.NewReader(b.raw)
	}
	if b.err != nil {
		return 0, b.err
	}
	return b.decoder.Read(p)
}

func (b *gzipBody) Close() error { return b.raw.Close() }
