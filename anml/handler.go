package anml

import (
	"net/http"
	"strconv"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/serve"
)

// HandlerOptions configure [NewHandler].
type HandlerOptions struct {
	MaxAge time.Duration // how long agents may cache the document if it has no ttl; 0: an hour
}

// NewHandler returns a handler that serves a document in XML and in JSON, as the Accept header
// field prefers (section 6.3). Mount it at /.well-known/anml. The document is built or read; if it
// has no role, it is served as a service document. It is encoded once, with a strong ETag for each
// serialization, and its ttl becomes the max-age. Requests that accept neither serialization get
// 406 with problem details. NewHandler returns an error for a document that agents would refuse.
func NewHandler(d *Document, options HandlerOptions) (http.Handler, error) {
	if d == nil {
		return nil, errNoDocument
	}
	age := options.MaxAge
	if age <= 0 {
		age = time.Hour
	}
	if ttl, ok := d.TTL(); ok {
		age = ttl
	}
	var forms [2]*serve.Document
	for f := XML; f <= JSON; f++ {
		data, err := Marshal(d, f, WriteOptions{Role: RoleService})
		if err != nil {
			return nil, err
		}
		forms[f] = serve.New(data, f.MediaType())
		forms[f].Header.Set("Vary", "Accept")
		forms[f].Keep(age)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			WriteProblem(w, r, Problem{Status: http.StatusMethodNotAllowed})
			return
		}
		if f, ok := negotiate(w, r); ok {
			forms[f].ServeHTTP(w, r)
		}
	}), nil
}

// negotiate returns the serialization for a request. If it accepts none, it answers 406.
func negotiate(w http.ResponseWriter, r *http.Request) (Format, bool) {
	f, ok := Negotiate(accepted(r))
	if !ok {
		WriteProblem(w, r, Problem{Status: http.StatusNotAcceptable, Detail: "send Accept: " + Accept(XML)})
	}
	return f, ok
}

// accepted returns the Accept header fields of a request as one.
func accepted(r *http.Request) (all string) {
	for i, field := range r.Header.Values("Accept") {
		if i > 0 {
			all += ", "
		}
		all += field
	}
	return all
}

// Write responds to one request with a document that is built for it, in the serialization that
// the request accepts. The response is not cached. An error means that the document is invalid:
// then the response is 500.
func Write(w http.ResponseWriter, r *http.Request, status int, d *Document) error {
	f, ok := negotiate(w, r)
	if !ok {
		return nil
	}
	data, err := Marshal(d, f, WriteOptions{Role: RoleService})
	if err != nil {
		WriteProblem(w, r, Problem{Status: http.StatusInternalServerError})
		return err
	}
	writeBytes(w, r, status, f.MediaType(), data)
	return nil
}

// WriteProblem responds with problem details, in JSON unless the request prefers XML. The status is
// that of the problem; 0 means 500. An empty title becomes the text of the status.
func WriteProblem(w http.ResponseWriter, r *http.Request, p Problem) {
	if http.StatusText(p.Status) == "" {
		p.Status = http.StatusInternalServerError
	}
	if p.Title == "" {
		p.Title = http.StatusText(p.Status)
	}
	f := JSON
	if preferred, ok := Negotiate(accepted(r)); ok && r.Header.Get("Accept") != "" {
		f = preferred
	}
	data, mediaType, err := p.Marshal(f)
	if err != nil { // an extension that cannot be written
		p.Extensions = nil
		if data, mediaType, err = p.Marshal(f); err != nil {
			http.Error(w, http.StatusText(p.Status), p.Status)
			return
		}
	}
	writeBytes(w, r, p.Status, mediaType, data)
}

func writeBytes(w http.ResponseWriter, r *http.Request, status int, mediaType string, data []byte) {
	h := w.Header()
	serve.Secure(h)
	h.Set("Content-Type", mediaType)
	h.Set("Content-Length", strconv.Itoa(len(data)))
	h.Set("Vary", "Accept")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(data) // the client may have left
	}
}

// ProblemOf returns the problem details for an error of [ReadAgentResponse], with the status that
// section 11.3 names: 400 if the response is malformed or lacks a required field, 422 if a value or
// a consent does not fit. The extension "field" names the field to correct, "code" the reason code.
func ProblemOf(err error) Problem {
	p := Problem{Status: http.StatusBadRequest, Title: "The agent response is malformed"}
	code := lookleap.CodeOf(err)
	switch code {
	case CodeResponseMissing:
		p.Title = "A required field is neither answered nor refused"
	case CodeResponseUnasked:
		p.Title = "The response has a field that was not asked for"
	case CodeResponseConsent:
		p.Status, p.Title = http.StatusUnprocessableEntity, "The consent does not cover the field"
	case CodeResponseValue:
		p.Status, p.Title = http.StatusUnprocessableEntity, "A value does not have its type"
	}
	p.Extensions = []Extension{{"code", string(code)}}
	if fault, ok := asFieldError(err); ok {
		p.Detail = fault.problem
		p.Extensions = append(p.Extensions, Extension{"field", fault.field})
	} else if err != nil {
		p.Detail = err.Error()
	}
	return p
}
