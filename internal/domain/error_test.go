package domain

import (
	"errors"
	"fmt"
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

// TestWhereItFails compares the offset and the text that an error is about.
func TestWhereItFails(t *testing.T) {
	for raw, want := range map[string]string{
		"https://shop.example/abc\u00addef":   `bad-url 24 "\u00ad"`,
		"https://shop.example/abcdefgh\u202e": `bad-url 29 "\u202e"`,
		"https://shop.example/ab%2fcd":        `ambiguous-path 23 "%2f"`,
		"https://shop.example/ab%252fcd":      `ambiguous-path 23 "%252f"`,
		"https://shop.example/ab%ffcd":        `ambiguous-path 23 "%ff"`,
		"https://shop.example/ab%2":           `bad-url 23 "%2"`,
		"https://shop.example/ab%2x/":         `bad-url 23 "%2x"`,
		"https://shop.example/ab//cd":         `empty-segment 23 "//"`,
		"https://shop.example/ab/%2E%2e;x/cd": `dot-segment 24 "%2E%2e;x"`,
		"https://shop.example/ab/..":          `dot-segment 24 ".."`,
		"https://shop.example/a<b":            `bad-url 22 "<"`,
		"https://shop.example/?a<b":           `bad-url 23 "<"`,
		"https://shop.example/?a%4":           `bad-url 23 "%4"`,
		"https://shop.example/?abc\u202e":     `bad-url 25 "\u202e"`,
		"https://shop.example/a b":            `bad-url 22 " "`,
		"https://shop.example/a\\b":           `bad-url 22 "\\"`,
		"https://shop.example/a\x80b":         `bad-url 22 "\x80"`,
		"https://shop.example/\ufffd\xff":     `bad-url 24 "\xff"`,
		"https://shop.example/a\xffb":         `bad-url 22 "\xff"`,
		"\xff":                                `bad-url 0 "\xff"`,
		"//shop.example/":                     `bad-url 0 "//"`,
		"shop.example":                        `not-https 0 ""`,
		"`://shop.example/":                   `not-https 0 ""`,
		"{://shop.example/":                   `not-https 0 ""`,
		"a_b://shop.example/":                 `not-https 0 ""`,
		"1a://shop.example/":                  `not-https 0 ""`,
		"://shop.example/":                    `not-https 0 ""`,
		"zz+a-1.://shop.example/":             `not-https 0 "zz+a-1."`,
		"AZ://shop.example/":                  `not-https 0 "az"`,
		"https:/shop.example/":                `bad-url 6 ""`,
	} {
		_, err := Parse(raw)
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%q: %v", raw, err)
			continue
		}
		if got := fmt.Sprintf("%s %d %q", e.Code, e.Offset, e.Part); got != want {
			t.Errorf("%q: %s, want %s", raw, got, want)
		}
	}
	if u, err := Parse("https://shop.example/?é"); err != nil || u.String() != "https://shop.example/?%C3%A9" {
		t.Errorf("%s, %v", u, err)
	}
}
