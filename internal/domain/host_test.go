package domain

import (
	"strings"
	"testing"
)

func TestParseHost(t *testing.T) {
	for _, c := range []struct{ name, input, want, code string }{
		{"lower-case", "Skills.EXAMPLE.com", "skills.example.com", ""},
		{"u-label", "b\u00fccher.example", "xn--bcher-kva.example", ""},
		{"capital-composed", "\u00c5.example", "xn--5ca.example", ""},
		{"angstrom-sign", "\u212b.example", "xn--5ca.example", ""},
		{"cherokee", "\u13a0\u13a1.example", "xn--58dc.example", ""},
		{"cherokee-small", "\uab70\uab71.example", "xn--58dc.example", ""},
		{"greek-capitals", "\u03a3\u0391.example", "xn--mxa9a.example", ""},
		{"georgian-capitals", "\u1c90.example", "xn--lod.example", ""},
		{"hebrew", "\u05d0\u05d1.example", "xn--4dbc.example", ""},
		{"symbol", "a\u2044b.example", "xn--ab-c6t.example", ""},
		{"mixed-labels", "V2--site.b\u00fccher.example", "v2--site.xn--bcher-kva.example", ""},
		{"hyphens-three-and-four", "v2--site.example", "v2--site.example", ""},
		{"digits", "1.2.3.example", "1.2.3.example", ""},
		{"almost-hex-number", "a.0x1-2", "a.0x1-2", ""},

		{"empty", "", "", CodeBadHost},
		{"dot", ".", "", CodeBadHost},
		{"port", "example.com:443", "", CodeBadHost},
		{"slash", "example.com/", "", CodeBadHost},
		{"user", "u@example.com", "", CodeBadHost},
		{"wildcard", "*.example.com", "", CodeBadHost},
		{"underscore-label", "_anml.example.com", "", CodeBadHost},
		{"tilde", "a~b.example", "", CodeBadHost},
		{"a-label-of-two-hyphens", "xn--.example", "", CodeBadHost},
		{"final-hyphen-u-label", "\u00fc-.example", "", CodeBadHost},
		{"nul", "example.com\x00.evil.example", "", CodeBadHost},
		{"space", "example.com ", "", CodeBadHost},
		{"newline", "example.com\n", "", CodeBadHost},
		{"not-utf8", "ex\xffample.com", "", CodeBadHost},
		{"trailing-dot", "example.com.", "", CodeTrailingDot},
		{"u-label-trailing-dot", "b\u00fccher.example.", "", CodeTrailingDot},
		{"ideographic-trailing-dot", "b\u00fccher.example\u3002", "", CodeBadHost},
		{"deep-hyphen-u-label", "-\u00fc.example", "", CodeBadHost},
		{"zero-width-joiner", "a\u200db.example", "", CodeBadHost},
		{"bidi-mixture", "a\u05d0.example", "", CodeBadHost},
		{"huge", strings.Repeat("\u00fc", 1<<20), "", CodeBadHost},
		{"ipv4", "192.0.2.1", "", CodeIPHost},
		{"ipv4-hex", "127.0.0x1f", "", CodeIPHost},
		{"ipv6", "[2001:db8::1]", "", CodeIPHost},
		{"bare-ipv6", "2001:db8::1", "", CodeBadHost},
		{"single-label", "bank", "", CodeSpecialHost},
	} {
		t.Run(c.name, func(t *testing.T) {
			host, err := ParseHost(c.input)
			if c.code != "" {
				if e := wantCode(t, err, c.code); len(e.Part) > maxPart {
					t.Errorf("the error keeps %d octets", len(e.Part))
				}
				if host != "" {
					t.Errorf("a refusal returned %q", host)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if host != c.want {
				t.Errorf("%q, want %q", host, c.want)
			}
			if again, err := ParseHost(host); err != nil || again != host {
				t.Errorf("%q parses to %q, %v", host, again, err)
			}
		})
	}
}

// TestParseHostReasons: a host that is not read at all has its own reason.
func TestParseHostReasons(t *testing.T) {
	for _, c := range []struct {
		name, input, part, message string
		offset                     int
	}{
		{"reject-not-utf8", "ex\xffample.com", "\xff", "not UTF-8", 2},
		{"reject-too-long-to-map", strings.Repeat("\u00fc", 600), "", "at most 253 bytes", 0},
		{"reject-escape-in-the-longest-host", "%41" + strings.Repeat("a", 1009), "%41", "escapes are not allowed", 0},
		{"reject-longer-than-the-longest-host", "%41" + strings.Repeat("a", 1010), "", "at most 253 bytes", 0},
		{"reject-escape", "%41.example", "%41", "escapes are not allowed", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ParseHost(c.input)
			e := wantCode(t, err, CodeBadHost)
			if c.part != "" && e.Part != c.part || e.Offset != c.offset || !strings.Contains(e.Message, c.message) {
				t.Errorf("part %+q at %d: %s", e.Part, e.Offset, e.Message)
			}
		})
	}
}

func TestParseHostIP(t *testing.T) {
	rules := Rules{AllowIP: true}
	for _, host := range []string{"::1", "::ffff:192.0.2.1", "[::ffff:192.0.2.1]", "192.0.2.256", "[192.0.2.1]", "[]"} {
		if got, err := rules.ParseHost(host); err == nil {
			t.Errorf("%s is %s", host, got)
		}
	}
}

// TestNoDotSegments: what follows a dot is part of the name, unless it is a parameter.
func TestNoDotSegments(t *testing.T) {
	for _, path := range []string{"/.x3b", "/..a3B", "/.3b", "/.;", "/.%3b", "/..%253B"} {
		_, err := Parse("https://shop.example" + path)
		if accepted := !strings.ContainsAny(path, "%;"); (err == nil) != accepted {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestDecodedAfterPercent: a character that was decoded must not complete an escape before it.
func TestDecodedAfterPercent(t *testing.T) {
	for path, want := range map[string]string{"/%25%7A": "/%25z", "/%25%67%65": "/%25ge", "/%25%61": "", "/%25%32%65": ""} {
		u, err := Parse("https://shop.example" + path)
		if want == "" {
			wantCode(t, err, CodeAmbiguousPath)
		} else if err != nil || u.Path() != want {
			t.Errorf("%s: %q, %v", path, u.Path(), err)
		}
	}
}
