package booking_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/lookleaptest/booking"
)

// client talks to the service as plain HTTP, without any agent.
type client struct {
	t      *testing.T
	s      *booking.Service
	format anml.Format
	now    time.Time
}

func newClient(t *testing.T, f anml.Format) *client {
	c := &client{t: t, format: f, now: time.Date(2031, 5, 1, 9, 0, 0, 0, time.UTC)}
	c.s = booking.New(func() time.Time { return c.now })
	return c
}

func (c *client) send(method, target, contentType string, body []byte) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, bytes.NewReader(body))
	r.Header.Set("Accept", anml.Accept(c.format))
	r.Header.Set("Content-Type", contentType)
	w := httptest.NewRecorder()
	c.s.ServeHTTP(w, r)
	return w
}

// document reads an answer that must be a document with this status.
func (c *client) document(w *httptest.ResponseRecorder, code int) *anml.Document {
	c.t.Helper()
	if w.Code != code {
		c.t.Fatalf("status %d, want %d: %s", w.Code, code, w.Body)
	}
	doc, err := anml.Parse(w.Header().Get("Content-Type"), w.Body.Bytes(), anml.ReadOptions{Role: anml.RoleService})
	if err != nil {
		c.t.Fatal(err)
	}
	if f := doc.Findings(); len(f) > 0 {
		c.t.Errorf("findings: %v", f)
	}
	return doc
}

func (c *client) problem(w *httptest.ResponseRecorder, code int) *anml.Problem {
	c.t.Helper()
	p, err := anml.ParseProblem(w.Header().Get("Content-Type"), w.Body.Bytes())
	if err != nil || w.Code != code || p.Status != code {
		c.t.Fatalf("status %d, want %d: %v %v", w.Code, code, p, err)
	}
	return p
}

func (c *client) reserve(trip, seats string) *httptest.ResponseRecorder {
	form := url.Values{"trip": {trip}, "seats": {seats}}
	return c.send("POST", "/bookings", "application/x-www-form-urlencoded", []byte(form.Encode()))
}

func (c *client) endpoint(doc *anml.Document, action string) string {
	a, err := doc.Interact().Action(action)
	if err != nil {
		c.t.Fatal(err)
	}
	return a.Endpoint()
}

// answer writes an agent response; denied fields have an empty value.
func (c *client) answer(granted time.Time, pairs ...string) []byte {
	b := anml.NewResponse()
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			b.Refuse(pairs[i], anml.UserDenied, "")
		} else {
			b.Answer(pairs[i], pairs[i+1], anml.ConsentExplicit, granted)
		}
	}
	doc, err := b.Build()
	if err != nil {
		c.t.Fatal(err)
	}
	body, err := anml.Marshal(doc, c.format, anml.WriteOptions{Role: anml.RoleAgentResponse})
	if err != nil {
		c.t.Fatal(err)
	}
	return body
}

func TestStory(t *testing.T) {
	for _, f := range []anml.Format{anml.XML, anml.JSON} {
		t.Run(f.String(), func(t *testing.T) {
			c := newClient(t, f)
			home := c.document(c.send("GET", "/.well-known/anml", "", nil), 200)
			if home.State().CurrentStep().ID() != "search" {
				t.Error("the story does not begin with the search")
			}
			found := c.document(c.send("GET", "/trips?from=harbour&to=island", "", nil), 200)
			pages, next := 1, found.Body().Nav().Next()
			for ; next != ""; pages++ {
				next = c.document(c.send("GET", next, "", nil), 200).Body().Nav().Next()
			}
			if total, _ := found.Body().Nav().Total(); pages != 3 || total != 7 {
				t.Errorf("%d pages, %d trips", pages, total)
			}

			form := c.document(c.reserve("t2", "2"), 200)
			pay := c.endpoint(form, "pay")
			confirm := c.document(c.send("POST", pay, f.MediaType(), c.answer(c.now, "fn", "Kim Example", "email",
				"kim@example.com", "tel", "")), 200)
			done := c.document(c.send("POST", c.endpoint(confirm, "confirm"), "", nil), 200)
			if anml.OutcomeOf(200, done) != anml.OutcomeSuccess {
				t.Error("the booking is no success")
			}
			b := c.s.Bookings()
			if len(b) != 1 || b[0].State != "confirmed" || b[0].Told["email"] != "kim@example.com" ||
				b[0].Denied["tel"] != "user-denied" {
				t.Errorf("%+v", b)
			}
			again := c.document(c.send("POST", c.endpoint(confirm, "confirm"), "", nil), 200)
			if !anml.Equal(done, again) {
				t.Error("confirming twice makes two tickets")
			}
			c.document(c.send("POST", pay, f.MediaType(), c.answer(c.now, "fn", "a", "email", "b")), 409)
			c.document(c.send("DELETE", c.endpoint(confirm, "cancel"), "", nil), 200)
			c.problem(c.send("POST", c.endpoint(confirm, "confirm"), "", nil), 410)
		})
	}
}

func TestRefusals(t *testing.T) {
	c := newClient(t, anml.XML)
	if p := c.problem(c.reserve("t1", "7"), 422); p.Title == "" {
		t.Error("the 422 names nothing")
	} else if field, _ := p.Extension("field"); field != "seats" {
		t.Errorf("the 422 names %q", field)
	}
	c.s.SellOut("t1")
	sold := c.document(c.reserve("t1", "1"), 409)
	if sold.Status().Code() != "sold-out" {
		t.Error("the 409 does not say why")
	}

	pay := c.endpoint(c.document(c.reserve("t2", "1"), 200), "pay")
	send := func(body []byte) *httptest.ResponseRecorder { return c.send("POST", pay, anml.MediaTypeXML, body) }
	c.problem(send([]byte("<anml/>")), 400)
	c.problem(send(c.answer(c.now, "email", "kim@example.com")), 422)
	for _, granted := range []time.Time{{}, c.now.Add(-2 * time.Hour), c.now.Add(time.Hour)} {
		again := c.document(send(c.answer(granted, "fn", "Kim", "email", "kim@example.com")), 409)
		if !strings.Contains(again.Status().Message(), "consent") ||
			again.Constraints().Rule("email", nil).ValidFor != time.Hour {
			t.Error("an old consent is not asked for again")
		}
	}
	if b := c.s.Bookings(); len(b) != 1 || b[0].Told != nil {
		t.Errorf("something refused was kept: %+v", b)
	}
	c.document(send(c.answer(c.now, "fn", "", "email", "")), 200) // every refusal is taken

	r := httptest.NewRequest("GET", "/.well-known/anml", nil)
	r.Header.Set("Accept", "text/html")
	w := httptest.NewRecorder()
	c.s.ServeHTTP(w, r)
	c.problem(w, http.StatusNotAcceptable)
}
