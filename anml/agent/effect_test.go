package agent

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/lookleaptest"
)

// TestEffectsOfOthers: a plan whose effect this package would not have written is refused,
// although the user agreed to it. Each case breaks one rule of an effect that is valid otherwise.
func TestEffectsOfOthers(t *testing.T) {
	const doc = titled + `<interact><action id="find" method="GET" endpoint="/find?lang=en" confirm="true"><param name="q"/></action></interact>`
	s := newStage(t, setting{doc: doc, replies: []lookleaptest.Reply{pendingReply}})
	plan, err := lookleap.ParsePlan(s.suspended(Call{Action: "find", Args: map[string]string{"q": "tea"}}).State)
	must(t, err)
	plain := func(method string) func(*effect) {
		return func(e *effect) {
			e.Send.Endpoint, e.Send.URL = "http://www.shop.example/find", "http://www.shop.example/find?q=tea"
			e.Send.Method, e.Send.Plain, e.Send.Reach = method, true, atDomain
		}
	}
	for name, c := range map[string]struct {
		change func(*effect)
		want   string // in the error; "" if there is none
	}{
		"accept-own":         {func(*effect) {}, ""},
		"accept-plain-read":  {plain("GET"), ""},
		"accept-plain-head":  {plain("HEAD"), ""},
		"reject-plain-write": {plain("DELETE"), "must not be sent over plain http"},
		"reject-plain-told": {func(e *effect) {
			plain("GET")(e)
			e.Disclosures = []disclosure{{Kind: discloseArg, Field: "email", Value: annsEmail}}
		}, "must not be sent over plain http"},
		"reject-method":   {func(e *effect) { e.Send.Method = "TRACE" }, "method is not supported"},
		"reject-query":    {func(e *effect) { e.Send.URL = "https://www.shop.example/find?lang=de" }, "not that of its endpoint"},
		"reject-fragment": {func(e *effect) { e.Send.URL += "#x" }, "URL is not permitted"},
		"reject-document": {func(e *effect) { e.Exchange.Document, e.Send.Reach = "", atOther }, "document has no https URL"},
		"reject-expects":  {func(e *effect) { e.Send.Expects = "text/plain\r\nX: y" }, "media type is malformed"},
		"reject-null":     {func(e *effect) { e.Send.ContentType = "text/plain\x00" }, "media type is malformed"},
	} {
		t.Run("K01/"+name, func(t *testing.T) {
			e, err := parseEffect(plan.Effect())
			must(t, err)
			c.change(e)
			data, err := json.Marshal(e)
			must(t, err)
			switch e, err := parseEffect(data); {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (e != nil || lookleap.CodeOf(err) != lookleap.CodePlanInvalid || !strings.Contains(err.Error(), c.want)):
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}
