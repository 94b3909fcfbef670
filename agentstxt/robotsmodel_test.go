package agentstxt

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
)

// modelText is the normal form of a rule or a path, by RFC 9309 section 2.2.2 and nothing else.
func modelText(s string, rule bool) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c, escaped := s[i], false
		if i+2 < len(s) && c == '%' {
			var decoded byte
			if n, _ := fmt.Sscanf(s[i+1:i+3], "%02x", &decoded); n == 1 && regexp.MustCompile(`^[0-9A-Fa-f]{2}$`).MatchString(s[i+1:i+3]) {
				c, escaped = decoded, true
				i += 2
			}
		}
		unreserved := regexp.MustCompile(`^[A-Za-z0-9._~-]$`).MatchString(string(rune(c)))
		wildcard := !escaped && (c == '*' && !rule || c == '$' && (!rule || i+1 < len(s)))
		switch {
		case escaped && !unreserved, !escaped && (c <= ' ' || c >= 0x7f), wildcard:
			fmt.Fprintf(&b, "%%%02X", c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// modelMatch reports whether a rule matches a path, and how long the rule is.
func modelMatch(rule, path string) (length int, ok bool) {
	if rule == "" || rule[0] != '/' && rule[0] != '*' {
		return 0, false
	}
	text := modelText(rule, true)
	length = len(text)
	body, ends := strings.CutSuffix(text, "$")
	if !ends { // a final star adds at most one to the length
		body = strings.TrimRight(text, "*")
		length = min(length, len(body)+1)
	}
	pattern := "^" + strings.ReplaceAll(regexp.QuoteMeta(body), `\*`, "(?s:.*)")
	if ends {
		pattern += `\z`
	}
	return length, regexp.MustCompile(pattern).MatchString(modelText(path, false))
}

// TestRobotsModel compares decisions with those of a matcher that is made of regular
// expressions, for every pair of rules and every path of a list.
func TestRobotsModel(t *testing.T) {
	rules := []string{
		"", "a", "/", "*", "$", "/*", "/**", "/a", "/a*", "/a**", "/a$", "/a$b", "/a/", "/a/*", "/a*c", "/a*c$", "/a*b*c", "/*$", "/*b", "/*b$", "*b", "/a**c",
		"/%61", "/%6", "/%6g", "/%g6", "/a%2fb", "/a%2Fb", "/é", "/%c3%A9", "/a b", "/a?b", "/a?", "/aa", "/ab", "/ba", "/a*a*a*a", "/a%2A", "/a%24",
		"/ab*", "/a%0a", "/%a0", "/\x7f", "/\x80",
	}
	paths := []string{
		"/", "/a", "/aa", "/ab", "/abc", "/abcc", "/acb", "/aaaa", "/ba", "/b", "/a/", "/a/b", "/a/b/c", "/a$", "/a$b", "/a*", "/a*c", "/%61", "/%6", "/%6g", "/%g6", "/%F6", "/a%2fb", "/a%2Fb",
		"/é", "/%C3%a9", "/a b", "/a%20b", "/a?b", "/a?", "/a?b=*", "/xb", "/a%2A", "/a%24", "/\x7f", "/%7F", "/\x80", "/%80", "/a\x01", "/a%0A", "/%A0",
	}
	type match struct {
		length int
		ok     bool
	}
	known := make(map[[2]string]match)
	matched := func(rule, path string) (int, bool) {
		m, ok := known[[2]string{rule, path}]
		if !ok {
			m.length, m.ok = modelMatch(rule, path)
			known[[2]string{rule, path}] = m
		}
		return m.length, m.ok
	}
	for _, deny := range rules {
		for _, allow := range rules {
			// Each file has a second rule of each kind, so that rules are chosen among several.
			f := ParseRobots([]byte("User-agent: *\nDisallow: /ab\nDisallow: "+deny+"\nAllow: /a/b\nAllow: "+allow+"\n"), "ExampleBot")
			for _, path := range paths {
				denied, allowed := -1, -1
				for _, r := range []string{"/ab", deny} {
					if length, ok := matched(r, path); ok {
						denied = max(denied, length)
					}
				}
				for _, r := range []string{"/a/b", allow} {
					if length, ok := matched(r, path); ok {
						allowed = max(allowed, length)
					}
				}
				want := denied < 0 || allowed >= denied
				d := f.Decide(path)
				if !d.Allowed && want && hasReadings(path) {
					continue // another reading of the path decided
				}
				if d.Allowed != want {
					t.Fatalf("Disallow: %s, Allow: %s: %q is allowed: %v, want %v", deny, allow, path, d.Allowed, want)
				}
				if d.Matched {
					if length, ok := matched(d.Rule, path); !ok || length != max(denied, allowed) {
						t.Fatalf("Disallow: %s, Allow: %s: %q is decided by %s", deny, allow, path, d.Rule)
					}
				}
			}
		}
	}
}

// TestRobotsLines: which lines of a file bind a program, by the rules that result.
func TestRobotsLines(t *testing.T) {
	for _, c := range []struct {
		name, file string
		foreign    bool
		want       string // the number of rules, and the line of the one that denies /x
	}{
		{"lf", "User-agent: *\nDisallow: /x\n", false, "1 2"},
		{"crlf", "User-agent: *\r\nDisallow: /x\r\n", false, "1 2"},
		{"cr", "User-agent: *\rDisallow: /x\r", false, "1 2"},
		{"cr-at-the-end", "User-agent: *\n\nDisallow: /x\r", false, "1 3"},
		{"lf-before-cr", "User-agent: *\n\rDisallow: /x", false, "1 3"},
		{"general-with-comment", "User-agent: * all\nDisallow: /x\n", false, "1 2"},
		{"general-with-letters", "User-agent: *bot\nDisallow: /x\n", false, "0 0"},
		{"one-letter", "User-agent: b\nDisallow: /x\n", false, "0 0"},
		{"no-name", "User-agent:\nDisallow: /x\n", false, "0 0"},
		{"token-with-version", "User-agent: ExampleBot/1.0\nDisallow: /x\n", false, "1 2"},
		{"token-with-digits", "User-agent: ExampleBot2\nDisallow: /x\n", false, "1 2"},
		{"longer-token", "User-agent: ExampleBot-News\nDisallow: /x\n", false, "0 0"},
		{"groups-after-disallow", "User-agent: *\nDisallow: /y\nUser-agent: other\nDisallow: /x\n", false, "1 0"},
		{"groups-after-allow", "User-agent: *\nAllow: /y\nUser-agent: other\nDisallow: /x\n", false, "1 0"},
		{"groups-without-rules", "User-agent: other\nCrawl-delay: 1\nUser-agent: *\nDisallow: /x\n", false, "1 4"},
		{"before-any-group", "Disallow: /x\n", false, "0 0"},
		{"no-colon", "User-agent *\nDisallow /x\n", false, "1 2"},
		{"no-colon-three-words", "User-agent: *\nDisallow /x y\n", false, "0 0"},
		{"rule-without-slash", "User-agent: *\nDisallow: x\n", false, "0 0"},
		{"rule-with-star", "User-agent: *\nDisallow: *x\n", false, "1 2"},
		{"longer-rule-first", "User-agent: *\nDisallow: /x*\nDisallow: /x\nAllow: /x\n", false, "2 2"},
		{"first-of-equal-rules", "User-agent: *\nDisallow: /x\nDisallow: /x\n", false, "1 2"},
		{"longer-wildcard-last", "User-agent: *\nDisallow: /*\nDisallow: /x*$\nAllow: /*\n", false, "3 3"},
		{"longest-wildcard-last", "User-agent: *\nDisallow: /*x\nDisallow: /*x$\nAllow: /*x\n", false, "3 3"},
		{"index-page", "User-agent: *\nAllow: /index.html\nDisallow: /x\n", false, "3 3"},
		{"spaces-between-paths", "User-agent: *\nDisallow: /y /x\n", false, "1 0"},
		{"foreign-before-any-group", "Disallow: /x\n", true, "1 1"},
		{"foreign-agent", "Agent: *\nDisallow: /x\n", true, "1 2"},
		{"foreign-bracket-agent", "[Agent: *]\nDisallow: /x\n", true, "1 2"},
		{"foreign-bracket-user-agent", "[User-agent: *]\nDisallow: /x\n", true, "1 2"},
		{"foreign-bracket-other", "[Agent: other]\nDisallow: /x\n", true, "0 0"},
		{"foreign-agent-other", "Agent: other\nDisallow: /x\n", true, "0 0"},
		{"foreign-bracket-user-agent-other", "[User-agent: other]\nDisallow: /x\n", true, "0 0"},
		{"foreign-list-with-commas", "Disallow: /y,/x\n", true, "2 1"},
		{"foreign-list-with-spaces", "Disallow: /y /x\n", true, "2 1"},
		{"foreign-list-with-tabs", "Disallow: /y\t/x\n", true, "2 1"},
		{"foreign-indented", "Disallow: /y\n Disallow: /x\n", true, "1 0"},
		{"foreign-indented-by-tab", "Disallow: /y\n\tDisallow: /x\n", true, "1 0"},
		{"agent-is-no-user-agent", "Agent: *\nDisallow: /x\n", false, "0 0"},
		{"mark", "\xEF\xBB\xBFUser-agent: *\nDisallow: /x\n", false, "1 2"},
		{"part-of-a-mark", "\xEFUser-agent: *\nDisallow: /x\n", false, "1 2"},
	} {
		t.Run("AGT-1-01/"+map[bool]string{true: "accept", false: "reject"}[strings.HasSuffix(c.want, " 0")]+"-"+c.name, func(t *testing.T) {
			f := parseRobots([]byte(c.file), robotsOptions{tokens: []string{"ExampleBot"}, foreign: c.foreign})
			if got := fmt.Sprint(f.Len(), " ", f.Decide("/x").Line); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
	t.Run("AGT-1-01/reject-misspelt", func(t *testing.T) {
		for agent, names := range map[string][]string{
			"useragent": {"disallow", "dissallow", "dissalow"}, "user agent": {"disalow", "diasllow", "disallaw"},
		} {
			for _, name := range names {
				f := ParseRobots([]byte(agent+": ExampleBot\n"+name+": /x\n"), "ExampleBot")
				if !f.Named() || f.Decide("/x").Allowed {
					t.Errorf("%s, %s: named %v, %v", agent, name, f.Named(), f.Decide("/x"))
				}
			}
		}
	})
	t.Run("AGT-1-01/accept-empty-token-names-no-program", func(t *testing.T) {
		for _, value := range []string{"", "1", "/"} {
			if f := ParseRobots([]byte("User-agent: "+value+"\nDisallow: /x\n"), ""); f.Named() || !f.Decide("/x").Allowed {
				t.Errorf("%q names the program", value)
			}
		}
	})
	t.Run("AGT-1-01/accept-delay", func(t *testing.T) {
		for value, want := range map[string]time.Duration{"1": time.Second, "0.5": time.Second / 2, "0": 0, "-1": 0, "x": 0, "NaN": 0, "1e9": 24 * time.Hour, "": 0} {
			if got := ParseRobots([]byte("User-agent: *\nCrawl-delay: "+value+"\nCrawl-delay: 7\nDisallow:\n"), "b").CrawlDelay(); got != want && !(want == 0 && got == 7*time.Second) {
				t.Errorf("%s: %s, want %s", value, got, want)
			}
		}
	})
	t.Run("AGT-1-01/accept-bounded-lists", func(t *testing.T) {
		f := ParseRobots([]byte("User-agent: *\n"+strings.Repeat("Sitemap: https://shop.example/s\n", maxSitemaps+1)+strings.Repeat("Content-Signal: search=yes\n", maxUsageLines)+"Content-Signal: search=no\n"), "b")
		if n := len(f.Sitemaps()); n != maxSitemaps || f.Usage("/").Search != Yes {
			t.Errorf("%d sitemaps, %s", n, f.Usage("/"))
		}
	})
	t.Run("AGT-1-01/reject-dots-around-a-rule", func(t *testing.T) {
		f := ParseRobots([]byte("User-agent: *\nDisallow: /admin\n"), "b")
		for _, path := range []string{"/x/../admin", "/./admin/y", "/%2e/admin", "/admin/."} {
			if d := f.Decide(path); d.Allowed || d.Line != 2 {
				t.Errorf("%s: %v", path, d)
			}
		}
	})
	t.Run("memory", func(t *testing.T) {
		file := "User-agent: *\nDisallow: /a\nDisallow: /b*\nAllow: /c\nContent-Signal: search=no\n"
		if got, want := ParseRobots([]byte(file), "b").memory(), 1024+2*len(file)+4*200; got != want {
			t.Errorf("%d bytes, want %d", got, want)
		}
	})
	t.Run("AGT-1-01/accept-size", func(t *testing.T) {
		head := "User-agent: *\nDisallow: /x\n"
		for size, want := range map[int]string{len(head): "1 false", len(head) - 1: "0 true", len(head) + 1: "1 false"} {
			f := parseRobots([]byte(head), robotsOptions{size: size})
			if got := fmt.Sprint(f.Len(), " ", f.cut); got != want {
				t.Errorf("%d bytes: %s, want %s", size, got, want)
			}
		}
	})
}
