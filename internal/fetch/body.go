package fetch

import (
	"bufio"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/lookleap/lookleap"
)

var (
	errTruncated = coded(lookleap.CodeTruncated, "the response ended before it was complete")
	errNoGzip    = coded(lookleap.CodeEncoding, "the body is declared as gzip and is not valid gzip")
)

// readBody reads and decodes a body of at most limit bytes. It allocates at most twice what it
// returns, and at most the limit for a body that it refuses.
func readBody(resp *http.Response, limit int, raw io.Reader) ([]byte, error) {
	zipped, err := isGzip(resp)
	if err != nil {
		return nil, err
	}
	framed := resp.ContentLength >= 0 && !resp.Uncompressed
	if framed && !zipped && resp.ContentLength > int64(limit) {
		return nil, tooLarge(limit)
	}
	if closeDelimited(resp) && !zipped {
		return nil, coded(lookleap.CodeTruncated, "the response has neither a length nor chunks, so no one can tell whether it is complete")
	}
	counted := &counter{Reader: raw}
	if zipped {
		return readGzip(counted, limit)
	}
	hint := 0
	if framed {
		hint = int(resp.ContentLength)
	}
	body, err := readAll(counted, limit, hint)
	if err != nil {
		return nil, err
	}
	if framed && int64(len(body)) != resp.ContentLength {
		return nil, errTruncated
	}
	return body, nil
}

// streamBody passes a body to read as it arrives, within the same limits. It returns the error
// of the body, even if read ignored it. What read leaves over stays unread.
func streamBody(resp *http.Response, limit int, raw io.Reader, read func(io.Reader) error) error {
	zipped, err := isGzip(resp)
	if err != nil {
		return err
	}
	if closeDelimited(resp) && !zipped {
		return errTruncated
	}
	body := &stream{Reader: raw, left: limit}
	if zipped {
		counted := &counter{Reader: raw, bounded: true, left: limit + limit/8 + 1<<10}
		decoder, err := gzip.NewReader(bufio.NewReader(counted))
		if err != nil {
			return gzipError(err, limit)
		}
		body.Reader = decoder
	}
	err = read(body)
	switch {
	case body.left < 0:
		return tooLarge(limit)
	case body.failed != nil && zipped:
		return gzipError(body.failed, limit)
	case body.failed != nil:
		return body.failed
	}
	return err
}

// stream limits what is read through it and remembers its error.
type stream struct {
	io.Reader
	left   int
	failed error
}

func (s *stream) Read(p []byte) (int, error) {
	if s.failed != nil {
		return 0, s.failed
	}
	n, err := s.Reader.Read(p)
	s.left -= n
	if s.left < 0 {
		err = errRawLimit
	}
	if err != nil && err != io.EOF {
		s.failed = err
	}
	return n, err
}

// closeDelimited reports whether only the end of the connection ends the body. Anyone on the
// network path can end a connection.
func closeDelimited(resp *http.Response) bool {
	return resp.ProtoMajor == 1 && resp.Close && resp.ContentLength < 0 && len(resp.TransferEncoding) == 0 && !resp.Uncompressed
}

// isGzip reports whether a body is compressed: Content-Encoding may be missing, identity, or
// gzip once. If the transport decompressed the body, no encoding may be left.
func isGzip(resp *http.Response) (bool, error) {
	lines := resp.Header.Values("Content-Encoding")
	declared := strings.ToLower(strings.Trim(strings.Join(lines, ","), " \t"))
	switch {
	case declared == "" || declared == "identity":
		return false, nil
	case declared == "gzip" && !resp.Uncompressed:
		return true, nil
	}
	return false, coded(lookleap.CodeEncoding, "the content encoding is neither identity nor a single gzip")
}

// readGzip decompresses a body. It limits the compressed bytes too, because empty members
// decompress to nothing for ever.
func readGzip(raw *counter, limit int) ([]byte, error) {
	raw.left = limit + limit/8 + 1<<10
	raw.bounded = true
	buffered := bufio.NewReader(raw)
	if magic, _ := buffered.Peek(2); !strings.HasPrefix("\x1f\x8b", string(magic)) {
		return nil, errNoGzip // however short it is
	}
	decoder, err := gzip.NewReader(buffered)
	if err != nil {
		return nil, gzipError(err, limit)
	}
	body, err := readAll(decoder, limit, 0)
	if err != nil {
		return nil, gzipError(err, limit)
	}
	return body, nil
}

func gzipError(err error, limit int) error {
	switch {
	case errors.Is(err, errRawLimit):
		return tooLarge(limit)
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum), isCorrupt(err):
		return errNoGzip
	}
	return err
}

func isCorrupt(err error) bool {
	// The two error types of flate have no method that tells them from others.
	return strings.HasPrefix(err.Error(), "flate: ")
}

var errRawLimit = errors.New("more encoded bytes than the limit")

// counter limits the bytes that are read through it if bounded is set.
type counter struct {
	io.Reader
	bounded bool
	left    int
}

func (c *counter) Read(p []byte) (int, error) {
	if !c.bounded {
		return c.Reader.Read(p)
	}
	if c.left <= 0 {
		return 0, errRawLimit
	}
	n, err := c.Reader.Read(p[:min(len(p), c.left)])
	c.left -= n
	return n, err
}

func tooLarge(limit int) error {
	return coded(lookleap.CodeTooLarge, "the body is larger than %d bytes", limit)
}

const (
	firstChunk = 4 << 10
	lastChunk  = 256 << 10
)

// readAll reads to the end, into chunks that it joins once, so that a growing body produces
// little garbage. The hint is the number of bytes that are expected.
func readAll(r io.Reader, limit, hint int) ([]byte, error) {
	var full [][]byte
	size := 0
	chunk := make([]byte, 0, min(max(hint, firstChunk), limit)+1)
	for {
		if len(chunk) == cap(chunk) {
			full = append(full, chunk)
			chunk = make([]byte, 0, min(max(2*cap(chunk), firstChunk), lastChunk, limit-size+1))
		}
		n, err := r.Read(chunk[len(chunk):cap(chunk)])
		chunk = chunk[:len(chunk)+n]
		size += n
		if size > limit {
			return nil, tooLarge(limit)
		}
		switch {
		case err == io.EOF:
			if len(full) == 0 {
				return chunk, nil
			}
			all := make([]byte, 0, size)
			for _, part := range append(full, chunk) {
				all = append(all, part...)
			}
			return all, nil
		case err != nil:
			return nil, err
		}
	}
}

// foreignBody is the body from a Fetcher. It returns an error if that body breaks the contract
// of io.Reader or panics.
type foreignBody struct {
	io.ReadCloser
	idle int // reads in a row that returned nothing

	once sync.Once // it is closed by the first of its reader and the exchange's time limit
	err  error     // of closing
}

// maxIdle is how many reads in a row may return nothing.
const maxIdle = 100

func (b *foreignBody) Read(p []byte) (n int, err error) {
	defer failPanic(&err)
	n, err = b.ReadCloser.Read(p)
	b.idle++
	if n != 0 || err != nil {
		b.idle = 0
	}
	switch {
	case n < 0 || n > len(p):
		return 0, coded(lookleap.CodeInternal, "the body of the response claims to have read %d of %d bytes", n, len(p))
	case b.idle > maxIdle:
		return 0, coded(lookleap.CodeInternal, "the body of the response returns neither bytes nor an end")
	}
	return n, err
}

func (b *foreignBody) Close() error {
	b.once.Do(func() {
		defer failPanic(&b.err)
		b.err = b.ReadCloser.Close()
	})
	return b.err
}

func failPanic(err *error) {
	if cause := recover(); cause != nil {
		*err = coded(lookleap.CodeInternal, "the body of the response failed: %v", cause)
	}
}

// Budget is how many requests one document may still cause. [Do] takes one from it before each
// request, including redirects and repeated requests. It is safe for concurrent use. A nil
// Budget has no limit.
type Budget struct {
	left atomic.Int64
}

// NewBudget returns a budget of n requests.
func NewBudget(n int) *Budget {
	b := new(Budget)
	b.left.Store(int64(max(n, 0)))
	return b
}

// Take takes one request and reports whether there was one left.
func (b *Budget) Take() bool {
	if b == nil {
		return true
	}
	for {
		n := b.left.Load()
		if n <= 0 {
			return false
		}
		if b.left.CompareAndSwap(n, n-1) {
			return true
		}
	}
}

// Left returns how many requests are left, -1 for a nil Budget.
func (b *Budget) Left() int {
	if b == nil {
		return -1
	}
	return int(b.left.Load())
}
