package anml_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap/anml"
)

func serviceDocument(t *testing.T) *anml.Document {
	t.Helper()
	b := anml.NewService("Example Tours").TTL(10 * time.Minute)
	b.Rule("email", anml.ExplicitConsent).ValidFor(10 * time.Minute)
	b.Action("book", "POST", "/book").Confirm(true)
	b.Ask("email", "book", "to send the ticket").Required()
	b.Ask("party-size", "book", "to reserve the seats").Type(anml.TypeNumber)
	b.Ask("nickname", "newsletter", "to address you")
	b.Action("newsletter", "POST", "/news").Confirm(true)
	d, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestHandler(t *testing.T) {
	d := serviceDocument(t)
	h, err := anml.NewHandler(d, anml.HandlerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(method string, header ...string) *http.Response {
		r := httptest.NewRequest(method, "https://tours.example/.well-known/anml", nil)
		for i := 0; i < len(header); i += 2 {
			r.Header.Add(header[i], header[i+1])
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Result()
	}
	body := func(resp *http.Response) []byte {
		data := make([]byte, resp.ContentLength)
		_, _ = resp.Body.Read(data)
		return data
	}
	for accept, want := range map[string]string{
		"": anml.MediaTypeXML, "*/*": anml.MediaTypeXML,
		anml.Accept(anml.JSON): anml.MediaTypeJSON, anml.Accept(anml.XML): anml.MediaTypeXML,
		"application/anml+xml;q=0, */*": anml.MediaTypeJSON, "application/anml+json, text/html": anml.MediaTypeJSON,
	} {
		t.Run("accept-"+accept, func(t *testing.T) {
			resp := ask("GET", "Accept", accept)
			if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != want || resp.Header.Get("Vary") != "Accept" || resp.Header.Get("Cache-Control") != "max-age=600" {
				t.Fatal(resp.Status, resp.Header)
			}
			got, err := anml.Parse(want, body(resp), anml.ReadOptions{Role: anml.RoleService})
			if err != nil || !anml.Equal(got, d) {
				t.Error("another document was served", err)
			}
		})
	}
	t.Run("accept-two-fields", func(t *testing.T) {
		if resp := ask("GET", "Accept", "text/html", "Accept", anml.MediaTypeJSON); resp.Header.Get("Content-Type") != anml.MediaTypeJSON {
			t.Error(resp.Status, resp.Header)
		}
	})
	t.Run("accept-head-and-validators", func(t *testing.T) {
		xml, json := ask("HEAD"), ask("HEAD", "Accept", anml.MediaTypeJSON)
		tag := xml.Header.Get("ETag")
		if xml.StatusCode != 200 || tag == "" || tag == json.Header.Get("ETag") {
			t.Error("the two serializations need different tags", xml.Header, json.Header)
		}
		if resp := ask("GET", "If-None-Match", tag); resp.StatusCode != 304 {
			t.Error(resp.Status)
		}
		if resp := ask("GET", "If-None-Match", tag, "Accept", anml.MediaTypeJSON); resp.StatusCode != 200 {
			t.Error("the tag of XML confirms JSON", resp.Status)
		}
	})
	for name, c := range map[string]struct {
		method, accept string
		status         int
	}{"reject-html": {"GET", "text/html", 406}, "reject-post": {"POST", "", 405}, "reject-nothing": {"GET", "*/*;q=0", 406}} {
		t.Run(name, func(t *testing.T) {
			resp := ask(c.method, "Accept", c.accept)
			p, err := anml.ParseProblem(resp.Header.Get("Content-Type"), body(resp))
			if resp.StatusCode != c.status || err != nil || p.Status != c.status || resp.Header.Get("Cache-Control") != "no-store" {
				t.Error(resp.Status, resp.Header, err)
			}
		})
	}
	t.Run("reject-nil", func(t *testing.T) {
		if _, err := anml.NewHandler(nil, anml.HandlerOptions{}); err == nil {
			t.Error("no document is served")
		}
	})
}

func TestReadAgentResponse(t *testing.T) {
	site := serviceDocument(t).Site
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	type build = func(*anml.ResponseBuilder)
	email := func(r *anml.ResponseBuilder) {
		r.Answer("email", "kim@example.com", anml.ConsentExplicit, now.Add(-time.Minute))
	}
	read := func(t *testing.T, f anml.Format, parts ...build) (*anml.AgentResponse, error) {
		t.Helper()
		b := anml.NewResponse()
		for _, part := range parts {
			part(b)
		}
		d, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		data, err := anml.Marshal(d, f, anml.WriteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return anml.ReadAgentResponse(site, "book", f.MediaType(), data, now)
	}
	t.Run("accept-answers", func(t *testing.T) {
		for f := anml.XML; f <= anml.JSON; f++ {
			r, err := read(t, f, email, func(r *anml.ResponseBuilder) { r.Answer("party-size", "3", anml.ConsentImplicit, now) })
			if err != nil {
				t.Fatal(err)
			}
			if v, ok := r.Value("email"); v != "kim@example.com" || !ok {
				t.Error(v, ok)
			}
			if _, ok := r.Value("nickname"); ok {
				t.Error("a field without an answer has one")
			}
		}
	})
	t.Run("accept-refusal", func(t *testing.T) {
		r, err := read(t, anml.XML, func(r *anml.ResponseBuilder) { r.Refuse("email", anml.UserDenied, "") })
		if err != nil {
			t.Fatal(err)
		}
		if reason, ok := r.Refused("email"); reason != anml.UserDenied || !ok {
			t.Error(reason, ok)
		}
	})
	for name, c := range map[string]struct {
		parts  []build
		code   string
		status int
		field  string
	}{
		"reject-missing":  {[]build{func(r *anml.ResponseBuilder) { r.Answer("party-size", "3", anml.ConsentImplicit, now) }}, "response-missing", 400, "email"},
		"reject-unasked":  {[]build{email, func(r *anml.ResponseBuilder) { r.Answer("nickname", "k", anml.ConsentExplicit, now) }}, "response-unasked", 400, "nickname"},
		"reject-type":     {[]build{email, func(r *anml.ResponseBuilder) { r.Answer("party-size", "many", anml.ConsentExplicit, now) }}, "response-value", 422, "party-size"},
		"reject-implicit": {[]build{func(r *anml.ResponseBuilder) { r.Answer("email", "k@example.com", anml.ConsentImplicit, now) }}, "response-consent", 422, "email"},
		"reject-old": {[]build{func(r *anml.ResponseBuilder) {
			r.Answer("email", "k@example.com", anml.ConsentExplicit, now.Add(-11*time.Minute))
		}}, "response-consent", 422, "email"},
		"reject-future": {[]build{func(r *anml.ResponseBuilder) {
			r.Answer("email", "k@example.com", anml.ConsentExplicit, now.Add(time.Hour))
		}}, "response-consent", 422, "email"},
		"reject-both": {[]build{email, func(r *anml.ResponseBuilder) { r.Refuse("email", anml.UserDenied, "") }}, "response-unasked", 400, "email"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := read(t, anml.XML, c.parts...)
			p := anml.ProblemOf(err)
			field, _ := p.Extension("field")
			code, _ := p.Extension("code")
			if r != nil || err == nil || p.Status != c.status || field != c.field || code != c.code {
				t.Errorf("%v: %+v", err, p)
			}
			if strings.Contains(p.Detail, "example.com") {
				t.Error("the problem repeats a value of the user")
			}
		})
	}
	t.Run("reject-malformed", func(t *testing.T) {
		_, err := anml.ReadAgentResponse(site, "book", anml.MediaTypeXML, []byte("<anml"), now)
		if p := anml.ProblemOf(err); err == nil || p.Status != 400 {
			t.Error(err, p)
		}
		_, err = anml.ReadAgentResponse(site, "book", "text/plain", nil, now)
		if p := anml.ProblemOf(err); err == nil || p.Status != 400 {
			t.Error(err, p)
		}
	})
}

func ExampleReadAgentResponse() {
	b := anml.NewService("Example Tours")
	b.Action("book", "POST", "/book").Confirm(true)
	b.Ask("email", "book", "to send the ticket").Required()
	tours, err := b.Build()
	if err != nil {
		panic(err)
	}
	http.HandleFunc("POST /book", func(w http.ResponseWriter, r *http.Request) {
		data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 64<<10))
		if err != nil {
			anml.WriteProblem(w, r, anml.Problem{Status: http.StatusBadRequest})
			return
		}
		said, err := anml.ReadAgentResponse(tours.Site, "book", r.Header.Get("Content-Type"), data, time.Now())
		if err != nil {
			anml.WriteProblem(w, r, anml.ProblemOf(err))
			return
		}
		email, told := said.Value("email")
		_, _ = email, told // book, or go on without it
	})
}
