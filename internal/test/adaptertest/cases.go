package adaptertest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml/agent"
	"github.com/lookleap/lookleap/lookleaptest"
)

// Adapter is one adapter, as the cases that every adapter runs use it. It holds the framework with
// the tools of one session, and a model that calls the tools that a case names.
type Adapter interface {
	// Call has the model call the action with these arguments, as JSON. It returns what the model is
	// told, or the question if the call waits for its user.
	Call(t testing.TB, action, args string) (told string, q *Question)
}

// Question is a call that waits for its user.
type Question struct {
	Request *lookleap.ConsentRequest // as the framework's dialogue shows it
	// Answer brings an answer back as the framework does, and returns what the model is told. An
	// adapter that takes Go values only returns false for any other answer.
	Answer func(t testing.TB, answer any) (told string, ok bool)
	// Decline refuses as the framework's dialogue does. It returns false if the framework has no
	// place for the reason.
	Decline func(t testing.TB, reason string) (told string, ok bool)
	// Forge has a client or a model change what stands next to the suspended plan, and returns what
	// the dialogue then shows. It is nil if nothing stands there.
	Forge func(t testing.TB) *lookleap.ConsentRequest
}

// calls are the arguments of a purchase that the user is asked about.
const calls = `{"trip":"t2","seats":2}`

func yes(q *Question) lookleap.ConsentDecision { return lookleaptest.Decide(q.Request) }

func digest(q *Question) string { return q.Request.Digest }

// malformed are answers that are no well-formed yes.
var malformed = map[string]func(q *Question) any{
	"null":          func(*Question) any { return nil },
	"none":          func(*Question) any { return "none" },
	"list":          func(*Question) any { return []any{} },
	"false":         func(*Question) any { return false },
	"true":          func(*Question) any { return true },
	"box":           func(*Question) any { return map[string]any{"act": false} },
	"ticked-box":    func(q *Question) any { return map[string]any{"digest": digest(q), "act": true} },
	"null-approved": func(q *Question) any { return map[string]any{"digest": digest(q), "approved": nil} },
	"text-approved": func(q *Question) any { return map[string]any{"digest": digest(q), "approved": "act"} },
	"unknown-member": func(q *Question) any {
		return map[string]any{"digest": digest(q), "approved": yes(q).Approved, "all": true}
	},
	"capital-member": func(q *Question) any { return map[string]any{"digest": digest(q), "Approved": yes(q).Approved} },
	"id-twice": func(q *Question) any {
		return map[string]any{"digest": digest(q), "approved": append(yes(q).Approved, "act")}
	},
	"unknown-id": func(q *Question) any {
		return map[string]any{"digest": digest(q), "approved": append(yes(q).Approved, "more")}
	},
	"no-digest": func(q *Question) any { return map[string]any{"approved": yes(q).Approved} },
	"nil-slice": func(q *Question) any { return lookleap.ConsentDecision{Digest: digest(q)} },
}

// Cases runs the cases that hold for every adapter. Make returns the adapter for a page.
func Cases(t *testing.T, make func(t testing.TB, page *agent.Page) Adapter) {
	begin := func(t testing.TB) (*Scene, Adapter, *Question) {
		t.Helper()
		s := NewScene(t)
		a := make(t, s.Page)
		told, q := a.Call(t, "reserve", calls)
		if q == nil {
			t.Fatalf("the call does not wait, the model is told %q", told)
		}
		return s, a, q
	}
	t.Run("P20", func(t *testing.T) {
		for name, answer := range malformed {
			t.Run("reject-"+name, func(t *testing.T) {
				s, _, q := begin(t)
				told, ok := q.Answer(t, answer(q))
				if !ok {
					return
				}
				if n := len(s.Service.Bookings()); n != 0 || strings.Contains(told, "success") {
					t.Errorf("%d bookings, the model is told %q", n, told)
				}
			})
		}
		t.Run("accept-yes", func(t *testing.T) {
			s, _, q := begin(t)
			told, _ := q.Answer(t, yes(q))
			if n := len(s.Service.Bookings()); n != 1 || !strings.Contains(told, "success") {
				t.Errorf("%d bookings, the model is told %q", n, told)
			}
		})
		t.Run("accept-reason-of-a-no", func(t *testing.T) {
			_, _, q := begin(t)
			told, ok := q.Decline(t, "too expensive, look for another day")
			if ok && !strings.Contains(strings.ReplaceAll(told, `\`, ""), `the user says "too expensive, look for another day"`) {
				t.Errorf("the model is told %q", told)
			}
		})
	})

	t.Run("P22", func(t *testing.T) {
		t.Run("reject-answer-to-another-question", func(t *testing.T) {
			s, _, q := begin(t)
			other := yes(q)
			other.Digest = lookleap.Digest([]byte("another question"))
			told, _ := q.Answer(t, other)
			if n := len(s.Service.Bookings()); n != 0 {
				t.Errorf("%d bookings, the model is told %q", n, told)
			}
		})
		t.Run("reject-changed-text-next-to-the-plan", func(t *testing.T) {
			_, _, q := begin(t)
			if q.Forge == nil {
				return
			}
			if shown := q.Forge(t); shown != nil && shown.Summary != q.Request.Summary {
				t.Errorf("the user is shown %q", shown.Summary)
			}
		})
		t.Run("reject-yes-after-no", func(t *testing.T) {
			s, _, q := begin(t)
			plan, err := s.plan(q.Request.ID)
			if err == nil {
				t.Fatalf("the plan has the record %+v before the answer", plan)
			}
			q.Decline(t, "")
			if plan, err = s.plan(q.Request.ID); err != nil || plan.State != lookleap.PlanRefused {
				t.Errorf("the record of the plan is %+v, %v", plan, err)
			}
		})
	})

	t.Run("P23", func(t *testing.T) {
		t.Run("reject-asking-again-after-no", func(t *testing.T) {
			s, a, q := begin(t)
			q.Decline(t, "")
			refusals := s.refusals(t)
			if refusals == 0 {
				t.Error("the refusal is not in the ledger")
			}
			for range 4 {
				if told, q := a.Call(t, "reserve", calls); q != nil {
					t.Errorf("asked again, the model is told %q", told)
				}
			}
			if n := len(s.Service.Bookings()); n != 0 {
				t.Errorf("%d bookings", n)
			}
		})
	})

	t.Run("P21", func(t *testing.T) {
		t.Run("accept-site-in-the-name", func(t *testing.T) {
			for _, tool := range NewScene(t).Page.Tools() {
				if !strings.HasPrefix(tool.Name, "ferries_2eexample_00") {
					t.Errorf("the name is %q", tool.Name)
				}
			}
		})
	})

	t.Run("P29", func(t *testing.T) {
		t.Run("accept-result-with-its-error", func(t *testing.T) {
			s, _, q := begin(t)
			s.Service.SellOut("t2")
			told, ok := q.Answer(t, yes(q))
			// The code is the error's, and the text is that of the page with the present state.
			if n := len(s.Service.Bookings()); !ok || n != 0 || !strings.Contains(told, "conflict") || !strings.Contains(told, "409") ||
				!strings.Contains(told, "The document was delivered by") {
				t.Errorf("%d bookings, the model is told %q", n, told)
			}
		})
	})

	t.Run("P30", func(t *testing.T) {
		// The framework accepts the schema of each tool, and calls it.
		const odd = `<head><title>Odd</title></head><interact><action id="odd" method="GET" endpoint="/odd">
<param name="space" pattern="\s*"/><param name="tab" pattern="\t?"/><param name="others" pattern="[^\t]*"/><param name="line" pattern="\x{2028}?"/>
<param name="filter[id]"/><param name="from city"/><param name="größe"/><param name="day" type="date" default="today"/>
<param name="count" type="number" min="3" max="1"/></action></interact>`
		t.Run("accept-odd-patterns-and-names", func(t *testing.T) {
			s := NewScene(t)
			var got []string
			s.Net.Site("odd.example").HandleFunc("/odd", func(w http.ResponseWriter, r *http.Request) {
				got = append(got, r.URL.RawQuery)
				w.WriteHeader(http.StatusNoContent)
			})
			a := make(t, s.Serve(t, "odd.example", odd))
			told, q := a.Call(t, "odd", `{"space":" ","others":"a","filter_5bid_5d":"7","from_20city":"x","gr_c3_b6_c3_9fe":"y"}`)
			if q != nil { // the names could carry the user's data
				told, _ = q.Answer(t, yes(q))
			}
			if len(got) != 1 || got[0] != "space=+&others=a&filter%5Bid%5D=7&from+city=x&gr%C3%B6%C3%9Fe=y" {
				t.Errorf("sent %q, the model is told %q", got, told)
			}
		})
		t.Run("accept-page-with-too-many-tools", func(t *testing.T) {
			s := NewScene(t)
			var b strings.Builder
			b.WriteString(`<head><title>Wide</title></head><interact><action id="first" method="GET" endpoint="/first"/>`)
			for i := range 40 {
				fmt.Fprintf(&b, `<action id="a%d" method="GET" endpoint="/a">`, i)
				for j := range 100 {
					fmt.Fprintf(&b, `<param name="p%d" description="%s"/>`, j, strings.Repeat("word ", 40))
				}
				b.WriteString(`</action>`)
			}
			s.Net.Site("wide.example").HandleFunc("/first", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
			page := s.Serve(t, "wide.example", b.String()+`</interact>`)
			if len(page.ToolFindings()) == 0 {
				t.Fatal("everything is offered")
			}
			if told, _ := make(t, page).Call(t, "first", `{}`); !strings.Contains(told, "success") {
				t.Errorf("the model is told %q", told)
			}
		})
	})

	t.Run("P25", func(t *testing.T) {
		t.Run("accept-both-of-two-open-questions", func(t *testing.T) {
			s, a, first := begin(t)
			_, second := a.Call(t, "reserve", `{"trip":"t1","seats":1}`)
			if second == nil {
				t.Fatal("the second call does not wait")
			}
			for i, q := range []*Question{first, second} {
				told, _ := q.Answer(t, yes(q))
				if n := len(s.Service.Bookings()); n != i+1 {
					t.Fatalf("%d bookings after %d answers, the model is told %q", n, i+1, told)
				}
			}
		})
	})
}

// plan returns the record of a plan.
func (s *Scene) plan(id string) (lookleap.PlanRecord, error) {
	return s.Host.PlanRecord(context.Background(), id)
}

// refusals returns how many refusals of the user the ledger holds.
func (s *Scene) refusals(t testing.TB) (n int) {
	t.Helper()
	f := agent.Filter{Kinds: []agent.EntryKind{agent.EntryRefused}}
	for e, err := range f.Entries(t.Context(), s.Page.Session().Ledger()) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Code == lookleap.CodeConsentRefused {
			n++
		}
	}
	return n
}

// Values returns an answer as the values of its JSON, as frameworks hold it.
func Values(t testing.TB, answer any) (out any) {
	t.Helper()
	text, err := json.Marshal(answer)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}
