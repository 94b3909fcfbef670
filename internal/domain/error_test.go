package domain

import (
	"errors"
	"strings"
	"testing"
)

func TestRedact(t *testing.T) {
	for in, want := range map[string]string{
		"https://example.com/a/b":                         "https://example.com/a/b",
		"https://example.com/@scope/pkg@1":                "https://example.com/@scope/pkg@1",
		"@scope/x.md":                                     "@scope/x.md",
		"../x.md":                                         "../x.md",
		"https://example.com/?":                           "https://example.com/?",
		"":                                                "",
		"https://example.com/a?secret=1":                  "https://example.com/a?…",
		"https://example.com/a?b#secret":                  "https://example.com/a?…",
		"https://example.com/a#secret?secret":             "https://example.com/a#…",
		"https://secret@example.com/":                     "https://…@example.com/",
		"https://secret:secret@example.com/a?secret":      "https://…@example.com/a?…",
		"https://se@cret@example.com/":                    "https://…@example.com/",
		"https://secret?secret@example.com/":              "https://…",
		"https://example.com?secret@secret/secret":        "https://…",
		`https:\\secret@example.com\x`:                    `https:\\…@example.com\x`,
		"https:/secret@example.com/":                      "https:/…@example.com/",
		"//secret@example.com/x":                          "//…@example.com/x",
		"data:text/plain,secret":                          "data:…",
		"mailto:secret@example.com":                       "mailto:…",
		"x.md?secret":                                     "x.md?…",
		"x.md#secret":                                     "x.md#…",
		"https://example.com/" + "?secret#secret\nsecret": "https://example.com/?…",
	} {
		side := "accept-"
		if strings.Contains(in, "secret") {
			side = "reject-"
		}
		t.Run("O52/"+side+in, func(t *testing.T) {
			got := Redact(in)
			if got != want || strings.Contains(got, "secret") {
				t.Errorf("got %q, want %q", got, want)
			}
			if again := Redact(got); again != got {
				t.Errorf("and then %q", again)
			}
			var before, after *Error
			rules := Rules{RefuseQuery: true}
			_, err1 := rules.Parse(in)
			_, err2 := rules.Parse(got)
			if errors.As(err1, &before) && errors.As(err2, &after) && before.Code != after.Code && got != "https://…" && !strings.Contains(in, "\n") {
				t.Errorf("the code is %s, and of the redacted form %s", before.Code, after.Code)
			}
			if err1 != nil && before.Code != CodeSpecialHost && strings.Contains(err1.Error(), "secret") {
				t.Errorf("the error is %v", err1)
			}
		})
	}
}
