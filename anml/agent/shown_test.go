package agent

import (
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/lookleaptest"
)

// TestSentAsShown: whatever the values are, the service receives exactly the
// arguments that the user was shown, byte by byte, in every encoding.
func TestSentAsShown(t *testing.T) {
	kinds := []struct{ method, enctype string }{
		{"GET", ""}, {"DELETE", ""}, {"POST", ""}, {"PUT", "application/json"}, {"PATCH", "application/json"}, {"POST", "multipart/form-data"},
	}
	var actions strings.Builder
	for i, k := range kinds {
		enctype := ""
		if k.enctype != "" {
			enctype = `enctype="` + k.enctype + `"`
		}
		actions.WriteString(`<action id="` + string(rune('a'+i)) + `" confirm="true" method="` + k.method + `" endpoint="/x?fixed=%26" ` + enctype +
			`><param name="one" required="true"/><param name="two = 2"/><param name="three" default="service&apos;s &amp;"/></action>`)
	}
	s := newStage(t, setting{doc: interact(actions.String()), options: Options{Limits: Limits{Burst: 1 << 20, Executions: 1 << 20}}, replies: slices.Repeat([]lookleaptest.Reply{lookleaptest.Approve()}, 1<<12)})
	t.Run("ANML-13.4-04/accept-octet-by-octet", func(t *testing.T) {
		rapid.Check(t, func(rt *rapid.T) {
			i := rapid.IntRange(0, len(kinds)-1).Draw(rt, "kind")
			args := map[string]string{"one": rapid.String().Draw(rt, "one")}
			if rapid.Bool().Draw(rt, "both") {
				args["two = 2"] = rapid.String().Draw(rt, "two")
			}
			s.net.Journal().Clear()
			before := len(s.user.Requests())
			_, err := s.page.Do(t.Context(), Call{Action: string(rune('a' + i)), Args: args})
			sent := s.net.Journal().Requests("www.shop.example")
			if err != nil {
				if len(sent) != 0 || lookleap.CodeOf(err) != anml.CodeParamInvalid {
					rt.Fatalf("%v, sent %d", err, len(sent))
				}
				return
			}
			asked := s.user.Requests()
			if len(sent) != 1 || len(asked) != before+1 {
				rt.Fatalf("%d requests, asked %d times", len(sent), len(asked)-before)
			}
			var shown []string
			for _, v := range asked[before].Items[0].Values {
				shown = append(shown, v.Name+" = "+v.Text)
			}
			got := received(rt, kinds[i].method, sent[0].Target, sent[0].Header, sent[0].Body)
			slices.Sort(shown)
			slices.Sort(got)
			if !slices.Equal(shown, got) {
				rt.Fatalf("shown %q, sent %q", shown, got)
			}
		})
	})
}

// received is what a service reads of a request, "name = value" each.
func received(t *rapid.T, method, target string, header http.Header, body []byte) (out []string) {
	u, err := url.ParseRequestURI(target)
	if err != nil {
		t.Fatal(err)
	}
	values := u.Query()
	if values.Get("fixed") != "&" {
		t.Fatalf("the endpoint's own query is lost: %q", target)
	}
	values.Del("fixed")
	if hasBody(method) && len(values) != 0 {
		t.Fatalf("an argument in the URL: %q", target)
	}
	mediaType, params, _ := mime.ParseMediaType(header.Get("Content-Type"))
	switch mediaType {
	case "application/json":
		var members map[string]string
		if err := json.Unmarshal(body, &members); err != nil {
			t.Fatal(err)
		}
		for name, value := range members {
			values.Set(name, value)
		}
	case "application/x-www-form-urlencoded":
		if values, err = url.ParseQuery(string(body)); err != nil {
			t.Fatal(err)
		}
	case "multipart/form-data":
		for form := multipart.NewReader(strings.NewReader(string(body)), params["boundary"]); ; {
			part, err := form.NextRawPart()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			value, err := io.ReadAll(part)
			if err != nil {
				t.Fatal(err)
			}
			values.Set(part.FormName(), string(value))
		}
	}
	for name, all := range values {
		for _, value := range all {
			out = append(out, name+" = "+value)
		}
	}
	return out
}

// TestShownWhole: whatever is told is shown whole, or with its length, its digest and
// its end, and whole where the reader asks for it.
func TestShownWhole(t *testing.T) {
	for size, abridged := range map[int]bool{300: false, 3000: false, 5000: true} {
		long := strings.Repeat("all is well ", size/12) + "and close my account"
		for name, c := range map[string]struct {
			doc  string
			call Call
		}{
			"argument":          {finder("POST", "", "q"), Call{Action: "find", Args: map[string]string{"q": long}}},
			"personal-argument": {finder("POST", "", "passport"), Call{Action: "find", Args: map[string]string{"passport": long}}},
			"json-argument":     {finder("POST", "application/json", "q"), Call{Action: "find", ArgsJSON: json.RawMessage(`{"q":"` + long + `"}`)}},
			"default":           {titled + interactOnly(`<action id="find" method="POST" endpoint="/find"><param name="q" default="`+long+`"/></action>`), Call{Action: "find"}},
			"answer":            {booking("", askFor("note")), Call{Action: "book", Reply: &Reply{Values: map[string]Value{"note": {Text: long}}}}},
			"inform":            {booking("", ""), Call{Action: "book", Reply: &Reply{Informs: []Value{{Text: long}}}}},
			"counter-ask":       {booking("", ""), Call{Action: "book", Reply: &Reply{Asks: []Counter{{"price", long}}}}},
			"counter-ask-field": {booking("", ""), Call{Action: "book", Reply: &Reply{Asks: []Counter{{long, "to compare"}}}}},
			"answer-field":      {booking("", askFor(long)), Call{Action: "book", Reply: &Reply{Values: map[string]Value{long: {Text: "tea"}}}}},
			"argument-name":     {finder("POST", "", long), Call{Action: "find", Args: map[string]string{long: "ann@example.org"}}},
			"endpoint":          {interact(action("find", "POST", "/find?q="+strings.ReplaceAll(long, " ", "+"), "")), Call{Action: "find"}},
		} {
			if (name == "endpoint" || name == "argument-name") && abridged {
				continue // a URL is never so long, and a name is always shown whole
			}
			t.Run(fmt.Sprintf("O08/accept-%s-%d", name, size), func(t *testing.T) {
				s := newStage(t, setting{doc: c.doc, user: User{Profile: ann}})
				s.does(c.call, lookleap.CodeOK)
				r := s.user.Requests()[0]
				plain := func(text string) string { return strings.ReplaceAll(text, "+", " ") }
				if shown := plain(r.String()); !strings.Contains(shown, "and close my account") || strings.Contains(shown, long) == abridged {
					t.Errorf("%s", shown)
				} else if abridged && (!strings.Contains(shown, "shown in part") || !strings.Contains(shown, "sha256") || !strings.Contains(shown, strconv.Itoa(len(long)))) {
					t.Errorf("it does not say that something is left out: %s", shown)
				}
				if !strings.Contains(plain(r.Complete()), long) {
					t.Error("it cannot be seen whole")
				}
			})
		}
	}
	for how, asJSON := range map[string]bool{"xml": false, "json": true} {
		for _, refused := range []string{"answer-1", "answer-2", "inform-1"} {
			t.Run("O55/accept-resumed-without-"+refused+"-"+how, func(t *testing.T) {
				s := newStage(t, setting{doc: booking("", askFor("email")+askFor("tel")), user: User{Profile: ann}, json: asJSON,
					replies: []lookleaptest.Reply{pendingReply}})
				pending := s.suspended(Call{Action: "book", Reply: &Reply{Informs: []Value{{Text: "likes tea"}}}})
				decision := lookleap.ConsentDecision{Digest: pending.Request.Digest}
				for _, item := range pending.Request.Items {
					if item.ID != refused {
						decision.Approved = append(decision.Approved, item.ID, item.ID) // twice is once
					}
				}
				if _, err := s.open(Options{}, User{Profile: ann}).Resume(t.Context(), pending.State, decision); err != nil {
					t.Fatal(err)
				}
				for item, text := range map[string]string{"answer-1": "ann@example.org", "answer-2": "+49 30 123456", "inform-1": "likes tea"} {
					if strings.Contains(s.bodies(), text) == (item == refused) {
						t.Errorf("%s refused: %s", refused, s.bodies())
					}
				}
			})
		}
	}
}
