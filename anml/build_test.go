package anml

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
)

func TestBuilder(t *testing.T) {
	minimal := func(t *testing.T) {
		d, err := NewService("T").Build()
		if err != nil || d.Head().Title() != "T" || d.Role() != RoleService {
			t.Fatal(err)
		}
		for _, f := range d.Findings() {
			t.Error(f)
		}
	}
	t.Run("ANML-6.5.1-12/accept-minimal", minimal)
	t.Run("ANML-6.5.1-13/accept-builder", minimal)
	full := func() *Builder {
		b := NewService("Flights")
		b.TTL(time.Hour).Lang("en")
		b.Meta("type", "service").SiteRef("example.org", "https://example.org/a", Affiliate)
		b.Rule("email", ExplicitConsent).ValidFor(time.Minute)
		b.Action("book", "POST", "/book").Confirm(true).Idempotent(false).Auth(AuthOptional).Description("Books").Response(MediaTypeJSON, "r").
			Param("date", TypeDate).Required().Min("2026-01-01")
		b.Ask("email", "book", "to send the ticket").Required().Type(TypeString)
		b.Inform("200 places").TTL(time.Minute).Priority(PriorityHigh).Confidentiality(Restricted).Usage(UsageCache).Scope("s")
		b.Step("search", "Search", StepCurrent).Next("pay").Action("book")
		b.Step("pay", "Pay", StepPending).Required()
		b.Context("search")
		b.Persona().Tone("friendly").Instructions("Be brief.").Language(LanguageFixed, "fr").Prefer("a").Avoid("b")
		b.DisplayName("Example Air")
		body := b.Body().Usage(UsageStore).Text("Hello ")
		s := body.Section("s", "S").Text("x")
		s.Data("d", "D").Item("i").Field("price", TypeString, "1.50").Field("when", TypeDateTime, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)).Field("n", TypeNumber, 3)
		body.Text(" there").Link("/more", "next", "More").Img("/i.png", "a plane").Audio("/a", "words").Video("/v", "words").Nav("/2", "", 47)
		b.Rights("Example", "2026", UsageStore, "s", "All of it").Attribution("Thanks", true)
		b.Status("200", ResultSuccess, "fine")
		return b
	}
	t.Run("everything", func(t *testing.T) {
		d, err := full().Build()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range d.Findings() {
			if f.Severity < lookleap.SeverityInfo {
				t.Error(f)
			}
		}
		if got := fmt.Sprint(d.State().CurrentStep().ID(), first(d.Knowledge().Asks()).Field(), d.Body().Text()); got != "searchemailHello  there" {
			t.Error(got)
		}
		x, err := MarshalXML(d, WriteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		checkRoundTrip(t, string(x))
	})
	for name, spoil := range map[string]func(*Builder){
		"no-purpose":      func(b *Builder) { b.Ask("f", "book", "") },
		"no-field":        func(b *Builder) { b.Ask("", "book", "p") },
		"dangling-action": func(b *Builder) { b.Ask("f", "nobody", "p") },
		"bad-method":      func(b *Builder) { b.Action("x", "TRACE", "/") },
		"bad-endpoint":    func(b *Builder) { b.Action("x", "GET", "javascript:x") },
		"twice-the-id":    func(b *Builder) { b.Action("book", "GET", "/") },
		"negative-ttl":    func(b *Builder) { b.TTL(-time.Second) },
		"cycle":           func(b *Builder) { b.Step("z", "", StepPending).Next("z") },
		"context":         func(b *Builder) { b.Context("nowhere") },
		"bad-reference":   func(b *Builder) { b.SiteRef("example.org", "http://example.org/", "") },
		"status-no-code":  func(b *Builder) { b.Status("", ResultSuccess, "") },
		"empty-img":       func(b *Builder) { b.Body().Img("", "x") },
		"two-claims":      func(b *Builder) { b.Trust("a b") },
		"control-char":    func(b *Builder) { b.Inform("\x00") },
		"too-many-actions": func(b *Builder) {
			for i := range 70 {
				b.Action(itoa(i), "GET", "/")
			}
		},
	} {
		t.Run("reject-"+name, func(t *testing.T) {
			b := full()
			spoil(b)
			d, err := b.Build()
			var invalid *InvalidError
			var refused *lookleap.Error
			if d != nil || !errors.As(err, &invalid) && !errors.As(err, &refused) {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("ANML-14.3-02/reject-builder", func(t *testing.T) {
		b := full()
		b.Ask("f", "book", "")
		if _, err := b.Build(); err == nil {
			t.Error("an ask without a purpose was built")
		}
	})
	t.Run("ANML-12.7-02/accept-multi", func(t *testing.T) {
		d, err := ParseXML([]byte(`<anml xmlns="`+Namespace+`" version="1.0" role="service"><site domain="example.net"><head><title>N</title></head></site><site domain="example.com"><head><title>C</title></head></site></anml>`), ReadOptions{})
		if err != nil || count(d.Sites()) != 2 {
			t.Error(err)
		}
	})

	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, id := range []string{"ANML-11.1-04", "ANML-11.1-05"} {
		t.Run(id+"/accept-response", func(t *testing.T) {
			r := NewResponse().Title("T").Answer("a", "", ConsentExplicit, at).Refuse("b", UserDenied, "")
			r.Ask("c", "book", "p").Required()
			r.Inform("i")
			d, err := r.Build()
			if err != nil {
				t.Fatal(err)
			}
			x, err := MarshalXML(d, WriteOptions{})
			if err != nil || !strings.Contains(string(x), `<anml xmlns="`+Namespace+`" version="1.0" role="agent-response">`) ||
				!strings.Contains(string(x), `consent-granted="2026-03-01T12:00:00Z"`) {
				t.Errorf("%s %v", x, err)
			}
			if !d.hasVersion() || d.Role() != RoleAgentResponse {
				t.Error(d.Role())
			}
		})
	}
	t.Run("ANML-8.7.4-02/reject-builder", func(t *testing.T) {
		if _, err := NewResponse().Refuse("f", "because", "").Build(); err == nil {
			t.Error("an unknown reason was built")
		}
	})
	for _, id := range []string{"ANML-8.7.3-02", "ANML-8.7.4-01"} {
		t.Run(id+"/reject-builder", func(t *testing.T) {
			b := NewResponse().Answer("", "v", ConsentExplicit, at)
			if id == "ANML-8.7.4-01" {
				b = NewResponse().Refuse("", UserDenied, "")
			}
			if _, err := b.Build(); err == nil {
				t.Error("an element without a field was built")
			}
		})
	}
	t.Run("ANML-11.2-01/accept-minimal-response", func(t *testing.T) {
		r, err := NewResponse().Refuse("x", UserDenied, "").Build()
		if err != nil || count(r.Knowledge().Refuses()) != 1 || first(r.Knowledge().Refuses()).Field() != "x" {
			t.Error(err)
		}
	})
	t.Run("ANML-11.2-01/reject-empty", func(t *testing.T) {
		if _, err := NewResponse().Build(); !errors.Is(err, ErrEmptyResponse) {
			t.Error(err)
		}
	})
	t.Run("ANML-8.7.3-08/accept-re-consent", func(t *testing.T) {
		b := NewService("Consent")
		b.Status("consent-stale", ResultPartial, "please agree again")
		b.Action("book", "POST", "/book")
		b.Ask("email", "book", "to send the ticket").Required()
		if d, err := b.Build(); err != nil || d.Status().Result() != ResultPartial || count(d.Knowledge().Asks()) != 1 {
			t.Error(err)
		}
	})
}

func TestOutcome(t *testing.T) {
	status := func(result string) *Document {
		d, err := ParseXML([]byte(service(`<status code="1" result="`+result+`"/>`)), ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	for _, c := range []struct {
		code int
		d    *Document
		want Outcome
	}{
		{200, nil, OutcomeSuccess}, {204, nil, OutcomeSuccess}, {202, nil, OutcomeAccepted}, {400, nil, OutcomeError}, {500, nil, OutcomeError}, {302, nil, OutcomeUnknown},
		{200, status("success"), OutcomeSuccess}, {200, status("error"), OutcomeError}, {200, status("partial"), OutcomePartial}, {200, status(""), OutcomeUnknown}, {200, status("ok"), OutcomeError},
		{400, status("success"), OutcomeError}, {503, status("success"), OutcomeError}, {202, status("success"), OutcomeAccepted},
	} {
		kind := "accept"
		if c.want <= OutcomeError {
			kind = "reject"
		}
		t.Run(fmt.Sprintf("ANML-11.3-03/%s-%d-%s", kind, c.code, c.want), func(t *testing.T) {
			if got := OutcomeOf(c.code, c.d); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
	t.Run("ANML-11.5-03/accept-ten", func(t *testing.T) {
		if MaxPages != 10 {
			t.Error(MaxPages)
		}
	})
}

func TestProblem(t *testing.T) {
	p := &Problem{Type: "https://example.com/probs/stock", Title: "Out of <stock>", Status: 422, Detail: "a\nb", Instance: "/1", Extensions: []Extension{{"field", "airline"}}}
	for _, f := range []Format{JSON, XML} {
		t.Run("ANML-11.3-13/accept-"+f.String(), func(t *testing.T) {
			data, contentType, err := p.Marshal(f)
			if err != nil {
				t.Fatal(err)
			}
			got, err := ParseProblem(contentType, data)
			if err != nil || fmt.Sprint(got) != fmt.Sprint(p) {
				t.Errorf("got %v, %v\n%s", got, err, data)
			}
		})
	}
	if p, err := ParseProblem(MediaTypeProblemJSON, []byte(`{"status":"422","title":7,"errors":[{"f":1}]}`)); err != nil || p.Status != 0 || p.Title != "" || p.Type != "about:blank" || p.Extensions[0].Value != `[{"f":1}]` {
		t.Errorf("%+v %v", p, err)
	}
	for name, bad := range map[string][2]string{
		"type": {"text/html", "{}"}, "duplicate": {MediaTypeProblemJSON, `{"title":"a","title":"b"}`}, "array": {MediaTypeProblemJSON, `[]`},
		"deep": {MediaTypeProblemJSON, `{"a":` + strings.Repeat("[", 9)}, "large": {MediaTypeProblemJSON, `{"a":"` + strings.Repeat("x", 65536) + `"}`},
		"xml-root": {MediaTypeProblemXML, `<problem/>`}, "xml-twice": {MediaTypeProblemXML, `<problem xmlns="urn:ietf:rfc:7807"><title>a</title><title>b</title></problem>`}, "xml-entity": {MediaTypeProblemXML, `<problem xmlns="urn:ietf:rfc:7807"><title>&x;</title></problem>`},
	} {
		t.Run("K19/reject-"+name, func(t *testing.T) {
			if p, err := ParseProblem(bad[0], []byte(bad[1])); !errors.Is(err, ErrProblem) || p != nil {
				t.Errorf("got %v %v", p, err)
			}
		})
	}
	if _, _, err := (&Problem{Extensions: []Extension{{"a b", ""}}}).Marshal(XML); err == nil {
		t.Error("a name that is none was written")
	}
	if _, _, err := (&Problem{Title: "\x00"}).Marshal(XML); err == nil {
		t.Error("a character that XML cannot hold was written")
	}
}
