package agentstxt

import (
	"net/http"
	"testing"
)

// A refusal by a restricted policy says in its summary what is wrong with the
// policy; its code stays that of the decision.
func TestRestrictedSummary(t *testing.T) {
	const whole = "the whole origin is restricted: "
	for _, test := range []struct {
		name   string
		answer func(w *world)
		want   string
	}{
		{"hash-mismatch", func(w *world) { w.servesFile(vector + "\n/status ALLOW\n") },
			"the hash line does not belong to these directives, in line 1 of its policy"},
		{"bad-directive", func(w *world) { w.servesFile(signed("/a ALLOW", "/b MAYBE")) },
			`the action is "MAYBE", neither ALLOW nor DISALLOW, in line 3 of its policy`},
		{"empty", func(w *world) { w.servesFile("") }, "the file has no hash line"},
		{"foreign-format", func(w *world) { w.servesFile("Protocols: x402\n") },
			"the file has neither hash line nor directive, so it is of another format with the same name, in line 1 of its policy"},
		{"status", func(w *world) { w.site.Status("/agents.txt", http.StatusServiceUnavailable) },
			"the server answered 503"},
		{"unreachable", func(w *world) { w.site.Redirect("/agents.txt", "http://shop.example/agents.txt") },
			"the policy could not be read: the URL is not https"},
	} {
		inWorld(t, test.name, Options{}, func(w *world) {
			test.answer(w)
			c, _ := w.guarded(Options{})
			v := refusal(w, w.get(c, "https://shop.example/status"))
			if v.Summary != whole+test.want || v.Code != CodeRestricted {
				w.Errorf("%s: %q\nwant      %q", v.Code, v.Summary, whole+test.want)
			}
		})
	}
}
