package lookleap_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
)

// layout returns the text of a request that is not part of a plan.
func layout(origin string, items ...lookleap.ConsentItem) string {
	r := request(lookleap.ConsentAct, origin, "do it", items...)
	return r.String()
}

// TestItemsOfOneKind: items are shown under one heading if their sentences differ only in
// quoted words and numbers.
func TestItemsOfOneKind(t *testing.T) {
	for _, c := range []struct {
		name, a, b string
		same       bool
	}{
		{"quoted-words", `answer "name"`, `answer "town"`, true},
		{"quoted-words-twice", `answer "name" with "Ada"`, `answer "town" with "Bern"`, true},
		{"escaped-quotation-marks", `answer "na\"me" now`, `answer "town" now`, true},
		{"escaped-backslash", `answer "name\\" with "x"`, `answer "town" with "y"`, true},
		{"backslash-before-a-quotation", `send C:\"name"`, `send C:\"town"`, true},
		{"numbers", "read page 10", "read page 9", true},
		{"other-numbers-of-digits", "read page 0 to 99", "read page 5 to 8", true},
		{"words", "answer the question", "refuse the question", false},
		{"words-after-a-quotation", `answer "name" now`, `answer "name" later`, false},
		{"signs-next-to-digits", "pay 10:30", "pay 10/30", false},
		{"signs-between-words", "read on-line", "read online", false},
		{"quoted-and-nothing", `answer "name"`, "answer ", false},
		{"quoted-and-plain", `answer "name"`, "answer name", false},
		{"text-that-looks-quoted", `answer "\" now`, `answer "\" later`, true},
	} {
		t.Run("O56/accept-"+c.name, func(t *testing.T) {
			s := layout(shop, item("a", c.a, "shop.example"), item("b", c.b, "shop.example"))
			if same := strings.Contains(s, "The next 2 are alike: each is needed, and goes to [shop.example].\n"); same != c.same {
				t.Errorf("one kind: %t\n%s", same, s)
			}
		})
	}
}

// TestShownOnce: what an item says is shown, and once.
func TestShownOnce(t *testing.T) {
	lamp := lookleap.ConsentValue{Label: "argument", Name: "item", Text: "lamp"}
	bare := lookleap.ConsentValue{Label: "value", Text: "lamp"}
	begin := lookleap.ConsentValue{Label: "body", Text: "begin", Size: 5000, Digest: lookleap.Digest([]byte("all"))}
	for _, c := range []struct {
		name   string
		item   lookleap.ConsentItem
		shown  []string // lines, without what surrounds them
		hidden []string // parts of lines
	}{
		{"remote-text-that-repeats-a-value", item("a", "send it", "shop.example", value(bare), says("x.example", "note", "lamp"), says("y.example", "note", "new")),
			[]string{`value: "lamp"`, `note, as [y.example] says: "new"`}, []string{"[x.example]"}},
		{"remote-text-that-repeats-a-name-and-value", item("a", "send it", "shop.example", value(lamp), says("x.example", "note", "item = lamp")),
			[]string{`argument "item": "lamp"`}, []string{"[x.example]"}},
		{"remote-text-with-another-name", item("a", "send it", "shop.example", value(lamp), says("x.example", "note", "price = lamp")),
			[]string{`note, as [x.example] says: "price = lamp"`}, nil},
		{"remote-text-of-a-value-without-name", item("a", "send it", "shop.example", value(bare), says("x.example", "note", " = lamp")),
			[]string{`note, as [x.example] says: " = lamp"`}, nil},
		{"remote-text-that-begins-like-a-value", item("a", "send it", "shop.example", value(bare), says("x.example", "note", "lamp of gold")),
			[]string{`note, as [x.example] says: "lamp of gold"`}, nil},
		{"remote-text-that-continues-a-beginning", item("a", "send it", "shop.example", value(begin), says("x.example", "note", "begin and end")),
			nil, []string{"[x.example]"}},
		{"remote-text-beside-a-beginning", item("a", "send it", "shop.example", value(begin), says("x.example", "note", "other")),
			[]string{`note, as [x.example] says: "other"`}, nil},
		{"remote-text-beside-the-beginning-of-bytes", item("a", "send it", "shop.example", value(lookleap.ConsentValue{Label: "body", Data: []byte("\xff"), Size: 5000, Digest: begin.Digest}), says("x.example", "note", "anything at all")),
			[]string{`note, as [x.example] says: "anything at all"`}, nil},
		{"remote-text-that-continues-a-whole-value", item("a", "send it", "shop.example", value(lookleap.ConsentValue{Label: "body", Text: "begin", Size: 5}), says("x.example", "note", "begin and end")),
			[]string{`note, as [x.example] says: "begin and end"`}, nil},
		{"remote-text-beside-an-empty-value", item("a", "send it", "shop.example", value(lookleap.ConsentValue{Label: "value"}), says("x.example", "note", "anything at all")),
			[]string{`note, as [x.example] says: "anything at all"`}, nil},
		{"remote-text-of-this-agent", item("a", "send it", "shop.example", says(lookleap.RecipientAgent, "note", "kept")),
			[]string{`note, as this agent says: "kept"`}, nil},
		{"value-in-the-summary", item("a", `send "lamp"`, "shop.example", value(bare)), nil, []string{"value:"}},
		{"value-in-the-summary-with-a-name", item("a", `send "lamp"`, "shop.example", value(lamp)), []string{`argument "item": "lamp"`}, nil},
		{"value-in-the-summary-by-another", item("a", `send "lamp"`, "shop.example", value(lookleap.ConsentValue{Label: "value", Text: "lamp", Source: "x.example"})),
			[]string{`value, written by [x.example]: "lamp"`}, nil},
		{"beginning-of-a-value", item("a", "send it", "shop.example", value(begin)),
			[]string{`body, 5000 bytes, ` + begin.Digest[:19] + `…, of which the first 5 are shown; the plan holds the rest: "begin"`}, nil},
		{"whole-value-with-its-size", item("a", "send it", "shop.example", value(lookleap.ConsentValue{Label: "body", Text: "begin", Size: 5})), []string{`body: "begin"`}, nil},
		{"empty-value", item("a", "send it", "shop.example", value(lookleap.ConsentValue{Label: "body"})), []string{`body: ""`}, []string{"digest:"}},
		{"digest-of-another-kind", item("a", "send it", "shop.example", func(i *lookleap.ConsentItem) { i.Digest = "md5:" + strings.Repeat("0", 64) }),
			[]string{`1. "a", "md5:` + strings.Repeat("0", 64) + `"`}, nil},
		{"digest-of-another-length", item("a", "send it", "shop.example", func(i *lookleap.ConsentItem) { i.Digest = "sha256:" + strings.Repeat("0", 63) }),
			[]string{`1. "a", "sha256:` + strings.Repeat("0", 63) + `"`}, nil},
		{"digest-without-its-name", item("a", "send it", "shop.example", func(i *lookleap.ConsentItem) { i.Digest = strings.Repeat("0", 64) }),
			[]string{`1. "a", "` + strings.Repeat("0", 64) + `"`}, nil},
		{"required-though-optional", item("a", "send it", "shop.example", optional, func(i *lookleap.ConsentItem) { i.Required = true }),
			[]string{`1. send it (optional, although the service calls it required)`}, nil},
		{"required-as-a-quoted-word-says", item("a", `send "what nobody calls required"`, "shop.example", optional, func(i *lookleap.ConsentItem) { i.Required = true }),
			[]string{`1. send "what nobody calls required" (optional, although the service calls it required)`}, nil},
		{"required-as-the-summary-says", item("a", "send what the service calls required", "shop.example", optional, func(i *lookleap.ConsentItem) { i.Required = true }),
			[]string{`1. send what the service calls required (optional)`}, nil},
		{"one-of-a-class", item("a", "send it", "shop.example", class(lookleap.ItemSensitive)), []string{"This is sensitive:"}, []string{"to agree to:"}},
		{"one-ordinary", item("a", "send it", "shop.example"), []string{"What you agree to:", "1. send it"}, []string{"things"}},
		{"unknown-class", item("a", "send it", "shop.example", class("odd")), []string{`This is unusual: "odd":`}, nil},
		{"no-recipient", lookleap.ConsentItem{}, []string{`1. `, `It goes to "".`, `1. "", ""`}, nil},
	} {
		t.Run("O56/accept-"+c.name, func(t *testing.T) {
			s := layout(shop, c.item)
			lines := make(map[string]int)
			for l := range strings.SplitSeq(s, "\n") {
				lines[strings.TrimLeft(l, " ")]++
			}
			for _, l := range c.shown {
				if lines[l] != 1 {
					t.Errorf("%d times %q", lines[l], l)
				}
			}
			for _, h := range c.hidden {
				if strings.Contains(s, h) {
					t.Errorf("%q is shown", h)
				}
			}
			if t.Failed() {
				t.Log(s)
			}
		})
	}
}

// TestLeftOut: of a long value both ends are shown, and the number of bytes between them.
func TestLeftOut(t *testing.T) {
	const line = "echo one more line\n"
	lines := ""
	for n := range 1000 {
		lines += fmt.Sprintf("%d %s", n%2, line) // equal lines are shown once
	}
	broken := []byte(strings.Repeat("\x80", 5000)) // a character would end with one to three such bytes
	broken[lookleap.MaxShown*3/4-4] = 'a'
	for name, v := range map[string]lookleap.ConsentValue{
		"one-line":       {Label: "value", Text: strings.Repeat("0123456789", 1000)},
		"several-lines":  {Label: "value", Text: lines},
		"long-character": {Label: "value", Data: broken},
		"no-characters":  {Label: "value", Data: []byte(strings.Repeat("\x80", 5000))},
	} {
		t.Run("O35/accept-"+name, func(t *testing.T) {
			s := layout(shop, item("a", "send it", "shop.example", value(v)))
			found := regexp.MustCompile(` \.\.\. (\d+) bytes are left out here; the complete request shows them \.\.\. `).FindStringSubmatch(s)
			if found == nil {
				t.Fatal(s)
			}
			left, _ := strconv.Atoi(found[1])
			shown := max(len(v.Text), len(v.Data)) - left
			if shown > lookleap.MaxShown || shown < lookleap.MaxShown-8 || v.Data != nil && shown != lookleap.MaxShown {
				t.Errorf("%d bytes are shown", shown)
			}
			if name == "several-lines" && !strings.Contains(s, "\n"+strings.Repeat(" ", 11)+"... ") {
				t.Error("the gap is not in the column of the text")
			}
			if name == "several-lines" && strings.Count(s, "echo one more line") < shown/len("0 "+line)-1 {
				t.Errorf("%d lines are shown", strings.Count(s, "echo one more line"))
			}
		})
	}
	t.Run("O35/accept-remote-text", func(t *testing.T) {
		for n, whole := range map[int]bool{400: true, 401: false} {
			text := strings.Repeat("x", n)
			if s := layout(shop, item("a", "x", "shop.example", says("shop.example", "note", text))); strings.Contains(s, fmt.Sprintf("%q", text)) != whole {
				t.Errorf("%d bytes\n%s", n, s)
			}
		}
	})
}
