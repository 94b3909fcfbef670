package lookleaptest

import (
	"bytes"
	"fmt"
	"net/http"
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

// spoil makes a fault of a function that gets the answer it may spoil.
func spoil(send func(w http.ResponseWriter, r *http.Request, a *answer)) Fault {
	return Wrap(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			a := &answer{header: http.Header{}, code: http.StatusOK}
			next.ServeHTTP(a, r)
			send(w, r, a)
		})
	})
}

// Delay waits before the response begins, by the clock of the internet.
func Delay(d time.Duration) Fault {
	return Wrap(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			pause(r, d)
			next.ServeHTTP(w, r)
		})
	})
}

// Slow sends the header at once, and the body in 20 pieces during the given time.
func Slow(d time.Duration) Fault {
	return spoil(func(w http.ResponseWriter, r *http.Request, a *answer) {
		body := a.body.Bytes()
		pieces := min(len(body), 20)
		a.begin(w)
		flush(w)
		for i := range pieces {
			pause(r, d/time.Duration(pieces))
			w.Write(body[i*len(body)/pieces : (i+1)*len(body)/pieces])
			flush(w)
		}
	})
}

// Dribble sends the header at once and then a byte of the body each time the interval has passed.
func Dribble(interval time.Duration) Fault {
	return spoil(func(w http.ResponseWriter, r *http.Request, a *answer) {
		a.begin(w)
		flush(w)
		for _, b := range a.body.Bytes() {
			pause(r, interval)
			w.Write([]byte{b})
			flush(w)
		}
	})
}

// Stall sends the header and half of the body, and then nothing.
func Stall() Fault {
	return spoil(func(w http.ResponseWriter, r *http.Request, a *answer) {
		a.begin(w)
		w.Write(a.half())
		flush(w)
		forever(r)
	})
}

// Mute reads the request and never responds.
func Mute() Fault {
	return Wrap(func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { forever(r) })
	})
}

// Truncated announces the whole length, sends half of the body and closes the connection.
func Truncated() Fault {
	return spoil(func(w http.ResponseWriter, r *http.Request, a *answer) {
		a.header.Set("Content-Length", fmt.Sprint(max(a.body.Len(), 2)))
		a.begin(w)
		w.Write(a.half())
		flush(w)
		panic(http.ErrAbortHandler)
	})
}

// CutChunks sends half of the body without announcing a length, and ends the connection without the
// last chunk.
func CutChunks() Fault {
	return spoil(func(w http.ResponseWriter, r *http.Request, a *answer) {
		a.header.Del("Content-Length")
		a.begin(w)
		w.Write(a.half())
		flush(w)
		panic(http.ErrAbortHandler)
	})
}

// Reset resets the connection after the request was read.
func Reset() Fault {
	return Wrap(func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			connectionOf(r).Reset()
			panic(http.ErrAbortHandler)
		})
	})
}

// ResetBody sends half of the body and resets the connection.
func ResetBody() Fault {
	return spoil(func(w http.ResponseWriter, r *http.Request, a *answer) {
		a.begin(w)
		w.Write(a.half())
		flush(w)
		conn := connectionOf(r)
		if memory, ok := conn.Conn.(*memoryConn); ok {
			memory.out.drained()
		}
		conn.Reset()
		panic(http.ErrAbortHandler)
	})
}

// WrongLength announces n bytes and sends the whole body. It makes the site use HTTP/1.1 for
// new connections; on an HTTP/2 connection that exists the response is a 500.
func WrongLength(n int64) Fault {
	f := spoil(func(w http.ResponseWriter, r *http.Request, a *answer) {
		a.header.Set("Content-Length", fmt.Sprint(n))
		var head strings.Builder
		fmt.Fprintf(&head, "HTTP/1.1 %d %s\r\n", a.code, http.StatusText(a.code))
		a.header.Write(&head)
		sendRaw(w, head.String()+"\r\n"+a.body.String())
	})
	f.http1 = true
	return f
}

// Raw sends exactly these bytes as the response and closes the connection. It makes the
// site use HTTP/1.1 as [WrongLength] does.
func Raw(answer string) Fault {
	f := Wrap(func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { sendRaw(w, answer) })
	})
	f.http1 = true
	return f
}

func sendRaw(w http.ResponseWriter, answer string) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, "this fault needs HTTP/1.1, and this connection began before it was set", http.StatusInternalServerError)
		return
	}
	defer conn.Close()
	conn.Write([]byte(answer))
}

// answer is a response that is not sent yet.
type answer struct {
	header http.Header
	code   int
	body   bytes.Buffer
}

func (a *answer) Header() http.Header         { return a.header }
func (a *answer) WriteHeader(code int)        { a.code = code }
func (a *answer) Write(b []byte) (int, error) { return a.body.Write(b) }

// begin sends status and header.
func (a *answer) begin(w http.ResponseWriter) {
	for name, values := range a.header {
		w.Header()[name] = values
	}
	w.WriteHeader(a.code)
}

func (a *answer) half() []byte { return a.body.Bytes()[:(a.body.Len()+1)/2] }

func flush(w http.ResponseWriter) { http.NewResponseController(w).Flush() }
