package agent

import (
	"encoding/json"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/lab/labprompt"
	"pgregory.net/rapid"
)

// TestSentAsShown: whatever the values are, the service receives exactly the
// arguments that the user was shown, octet by octet, in every encoding.
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
	s := newStage(t, setting{doc: interact(actions.String()), options: Options{Limits: Limits{Burst: 1 << 20, Executions: 1 << 20}}, replies: slices.Repeat([]labprompt.Reply{labprompt.Approve()}, 1<<12)})
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
				if len(sent) != 0 || lookleap.CodeOf(err) != lookleap.CodeParamInvalid {
					rt.Fatalf("%v, sent %d", err, len(sent))
				}
				return
			}
			asked := s.user.Requests()
			if len(sent) != 1 || len(asked) != before+1 {
				rt.Fatalf("%d requests, asked %d times", len(sent), len(asked)-before)
			}
			var shown []string
			for _, r := range asked[before].Items[0].Remote {
				if strings.HasPrefix(r.Label, "argument") {
					shown = append(shown, r.Text)
				}
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

// BenchmarkPrepare is all of Page.Do before the user is asked: a call that tells
// two fields of the profile, and one that sends arguments.
func BenchmarkPrepare(b *testing.B) {
	net := newLab(b)
	s := newSession(b, net, User{Profile: ada}, Options{})
	page := pageFor(b, net, s, documentURL, asking)
	form := pageFor(b, net, s, "https://www.form.example/anml", searchAndBuy)
	for name, c := range map[string]struct {
		page *Page
		call Call
	}{
		"answers":   {page, Call{Action: "book"}},
		"arguments": {form, Call{Action: "reserve", Args: map[string]string{"what": "t1", "seats": "2"}}},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				in, err := c.page.prepare(b.Context(), c.call)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := json.Marshal(in.effect); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
