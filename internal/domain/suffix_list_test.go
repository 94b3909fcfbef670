package domain

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"golang.org/x/net/publicsuffix"
)

const smallList = `// This is a list for tests.
// VERSION: 2030-01-02_03-04-05_UTC
// ===BEGIN ICANN DOMAINS===
uk
co.uk
*.ck
!www.ck
公司.cn
// ===END ICANN DOMAINS===
// ===BEGIN PRIVATE DOMAINS===
// Example : https://example.net/
pages.example
*.sites.example
!www.sites.example
host.example trailing words
// ===END PRIVATE DOMAINS===
`

func TestSuffixList(t *testing.T) {
	list, err := ParseSuffixList(strings.NewReader(smallList))
	if err != nil {
		t.Fatal(err)
	}
	if list.String() != "2030-01-02_03-04-05_UTC" {
		t.Error(list)
	}
	for host, want := range map[string]string{
		"a.co.uk": "co.uk", "co.uk": "co.uk", "a.uk": "uk", "a.b.ck": "b.ck", "b.ck": "b.ck", "www.ck": "ck", "a.www.ck": "ck", "a.xn--55qx5d.cn": "xn--55qx5d.cn",
		"a.pages.example": "pages.example", "pages.example": "pages.example", "a.b.sites.example": "b.sites.example", "sites.example": "", "www.sites.example": "sites.example",
		"a.host.example": "host.example", "example.com": "", "notpages.example": "",
	} {
		if got := list.PublicSuffix(host); got != want {
			t.Errorf("%s: %q, want %q", host, got, want)
		}
	}
	for suffix, want := range map[string]bool{"co.uk": true, "b.ck": true, "pages.example": false, "b.sites.example": false} {
		if got := list.ICANN(suffix); got != want {
			t.Errorf("%s: %t", suffix, got)
		}
	}
	for name, text := range map[string]string{
		"page":      "<!DOCTYPE html>\n<title>x</title>\n",
		"cut":       smallList[:strings.Index(smallList, "// ===END PRIVATE")],
		"cut-again": smallList + "// ===BEGIN PRIVATE DOMAINS===\nmore.example\n",
		"no-rules":  "",
		"bad-rule":  strings.Replace(smallList, "pages.example", "pages..example", 1),
		"url":       strings.Replace(smallList, "pages.example", "https://pages.example/", 1),
		"wildcards": strings.Replace(smallList, "pages.example", "a.*.example", 1),
	} {
		t.Run("reject-"+name, func(t *testing.T) {
			if list, err := ParseSuffixList(strings.NewReader(text)); list != nil || !errors.Is(err, ErrSuffixList) {
				t.Errorf("%v, %v", list, err)
			}
		})
	}
}

// fixedList returns the same answer for every host.
type fixedList string

func (f fixedList) PublicSuffix(string) string {
	if f == "panic" {
		panic("the list is broken")
	}
	return string(f)
}

func (f fixedList) String() string { return "fixed" }

func TestUseSuffixes(t *testing.T) {
	defer UseSuffixes(nil)
	list, err := ParseSuffixList(strings.NewReader(smallList))
	if err != nil {
		t.Fatal(err)
	}
	check := func(host, want string) {
		t.Helper()
		if got, _ := Registrable(host); got != want {
			t.Errorf("%s: %q, want %q", host, got, want)
		}
	}
	check("a.pages.example", "pages.example")
	UseSuffixes(list)
	check("a.pages.example", "a.pages.example")
	check("pages.example", "")
	check("a.github.io", "a.github.io") // which the list does not have
	check("a.b.co.uk", "b.co.uk")
	if version := SuffixVersion(); !strings.Contains(version, SuffixDate) || !strings.Contains(version, "2030-01-02") {
		t.Error(version)
	}
	for _, bad := range []fixedList{"panic", "", "uk", "evil.example", "ithub.io", ".github.io"} { // none of them joins what the built-in list separates
		UseSuffixes(bad)
		check("a.github.io", "a.github.io")
	}
	UseSuffixes(nil)
	check("a.pages.example", "pages.example")
	if version := SuffixVersion(); version != SuffixDate {
		t.Error(version)
	}
}

// TestRealSuffixList compares the reader with golang.org/x/net/publicsuffix, by the file of a
// Linux system.
func TestRealSuffixList(t *testing.T) {
	file, err := os.Open("/usr/share/publicsuffix/public_suffix_list.dat")
	if err != nil {
		t.Skip("the package publicsuffix is not installed")
	}
	defer file.Close()
	list, err := ParseSuffixList(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(list.rules) < 5000 {
		t.Errorf("%d rules", len(list.rules))
	}
	for _, host := range []string{"a.b.co.uk", "a.b.c.kawasaki.jp", "x.city.kawasaki.jp", "alice.github.io", "a.b.compute.amazonaws.com", "example.com", "www.ck", "a.b.ck"} {
		want, icann := publicsuffix.PublicSuffix(host)
		if got := list.PublicSuffix(host); got != want || list.ICANN(got) != icann {
			t.Errorf("%s: %q, want %q", host, got, want)
		}
	}
}

func FuzzSuffixList(f *testing.F) {
	f.Add(smallList, "a.b.sites.example")
	f.Fuzz(func(t *testing.T, text, host string) {
		list, err := ParseSuffixList(strings.NewReader(text))
		if err != nil {
			return
		}
		if suffix := list.PublicSuffix(host); suffix != "" && suffix != host && !strings.HasSuffix(host, "."+suffix) {
			t.Errorf("%q is no suffix of %q", suffix, host)
		}
	})
}

// TestSuffixListLines: an error names the line, and the limit of a list is exact.
func TestSuffixListLines(t *testing.T) {
	t.Run("reject-with-the-line", func(t *testing.T) {
		for line, text := range map[int]string{
			1:  "example\n",
			12: strings.Replace(smallList, "pages.example", "pages..example", 1),
			11: strings.Replace(smallList, "// Example : https://example.net/", "a.*.example", 1),
		} {
			_, err := ParseSuffixList(strings.NewReader(text))
			if !errors.Is(err, ErrSuffixList) || !strings.HasPrefix(fmt.Sprint(err), fmt.Sprintf("line %d: %v: ", line, ErrSuffixList)) {
				t.Errorf("line %d: %v", line, err)
			}
		}
	})
	filled := func(size int) string { // a list of exactly so many bytes
		const line = "// a comment of exactly 32 bytes\n"
		missing := size - len(smallList)
		return smallList + strings.Repeat(line, missing/len(line)) + strings.Repeat("\n", missing%len(line))
	}
	t.Run("accept-the-largest", func(t *testing.T) {
		if list, err := ParseSuffixList(strings.NewReader(filled(8 << 20))); err != nil || list.PublicSuffix("a.co.uk") != "co.uk" {
			t.Error(err)
		}
	})
	t.Run("reject-a-byte-more", func(t *testing.T) {
		if _, err := ParseSuffixList(strings.NewReader(filled(8<<20 + 1))); !errors.Is(err, ErrSuffixList) || !strings.Contains(fmt.Sprint(err), "larger than") {
			t.Error(err)
		}
	})
}

// TestManySuffixes: a list has at most 100,000 rules.
func TestManySuffixes(t *testing.T) {
	head, tail, _ := strings.Cut(smallList, "uk\n")
	for rules, want := range map[int]string{100_000: "<nil>", 100_001: "line 100004: " + ErrSuffixList.Error() + ": it has more than 100000 rules"} {
		var text strings.Builder
		text.WriteString(head)
		for i := range rules {
			fmt.Fprintf(&text, "r%d.example\n", i)
		}
		text.WriteString(tail[strings.Index(tail, "// ===END ICANN"):strings.Index(tail, "pages.example")] + "// ===END PRIVATE DOMAINS===\n")
		if list, err := ParseSuffixList(strings.NewReader(text.String())); fmt.Sprint(err) != want || (list == nil) != (err != nil) {
			t.Errorf("%d rules: %v", rules, err)
		}
	}
}

// TestUnreadableSuffixList: a list that cannot be read to its end is an error, wherever that is.
func TestUnreadableSuffixList(t *testing.T) {
	broken := errors.New("the disk is broken")
	for what, c := range map[string]struct {
		r    io.Reader
		want error
	}{
		"reader": {io.MultiReader(strings.NewReader(smallList), iotest.ErrReader(broken)), broken},
		"line":   {strings.NewReader(smallList + "// " + strings.Repeat("x", bufio.MaxScanTokenSize)), bufio.ErrTooLong},
	} {
		if list, err := ParseSuffixList(c.r); list != nil || !errors.Is(err, c.want) {
			t.Errorf("%s: %v, %v", what, list, err)
		}
	}
}

// TestNoSuffixList: a missing list has no suffixes, and a list need not state a version.
func TestNoSuffixList(t *testing.T) {
	var none *SuffixList
	if none.PublicSuffix("a.co.uk") != "" || none.ICANN("co.uk") || none.String() != "a Public Suffix List without a version" {
		t.Error(none)
	}
	list, err := ParseSuffixList(strings.NewReader(strings.Replace(smallList, "VERSION:", "DATE:", 1)))
	if err != nil || list.String() != "a Public Suffix List without a version" {
		t.Error(list, err)
	}
	twice, err := ParseSuffixList(strings.NewReader(strings.Replace(smallList, "// VERSION:", "// VERSION: first\n// VERSION:", 1)))
	if err != nil || twice.String() != "first" {
		t.Error(twice, err)
	}
	if !list.ICANN("ck") || list.ICANN("sites.example") {
		t.Error("the suffix of an exception belongs to who made the rule")
	}
}
