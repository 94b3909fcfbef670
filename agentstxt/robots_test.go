package agentstxt

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestRobotsCases holds the expectations of the test suite of google/robotstxt (robots_test.cc,
// commit 21fc90b), in the order of that file. A case whose name ends in "-rfc" differs: that
// parser compares encodings as they are written and leaves the spelling of URLs to its
// callers, and RFC 9309, section 2.2.2, compares all encodings in one spelling.
func TestRobotsCases(t *testing.T) {
	const disallowAll = "user-agent: FooBot\ndisallow: /\n"
	groups := "allow: /foo/bar/\n\nuser-agent: FooBot\ndisallow: /\nallow: /x/\nuser-agent: BarBot\ndisallow: /\nallow: /y/\n\n\n" +
		"allow: /w/\nuser-agent: BazBot\n\nuser-agent: FooBot\nallow: /z/\ndisallow: /\n"
	only := func(rules ...string) string { return "user-agent: FooBot\n" + strings.Join(rules, "\n") + "\n" }
	fish := func(allow string) string { return only("disallow: /", "allow: "+allow) }
	const cut = 2083 * 8
	long := func(key string, fill byte) string {
		return "/x/" + strings.Repeat(string(fill), cut-len("/x/")-len(key)+1-len("/x/"))
	}
	longDisallow, longA, longB := long("disallow: ", 'a'), long("allow: ", 'a'), long("allow: ", 'b')
	allows := only("disallow: /", "allow: "+longA+"/qux", "allow: "+longB+"/qux")

	for _, tt := range []struct {
		name, file, token string
		yes, no           []string
	}{
		{"empty-file", "", "FooBot", []string{"", "/x"}, nil},
		{"no-token", disallowAll, "", []string{"", "/x"}, nil},
		{"empty-path", disallowAll, "FooBot", nil, []string{""}},

		{"line/correct", disallowAll, "FooBot", nil, []string{"/x/y"}},
		{"line/unknown-keys", "foo: FooBot\nbar: /\n", "FooBot", []string{"/x/y"}, nil},
		{"line/missing-colon", "user-agent FooBot\ndisallow /\n", "FooBot", nil, []string{"/x/y"}},

		{"groups/first", groups, "FooBot", []string{"/x/b", "/z/d"}, []string{"/y/c", "/foo/bar/"}},
		{"groups/second", groups, "BarBot", []string{"/y/c", "/w/a"}, []string{"/z/d", "/foo/bar/"}},
		{"groups/shared", groups, "BazBot", []string{"/z/d"}, []string{"/foo/bar/"}},
		{"groups/sitemap-between", "User-agent: BarBot\nSitemap: https://foo.bar/sitemap\nUser-agent: *\nDisallow: /\n", "FooBot", nil, []string{"/"}},
		{"groups/sitemap-between-named", "User-agent: BarBot\nSitemap: https://foo.bar/sitemap\nUser-agent: *\nDisallow: /\n", "BarBot", nil, []string{"/"}},
		{"groups/unknown-between", "User-agent: FooBot\nInvalid-Unknown-Line: unknown\nUser-agent: *\nDisallow: /\n", "FooBot", nil, []string{"/"}},
		{"groups/unknown-between-other", "User-agent: FooBot\nInvalid-Unknown-Line: unknown\nUser-agent: *\nDisallow: /\n", "BarBot", nil, []string{"/"}},

		{"keys/upper", "USER-AGENT: FooBot\nALLOW: /x/\nDISALLOW: /\n", "FooBot", []string{"/x/y"}, []string{"/a/b"}},
		{"keys/lower", "user-agent: FooBot\nallow: /x/\ndisallow: /\n", "FooBot", []string{"/x/y"}, []string{"/a/b"}},
		{"keys/mixed", "uSeR-aGeNt: FooBot\nAlLoW: /x/\ndIsAlLoW: /\n", "FooBot", []string{"/x/y"}, []string{"/a/b"}},

		{"agent/upper", "User-Agent: FOO BAR\nAllow: /x/\nDisallow: /\n", "Foo", []string{"/x/y"}, []string{"/a/b"}},
		{"agent/lower", "User-Agent: foo bar\nAllow: /x/\nDisallow: /\n", "foo", []string{"/x/y"}, []string{"/a/b"}},
		{"agent/mixed", "User-Agent: FoO bAr\nAllow: /x/\nDisallow: /\n", "Foo", []string{"/x/y"}, []string{"/a/b"}},
		{"agent/up-to-first-blank", "User-Agent: *\nDisallow: /\nUser-Agent: Foo Bar\nAllow: /x/\nDisallow: /\n", "Foo", []string{"/x/y"}, nil},
		{"agent/no-token-with-blank", "User-Agent: *\nDisallow: /\nUser-Agent: Foo Bar\nAllow: /x/\nDisallow: /\n", "Foo Bar", nil, []string{"/x/y"}},

		{"general/named-wins", "user-agent: *\nallow: /\nuser-agent: FooBot\ndisallow: /\n", "FooBot", nil, []string{"/x/y"}},
		{"general/others", "user-agent: *\nallow: /\nuser-agent: FooBot\ndisallow: /\n", "BarBot", []string{"/x/y"}, nil},
		{"general/missing", "user-agent: FooBot\nallow: /\nuser-agent: BarBot\ndisallow: /\nuser-agent: BazBot\ndisallow: /\n", "QuxBot", []string{"/x/y"}, nil},

		{"case/lower", only("disallow: /x/"), "FooBot", nil, []string{"/x/y"}},
		{"case/upper", only("disallow: /X/"), "FooBot", []string{"/x/y"}, nil},

		{"longest/disallow", only("disallow: /x/page.html", "allow: /x/"), "FooBot", nil, []string{"/x/page.html"}},
		{"longest/allow", only("allow: /x/page.html", "disallow: /x/"), "FooBot", []string{"/x/page.html"}, []string{"/x/"}},
		{"longest/both-empty", only("disallow: ", "allow: "), "FooBot", []string{"/x/page.html"}, nil},
		{"longest/same", only("disallow: /", "allow: /"), "FooBot", []string{"/x/page.html"}, nil},
		{"longest/slash", only("disallow: /x", "allow: /x/"), "FooBot", []string{"/x/"}, []string{"/x"}},
		{"longest/same-page", only("disallow: /x/page.html", "allow: /x/page.html"), "FooBot", []string{"/x/page.html"}, nil},
		{"longest/wildcard", only("allow: /page", "disallow: /*.html"), "FooBot", []string{"/page"}, []string{"/page.html"}},
		{"longest/before-wildcard", only("allow: /x/page.", "disallow: /*.html"), "FooBot", []string{"/x/page.html"}, []string{"/x/y.html"}},
		{"longest/named-group", "User-agent: *\nDisallow: /x/\nUser-agent: FooBot\nDisallow: /y/\n", "FooBot", []string{"/x/page"}, []string{"/y/page"}},

		{"encoding/query", "User-agent: FooBot\nDisallow: /\nAllow: /foo/bar?qux=taz&baz=http://foo.bar?tar&par\n", "FooBot",
			[]string{"/foo/bar?qux=taz&baz=http://foo.bar?tar&par"}, nil},
		{"encoding/raw-rule", fish("/foo/bar/ツ"), "FooBot", []string{"/foo/bar/%E3%83%84"}, nil},
		{"encoding/raw-rule-raw-url-rfc", fish("/foo/bar/ツ"), "FooBot", []string{"/foo/bar/ツ"}, nil},
		{"encoding/encoded-rule", fish("/foo/bar/%E3%83%84"), "FooBot", []string{"/foo/bar/%E3%83%84"}, nil},
		{"encoding/encoded-rule-raw-url-rfc", fish("/foo/bar/%E3%83%84"), "FooBot", []string{"/foo/bar/ツ"}, nil},
		{"encoding/unreserved", fish("/foo/bar/%62%61%7A"), "FooBot", []string{"/foo/bar/%62%61%7A"}, nil},
		{"encoding/unreserved-decoded-rfc", fish("/foo/bar/%62%61%7A"), "FooBot", []string{"/foo/bar/baz"}, nil},

		{"special/star", only("Disallow: /foo/bar/quz", "Allow: /foo/*/qux"), "FooBot", []string{"/foo/quz", "/foo//quz", "/foo/bax/quz"}, []string{"/foo/bar/quz"}},
		{"special/dollar", only("Disallow: /foo/bar$", "Allow: /foo/bar/qux"), "FooBot", []string{"/foo/bar/qux", "/foo/bar/", "/foo/bar/baz"}, []string{"/foo/bar"}},
		{"special/comment", only("# Disallow: /", "Disallow: /foo/quz#qux", "Allow: /"), "FooBot", []string{"/foo/bar"}, []string{"/foo/quz"}},

		{"index-page", "User-Agent: *\nAllow: /allowed-slash/index.html\nDisallow: /\n", "foobot",
			[]string{"/allowed-slash/", "/allowed-slash/index.html"}, []string{"/allowed-slash/index.htm", "/anyother-url"}},

		{"long-line/disallow", only("disallow: " + longDisallow + "/qux"), "FooBot", []string{"/fux"}, []string{longDisallow + "/fux"}},
		{"long-line/allow", allows, "FooBot", []string{longA + "/qux", longB + "/fux"}, []string{"/"}},

		{"docs/fish", fish("/fish"), "FooBot",
			[]string{"/fish", "/fish.html", "/fish/salmon.html", "/fishheads", "/fishheads/yummy.html", "/fish.html?id=anything"},
			[]string{"/bar", "/Fish.asp", "/catfish", "/?id=fish"}},
		{"docs/fish-star", fish("/fish*"), "FooBot",
			[]string{"/fish", "/fish.html", "/fish/salmon.html", "/fishheads", "/fishheads/yummy.html", "/fish.html?id=anything"},
			[]string{"/bar", "/Fish.bar", "/catfish", "/?id=fish"}},
		{"docs/fish-slash", fish("/fish/"), "FooBot",
			[]string{"/fish/", "/fish/salmon", "/fish/?salmon", "/fish/salmon.html", "/fish/?id=anything"},
			[]string{"/bar", "/fish", "/fish.html", "/Fish/Salmon.html"}},
		{"docs/php", fish("/*.php"), "FooBot",
			[]string{"/filename.php", "/folder/filename.php", "/folder/filename.php?parameters", "//folder/any.php.file.html", "/filename.php/", "/index?f=filename.php/"},
			[]string{"/bar", "/php/", "/index?php", "/windows.PHP"}},
		{"docs/php-end", fish("/*.php$"), "FooBot",
			[]string{"/filename.php", "/folder/filename.php"},
			[]string{"/bar", "/filename.php?parameters", "/filename.php/", "/filename.php5", "/php/", "/filename?php", "/aaaphpaaa", "//windows.PHP"}},
		{"docs/fish-php", fish("/fish*.php"), "FooBot", []string{"/fish.php", "/fishheads/catfish.php?parameters"}, []string{"/bar", "/Fish.PHP"}},
		{"docs/order-page", only("allow: /p", "disallow: /"), "FooBot", []string{"/page"}, nil},
		{"docs/order-folder", only("allow: /folder", "disallow: /folder"), "FooBot", []string{"/folder/page"}, nil},
		{"docs/order-htm", only("allow: /page", "disallow: /*.htm"), "FooBot", nil, []string{"/page.htm"}},
		{"docs/order-root", only("allow: /$", "disallow: /"), "FooBot", []string{"/"}, []string{"/page.html"}},

		{"line-ends/unix", "User-Agent: foo\nAllow: /some/path\nUser-Agent: bar\n\n\nDisallow: /\n", "bar", nil, []string{"/x"}},
		{"line-ends/dos", "User-Agent: foo\r\nAllow: /some/path\r\nUser-Agent: bar\r\n\r\n\r\nDisallow: /\r\n", "bar", nil, []string{"/x"}},
		{"line-ends/mac", "User-Agent: foo\rAllow: /some/path\rUser-Agent: bar\r\r\rDisallow: /\r", "bar", nil, []string{"/x"}},
		{"line-ends/no-final", "User-Agent: foo\nAllow: /some/path\nUser-Agent: bar\n\n\nDisallow: /", "bar", nil, []string{"/x"}},
		{"line-ends/mixed", "User-Agent: foo\nAllow: /some/path\r\nUser-Agent: bar\n\r\n\nDisallow: /", "bar", nil, []string{"/x"}},

		{"byte-order-mark/whole", "\xef\xbb\xbfUser-Agent: foo\nDisallow: /AnyValue\n", "foo", nil, []string{"/AnyValue"}},
		{"byte-order-mark/two-bytes", "\xef\xbbUser-Agent: foo\nDisallow: /AnyValue\n", "foo", nil, []string{"/AnyValue"}},
		{"byte-order-mark/one-byte", "\xefUser-Agent: foo\nDisallow: /AnyValue\n", "foo", nil, []string{"/AnyValue"}},
		{"byte-order-mark/broken", "\xef\x11\xbfUser-Agent: foo\nDisallow: /AnyValue\n", "foo", []string{"/AnyValue"}, nil},
		{"byte-order-mark/later", "User-Agent: foo\n\xef\xbb\xbfDisallow: /AnyValue\n", "foo", []string{"/AnyValue"}, nil},
	} {
		t.Run("AGT-1-01/"+tt.name, func(t *testing.T) {
			f := ParseRobots([]byte(tt.file), tt.token)
			for _, path := range tt.yes {
				if d := f.Decide(path); !d.Allowed {
					t.Errorf("%.80s is denied: %.80v", path, d)
				}
			}
			for _, path := range tt.no {
				if d := f.Decide(path); d.Allowed || d.Line == 0 || d.Code != CodeRobotsDisallowed {
					t.Errorf("%.80s: %.80v", path, d)
				}
			}
		})
	}
}

// TestRobotsRFC holds what RFC 9309 says beyond those cases.
func TestRobotsRFC(t *testing.T) {
	for _, tt := range []struct {
		name, file string
		yes, no    []string
	}{
		{"reserved-characters-stay-encoded", "Disallow: /a%2Fb", []string{"/a/b"}, []string{"/a%2fb", "/a%2Fb/c"}},
		{"encoded-star-is-literal", "Disallow: /a%2A.html", []string{"/ab.html"}, []string{"/a*.html", "/a%2a.html"}},
		{"encoded-dollar-is-literal", "Disallow: /a%24", []string{"/a"}, []string{"/a$", "/a$b"}},
		{"dollar-inside-is-literal", "Disallow: /a$b", []string{"/a"}, []string{"/a$b", "/a%24b"}},
		{"star-in-url-is-no-wildcard", "Disallow: /ab", []string{"/a*"}, nil},
		{"robots-file-itself", "Disallow: /", []string{"/robots.txt"}, []string{"/robots.txt/x", "/Robots.txt"}},
		{"dot-segments", "Disallow: /private", nil, []string{"/x/../private", "/./private"}},
		{"dots-in-query-stay", "Disallow: /b", []string{"/a?x=/../b"}, nil},
		{"rule-without-slash", "Disallow: private", []string{"/private"}, nil},
		{"only-star", "Disallow: *", nil, []string{"/", "/x"}},
		{"stars-in-a-row", "Disallow: /a**b", []string{"/a"}, []string{"/ab", "/axb"}},
		{"longer-star-than-prefix", "Allow: /fish\nDisallow: /fish*", nil, []string{"/fish"}},
		{"equal-star", "Allow: /fish*\nDisallow: /fish*", []string{"/fish"}, nil},
		{"empty-query", "Disallow: /a?", []string{"/a"}, []string{"/a?", "/a?x"}},
		{"bad-percent", "Disallow: /a%zz", []string{"/a"}, []string{"/a%zz"}},
	} {
		t.Run("AGT-1-01/"+tt.name, func(t *testing.T) {
			f := ParseRobots([]byte("User-agent: *\n"+tt.file), "ExampleBot")
			for _, path := range tt.yes {
				if d := f.Decide(path); !d.Allowed {
					t.Errorf("%s is denied: %v", path, d)
				}
			}
			for _, path := range tt.no {
				if d := f.Decide(path); d.Allowed {
					t.Errorf("%s is allowed: %v", path, d)
				}
			}
		})
	}
	t.Run("AGT-1-01/reads-512-KiB", func(t *testing.T) {
		filler := strings.Repeat("# filler\n", 500<<10/9)
		for _, tt := range []struct {
			filler string
			want   bool
		}{{filler, false}, {filler + filler, true}} {
			f := ParseRobots([]byte(tt.filler+"User-agent: *\nDisallow: /\n"), "ExampleBot")
			if got := f.Decide("/x").Allowed; got != tt.want || f.cut != tt.want {
				t.Errorf("%d bytes: %v, cut %v", len(tt.filler), got, f.cut)
			}
		}
	})
	t.Run("AGT-1-01/reports-what-it-does-not-enforce", func(t *testing.T) {
		f := ParseRobots([]byte("Sitemap: https://shop.example/a.xml\nUser-agent: ExampleBot\nCrawl-delay: 2.5\nDisallow: /x\nsite-map: https://shop.example/b.xml\n"), "examplebot")
		if !f.Named() || f.CrawlDelay() != 2500*time.Millisecond || len(f.Sitemaps()) != 2 || f.Len() != 1 || f.Err() != nil {
			t.Errorf("%+v", f)
		}
	})
	t.Run("AGT-1-01/tokens-with-digits", func(t *testing.T) {
		f := ParseRobots([]byte("User-agent: *\nDisallow: /\nUser-agent: AI2Bot/1.0\nDisallow: /x\n"), "AI2Bot")
		if !f.Named() || !f.Decide("/y").Allowed || f.Decide("/x").Allowed {
			t.Errorf("%+v", f)
		}
	})
}

func FuzzParseRobots(f *testing.F) {
	f.Add([]byte("User-agent: *\nDisallow: /a*b$\nAllow: /index.html\nCrawl-delay: 1\nContent-Signal: search=yes"), "/ab?x")
	f.Add([]byte("\xef\xbbuser-agent x\rdisallow /%e3%83%84\n[Agent: *]\nDisallow: /a, /b"), "/a%2a$")
	f.Fuzz(func(t *testing.T, data []byte, path string) {
		r := ParseRobots(data, "ExampleBot")
		d := r.Decide(path)
		if !d.Allowed && (d.Line == 0 || d.Rule == "") && d.Code == CodeRobotsDisallowed {
			t.Errorf("denied without a rule: %v", d)
		}
		if !r.disallows() && !d.Allowed {
			t.Errorf("denied without a Disallow line: %v", d)
		}
		// The result of a linear search.
		best, allowed := -1, true
		before, query, hasQuery := strings.Cut(path, "?")
		normal := robotsPath(nil, before, query, hasQuery)
		for i, rules := range []ruleSet{r.programs[0].disallow, r.programs[0].allow} {
			for _, rule := range slices.Concat(slices.Collect(maps.Values(rules.prefixes)), rules.patterns) {
				if yes := i == 1; rule.match(normal) && (rule.rank > best || yes && rule.rank == best) {
					best, allowed = rule.rank, yes
				}
			}
		}
		if string(normal) != robotsPathName && len(normal) <= maxRobotsPath && d.Code != "url-too-long" &&
			(d.Allowed && !allowed || !d.Allowed && allowed && !hasReadings(before)) {
			t.Errorf("%q: %v, a linear search says %v", path, d, allowed)
		}
		_ = r.Usage(path)
		parseRobots(data, robotsOptions{tokens: []string{"ExampleBot"}, foreign: true}).Decide(path)
	})
}
