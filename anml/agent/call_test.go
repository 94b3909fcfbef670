package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/lookleaptest"
)

func TestTools(t *testing.T) {
	doc := `<head><title>Shop</title></head>
	<knowledge><ask field="email" action="tell" purpose="to send the ticket" required="true"/><ask field="tel" action="unasked" purpose="x"/><ask field="tel" action="bodiless" purpose="x" required="true"/></knowledge>
	<interact>
	<action id="search" method="GET" endpoint="/search" description="find &#x202e;things"><param name="q" required="true"/></action>
	<action id="tell" method="POST" endpoint="/tell"/>
	<action id="never" method="TRACE" endpoint="/x"/>
	<action id="inside" method="GET" endpoint="https://10.0.0.1/x"/>
	<action id="unasked" method="POST" endpoint="/x"><param name="seats" required="true"/></action><action id="bodiless" method="GET" endpoint="/x"/>
	<action id="twice" method="GET" endpoint="/1"/><action id="twice" method="GET" endpoint="/2"/>
	<action id="last" method="GET" endpoint="/last"/>
	</interact>`
	s := newStage(t, setting{doc: doc, user: User{Profile: Fields{"email": {Text: "ada@example.org"}}}})
	tools := s.page.Tools()
	var names []string
	for _, tool := range tools {
		names = append(names, tool.Name)
		var schema map[string]any
		if err := json.Unmarshal(tool.InputSchema, &schema); err != nil || schema["type"] != "object" {
			t.Errorf("%s: %v %s", tool.Name, err, tool.InputSchema)
		}
	}
	equals(t, fmt.Sprint(names), "[shop_2eexample_00search shop_2eexample_00tell shop_2eexample_00last]")
	hasTexts(t, tools[0].Description, "!\u202e")
	r, err := tools[0].Call(t.Context(), json.RawMessage(`{"q":"tea"}`))
	must(t, err)
	equals(t, r.Status, 204)
	hasCode(t, second(tools[0].Call(t.Context(), json.RawMessage(`{"q":5,"x":1}`))), anml.CodeParamUnknown)
	must(t, second(tools[1].Call(t.Context(), nil)))
	hasCode(t, second(tools[1].Call(t.Context(), json.RawMessage(`{"email":"eve@example.org"}`))), lookleap.CodeUsage)
	s.sends("GET /search?q=tea", "POST /tell")
	hasTexts(t, string(s.net.Journal().Requests()[1].Body), "ada@example.org", "!eve")
}

// TestConflictingRules: of several rules about a field the most restrictive one is
// applied to what is sent (section 11.4).
func TestConflictingRules(t *testing.T) {
	for name, c := range map[string]struct {
		rules   []string
		asked   bool // about the field itself, although the user's standing will allows it
		authent bool
	}{
		"accept-one-rule":                {[]string{"none"}, false, false},
		"reject-none-and-explicit":       {[]string{"none", "explicit-consent"}, true, false},
		"reject-explicit-and-none":       {[]string{"explicit-consent", "none"}, true, false},
		"accept-implicit-and-none":       {[]string{"implicit-consent", "none"}, false, false},
		"reject-authentication-explicit": {[]string{"authentication", "explicit-consent"}, true, true},
		"reject-three":                   {[]string{"none", "authentication", "implicit-consent"}, true, true},
		"reject-unknown-word":            {[]string{"none", "None"}, true, false},
	} {
		t.Run("ANML-11.4-12/"+name, func(t *testing.T) {
			for _, asJSON := range []bool{false, true} {
				policy, shown := &UserPolicy{}, 0
				must(t, policy.Set(StandingRule{Field: "email", Domain: "shop.example", Effect: EffectAllow}))
				rules := ""
				for _, r := range c.rules {
					rules += `<disclosure field="email" requires="` + r + `"/>`
				}
				s := newStage(t, setting{json: asJSON, doc: `<head><title>x</title></head><constraints>` + rules + `</constraints>` +
					`<knowledge><ask field="email" action="a" purpose="to send the ticket" required="true"/></knowledge>` + interactOnly(action("a", "POST", "/a", "")),
					user: User{Profile: ada, Policy: policy, Authenticate: func(context.Context, string) error { shown++; return nil }}})
				s.does(Call{Action: "a"}, lookleap.CodeOK)
				asked := slices.ContainsFunc(s.user.Requests()[0].Items, func(i lookleap.ConsentItem) bool { return i.ID == "answer-1" })
				if asked != c.asked || (shown > 0) != c.authent {
					t.Errorf("json %t: asked about the field: %t, authenticated %d times", asJSON, asked, shown)
				}
			}
		})
	}
}

// TestPromptsShowFindings: what looks like another party's document is shown where
// the user decides (section 13.6).
func TestPromptsShowFindings(t *testing.T) {
	s := newStage(t, setting{doc: postable})
	s.net.Site("old.example").Redirect("/anml", documentURL)
	page, err := s.session.Open(t.Context(), "https://old.example/anml")
	must(t, err)
	s.page = page
	s.does(Call{Action: "a"}, lookleap.CodeOK)
	if shown := s.user.Requests()[0].String(); !strings.Contains(shown, "Beware: ") {
		t.Errorf("nothing is said of %v:\n%s", page.Findings(), shown)
	}
}

func definitionsOf(t *testing.T, params string) Tool {
	doc := `<head><title>Shop</title></head><interact><action id="2search" method="GET" endpoint="/search">` + params + `</action></interact>`
	s := newStage(t, setting{doc: doc})
	return s.page.Tools()[0]
}

func TestDefinition(t *testing.T) {
	tool := definitionsOf(t, `<param name="q" required="true" pattern="[a-z]+" min="2"/><param name="class" type="enum"><option value="a"/><option value="b"/></param><param name="on" type="date"/>`)
	if d := tool.Definition(AnyVendor); d.Strict || d.Name != "shop_2eexample_002search" || d.Parameters["$schema"] == nil {
		t.Errorf("%+v", d)
	}
	if d := tool.Definition(OpenAI); !d.Strict || d.Name != "shop_2eexample_002search" || fmt.Sprint(d.Parameters["required"]) != "[q class on]" ||
		fmt.Sprint(members(d.Parameters)["class"].(map[string]any)["type"]) != "[string null]" || d.Parameters["additionalProperties"] != false || d.Parameters["$schema"] != nil {
		t.Errorf("%+v", d)
	}
	for _, v := range []Vendor{Anthropic, Gemini} {
		d := tool.Definition(v)
		class := members(d.Parameters)["class"].(map[string]any)
		if d.Strict != (v == Anthropic) || fmt.Sprint(d.Parameters["required"]) != "[q]" || class["type"] != "string" || fmt.Sprint(class["enum"]) != "[a b]" ||
			(d.Parameters["additionalProperties"] == false) != (v == Anthropic) || d.Parameters["$schema"] != nil || members(d.Parameters)["q"].(map[string]any)["pattern"] != nil {
			t.Errorf("%s: %+v", v, d)
		}
	}
	for _, v := range []Vendor{AnyVendor, OpenAI, Anthropic, Gemini} {
		if _, has := members(tool.Definition(v).Parameters)["on"].(map[string]any)["enum"]; has {
			t.Errorf("%s: a date has a list of values", v)
		}
	}
	none := definitionsOf(t, "")
	if d := none.Definition(Gemini); d.Parameters != nil {
		t.Errorf("%+v", d)
	}
	equals(t, len(members(definitionsOf(t, `<param name="q"/>`).Definition(Gemini).Parameters)), 1)
	if d := none.Definition(Anthropic); !d.Strict || d.Parameters == nil {
		t.Errorf("%+v", d)
	}
	var many strings.Builder
	for i := range 120 {
		fmt.Fprintf(&many, `<param name="p%d"/>`, i)
	}
	large := definitionsOf(t, many.String())
	for _, v := range []Vendor{OpenAI, Anthropic} {
		if d := large.Definition(v); d.Strict || len(members(d.Parameters)) != 120 || d.Parameters["$schema"] != nil {
			t.Errorf("%s: strict: %v", v, d.Strict)
		}
	}
	for _, c := range []struct {
		vendor             Vendor
		required, optional int
		strict             bool
	}{
		{OpenAI, 50, 50, true}, {OpenAI, 50, 51, false},
		{Anthropic, 0, 24, true}, {Anthropic, 0, 25, false}, {Anthropic, 40, 0, true},
	} {
		var params strings.Builder
		for i := range c.required + c.optional {
			fmt.Fprintf(&params, `<param name="p%d" required="%t" pattern="[a-z]+"/>`, i, i < c.required)
		}
		tool := definitionsOf(t, params.String())
		d, plain := tool.Definition(c.vendor), tool.Schema()
		delete(plain, "$schema")
		if d.Strict != c.strict || !c.strict && !reflect.DeepEqual(d.Parameters, plain) {
			t.Errorf("%s, %d and %d: strict %t, %v", c.vendor, c.required, c.optional, d.Strict, d.Parameters)
		}
	}
	// A caller may change what it gets.
	delete(members(tool.Schema()), "q")
	if members(tool.Schema())["q"] == nil || members(tool.Definition(OpenAI).Parameters)["q"] == nil {
		t.Error("the schema is shared")
	}
	// An answer by a strict schema has null where the model leaves something out.
	must(t, second(tool.Call(t.Context(), []byte(`{"q":"tea","class":null,"on":null}`))))
	sameList(t, []string{AnyVendor.String(), Gemini.String(), Vendor(9).String()}, []string{"any vendor", "Gemini", "Gemini"})
}

func TestAdvise(t *testing.T) {
	code := func(c lookleap.Code) error { return &lookleap.Error{Code: c, Message: "x"} }
	busy := &lookleap.ResponseError{Status: http.StatusServiceUnavailable, RetryAfter: 90 * time.Second, Err: errors.New("busy")}
	for name, c := range map[string]struct {
		err  error
		want Remedy
		wait time.Duration
	}{
		"no-error":  {nil, "", 0},
		"busy":      {busy, RemedyRetry, 90 * time.Second},
		"in-doubt":  {inDoubt(busy), RemedyAskUser, 0},
		"pending":   {lookleap.ErrConsentPending, RemedyAskUser, 0},
		"refused":   {&lookleap.Error{Code: lookleap.CodeConsentRefused, Err: lookleap.ErrConsentRefused}, RemedyStop, 0},
		"no-value":  {code(CodeNoValue), RemedyAskUser, 0},
		"parameter": {code(anml.CodeParamInvalid), RemedyArguments, 0},
		"forbidden": {code(lookleap.CodeDenied), RemedyStop, 0},
	} {
		t.Run(name, func(t *testing.T) {
			a := Advise(c.err)
			data := a.Data()
			if a.Remedy != c.want || a.Wait != c.wait || a.Text != ErrorText(c.err) || data["code"] != string(a.Code) {
				t.Errorf("%+v", a)
			}
			if wait, ok := data["waitSeconds"]; ok != (c.want == RemedyRetry) || ok && wait != c.wait.Seconds() {
				t.Errorf("%v", data)
			}
		})
	}
}

// TestUnrelatedServices runs one agent against services of which neither code nor test data is
// shared: it opens the document, takes the first tool, calls it with values for the parameters that
// the schema requires, and shows what comes back.
func TestUnrelatedServices(t *testing.T) {
	services := map[string]struct{ url, document, path, said, want string }{
		"tea-shop": {"https://tea.example/menu", `<head><title>Tea</title></head>
			<interact><action id="stock" method="GET" endpoint="/stock"><param name="sort" required="true"/></action></interact>
			<knowledge><ask field="lang" action="stock" purpose="to answer in your language"/></knowledge>`,
			"/stock", `<body>Green tea: 12 kg</body>`, "12 kg"},
		"library": {"https://books.example/", `<head><title>Books</title></head><constraints><disclosure field="email" requires="explicit-consent"/></constraints>
			<knowledge><ask field="email" action="hold" required="true" purpose="to tell you when the book is there"/></knowledge>
			<interact><action id="hold" method="POST" endpoint="/holds"/></interact>`,
			"/holds", `<status code="held" result="success"/><body>Copy 3 is held for you.</body>`, "Copy 3 is held for you."},
	}
	for name, c := range services {
		t.Run("ANML-15.3-01/accept-"+name, func(t *testing.T) {
			net := newLab(t)
			site := net.Site(strings.Split(c.url, "/")[2])
			site.Handle(c.path, answering(200, anml.MediaTypeXML, service(c.said)))
			host := net.StubHost()
			host.Prompter = lookleaptest.NewPrompter(t, lookleaptest.Approve())
			session, err := New(host, Options{}).NewSession(User{Profile: Fields{"lang": {Text: "de"}, "email": {Text: "ann@example.org"}}})
			must(t, err)
			defer session.Close()
			tool := pageFor(t, net, session, c.url, c.document).Tools()[0]
			var schema struct{ Required []string }
			if err := json.Unmarshal(tool.InputSchema, &schema); err != nil {
				t.Fatalf("%s: %v", tool.InputSchema, err)
			}
			values := map[string]string{}
			for _, parameter := range schema.Required {
				values[parameter] = "price"
			}
			input, err := json.Marshal(values)
			must(t, err)
			result, err := tool.Call(t.Context(), input)
			must(t, err)
			hasTexts(t, result.Text(anml.TextOptions{}), c.want)
		})
	}
}
