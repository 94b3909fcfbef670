package agentstxt

import (
	"strings"
	"testing"
)

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
