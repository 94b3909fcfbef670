package booking

import (
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/lookleap/lookleap/anml"
)

// write answers with a document in the serialization that the request accepts.
// A document that the service cannot build is its own fault: 500.
func write(w http.ResponseWriter, r *http.Request, code int, b *anml.Builder) {
	format, ok := anml.Negotiate(r.Header.Get("Accept"))
	if !ok {
		problem(w, r, http.StatusNotAcceptable, anml.Problem{Title: "Only ANML is spoken here"})
		return
	}
	var body []byte
	doc, err := b.Build()
	if err == nil {
		body, err = anml.Marshal(doc, format, anml.WriteOptions{})
	}
	if err != nil {
		problem(w, r, http.StatusInternalServerError, anml.Problem{Title: err.Error()})
		return
	}
	h := w.Header()
	h.Set("Content-Type", format.MediaType())
	h.Set("Vary", "Accept")
	if code != http.StatusOK || r.Method != http.MethodGet {
		h.Set("Cache-Control", "no-store")
	}
	w.WriteHeader(code)
	w.Write(body)
}

// problem answers with problem details, in JSON unless ANML in XML is preferred.
func problem(w http.ResponseWriter, r *http.Request, code int, p anml.Problem) {
	format, ok := anml.Negotiate(r.Header.Get("Accept"))
	if !ok {
		format = anml.JSON
	}
	p.Status = code
	body, contentType, err := p.Marshal(format)
	if err != nil {
		http.Error(w, "", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(code)
	w.Write(body)
}

// said is what an agent response tells.
type said struct {
	told, denied map[string]string
	missing      string // a required field that is neither answered nor refused
	stale        bool   // the consent to the e-mail address is too old, or has no time (section 8.7.3)
}

// read reads the agent response of a request. A service that refuses to go on
// without a field could say so after this; this one takes every refusal.
func read(r *http.Request, now time.Time) (said, error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 64<<10))
	if err != nil {
		return said{}, err
	}
	doc, err := anml.Parse(r.Header.Get("Content-Type"), body, anml.ReadOptions{Role: anml.RoleAgentResponse})
	if err != nil {
		return said{}, err
	}
	s := said{told: map[string]string{}, denied: map[string]string{}}
	for a := range doc.Knowledge().Answers() {
		if _, twice := s.told[a.Field()]; twice {
			return said{}, errors.New("a field is answered twice")
		}
		s.told[a.Field()] = a.Value()
		if a.Field() == "email" {
			s.stale = !anml.ConsentFresh(a, anml.Rule{ValidFor: consentLife, Limited: true}, now)
		}
	}
	for x := range doc.Knowledge().Refuses() {
		s.denied[x.Field()] = string(x.Reason())
	}
	for _, field := range []string{"fn", "email"} {
		if _, told := s.told[field]; !told && s.denied[field] == "" {
			s.missing = field
		}
	}
	return s, nil
}
