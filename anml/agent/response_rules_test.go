package agent

import (
	"net/http"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/internal/lab"
)

// TestResponseByEachMethod: every method with a body carries the response, in the serialization
// that its Content-Type names.
func TestResponseByEachMethod(t *testing.T) {
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodPatch} {
		for enctype, want := range map[string]string{
			"": anml.MediaTypeXML, anml.MediaTypeXML: anml.MediaTypeXML, anml.MediaTypeJSON: anml.MediaTypeJSON,
			"application/x-www-form-urlencoded": anml.MediaTypeXML, "multipart/form-data": anml.MediaTypeXML, "application/json": anml.MediaTypeXML,
		} {
			doc := strings.Replace(booking("", askFor("email")), `method="POST" endpoint="/book"`, `method="`+method+`" endpoint="/book" enctype="`+enctype+`"`, 1)
			ids := []string{"ANML-11.1-02/accept-" + method + "-of-" + strings.ReplaceAll(enctype, "/", "-")}
			if enctype == "" {
				ids = []string{"ANML-11.1-01/accept-body-of-" + method, "ANML-11.1-02/accept-" + method}
			}
			for _, id := range ids {
				t.Run(id, func(t *testing.T) {
					s := newStage(t, setting{doc: doc, user: User{Profile: ann}})
					s.does(book, lookleap.CodeOK)
					s.sends(method + " /book")
					sent := s.net.Journal().Requests()[0]
					d, err := anml.Parse(sent.Header.Get("Content-Type"), sent.Body, anml.ReadOptions{Role: anml.RoleAgentResponse})
					must(t, err)
					if got := sent.Header.Get("Content-Type"); got != want || d.Format().MediaType() != want {
						t.Errorf("sent as %s, want %s", got, want)
					}
					for a := range d.Knowledge().Answers() {
						if a.Field() == "email" && a.Value() == annsEmail {
							return
						}
					}
					t.Errorf("no answer in %s", sent.Body)
				})
			}
		}
	}
}

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
					s.shop.Fault("/anml", lab.Header("Accept", c.accept))
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
		s.shop.Handle("/book", lab.Sequence(lab.Status(204, "Accept", anml.MediaTypeJSON), lab.Status(204, "Accept", "text/html"), lab.Status(204)))
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
			s.shop.Fault("/anml", lab.Header("Accept", anml.MediaTypeJSON))
		}})
		s.does(book, lookleap.CodeOK)
		if got := s.net.Journal().Requests("api.shop.example")[0].Header.Get("Content-Type"); got != anml.MediaTypeXML {
			t.Errorf("sent as %s", got)
		}
	})
}

// TestAsksOfTheAction: an action is answered with the asks that name it, and no others.
func TestAsksOfTheAction(t *testing.T) {
	doc := booking("", askFor("email")+askFor("tel", `action="other"`)+askFor("fn", `action="elsewhere"`))
	for action, want := range map[string][]string{"book": {`<answer field="email"`, "!tel", "!fn"}, "other": {`<answer field="tel"`, "!email", "!fn"}} {
		t.Run("ANML-9.3-02/accept-asks-of-"+action, func(t *testing.T) {
			s := newStage(t, setting{doc: doc, user: User{Profile: ann}})
			s.does(Call{Action: action}, lookleap.CodeOK)
			s.sends("POST /" + action)
			s.wantSent(want...)
		})
	}
	t.Run("ANML-9.3-02/reject-dangling", func(t *testing.T) {
		s := newStage(t, setting{doc: doc, user: User{Profile: ann}})
		s.does(Call{Action: "elsewhere"}, anml.CodeUnknownAction)
		s.sends()
		for _, d := range s.page.Decide(t.Context()) {
			if d.Field == "fn" && (d.Verb != VerbRefuse || d.Code != anml.CodeDangling) {
				t.Error(brief(d))
			}
		}
	})
	for name, required := range map[string]string{"first": `<ask field="email" action="book" purpose="p" required="true"/><ask field="email" action="book" purpose="q"/>`,
		"last": `<ask field="email" action="book" purpose="p"/><ask field="email" action="book" purpose="q" required="true"/>`} {
		t.Run("ANML-11.1-06/reject-left-out-required-"+name, func(t *testing.T) {
			s := newStage(t, setting{doc: booking("", required), user: User{Profile: ann}})
			s.does(Call{Action: "book", Reply: &Reply{Omit: []string{"email"}}}, lookleap.CodeOK)
			s.wantSent(`<refuse field="email" reason="user-denied"`, "!"+annsEmail)
		})
	}
}
