package webconsent

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// maxStreams is how many pages may listen at once.
const maxStreams = 16

// streamEvents sends the ids of the waiting requests as server-sent events, now and after
// each change. An event has no other content, so the page always loads what it shows.
func (p *Prompter) streamEvents(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	full := p.streams >= maxStreams
	if !full {
		p.streams++
	}
	p.mu.Unlock()
	if full {
		w.Header().Set("Retry-After", "60")
		http.Error(w, "Too many pages listen. Close some of them.", http.StatusServiceUnavailable)
		return
	}
	defer func() {
		p.mu.Lock()
		p.streams--
		p.mu.Unlock()
	}()
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Time{}) // the stream outlives the timeouts of other responses
	_ = control.SetWriteDeadline(time.Time{})
	w.Header().Set("Content-Type", "text/event-stream")
	last, quiet := "\x00", 0
	for r.Context().Err() == nil {
		next := p.next()
		all, _, err := p.waiting(r.Context())
		if ids := idsOf(all); err == nil && ids != last {
			data, _ := json.Marshal(ids) // a string
			if _, err := fmt.Fprintf(w, "event: waiting\ndata: %s\n\n", data); err != nil {
				return
			}
			last, quiet = ids, 0
		} else if quiet++; quiet%8 == 0 { // a comment, which finds closed connections
			if _, err := fmt.Fprint(w, ":\n\n"); err != nil {
				return
			}
		}
		if control.Flush() != nil {
			return
		}
		select {
		case <-r.Context().Done():
		case <-next:
		case <-time.After(p.options.Poll):
		}
	}
}
