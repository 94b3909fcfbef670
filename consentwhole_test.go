package lookleap_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
)

// TestCommandValues has commands whose words are also in the summary, and values of many lines.
func TestCommandValues(t *testing.T) {
	command := func(label, text string) func(*lookleap.ConsentItem) {
		return value(lookleap.ConsentValue{Label: label, Text: text, Command: true})
	}
	t.Run("P01", func(t *testing.T) {
		for name, text := range map[string]string{
			"argument":    `rm -rf ~`,
			"environment": `LD_PRELOAD=/tmp/x.so`,
			"interpreter": `python3`,
			"empty":       ``,
		} {
			t.Run("reject-hidden-"+name, func(t *testing.T) {
				s := layout(shop, item("run", fmt.Sprintf("run it; what it changes: %q", text), "shop.example", command("argument 1", text)))
				if !strings.Contains(s, fmt.Sprintf("argument 1: %q", text)) {
					t.Error(s)
				}
			})
		}
		t.Run("reject-hidden-between-quotations", func(t *testing.T) {
			s := layout(shop, item("run", `read "a", "b"`, "shop.example", value(lookleap.ConsentValue{Label: "value", Text: ", "})))
			if !strings.Contains(s, `value: ", "`) {
				t.Error(s)
			}
		})
		t.Run("accept-value-in-the-summary-once", func(t *testing.T) {
			s := layout(shop, item("a", `send "Kim"`, "shop.example", value(lookleap.ConsentValue{Label: "value", Text: "Kim"})))
			if strings.Count(s, `"Kim"`) != 1 {
				t.Error(s)
			}
		})
	})
	t.Run("P10", func(t *testing.T) {
		rows := func(n int, line func(int) string) string {
			var b strings.Builder
			for i := range n {
				b.WriteString(line(i))
			}
			return b.String()
		}
		for name, c := range map[string]struct{ text, want string }{
			"accept-line-feeds-folded":  {strings.Repeat("\n", lookleap.MaxShown), "... the same line again, 4095 times ..."},
			"accept-equal-lines-folded": {strings.Repeat("a\n", 100), "... the same line again, 99 times ..."},
			"reject-many-lines":         {rows(2000, func(i int) string { return []string{"a\n", "b\n"}[i%2] }), "... 1744 lines are left out here; the complete request shows them ..."},
		} {
			t.Run(name, func(t *testing.T) {
				req := request(lookleap.ConsentScript, shop, "run it", item("a", "x", "shop.example", value(lookleap.ConsentValue{Label: "value", Text: c.text})))
				s := req.String()
				if !strings.Contains(s, c.want) || strings.Count(s, "\n") > lookleap.MaxShownLines+12 {
					t.Errorf("%d lines\n%.2000s", strings.Count(s, "\n"), s)
				}
				if req.Abridged() != strings.HasPrefix(name, "reject-") || strings.Contains(req.Complete(), "left out") {
					t.Error(req.Abridged())
				}
			})
		}
		t.Run("accept-command-whole", func(t *testing.T) {
			text := rows(400, func(i int) string { return fmt.Sprintf("%d\n", i) })
			req := request(lookleap.ConsentScript, shop, "run it", item("a", "x", "shop.example", command("command", text)))
			if s := req.String(); strings.Contains(s, "left out") || !strings.Contains(s, "| 200\n") || req.Abridged() {
				t.Error(s)
			}
		})
	})
}
