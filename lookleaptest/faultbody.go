package lookleaptest

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strconv"
	"strings"
)

const megabyte = 1 << 20

// filler is the unit of all generated bodies: text that no format takes for the end of anything.
func filler() []byte {
	const line = "this is one line of a body that goes on and on, and still it is not the last.\n"
	return bytes.Repeat([]byte(line), 400)
}

// Huge sends a body of n bytes.
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

// Endless sends a body that never ends.
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

// Gzip compresses the body, as a correct server does.
func Gzip() Fault {
	return spoil(func(w http.ResponseWriter, r *http.Request, a *answer) {
		a.encode(w, "gzip", compress(a.body.Bytes()))
	})
}

// GzipTwice compresses the body twice.
func GzipTwice() Fault {
	return spoil(func(w http.ResponseWriter, r *http.Request, a *answer) {
		a.encode(w, "gzip, gzip", compress(compress(a.body.Bytes())))
	})
}

// GzipCut compresses the body and leaves out the end.
func GzipCut() Fault {
	return spoil(func(w http.ResponseWriter, r *http.Request, a *answer) {
		packed := compress(a.body.Bytes())
		a.encode(w, "gzip", packed[:len(packed)-6])
	})
}

// GzipBomb sends a few kilobytes that decompress to the given number of megabytes.
func GzipBomb(megabytes int) Fault {
	return spoil(func(w http.ResponseWriter, r *http.Request, a *answer) {
		// A gzip file may have many members, so one of them is enough to make.
		a.encode(w, "gzip", bytes.Repeat(compress(make([]byte, megabyte)), megabytes))
	})
}

// WrongEncoding sends the body unchanged with a Content-Encoding, such as "gzip".
func WrongEncoding(encoding string) Fault {
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

// ContentType replaces the Content-Type: no value removes it, two values send it twice.
func ContentType(values ...string) Fault { return Header("Content-Type", values...) }

// Header replaces a header field: no value removes it, two values send it twice.
func Header(name string, values ...string) Fault {
	return spoil(func(w http.ResponseWriter, r *http.Request, a *answer) {
		a.header[http.CanonicalHeaderKey(name)] = values // net/http invents no type where this is nil
		a.send(w)
	})
}

// HeaderBomb adds n bytes of header.
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

// Informational sends n interim responses, such as 103, before the response.
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
