package lab

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
)

// Body answers 200 with a body of that media type.
func Body(mediaType, body string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", mediaType)
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		io.WriteString(w, body)
	})
}

// Status answers with a status code, pairs of header name and value, and the code's text as body
// where one is allowed. A name that comes twice makes two fields.
func Status(code int, header ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		seen := map[string]bool{}
		for i := 0; i < len(header); i += 2 {
			name := http.CanonicalHeaderKey(header[i])
			if !seen[name] {
				w.Header().Del(name)
				seen[name] = true
			}
			w.Header().Add(name, header[i+1])
		}
		w.WriteHeader(code)
		if code != http.StatusNoContent && code != http.StatusNotModified {
			fmt.Fprintln(w, http.StatusText(code))
		}
	})
}

// Sequence answers the first request with the first handler and so on; the last stays. It is how a
// site changes its content between two reads.
func Sequence(answers ...http.Handler) http.Handler {
	var mu sync.Mutex
	next := 0
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		h := answers[next]
		next = min(next+1, len(answers)-1)
		mu.Unlock()
		h.ServeHTTP(w, r)
	})
}

// Cloak answers the requests that show selects with one handler, and all others with the other.
func Cloak(show func(*http.Request) bool, chosen, others http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if show(r) {
			chosen.ServeHTTP(w, r)
			return
		}
		others.ServeHTTP(w, r)
	})
}

// RedirectChain makes path redirect to path/1 and so on, n times; path/n redirects to location, or,
// if that is empty, answers 200. With location equal to path it is a loop.
func (s *Site) RedirectChain(path string, n int, location string) *Site {
	at := path
	for i := range n {
		next := path + "/" + strconv.Itoa(i+1)
		s.Redirect(at, next)
		at = next
	}
	if location == "" {
		return s.Body(at, "text/plain; charset=utf-8", "the end of the chain\n")
	}
	return s.Redirect(at, location)
}
