package agentstxt

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// decoratedPath says as a pattern what endsWithPath looks for.
var decoratedPath = regexp.MustCompile(`(?:^|[^0-9A-Za-z_.:/%=-]|^[-+]|\x1b\[[0-9;]*m)(?:\\?/|%2[Ff]|=2[Ff]|\\u002[Ff]|\x{FF0F})[^\s"'` + "`" + `|,<>]*?` +
	`(?:[\s"'` + "`" + `|,:*_\[\]]|\pZ|\p{Cf}|\x1b\[[0-9;]*m|<[^<>]*>|%20|=20)+$`)

func checkEndsWithPath(t *testing.T, text string) {
	if got, want := endsWithPath([]byte(text)), decoratedPath.MatchString(text); got != want {
		t.Errorf("%q: %v, want %v", text, got, want)
	}
}

func TestEndsWithPath(t *testing.T) {
	pieces := []string{
		"/", "a", "-", "+", "admin", `\/`, `\`, "%2F", "%2f", "=2F", `\u002F`, "\uff0f", " ", "\t", "\v", `"`, "'", "`", "|", ",", ":", "*", "_", "[", "]",
		"\u00a0", "\u200b", "\u2028", "\x1b[1;31m", "\x1b[m", "\x1b[", "m", "1;", "<b>", "</b>", "<", ">", "%20", "=20", "%2", "0", ".", "http:", "\xff", "é",
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 200_000 {
		var text strings.Builder
		for range random.IntN(8) {
			text.WriteString(pieces[random.IntN(len(pieces))])
		}
		if checkEndsWithPath(t, text.String()); t.Failed() {
			return
		}
	}
}

func FuzzEndsWithPath(f *testing.F) {
	f.Add("- `/admin` ")
	f.Add("\x1b[31m/admin\x1b[0m ")
	f.Add("<td>/admin</td><td>")
	f.Fuzz(checkEndsWithPath)
}
