package lookleap_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
)

// parts returns what stands before the details of a request, and the details.
func parts(t *testing.T, text string) (front, details string) {
	t.Helper()
	front, details, found := strings.Cut(text, "\nDetails:\n")
	if !found || strings.Contains(details, "\nDetails:") {
		t.Fatalf("there are no details, or two:\n%s", text)
	}
	return front, details
}

// TestHeadline: the first line says who wants what, in words that no one else can write.
func TestHeadline(t *testing.T) {
	for _, c := range []struct{ name, origin, summary, want string }{
		{"origin", shop, "order one lamp", "[shop.example] wants this agent to order one lamp"},
		{"part-of-a-domain", "https://pay.shop.example:8443", "order", "pay.[shop.example]:8443 wants this agent to order"},
		{"domain-that-reads-like-a-sentence", "https://bank.example.wants-your-yes.test", "order", "bank.example.[wants-your-yes.test] wants this agent to order"},
		{"agent", lookleap.RecipientAgent, "run a tool", "This agent wants to run a tool"},
		{"no-origin", `[bank.example] wants`, "order", `"[bank.example] wants" (not an origin) wants this agent to order`},
		{"second-sentence", shop, `run it; not confined`, "[shop.example] wants this agent to run it"},
		{"semicolon-in-a-quotation", shop, `run "a; b" and "c"; not confined`, `[shop.example] wants this agent to run "a; b" and "c"`},
		{"semicolon-behind-a-quotation-mark", shop, `run "a\"; b"`, `[shop.example] wants this agent to run "a\"; b"`},
		{"line-break", shop, "order\nDetails:\n[bank.example] agrees", `[shop.example] wants this agent to order\u{A}Details:\u{A}[bank.example] agrees`},
	} {
		t.Run("E08/accept-"+c.name, func(t *testing.T) {
			r := request(lookleap.ConsentAct, c.origin, c.summary, item("a", "do it", "shop.example"))
			if got, _, _ := strings.Cut(r.String(), "\n"); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
	t.Run("O56/accept-every-sentence", func(t *testing.T) {
		r := request(lookleap.ConsentAct, shop, "run it; not confined; beware: it is new; shop.example says so", item("a", `do "x; y"; no purpose`, "shop.example"))
		r.TrustRoot = "https://shop.example/"
		for _, line := range []string{"\nThe trust root is [shop.example] \"/\".\n", "\nNot confined.\n", "\nBeware: it is new.\n", "\nshop.example says so.\n", `1. do "x; y"` + "\n", "      No purpose.\n"} {
			if s := r.String(); !strings.Contains(s, line) {
				t.Errorf("%q is not in\n%s", line, s)
			}
		}
	})
}

// TestDetails: the details have what a machine needs, and nothing that the user has to judge.
func TestDetails(t *testing.T) {
	body := lookleap.ConsentValue{Label: "body", Text: `{"to":"bank.example"}`, Detail: true}
	shown := func(t *testing.T, more ...func(*lookleap.ConsentItem)) (front, details string) {
		t.Helper()
		return parts(t, layout(shop, item("the-id", "pay 10", "shop.example", more...)))
	}
	t.Run("O08", func(t *testing.T) {
		t.Run("accept-ids-and-digests-in-the-details", func(t *testing.T) {
			front, details := shown(t)
			if digest := lookleap.Digest([]byte("the-id"))[:19]; strings.Contains(front, "the-id") || strings.Contains(front, "sha256") || !strings.Contains(details, `1. "the-id", `+digest) {
				t.Errorf("%s\n%s", front, details)
			}
		})
		t.Run("accept-value-in-the-details", func(t *testing.T) {
			if front, details := shown(t, value(body)); strings.Contains(front, "body") || !strings.Contains(details, `body: "{\"to\":\"bank.example\"}"`) {
				t.Errorf("%s\n%s", front, details)
			}
		})
		t.Run("reject-command-in-the-details", func(t *testing.T) {
			command := body
			command.Command = true
			if front, details := shown(t, value(command)); !strings.Contains(front, "body:") || strings.Contains(details, "body:") {
				t.Errorf("%s\n%s", front, details)
			}
		})
		t.Run("reject-forged-details", func(t *testing.T) {
			text := "home\n\nDetails:\n  nothing to see"
			front, _ := shown(t, value(lookleap.ConsentValue{Label: "value", Name: text, Text: text}), says(text, "note", text), class(lookleap.ItemClass(text)),
				func(i *lookleap.ConsentItem) { i.ID, i.Recipient, i.Summary = text, text, "do it\n\nDetails:\n" })
			if !strings.Contains(front, "| Details:") || strings.Count(front, `\u{A}\u{A}Details:`) < 4 {
				t.Error(front)
			}
		})
		t.Run("accept-long-value-whole", func(t *testing.T) {
			long := body
			long.Text = strings.Repeat("x", lookleap.MaxShown) + "end"
			r := request(lookleap.ConsentAct, shop, "pay", item("a", "pay", "shop.example", value(long)))
			if !r.Abridged() || !strings.Contains(r.String(), "3 bytes are left out here") || !strings.Contains(r.Complete(), long.Text) {
				t.Error(r.String())
			}
		})
	})
	t.Run("O56/accept-marked-for-a-page", func(t *testing.T) {
		r := request(lookleap.ConsentAct, shop, "pay", item("a", "pay", "shop.example"))
		data, err := json.Marshal(r.Sections(false))
		if err != nil || strings.Count(string(data), `"details":true`) != 1 || !strings.Contains(string(data), `{"title":"Details","details":true,`) {
			t.Errorf("%s, %v", data, err)
		}
	})
}

// TestQuestions: a dialogue that asks about one item after the other names them as the text does.
func TestQuestions(t *testing.T) {
	r := request(lookleap.ConsentAct, shop, "do it", item("a", `add "x"; for a day`, "shop.example", optional), item("b", `add "y"; for a day`, "shop.example", optional), item("pay", "pay 10", "shop.example", class(lookleap.ItemPayment)))
	t.Run("O56/accept-order-and-choice", func(t *testing.T) {
		var got []string
		for _, q := range r.Questions() {
			got = append(got, q.Item+": "+q.String())
		}
		if s := fmt.Sprint(got); s != `[pay: 1. pay 10 (needed) a: 2. add "x"; for a day (optional) b: 3. add "y"; for a day (optional)]` {
			t.Error(s)
		}
		text := r.String()
		for _, line := range []string{"  1. pay 10 (needed)\n", `  2. add "x"`, `  3. add "y"`, "What else you agree to:\n"} {
			if !strings.Contains(text, line) {
				t.Errorf("%q is not in\n%s", line, text)
			}
		}
	})
	t.Run("O56/accept-of-all-choices", func(t *testing.T) {
		needed, free := item("a", "send it", "shop.example"), item("b", "show it", "shop.example", optional)
		for want, items := range map[string][]lookleap.ConsentItem{
			"2 things to agree to: 1 needed, 1 optional.\n":                          {needed, free},
			"2 things to agree to: all are needed.\n":                                {needed, item("b", "show it", "shop.example")},
			"2 things to agree to: all are optional. Unusual: 1 for another site.\n": {free, item("c", "tell it", "x.example", optional)},
		} {
			req := request(lookleap.ConsentAct, shop, "do it", items...)
			for i := range req.Items {
				if req.Items[i].Recipient == "x.example" {
					req.Items[i].Class = lookleap.ItemOtherRecipient
				}
			}
			if s := req.String(); !strings.Contains(s, want) {
				t.Errorf("%q is not in\n%s", want, s)
			}
		}
	})
}
