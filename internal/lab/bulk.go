package lab

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

const megabyte = 1 << 20

// filler is the unit of all generated bodies: text that no format takes for the end of anything.
func filler() []byte {
	const line = "this is one line of a body that goes on and on, and still it is not the last.\n"
	return bytes.Repeat([]byte(line), 400)
}

// Huge sends a body of n bytes and announces its length. Nothing of it is stored.
func Huge(n int64) Fault {
	return spoil(func(w http.ResponseWriter, r *http.Request, a *answer) {
		a.header.Set("Content-Length", strconv.FormatInt(n, 10))
		a.begin(w)
		unit := filler()
		for left := n; left > 0; left -= int64(len(unit)) {
			if _, err := w.Write(unit[:min(left, int64(len(unit)))]); err != nil {
				return
			}
		}
	})
}

// Endless sends a body without length and without end, as fast as the client reads.
func Endless() Fault {
	return spoil(func(w http.ResponseWriter, r *http.Request, a *answer) {
		a.header.Del("Content-Length")
		a.begin(w)
		unit := filler()
		for r.Context().Err() == nil {
			if _, err := w.Write(unit); err != nil {
				return
			}
		}
	})
}

// Gzip sends the body compressed and says so, as an honest server does.
func Gzip() Fault {
	return spoil(func(w http.ResponseWriter, r *http.Request, a *answer) {
		a.encode(w, "gzip", compress(a.body.Bytes()))
	})
}

// GzipTwice sends the body compressed twice and says so.
func GzipTwice() Fault {
	return spoil(func(w http.ResponseWriter, r *http.Request, a *answer) {
		a.encode(w, "gzip, gzip", compress(compress(a.body.Bytes())))
	})
}

// GzipCut sends compressed data that end too early under a true Content-Length.
func GzipCut() Fault {
	return spoil(func(w http.ResponseWriter, r *http.Request, a *answer) {
		packed := compress(a.body.Bytes())
		a.encode(w, "gzip", packed[:len(packed)-6])
	})
}

// GzipBomb sends some kilobytes that unpack to the given number of megabytes.
func GzipBomb(megabytes int) Fault {
	return spoil(func(w http.ResponseWriter, r *http.Request, a *answer) {
		// A gzip file may have many members, so one of them is enough to make.
		a.encode(w, "gzip", bytes.Repeat(compress(make([]byte, megabyte)), megabytes))
	})
}

// LyingEncoding sends the body as it is and claims that it is encoded: "gzip", "br", "deflate",
// "gzip, gzip".
func LyingEncoding(encoding string) Fault {
	return spoil(func(w http.ResponseWriter, r *http.Request, a *answer) {
		a.encode(w, encoding, a.body.Bytes())
	})
}

func (a *answer) encode(w http.ResponseWriter, encoding string, body []byte) {
	a.header.Set("Content-Encoding", encoding)
	a.header.Set("Content-Length", strconv.Itoa(len(body)))
	a.begin(w)
	w.Write(body)
}

func compress(data []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(data)
	z.Close()
	return b.Bytes()
}

// ContentType changes the Content-Type: none for no value, several fields for several.
func ContentType(values ...string) Fault { return Header("Content-Type", values...) }

// Header changes a header field: none for no value, several fields for several.
func Header(name string, values ...string) Fault {
	return spoil(func(w http.ResponseWriter, r *http.Request, a *answer) {
		a.header[http.CanonicalHeaderKey(name)] = values // net/http invents no type where this is nil
		a.send(w)
	})
}

// HeaderBomb adds header fields of n bytes in all, each of 1 KiB.
func HeaderBomb(n int) Fault {
	return HeaderLines("X-Bomb", strings.Repeat("b", 1024), (n+1023)/1024)
}

// HeaderLines adds the same header field n times.
func HeaderLines(name, value string, n int) Fault {
	return spoil(func(w http.ResponseWriter, r *http.Request, a *answer) {
		for range n {
			a.header.Add(name, value)
		}
		a.send(w)
	})
}

// Informational sends n interim responses with that code, such as 103, before the answer.
func Informational(code, n int) Fault {
	return Wrap(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			for range n {
				w.WriteHeader(code)
			}
			next.ServeHTTP(w, r)
		})
	})
}

// Replace sends another body under the same header.
func Replace(body string) Fault {
	return spoil(func(w http.ResponseWriter, r *http.Request, a *answer) {
		a.header.Set("Content-Length", strconv.Itoa(len(body)))
		a.begin(w)
		io.WriteString(w, body)
	})
}

func (a *answer) send(w http.ResponseWriter) {
	a.begin(w)
	w.Write(a.body.Bytes())
}

// CheckEstimate calls load ten times, which returns a value and an estimate of its memory in bytes.
// It fails the test if the values use more than twice of what is estimated.
func CheckEstimate(t testing.TB, load func() (value any, estimated int)) {
	t.Helper()
	heap := func() int {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	var kept [10]any
	before, estimated := heap(), 0
	for i := range kept {
		value, n := load()
		kept[i] = value
		estimated += n
	}
	if used := heap() - before; used > 2*estimated {
		t.Errorf("%d bytes are estimated, %d are used", estimated, used)
	}
	runtime.KeepAlive(kept)
}
