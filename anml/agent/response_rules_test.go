package agent

import (
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/lookleaptest"
)

// TestSerializationOfResponses shows what the choice of the serialization rests on, and in which
// order (section 11.1).
func TestSerializationOfResponses(t *testing.T) {
	doc := booking("", askFor("email"))
	enctype := func(mediaType string) string {
		return strings.Replace(doc, `endpoint="/book"`, `endpoint="/book" enctype="`+mediaType+`"`, 1)
	}
	for name, c := range map[string]struct {
		doc    string
		json   bool
		accept string // of the response with the document
		host   *anml.Format
		want   string
	}{
		"same-json":             {doc, true, "", nil, anml.MediaTypeJSON},
		"enctype":               {enctype(anml.MediaTypeJSON), false, "", nil, anml.MediaTypeJSON},
		"enctype-of-json":       {enctype(anml.MediaTypeXML), true, "", nil, anml.MediaTypeXML},
		"accept-before-enctype": {enctype(anml.MediaTypeXML), false, anml.MediaTypeJSON, nil, anml.MediaTypeJSON},
		"accept-of-json":        {doc, true, anml.MediaTypeXML, nil, anml.MediaTypeXML},
		"anything-of-json":      {doc, true, "*/*", nil, anml.MediaTypeJSON},
		"host-of-json":          {enctype(anml.MediaTypeJSON), true, anml.MediaTypeJSON, ptr(anml.XML), anml.MediaTypeXML},
	} {
		t.Run("ANML-11.1-03/accept-"+name, func(t *testing.T) {
			s := newStage(t, setting{doc: c.doc, json: c.json, user: User{Profile: ann}, options: Options{Format: c.host}, before: func(s *stage) {
				if c.accept != "" {
					s.shop.Fault("/anml", lookleaptest.Header("Accept", c.accept))
				}
			}})
			s.does(book, lookleap.CodeOK)
			if got := s.net.Journal().Requests()[0].Header.Get("Content-Type"); got != c.want {
				t.Errorf("sent as %s, want %s", got, c.want)
			}
		})
	}
	t.Run("ANML-11.1-03/accept-prior-accept-of-an-action", func(t *testing.T) {
		s := newStage(t, setting{doc: doc, user: User{Profile: ann}})
		s.shop.Handle("/book", lookleaptest.Sequence(lookleaptest.Status(204, "Accept", anml.MediaTypeJSON), lookleaptest.Status(204, "Accept", "text/html"), lookleaptest.Status(204)))
		for _, want := range []string{anml.MediaTypeXML, anml.MediaTypeJSON, anml.MediaTypeJSON} {
			s.net.Journal().Clear()
			s.does(book, lookleap.CodeOK)
			if got := s.net.Journal().Requests()[0].Header.Get("Content-Type"); got != want {
				t.Errorf("sent as %s, want %s", got, want)
			}
		}
	})
	t.Run("ANML-11.1-03/reject-accept-of-another-origin", func(t *testing.T) {
		s := newStage(t, setting{doc: strings.Replace(doc, `endpoint="/book"`, `endpoint="https://api.shop.example/book"`, 1), user: User{Profile: ann}, before: func(s *stage) {
			s.net.Site("api.shop.example").Status("*", 204)
			s.shop.Fault("/anml", lookleaptest.Header("Accept", anml.MediaTypeJSON))
		}})
		s.does(book, lookleap.CodeOK)
		if got := s.net.Journal().Requests("api.shop.example")[0].Header.Get("Content-Type"); got != anml.MediaTypeXML {
			t.Errorf("sent as %s", got)
		}
	})
}
