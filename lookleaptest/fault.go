package lookleaptest

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Fault changes the responses of a path; see [Site.Fault].
type Fault struct {
	http1 bool // cannot be said in HTTP/2
	wrap  func(next http.Handler) http.Handler
}

// Wrap makes a fault of a middleware.
func Wrap(middleware func(next http.Handler) http.Handler) Fault { return Fault{wrap: middleware} }

// before makes a fault of what happens before the response.
func before(do func(w http.ResponseWriter, r *http.Request)) Fault {
	return Wrap(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			do(w, r)
			next.ServeHTTP(w, r)
		})
	})
}

// sent makes a fault of another way to send the response.
func sent(send func(a *answer)) Fault {
	return Wrap(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			a := &answer{client: w, request: r, header: http.Header{}, code: http.StatusOK}
			next.ServeHTTP(a, r)
			send(a)
		})
	})
}

// changed makes a fault of a change of the response.
func changed(change func(a *answer)) Fault {
	return sent(func(a *answer) {
		change(a)
		a.begin()
		a.client.Write(a.body)
	})
}

// answer is a response that is not sent yet.
type answer struct {
	client  http.ResponseWriter
	request *http.Request
	header  http.Header
	code    int
	body    []byte
}

func (a *answer) Header() http.Header  { return a.header }
func (a *answer) WriteHeader(code int) { a.code = code }
func (a *answer) Write(b []byte) (int, error) {
	a.body = append(a.body, b...)
	return len(b), nil
}

// replace sets the body and its length.
func (a *answer) replace(body []byte) {
	a.body = body
	a.header.Set("Content-Length", strconv.Itoa(len(body)))
}

// encode sets a body that is compressed.
func (a *answer) encode(body []byte) {
	a.header.Set("Content-Encoding", strings.TrimPrefix(a.header.Get("Content-Encoding")+", gzip", ", "))
	a.replace(body)
}

// begin sends status and header.
func (a *answer) begin() {
	for name, values := range a.header {
		a.client.Header()[name] = values
	}
	a.client.WriteHeader(a.code)
}

// flush sends a part of the body at once.
func (a *answer) flush(part []byte) {
	a.client.Write(part)
	http.NewResponseController(a.client).Flush()
}

// half sends the header and half of the body.
func (a *answer) half() {
	a.begin()
	a.flush(a.body[:(len(a.body)+1)/2])
}

// repeat sends text that no format takes for the end of anything, n bytes or until the client leaves.
func (a *answer) repeat(n int64) {
	a.begin()
	text := bytes.Repeat([]byte("this is one line of a body that goes on and on, and still it is not the last.\n"), 400)
	for n > 0 {
		sent, err := a.client.Write(text[:min(n, int64(len(text)))])
		if err != nil {
			return
		}
		n -= int64(sent)
	}
}

// Delay waits before the response begins, by the clock of the internet.
func Delay(d time.Duration) Fault {
	return before(func(_ http.ResponseWriter, r *http.Request) { pause(r, d) })
}

// Mute reads the request and never responds.
func Mute() Fault {
	return before(func(_ http.ResponseWriter, r *http.Request) { forever(r) })
}

// Reset resets the connection after the request was read.
func Reset() Fault {
	return before(func(_ http.ResponseWriter, r *http.Request) {
		connectionOf(r).Reset()
		panic(http.ErrAbortHandler)
	})
}

// Informational sends n interim responses, such as 103, before the response.
func Informational(code, n int) Fault {
	return before(func(w http.ResponseWriter, _ *http.Request) {
		for range n {
			w.WriteHeader(code)
		}
	})
}

// Dribble sends the header at once and then a byte of the body each time the interval has passed.
func Dribble(interval time.Duration) Fault {
	return sent(func(a *answer) {
		a.begin()
		a.flush(nil)
		for piece := range slices.Chunk(a.body, 1) {
			pause(a.request, interval)
			a.flush(piece)
		}
	})
}

// Stall sends the header and half of the body, and then nothing.
func Stall() Fault {
	return sent(func(a *answer) {
		a.half()
		forever(a.request)
	})
}

// Truncated announces the whole length, sends half of the body and closes the connection.
func Truncated() Fault {
	return sent(func(a *answer) {
		a.header.Set("Content-Length", strconv.Itoa(max(len(a.body), 2)))
		a.half()
		panic(http.ErrAbortHandler)
	})
}

// CutChunks sends half of the body without announcing a length, and ends the connection without the
// last chunk.
func CutChunks() Fault {
	return sent(func(a *answer) {
		a.header.Del("Content-Length")
		a.half()
		panic(http.ErrAbortHandler)
	})
}

// ResetBody sends half of the body and resets the connection.
func ResetBody() Fault {
	return sent(func(a *answer) {
		a.half()
		conn := connectionOf(a.request)
		if memory, ok := conn.Conn.(*memoryConn); ok {
			memory.out.drained()
		}
		conn.Reset()
		panic(http.ErrAbortHandler)
	})
}

// Raw sends exactly these bytes as the response and closes the connection. It makes the site use
// HTTP/1.1 for new connections; on an HTTP/2 connection that exists the response is a 500.
func Raw(answer string) Fault {
	return Fault{http1: true, wrap: func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				http.Error(w, "Raw needs HTTP/1.1, and this connection began before it was set", http.StatusInternalServerError)
				return
			}
			defer conn.Close()
			conn.Write([]byte(answer))
		})
	}}
}

// Huge sends a body of n bytes.
func Huge(n int64) Fault {
	return sent(func(a *answer) {
		a.header.Set("Content-Length", strconv.FormatInt(n, 10))
		a.repeat(n)
	})
}

// Endless sends a body that never ends.
func Endless() Fault {
	return sent(func(a *answer) {
		a.header.Del("Content-Length")
		a.repeat(1 << 62)
	})
}

// Gzip compresses the body, as a correct server does.
func Gzip() Fault { return changed(func(a *answer) { a.encode(compress(a.body)) }) }

// GzipCut compresses the body and leaves out the end.
func GzipCut() Fault {
	return changed(func(a *answer) {
		packed := compress(a.body)
		a.encode(packed[:len(packed)-6])
	})
}

// GzipBomb sends a few kilobytes that decompress to the given number of megabytes.
func GzipBomb(megabytes int) Fault {
	// A gzip file may have many members, so one of them is enough to make.
	return changed(func(a *answer) { a.encode(bytes.Repeat(compress(make([]byte, 1<<20)), megabytes)) })
}

func compress(data []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(data)
	z.Close()
	return b.Bytes()
}

// Header replaces a header field: no value removes it, two values send it twice.
func Header(name string, values ...string) Fault {
	// net/http invents no type where this is nil.
	return changed(func(a *answer) { a.header[http.CanonicalHeaderKey(name)] = values })
}

// HeaderBomb adds n bytes of header.
func HeaderBomb(n int) Fault {
	return Header("X-Bomb", slices.Repeat([]string{strings.Repeat("b", 1024)}, (n+1023)/1024)...)
}

// Replace sends another body under the same header.
func Replace(body string) Fault { return changed(func(a *answer) { a.replace([]byte(body)) }) }
