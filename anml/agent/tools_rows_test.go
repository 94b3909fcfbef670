package agent

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/lookleaptest"
)

// TestToolsOfASession has the cases of what the tools of several pages have in common.
func TestToolsOfASession(t *testing.T) {
	const search = `<head><title>S</title></head><interact><action id="search" method="GET" endpoint="/s"/></interact>`
	t.Run("P21", func(t *testing.T) {
		t.Run("accept-one-action-of-two-sites", func(t *testing.T) {
			s := newStage(t, setting{doc: search})
			s.net.Site("www.other.example").File("/anml", anml.MediaTypeXML, service(search))
			other, err := s.session.Open(t.Context(), "https://www.other.example/anml")
			must(t, err)
			a, b := s.page.Tools(), other.Tools()
			if len(a) != 1 || len(b) != 1 || a[0].Name != "shop_2eexample_00search" || b[0].Name != "other_2eexample_00search" {
				t.Errorf("%+v, %+v", a, b)
			}
		})
		t.Run("accept-name-in-the-text-of-the-page", func(t *testing.T) {
			s := newStage(t, setting{doc: search})
			hasTexts(t, s.page.Text(anml.TextOptions{}), "tool "+s.page.Tools()[0].Name+",")
		})
		t.Run("reject-name-in-another-case", func(t *testing.T) {
			s := newStage(t, setting{doc: `<head><title>S</title></head><interact><action id="search" method="GET" endpoint="/s"/><action id="Search" method="GET" endpoint="/t"/></interact>`})
			if tools, found := s.page.Tools(), s.page.ToolFindings(); len(tools) != 1 || tools[0].Action != "search" || len(found) != 1 {
				t.Errorf("%+v, %+v", tools, found)
			}
		})
	})
	t.Run("P30", func(t *testing.T) {
		wide := func(actions, params int) string {
			var b strings.Builder
			b.WriteString(`<head><title>S</title></head><interact>`)
			for i := range actions {
				fmt.Fprintf(&b, `<action id="a%d" method="GET" endpoint="/s">`, i)
				for j := range params {
					fmt.Fprintf(&b, `<param name="p%d" description="%s"/>`, j, strings.Repeat("word ", 40))
				}
				b.WriteString(`</action>`)
			}
			return b.String() + `</interact>`
		}
		t.Run("reject-large-tool", func(t *testing.T) {
			s := newStage(t, setting{doc: wide(1, 400)})
			if tools, found := s.page.Tools(), s.page.ToolFindings(); len(tools) != 0 || len(found) != 1 || found[0].Code != lookleap.CodeTooLarge {
				t.Errorf("%d tools, %+v", len(tools), found)
			}
		})
		t.Run("reject-more-than-all-may-have", func(t *testing.T) {
			s := newStage(t, setting{doc: wide(30, 100)})
			size := 0
			for _, tool := range s.page.Tools() {
				size += len(tool.Name) + len(tool.Description) + len(tool.InputSchema)
			}
			if found := s.page.ToolFindings(); size == 0 || size > maxToolsBytes || len(found) == 0 || len(found)+len(s.page.Tools()) != 30 {
				t.Errorf("%d bytes, %d findings", size, len(found))
			}
		})
		t.Run("accept-ordinary-tools", func(t *testing.T) {
			s := newStage(t, setting{doc: wide(10, 10)})
			if found := s.page.ToolFindings(); len(s.page.Tools()) != 10 || len(found) != 0 {
				t.Errorf("%+v", found)
			}
		})
		t.Run("reject-zero-page", func(t *testing.T) {
			if found := new(Page).ToolFindings(); found != nil {
				t.Errorf("%+v", found)
			}
		})
	})
	t.Run("P19", func(t *testing.T) {
		t.Run("accept-schemas-made-once", func(t *testing.T) {
			s := newStage(t, setting{doc: search})
			made, _ := s.page.offered()
			s.page.Tools()[0].InputSchema[0] = 'x' // a caller's own copy
			if again, _ := s.page.offered(); &again[0] != &made[0] || s.page.Tools()[0].InputSchema[0] != '{' {
				t.Error("the tools of a page are made twice, or shared")
			}
		})
	})
}

// TestSendAgain: a call whose outcome is unknown is repeated only as sending it again.
func TestSendAgain(t *testing.T) {
	const buy = `<head><title>S</title></head><interact><action id="buy" method="POST" endpoint="/buy"><param name="what"/></action></interact>`
	begin := func(t *testing.T, replies ...lookleaptest.Reply) (s *stage, keys *[]string, fails *bool) {
		keys, fails = new([]string), new(bool)
		*fails = true
		s = newStage(t, setting{doc: buy, replies: replies})
		s.shop.HandleFunc("/buy", func(w http.ResponseWriter, r *http.Request) {
			*keys = append(*keys, r.Header.Get(lookleap.IdempotencyHeader))
			if *fails {
				panic(http.ErrAbortHandler)
			}
			w.WriteHeader(http.StatusNoContent)
		})
		return s, keys, fails
	}
	call := func(what string) Call { return Call{Action: "buy", Args: map[string]string{"what": what}} }
	t.Run("P38", func(t *testing.T) {
		t.Run("accept-same-key-after-the-user-agreed", func(t *testing.T) {
			s, keys, fails := begin(t, lookleaptest.Approve(), lookleaptest.Approve(), lookleaptest.Approve(), lookleaptest.Approve())
			for i := range 2 {
				if _, err := s.page.Do(t.Context(), call("pot")); !errors.Is(err, lookleap.ErrInDoubt) {
					t.Fatalf("%d: %v", i, err)
				}
			}
			*fails = false
			must(t, second(s.page.Do(t.Context(), call("pot"))))
			if _, err := s.page.Do(t.Context(), call("pot")); err != nil { // the outcome is known, so this is another purchase
				t.Fatal(err)
			}
			if k := *keys; len(k) != 4 || k[0] == "" || k[1] != k[0] || k[2] != k[0] || k[3] == k[0] {
				t.Errorf("the keys are %q", k)
			}
			for i, r := range s.user.Requests() {
				if again := i == 1 || i == 2; strings.HasPrefix(r.Summary, "once more, although the first time may have worked: ") != again || (r.Again != "") != again {
					t.Errorf("question %d: %q", i, r.Summary)
				}
			}
		})
		t.Run("reject-without-consent", func(t *testing.T) {
			s, keys, _ := begin(t, lookleaptest.Approve(), lookleaptest.Refuse())
			isError(t, second(s.page.Do(t.Context(), call("pot"))), lookleap.ErrInDoubt)
			if _, err := s.page.Do(t.Context(), call("pot")); lookleap.CodeOf(err) != lookleap.CodeConsentRefused || len(*keys) != 1 {
				t.Errorf("%v, sent %d times", err, len(*keys))
			}
		})
		t.Run("reject-more-than-are-remembered", func(t *testing.T) {
			s, keys, _ := begin(t, lookleaptest.Approve(), lookleaptest.Approve())
			isError(t, second(s.page.Do(t.Context(), call("pot"))), lookleap.ErrInDoubt)
			for i := range maxDoubts {
				s.session.doubts.plans[strconv.Itoa(i)] = new(lookleap.Plan)
			}
			if _, err := s.page.Do(t.Context(), call("pan")); lookleap.CodeOf(err) != lookleap.CodeLimit || len(*keys) != 1 {
				t.Errorf("%v, sent %d times", err, len(*keys))
			}
			if _, err := s.page.Do(t.Context(), call("pot")); !errors.Is(err, lookleap.ErrInDoubt) || len(*keys) != 2 || (*keys)[1] != (*keys)[0] {
				t.Errorf("%v, the keys are %q", err, *keys)
			}
		})
		t.Run("accept-new-key-for-another-call", func(t *testing.T) {
			s, keys, _ := begin(t, lookleaptest.Approve(), lookleaptest.Approve())
			for _, what := range []string{"pot", "pan"} {
				isError(t, second(s.page.Do(t.Context(), call(what))), lookleap.ErrInDoubt)
			}
			if k := *keys; len(k) != 2 || k[0] == k[1] {
				t.Errorf("the keys are %q", k)
			}
		})
	})
}
