package agentstxt

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
)

// TestPathCharacters writes each ASCII character into the path of a directive. Blanks and line
// ends end a path, and "%" begins an escape.
func TestPathCharacters(t *testing.T) {
	const allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~!$&'()*+,;=:@/"
	for c := range byte(0x80) {
		if strings.IndexByte(" \t\r\n%", c) >= 0 {
			continue
		}
		verdict, want := "reject", lookleap.Code(CodeBadDirective)
		switch {
		case strings.IndexByte(allowed, c) >= 0:
			verdict, want = "accept", lookleap.CodeOK
		case c == 0:
			want = lookleap.CodeNotUTF8
		}
		t.Run(fmt.Sprintf("AGT-6-02/%s-0x%02x", verdict, c), func(t *testing.T) {
			if _, err := Parse([]byte(signed("/a"+string(rune(c))+"b ALLOW")), Options{}); lookleap.CodeOf(err) != want {
				t.Errorf("%q: %v", c, err)
			}
		})
	}
}

// TestNormalForm reads paths in the normal form of RFC 3986, section 6.2.2.
func TestNormalForm(t *testing.T) {
	for _, c := range []struct{ name, path, want string }{
		{"plain", "/a/b", "/a/b"},
		{"unreserved", "/%61%5A%39%2D%2E%5F%7E", "/aZ9-._~"},
		{"upper-case-digits", "/%2f%3a%c3%a9", "/%2F%3A%C3%A9"},
		{"encoded", "/a{b}\xc3\xa9|", "/a%7Bb%7D%C3%A9%7C"},
		{"encoding-at-the-end", "/%41", "/A"},
		{"dot", "/a/./b", "/a/b"},
		{"dot-at-the-end", "/a/.", "/a/"},
		{"dots", "/a/b/../c", "/a/c"},
		{"dots-at-the-end", "/a/b/..", "/a/"},
		{"dots-above-the-root", "/../../a", "/a"},
		{"only-dots", "/..", "/"},
		{"only-dot", "/.", "/"},
		{"encoded-dots", "/a/%2e%2E/b", "/b"},
		{"one-letter", "/a/b/x/", "/a/b/x/"},
		{"two-letters", "/a/xy/z", "/a/xy/z"},
		{"dot-and-letter", "/a/.x/b", "/a/.x/b"},
		{"letter-and-dot", "/a/x./b", "/a/x./b"},
		{"three-dots", "/a/.../b", "/a/.../b"},
		{"empty-segments", "/a//b/", "/a//b/"},
		{"dots-after-an-empty-segment", "/a//../b", "/a/b"},
	} {
		t.Run("AGT-6-14/accept-"+c.name, func(t *testing.T) {
			got, ok := appendNormal([]byte("before"), c.path)
			if !ok || string(got) != "before"+c.want {
				t.Errorf("%q, %v; want %q", got, ok, c.want)
			}
		})
	}
	for _, c := range []struct{ name, path string }{
		{"no-digits", "/a%"},
		{"one-digit", "/a%4"},
		{"first-is-no-digit", "/a%g1"},
		{"second-is-no-digit", "/a%1g"},
		{"control", "/a\x01"},
		{"blank", "/a b"},
		{"delete", "/a\x7f"},
	} {
		t.Run("AGT-6-14/reject-"+c.name, func(t *testing.T) {
			if got, ok := appendNormal(nil, c.path); ok {
				t.Errorf("%q", got)
			}
		})
	}
}

// TestReadingSteps takes each step by which servers read a path in another way.
func TestReadingSteps(t *testing.T) {
	for _, c := range []struct {
		name string
		step func([]byte) []byte
		path string
		want string
	}{
		{"merge-slashes", mergeSlashes, "//a///b//", "/a/b/"},
		{"merge-no-slashes", mergeSlashes, "/a/b", "/a/b"},

		{"decode-encoded-percent", decodeMore, "/%2561", "/a"},
		{"decode-three-times", decodeMore, "/%25252561", "/a"},
		{"decode-keeps-slash", decodeMore, "/a%2Fb", "/a%2Fb"},
		{"decode-keeps-backslash", decodeMore, "/a%5Cb", "/a%5Cb"},
		{"decode-encoded-slash", decodeMore, "/a%252fb", "/a%2Fb"},
		{"decode-path-characters", decodeMore, "/%3A%40%21", "/:@!"},
		{"decode-keeps-percent-before-letters", decodeMore, "/%25zz", "/%25zz"},
		{"decode-keeps-percent-before-one-digit", decodeMore, "/%254", "/%254"},
		{"decode-keeps-percent-before-digit-and-letter", decodeMore, "/%254z", "/%254z"},
		{"decode-keeps-percent-before-letter-and-digit", decodeMore, "/%25z4", "/%25z4"},
		{"decode-keeps-percent-at-the-end", decodeMore, "/a%25", "/a%25"},
		{"decode-zero-digits", decodeMore, "/%2500", "/%00"},
		{"decode-high-zero", decodeMore, "/%2509x", "/%09x"},
		{"decode-low-zero", decodeMore, "/%2540x", "/@x"},
		{"decode-low-zero-directly", decodeMore, "/%40", "/@"},
		{"decode-high-zero-directly", decodeMore, "/%0A", "/%0A"},
		{"decode-high-bit", decodeMore, "/%25c3", "/%C3"},
		{"decode-no-encoding-before", decodeMore, "%41", "A"},
		{"decode-first-is-no-digit", decodeMore, "/%g1", "/%g1"},
		{"decode-second-is-no-digit", decodeMore, "/%1g", "/%1g"},

		{"decode-once", decodeOnce, "/%2561%2f%00", "/%61/\x00"},
		{"decode-once-zero-digits", decodeOnce, "/%30%40", "/0@"},
		{"decode-once-at-the-end", decodeOnce, "/a%4", "/a%4"},
		{"decode-once-first-is-no-digit", decodeOnce, "/%g1x", "/%g1x"},
		{"decode-once-second-is-no-digit", decodeOnce, "/%1gx", "/%1gx"},

		{"backslashes", turnBackslashes, `/a\b\`, "/a/b/"},
		{"authority", dropAuthority, "//name/a", "/a"},
		{"authority-with-more-slashes", dropAuthority, "///name/a/b", "/a/b"},
		{"authority-alone", dropAuthority, "//name", "/"},
		{"no-authority", dropAuthority, "/name/a", "/name/a"},
		{"parameters", dropParams, "/a;x=1/b;y", "/a/b"},
		{"several-parameters", dropParams, "/a;x;y/b", "/a/b"},
		{"trailing-dots-and-blanks", dropTrailing, "/a. ./b ", "/a/b"},
		{"dot-segments-stay", dropTrailing, "/./a/..", "/./a/.."},
		{"dot-segment-before-a-blank", dropTrailing, "/.. /a", "/../a"},
		{"three-dots", dropTrailing, "/.../a", "//a"},
		{"breaks", dropBreaks, "/a\tb\nc\rd", "/abcd"},
		{"nul", cutEnd, "/a\x00b", "/a"},
		{"query", cutEnd, "/a?b", "/a"},
		{"fragment", cutEnd, "/a#b", "/a"},
		{"no-end", cutEnd, "/a", "/a"},
	} {
		t.Run("AGT-6-15/accept-"+c.name, func(t *testing.T) {
			if got := c.step([]byte(c.path)); string(got) != c.want {
				t.Errorf("%q becomes %q, want %q", c.path, got, c.want)
			}
		})
	}
}

// TestReadings counts the readings of paths, which are bounded.
func TestReadings(t *testing.T) {
	for _, c := range []struct {
		name, path string
		want       []string
	}{
		{"plain", "/a", []string{"/a"}},
		{"slashes", "//a", []string{"//a", "/a", "/"}},
		{"twice-encoded", "/%2541", []string{"/%2541", "/%41", "/A"}},
	} {
		t.Run("AGT-6-15/accept-"+c.name, func(t *testing.T) {
			got, ok := readingsOf(c.path)
			if !ok || len(got) != len(c.want) {
				t.Fatalf("%q %v", got, ok)
			}
			for i, want := range c.want {
				if string(got[i]) != want {
					t.Errorf("reading %d of %q is %q, want %q", i, c.path, got[i], want)
				}
			}
		})
	}
	t.Run("AGT-6-15/reject-too-much-text", func(t *testing.T) {
		// Few readings only, but each step copies the path.
		long := func(n int) string { return "/" + strings.Repeat("a", n-1) }
		if _, ok := readingsOf(long(maxReadingText/2) + "/."); ok {
			t.Error("a path whose readings need more than the limit is read")
		}
		if _, ok := readingsOf(long(1000) + "/."); !ok {
			t.Error("a short path is not read")
		}
	})
	t.Run("AGT-6-15/reject-too-many", func(t *testing.T) {
		if r, ok := readingsOf("/a;b//c%2F..%2F/;d/%252E/e. /f"); ok || len(r) != maxReadings {
			t.Errorf("%d readings, %v", len(r), ok)
		}
	})
}

// TestReadingKey writes readings as rules are looked up: "%" may be literal in a reading.
func TestReadingKey(t *testing.T) {
	for _, c := range []struct{ name, reading, want string }{
		{"encoding", "/%61%2f", "/a%2F"},
		{"literal-percent", "/100%", "/100%25"},
		{"percent-before-one-digit", "/%4", "/%254"},
		{"first-is-no-digit", "/%g1", "/%25g1"},
		{"second-is-no-digit", "/%1g", "/%251g"},
		{"zero-digits", "/%40%04", "/%40%04"},
		{"encoding-at-the-end", "/%41", "/A"},
		{"no-path-characters", "/a b\xff?", "/a%20b%FF%3F"},
	} {
		t.Run("AGT-6-15/accept-"+c.name, func(t *testing.T) {
			if got := appendKey(nil, []byte(c.reading)); string(got) != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// TestAmbiguity tells paths that all servers read alike from the others.
func TestAmbiguity(t *testing.T) {
	for _, c := range []struct {
		name string
		path string
		want bool
		dots bool
	}{
		{"plain", "/a/b.c/", false, false},
		{"parameters", "/a;b", true, false},
		{"slashes", "/a//b", true, false},
		{"slashes-at-the-end", "/a//", true, false},
		{"dot-segment", "/a/./b", true, true},
		{"dots-segment", "/a/..", true, true},
		{"dot-at-the-end", "/a.", true, false},
		{"dot-before-a-slash", "/a./b", true, false},
		{"dot-inside", "/a.b", false, false},
		{"encoded-path-character", "/%3A", true, false},
		{"encoded-letter-outside-ascii", "/%C3%A9", false, false},
		{"encoded-slash", "/%2F", true, false},
		{"encoded-nul", "/%00", true, false},
		{"encoded-backslash", "/%5C", true, false},
		{"encoded-percent", "/%25", true, false},
		{"encoded-query", "/%3F", true, false},
		{"encoded-fragment", "/%23", true, false},
		{"encoded-tab", "/%09", true, false},
		{"encoded-line-feed", "/%0A", true, false},
		{"encoded-return", "/%0D", true, false},
		{"encoded-blank", "/%20", true, false},
		{"encoded-quote", "/%22", false, false},
		{"dot-segment-in-front", "/../a", true, true},
	} {
		side := "accept-"
		if c.want {
			side = "reject-"
		}
		t.Run("AGT-6-15/"+side+c.name, func(t *testing.T) {
			if got := isAmbiguous([]byte(c.path)); got != c.want {
				t.Errorf("%q: %v", c.path, got)
			}
			if got := hasDots([]byte(c.path)); got != c.dots {
				t.Errorf("%q has dot segments: %v", c.path, got)
			}
		})
	}
}
