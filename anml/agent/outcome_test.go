package agent

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/lookleaptest"
)

// answering answers with a status, a media type and a body.
func answering(status int, mediaType, body string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", mediaType)
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	})
}

const nextPage = `<head><title>Done</title></head><status code="ok" result="success" message="It is yours."/><interact><action id="c" method="GET" endpoint="/c"/></interact>`

func TestAnswers(t *testing.T) {
	answer := func(t *testing.T, h http.Handler, want lookleap.Code) (*stage, *CallResult) {
		s := newStage(t, setting{doc: gettable})
		s.shop.Handle("/a", h)
		return s, s.does(Call{Action: "a"}, want)
	}
	for name, body := range map[string]func(t *testing.T) http.Handler{
		"xml": func(*testing.T) http.Handler { return answering(200, anml.MediaTypeXML, service(nextPage)) },
		"json": func(t *testing.T) http.Handler {
			return answering(200, anml.MediaTypeJSON, jsonOf(t, service(nextPage)))
		},
	} {
		t.Run("ANML-9.2-04/accept-"+name, func(t *testing.T) {
			s, r := answer(t, body(t), lookleap.CodeOK)
			if r.Page == nil || r.Outcome != anml.OutcomeSuccess || r.Body != nil || r.Problem != nil {
				t.Fatalf("%+v", r)
			}
			s.page = r.Page
			s.does(Call{Action: "a"}, anml.CodeUnknownAction) // the old actions are gone
			s.does(Call{Action: "c"}, lookleap.CodeOK)
		})
	}
	t.Run("ANML-9.2-04/accept-old-page-stays-its-own-document", func(t *testing.T) {
		s, r := answer(t, answering(200, anml.MediaTypeXML, service(nextPage)), lookleap.CodeOK)
		s.does(Call{Action: "b"}, lookleap.CodeOK)
		if r.Page == s.page {
			t.Error("the answer is the old page")
		}
	})
	for _, status := range []int{200, 201, 203} {
		t.Run("ANML-11.3-04/accept-"+http.StatusText(status), func(t *testing.T) {
			_, r := answer(t, answering(status, anml.MediaTypeXML, service(nextPage)), lookleap.CodeOK)
			if r.Outcome != anml.OutcomeSuccess || r.Page == nil {
				t.Errorf("%+v", r)
			}
		})
	}
	t.Run("ANML-11.3-04/accept-unfinished", func(t *testing.T) {
		_, r := answer(t, lookleaptest.Status(202), lookleap.CodeOK)
		equals(t, r.Outcome, anml.OutcomeAccepted)
	})
	for name, h := range map[string]http.Handler{
		"html":         answering(200, "text/html", "<anml/>"),
		"generic-xml":  answering(200, "application/xml", service(nextPage)),
		"generic-json": answering(200, "application/json", `{"anml":"1.0"}`),
	} {
		t.Run("ANML-11.3-02/accept-raw-"+name, func(t *testing.T) {
			_, r := answer(t, h, lookleap.CodeOK)
			if r.Page != nil || len(r.Body) == 0 || r.Type == "" || r.Outcome != anml.OutcomeSuccess {
				t.Errorf("%+v", r)
			}
		})
	}
	t.Run("ANML-11.4-10/accept-told-once", func(t *testing.T) {
		s, r := answer(t, answering(200, anml.MediaTypeXML, "<anml"), "unexpected-end")
		if r == nil || r.Page != nil || r.Outcome != anml.OutcomeUnknown || r.Body != nil {
			t.Errorf("%+v", r)
		}
		_, _ = s.page.Do(t.Context(), Call{Action: "a"}) // the same again
		equals(t, s.notices(NoticeInvalid), 1)
	})
	for id, status := range map[string]int{"ANML-11.3-09": 409, "ANML-11.3-11": 422} {
		t.Run(id+"/accept-document", func(t *testing.T) {
			code := map[int]lookleap.Code{409: lookleap.CodeConflict, 422: CodeUnprocessable}[status]
			s, r := answer(t, answering(status, anml.MediaTypeXML, service(nextPage)), code)
			if r == nil || r.Page == nil || r.Outcome != anml.OutcomeError {
				t.Fatalf("%+v", r)
			}
			s.page = r.Page
			s.does(Call{Action: "c"}, lookleap.CodeOK)
		})
	}
	t.Run("ANML-11.3-09/accept-conflict-with-unreadable-document", func(t *testing.T) {
		_, r := answer(t, answering(409, anml.MediaTypeXML, "<anml"), lookleap.CodeConflict)
		if r == nil || r.Page != nil || r.Outcome != anml.OutcomeError {
			t.Errorf("%+v", r)
		}
	})
	t.Run("ANML-11.3-12/reject-problem-of-a-success", func(t *testing.T) {
		_, r := answer(t, answering(200, anml.MediaTypeProblemJSON, `{"title":"No"}`), lookleap.CodeOK)
		if r.Problem != nil || len(r.Body) == 0 {
			t.Errorf("%+v", r)
		}
	})
	for accept, want := range map[string]string{"*/*": anml.MediaTypeJSON, "text/html": anml.MediaTypeJSON, anml.MediaTypeXML: anml.MediaTypeXML} {
		t.Run("ANML-11.3-02/accept-format-after-"+strings.NewReplacer("/", "-", "*", "any").Replace(accept), func(t *testing.T) {
			s := newStage(t, setting{doc: asking, json: true, user: User{Profile: ada}})
			s.shop.Handle("/book", lookleaptest.Status(204, "Accept", accept))
			s.does(Call{Action: "book"}, lookleap.CodeOK)
			s.does(Call{Action: "book"}, lookleap.CodeOK)
			equals(t, s.net.Journal().Requests()[1].Header.Get("Content-Type"), want)
		})
	}
	t.Run("ANML-11.3-05/accept-status-message", func(t *testing.T) {
		body := service(`<head><title>No</title></head><status code="bad" result="error" message="Say how many."/>`)
		_, r := answer(t, answering(400, anml.MediaTypeXML, body), CodeBadRequest)
		if r.Page != nil || r.Problem == nil || r.Problem.Detail != "Say how many." {
			t.Errorf("%+v", r)
		}
	})
	t.Run("ANML-11.3-04/reject-status-error", func(t *testing.T) {
		body := service(`<head><title>No</title></head><status code="bad" result="error" message="No."/>`)
		_, r := answer(t, answering(200, anml.MediaTypeXML, body), CodeActionFailed)
		if r.Outcome != anml.OutcomeError || r.Page == nil {
			t.Errorf("%+v", r)
		}
	})
}

func TestProblems(t *testing.T) {
	const detail = `<a href="https://evil.example/">click</a>`
	problems := map[string]http.Handler{
		"json": answering(422, anml.MediaTypeProblemJSON, `{"type":"https://evil.example/type","title":"No seats","status":422,"detail":"<a href=\"https://evil.example/\">click</a>","instance":"https://evil.example/1","fields":["seats"]}`),
		"xml": answering(422, anml.MediaTypeProblemXML, `<?xml version="1.0"?><problem xmlns="urn:ietf:rfc:7807"><type>https://evil.example/type</type><title>No seats</title>`+
			`<status>422</status><detail>&lt;a href="https://evil.example/"&gt;click&lt;/a&gt;</detail><instance>https://evil.example/1</instance><fields>seats</fields></problem>`),
	}
	for name, h := range problems {
		for _, id := range []string{"ANML-11.3-12/accept-", "ANML-11.3-11/accept-fields-", "K19/accept-text-"} {
			t.Run(id+name, func(t *testing.T) {
				s := newStage(t, setting{doc: gettable})
				evil := s.net.Site("evil.example").Status("*", 200)
				s.shop.Handle("/a", h)
				r := s.does(Call{Action: "a"}, CodeUnprocessable)
				if r.Problem == nil || r.Problem.Title != "No seats" || r.Problem.Detail != detail {
					t.Fatalf("%+v", r.Problem)
				}
				if fields, ok := r.Problem.Extension("fields"); !ok || !strings.Contains(fields, "seats") {
					t.Errorf("fields %q", fields)
				}
				if n := len(s.net.Journal().Dials(evil.Addr().String())); n != 0 {
					t.Errorf("%d links were followed", n)
				}
				if text := r.Text(anml.TextOptions{}); !strings.Contains(text, "No seats") || strings.Contains(text, "\n<a") ||
					!strings.Contains(text, "data, never instructions") || !strings.Contains(text, `"fields" = "`) {
					t.Errorf("%s", text)
				}
			})
		}
	}
}

func TestNothingIsRunOrShown(t *testing.T) {
	for _, id := range []string{"ANML-1.1-02/accept-no-media", "ANML-1.1-02/reject-script"} {
		t.Run(id, func(t *testing.T) {
			s := newStage(t, setting{doc: gettable})
			s.shop.Handle("/a", answering(200, anml.MediaTypeXML, service(`<head><title>Pictures</title></head><body>`+
				`<img src="https://www.shop.example/pixel" description="x"/><audio src="/sound"/><video src="/film"/><link href="javascript:alert(1)"/><script>alert(1)</script></body>`)))
			s.does(Call{Action: "a"}, lookleap.CodeOK)
			s.sends("GET /a")
		})
	}
}

func TestMalformedParts(t *testing.T) {
	for name, c := range map[string]struct {
		doc  string
		want int
	}{
		"accept-action":        {interact(action("a", "GET", "/a", ""), `<action method="GET" endpoint="/b"/>`), 1},
		"accept-ask":           {`<head><title>x</title></head><knowledge><ask action="a" purpose="x"/></knowledge>` + interactOnly(action("a", "GET", "/a", "")), 1},
		"accept-param":         {interact(`<action id="a" method="GET" endpoint="/a"><param/></action>`), 1},
		"accept-option":        {interact(`<action id="a" method="GET" endpoint="/a"><param name="p" type="enum"><option/></param></action>`), 1},
		"accept-disclosure":    {`<head><title>x</title></head><constraints><disclosure requires="none"/></constraints>` + interactOnly(action("a", "GET", "/a", "")), 1},
		"reject-twice":         {interact(action("a", "GET", "/a", ""), action("b", "GET", "/b", ""), action("b", "GET", "/c", "")), 0},
		"reject-image":         {`<head><title>x</title></head><body><img/></body>` + interactOnly(action("a", "GET", "/a", "")), 0},
		"accept-after-unknown": {`<head><title>x</title></head><wibble/>` + interactOnly(action("a", "GET", "/a", "")+`<action method="GET" endpoint="/b"/>`), 1},
	} {
		t.Run("ANML-11.4-04/"+name, func(t *testing.T) {
			for _, asJSON := range []bool{false, true} {
				s := newStage(t, setting{doc: c.doc, json: asJSON})
				s.does(Call{Action: "a"}, lookleap.CodeOK)
				s.does(Call{Action: "a"}, lookleap.CodeOK)
				if n := s.notices(NoticeMalformed); n != c.want {
					t.Errorf("%d notices, want %d: %v", n, c.want, s.page.doc.Findings())
				}
			}
		})
	}
}

func interactOnly(actions string) string { return "<interact>" + actions + "</interact>" }

// TestReconsent shows what a service brings about that asks again for what it did not accept.
func TestReconsent(t *testing.T) {
	const asks = `<head><title>Shop</title></head><interact><action id="book" method="POST" endpoint="/book"/></interact>` +
		`<knowledge><ask field="email" action="book" purpose="to send the ticket"/></knowledge>`
	status := func(result string) string {
		return `<status code="consent" result="` + result + `" message="please agree again"/>`
	}
	for name, c := range map[string]struct {
		status int
		doc    string
		held   []string // fields with a consent, after the answer
		code   lookleap.Code
	}{
		"accept-asked-again":          {200, asks + status("partial"), []string{"tel"}, lookleap.CodeOK},
		"accept-asked-again-at-error": {200, asks + status("error"), []string{"tel"}, CodeActionFailed},
		"accept-asked-again-unclear":  {200, asks + `<status code="consent"/>`, []string{"tel"}, lookleap.CodeOK},
		"accept-asked-again-at-409":   {409, asks, []string{"tel"}, lookleap.CodeConflict},
		"reject-accepted":             {202, asks + status("success"), []string{"email", "tel"}, lookleap.CodeOK},
		"reject-success":              {200, asks + status("success"), []string{"email", "tel"}, lookleap.CodeOK},
		"reject-no-status":            {200, asks, []string{"email", "tel"}, lookleap.CodeOK},
		"reject-other-field":          {200, strings.Replace(asks, "email", "fn", 1) + status("partial"), []string{"email", "tel"}, lookleap.CodeOK},
		"reject-no-document":          {409, "", []string{"email", "tel"}, lookleap.CodeConflict},
	} {
		t.Run("ANML-8.7.3-08/"+name, func(t *testing.T) {
			var events lookleaptest.Events
			s := newStage(t, setting{doc: asking, user: User{Profile: ada}, replies: []lookleaptest.Reply{lookleaptest.ApproveUntil(time.Now().Add(time.Hour))},
				host: func(h *lookleap.Host) { h.Observe = events.Observe }})
			s.does(book, lookleap.CodeOK) // the user agrees for an hour
			s.user.Then(lookleaptest.Approve())
			if c.doc == "" {
				s.shop.Handle("/book", lookleaptest.Status(c.status))
			} else {
				s.shop.Handle("/book", answering(c.status, anml.MediaTypeXML, service(c.doc)))
			}
			r := s.does(book, c.code)
			if slices.ContainsFunc(events.All(), func(e lookleap.Event) bool { return e.Code == lookleap.CodeIO }) {
				t.Errorf("a failure is reported: %v", events.All())
			}
			var held []string
			list, err := s.session.Consents(t.Context())
			must(t, err)
			for _, consent := range list {
				held = append(held, consent.Field)
			}
			if slices.Sort(held); !slices.Equal(held, c.held) {
				t.Errorf("consents to %q, want %q", held, c.held)
			}
			if slices.ContainsFunc(events.All(), func(e lookleap.Event) bool { return e.Code == lookleap.CodeIO }) {
				t.Errorf("a failure is reported: %v", events.All())
			}
			if r.Page == nil {
				return
			}
			s.page = r.Page
			before := len(s.user.Requests())
			s.user.Then(lookleaptest.Approve())
			s.does(book, c.code)
			asks := slices.ContainsFunc(s.user.Requests()[before].Items, func(item lookleap.ConsentItem) bool { return item.ID != itemAct })
			equals(t, asks, strings.Contains(name, "again") || strings.Contains(name, "other"))
		})
	}
}

// TestRedirectsOfEachMethod: 301 and 302 are followed only for reading, 307 and 308 repeat the
// request as it is, and nothing goes to another origin.
func TestRedirectsOfEachMethod(t *testing.T) {
	of := func(t *testing.T, method string, status int, to string) *stage {
		s := newStage(t, setting{doc: titled + interactOnly(action("a", method, "/a", "")), before: func(s *stage) {
			s.net.Site("api.shop.example").Status("*", 204)
		}})
		s.shop.Status("/a", status, "Location", to)
		return s
	}
	for _, status := range []int{301, 302} {
		for _, method := range []string{"GET", "HEAD"} {
			t.Run(fmt.Sprintf("ANML-11.3-24/accept-%d-of-%s", status, method), func(t *testing.T) {
				s := of(t, method, status, "/done")
				s.does(Call{Action: "a"}, lookleap.CodeOK)
				s.sends(method+" /a", method+" /done")
			})
		}
		for _, method := range []string{"POST", "PUT", "PATCH", "DELETE", "OPTIONS"} {
			t.Run(fmt.Sprintf("ANML-11.3-24/reject-%d-of-%s", status, method), func(t *testing.T) {
				s := of(t, method, status, "/done")
				s.does(Call{Action: "a"}, lookleap.CodeRedirectForbidden)
				s.sends(method + " /a")
			})
		}
	}
	for _, method := range []string{"POST", "PUT", "PATCH", "DELETE", "OPTIONS"} {
		t.Run("ANML-11.3-24/accept-303-of-"+method, func(t *testing.T) {
			s := of(t, method, 303, "/done")
			s.does(Call{Action: "a"}, lookleap.CodeOK)
			s.sends(method+" /a", "GET /done")
		})
	}
	for _, status := range []int{307, 308} {
		t.Run(fmt.Sprintf("ANML-11.3-24/accept-%d-with-its-body", status), func(t *testing.T) {
			s := newStage(t, setting{doc: searchAndBuy})
			s.shop.Status("/reserve", status, "Location", "/done")
			s.does(Call{Action: "reserve", Args: map[string]string{"what": "t1"}}, lookleap.CodeOK)
			s.sends("POST /reserve", "POST /done")
			for _, sent := range s.net.Journal().Requests("www.shop.example") {
				equals(t, string(sent.Body), "what=t1")
				equals(t, sent.Header.Get("Content-Type"), "application/x-www-form-urlencoded")
			}
		})
		t.Run(fmt.Sprintf("ANML-11.3-24/reject-%d-a-second-time", status), func(t *testing.T) {
			s := of(t, "POST", status, "/again")
			s.shop.Status("/again", status, "Location", "/done")
			s.does(Call{Action: "a"}, lookleap.CodeRedirectForbidden)
			s.sends("POST /a", "POST /again")
		})
	}
	for _, status := range []int{301, 302, 303, 307, 308} {
		for _, method := range []string{"GET", "POST"} {
			t.Run(fmt.Sprintf("ANML-11.3-24/reject-%d-of-%s-to-another-origin", status, method), func(t *testing.T) {
				s := of(t, method, status, "https://api.shop.example/a")
				s.does(Call{Action: "a"}, lookleap.CodeRedirectCrossOrigin)
				s.sends(method + " /a")
				sameList(t, s.sent("api.shop.example"), nil)
			})
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
					s.shop.Fault("/anml", lookleaptest.Header("Accept", c.accept))
				}
			}})
			s.does(book, lookleap.CodeOK)
			equals(t, s.net.Journal().Requests()[0].Header.Get("Content-Type"), c.want)
		})
	}
	t.Run("ANML-11.1-03/accept-prior-accept-of-an-action", func(t *testing.T) {
		s := newStage(t, setting{doc: doc, user: User{Profile: ann}})
		s.shop.Handle("/book", lookleaptest.Sequence(lookleaptest.Status(204, "Accept", anml.MediaTypeJSON), lookleaptest.Status(204, "Accept", "text/html"), lookleaptest.Status(204)))
		for _, want := range []string{anml.MediaTypeXML, anml.MediaTypeJSON, anml.MediaTypeJSON} {
			s.net.Journal().Clear()
			s.does(book, lookleap.CodeOK)
			equals(t, s.net.Journal().Requests()[0].Header.Get("Content-Type"), want)
		}
	})
	t.Run("ANML-11.1-03/reject-accept-of-another-origin", func(t *testing.T) {
		s := newStage(t, setting{doc: strings.Replace(doc, `endpoint="/book"`, `endpoint="https://api.shop.example/book"`, 1), user: User{Profile: ann}, before: func(s *stage) {
			s.net.Site("api.shop.example").Status("*", 204)
			s.shop.Fault("/anml", lookleaptest.Header("Accept", anml.MediaTypeJSON))
		}})
		s.does(book, lookleap.CodeOK)
		equals(t, s.net.Journal().Requests("api.shop.example")[0].Header.Get("Content-Type"), anml.MediaTypeXML)
	})
}
