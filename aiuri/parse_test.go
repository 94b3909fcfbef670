package aiuri_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/aiuri"
)

// han is a host whose A-label is shorter than its UTF-8.
var han = strings.Repeat("中", 20) + ".example"

func TestFromIRI(t *testing.T) {
	for _, c := range []struct{ id, in, want string }{
		{"AIU-7-02/accept-path", "ai://bank/é", "ai://bank/%C3%A9"},
		{"AIU-7-02/accept-query-and-fragment", "ai://bank/?é#é", "ai://bank/?%C3%A9#%C3%A9"},
		{"AIU-7-02/accept-absolute", "ai:/é", "ai:/%C3%A9"},
		{"AIU-7-02/accept-rootless", "ai:ü", "ai:%C3%BC"},
		{"AIU-7-02/accept-lowest-byte", "ai://bank/À", "ai://bank/%C3%80"},
		{"AIU-7-03/accept-u-label", "ai://bücher.example/", "ai://xn--bcher-kva.example/"},
		{"AIU-7-03/accept-upper-case", "ai://BÜCHER.example:1/", "ai://xn--bcher-kva.example:1/"},
		{"AIU-7-03/accept-a-label", "ai://xn--bcher-kva.example/", "ai://xn--bcher-kva.example/"},
	} {
		t.Run(c.id, func(t *testing.T) {
			if u, err := aiuri.FromIRI(c.in); err != nil || u.String() != c.want {
				t.Errorf("got %q, %v", u, err)
			}
		})
	}
	t.Run("AIU-2-14/accept-longest-iri", func(t *testing.T) {
		path := "/" + strings.Repeat("x", 8192-len("ai://"+han+"/"))
		if u, err := aiuri.FromIRI("ai://" + han + path); err != nil || u.Path() != path {
			t.Errorf("got %d bytes of path, %v", len(u.Path()), err)
		}
	})
	for _, c := range []struct {
		id, in string
		code   lookleap.Code
		offset int
	}{
		{"AIU-7-02/reject-invalid-utf8", "ai://bank/\xff", aiuri.CodeNonASCII, 0},
		{"AIU-7-02/reject-invalid-utf8-after-its-replacement", "ai:/\uFFFD\xff", aiuri.CodeNonASCII, 0},
		{"AIU-7-02/reject-space-behind", "ai://bücher.example/é x", aiuri.CodeBadChar, 33},
		{"AIU-7-02/reject-space-behind-ascii", "ai:/abcdef x", aiuri.CodeBadChar, 10},
		{"AIU-7-02/reject-space-behind-lowest-byte", "ai:/ÀÀÀÀ x", aiuri.CodeBadChar, 28},
		{"AIU-7-02/reject-empty", "", aiuri.CodeNotAI, 0},
		{"AIU-7-02/reject-no-scheme", "ü", aiuri.CodeNotAI, 0},
		{"AIU-7-02/reject-backslash-behind-the-host", "ai://" + han + `\x`, aiuri.CodeBadChar, 39},
		{"AIU-2-14/reject-one-byte-more-of-an-iri", "ai://" + han + "/" + strings.Repeat("x", 8192-len("ai://"+han)), aiuri.CodeURITooLong, 8192},
		{"AIU-7-03/reject-compatibility", "ai://ⓑank.example/", aiuri.CodeBadAuthority, 5},
		{"AIU-7-03/reject-userinfo", "ai://ü@bank/", lookleap.CodeUserinfo, 5},
	} {
		t.Run(c.id, func(t *testing.T) {
			u, err := aiuri.FromIRI(c.in)
			var e *lookleap.Error
			if !u.IsZero() || !errors.As(err, &e) || e.Code != c.code || e.Position.Offset != c.offset {
				t.Errorf("got %q, %v", u, err)
			}
		})
	}
}

// TestBadBytes: the error about a byte says why it is refused, and where it is.
func TestBadBytes(t *testing.T) {
	for text, want := range map[string]struct {
		message string
		at      int
		code    lookleap.Code
	}{
		"ai://h/a#b#c":  {"a fragment has another number sign", 10, aiuri.CodeBadChar},
		"ai://h/a\x7f":  {"white space and control characters are not allowed", 8, aiuri.CodeBadChar},
		"ai://h/a b":    {"white space and control characters are not allowed", 8, aiuri.CodeBadChar},
		"ai://h/a\x80":  {"the URI has a character outside ASCII", 8, aiuri.CodeNonASCII},
		`ai://h/a\b`:    {"some readers take a backslash for a slash", 8, aiuri.CodeBadChar},
		"ai://h/a\"b":   {"the character is not allowed here", 8, aiuri.CodeBadChar},
		"ai://h/a%4":    {"a percent sign is not followed by two hexadecimal digits", 8, aiuri.CodeBadChar},
		"ai://h/%41%":   {"a percent sign is not followed by two hexadecimal digits", 10, aiuri.CodeBadChar},
		"ai://h/%41\"":  {"the character is not allowed here", 10, aiuri.CodeBadChar},
		"ai://h:8\x80/": {"the URI has a character outside ASCII", 8, aiuri.CodeNonASCII},
		"ai://h:8\x7f/": {"white space and control characters are not allowed", 8, aiuri.CodeBadChar},
		"ai://h:8%41/":  {"the port is not a number from 1 to 65535 without leading zeros", 7, lookleap.CodeBadPort},
		"ai://h:8\"/":   {"the character is not allowed here", 8, aiuri.CodeBadChar},
	} {
		_, err := aiuri.Parse(text)
		if bad, ok := err.(*lookleap.Error); !ok || bad.Code != want.code || bad.Message != want.message || bad.Position.Offset != want.at {
			t.Errorf("%q: %+v, want %+v", text, err, want)
		}
	}
	for _, text := range []string{"ai://h/%41", "ai://h.0zff/", "ai://h.0b/", "ai://h.0xfg/", "ai://h.0xgf/", "ai://abc-d.example/", "ai://abc.example/"} {
		if _, err := aiuri.Parse(text); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range []string{"ai://h.0x/", "ai://h.0xff/", "ai://h.0XfF/", "ai://h.09/"} {
		if _, err := aiuri.Parse(text); lookleap.CodeOf(err) != aiuri.CodeBadAuthority {
			t.Errorf("%q: %v", text, err)
		}
	}
}
