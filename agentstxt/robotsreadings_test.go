package agentstxt

import (
	"cmp"
	"net/http"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
)

// hiddenPaths are paths that a server may read as one below /private.
var hiddenPaths = map[string]string{
	"two-slashes": "//private/x", "encoded-slash": "/%2fprivate/x", "dots-behind-an-encoded-slash": "/x/..%2fprivate/x",
	"parameters": "/private;a=b/x", "encoded-backslash": "/%5Cprivate/x", "slashes-and-dots": "/x//../private/y",
	"encoded-twice": "/%2570rivate/x", "authority": "//h/private/x", "trailing-dot": "/private./x", "tab": "/pri%09vate/x",
	"encoded-question-mark": "/private%3Fx",
}

// TestRobotsReadings: robots.txt, and a foreign agents.txt in its form, refuse a path if any reading
// of it is disallowed, as agents.txt does.
func TestRobotsReadings(t *testing.T) {
	const file = "User-agent: *\nDisallow: /private\n"
	const closed = "User-agent: *\nDisallow: /\nAllow: /open\n"
	for name, path := range hiddenPaths {
		t.Run("P14/reject-in-robots-"+name, func(t *testing.T) {
			for _, f := range []*RobotsFile{
				ParseRobots([]byte(file), "ExampleBot"),
				ParseRobots([]byte("User-agent: *\nDisallow: /private*x\nDisallow: /private*y\nDisallow: /private$\nDisallow: /private?x\n"), "ExampleBot"),
			} {
				if d := f.Decide(path); d.Allowed || d.Code != CodeRobotsDisallowed || d.Line == 0 || d.Path != path {
					t.Errorf("%+v", d)
				}
			}
		})
		t.Run("P14/reject-in-a-foreign-file-"+name, func(t *testing.T) {
			p := Judge(Response{Status: 200, ContentType: "text/plain", Body: []byte(file)}, Web("ExampleBot"))
			if d := p.Decide(path); d.Allowed || d.Code != CodeForeignDisallowed {
				t.Errorf("%+v", d)
			}
		})
		inWorld(t, "P14/reject-by-the-guard-"+name, Web("ExampleBot"), func(w *world) {
			w.robots(file)
			c, _ := w.guarded(Web("ExampleBot"))
			if resp, err := c.Get("https://shop.example" + path); lookleap.CodeOf(err) != CodeRobotsDisallowed {
				if err == nil {
					resp.Body.Close()
				}
				w.Errorf("%v", err)
			}
		})
	}
	for name, path := range map[string]string{
		"leaves-by-dots": "/open/..%2fprivate", "leaves-by-authority": "//open/private", "leaves-by-backslash": "/open%5C..%5Cx",
	} {
		t.Run("P14/reject-allow-of-one-reading-"+name, func(t *testing.T) {
			if d := ParseRobots([]byte(closed), "ExampleBot").Decide(path); d.Allowed {
				t.Errorf("%+v", d)
			}
		})
	}
	t.Run("P14/reject-too-many-readings", func(t *testing.T) {
		const path = "/a;b//c%2F..%2F/;d/%252E/e. /f"
		if d := ParseRobots([]byte(file), "ExampleBot").Decide(path); d.Allowed || d.Code != lookleap.CodeAmbiguousPath {
			t.Errorf("%+v", d)
		}
		if d := ParseRobots([]byte("User-agent: *\nAllow: /\n"), "ExampleBot").Decide(path); !d.Allowed {
			t.Errorf("a file that disallows nothing: %+v", d)
		}
	})
	for name, path := range map[string]string{
		"other": "/public;a=b//x", "encoded": "/%70ublic/x", "longer-name": "/a//privates", "query": "/x?a=/private;b",
	} {
		t.Run("P14/accept-"+name, func(t *testing.T) {
			if d := ParseRobots([]byte(file), "ExampleBot").Decide(path); !d.Allowed {
				t.Errorf("%+v", d)
			}
		})
	}
	t.Run("P14/accept-all-readings", func(t *testing.T) {
		for _, path := range []string{"/open//x", "/open/x;a=b", "/open/%41", "/open/a."} {
			if d := ParseRobots([]byte(closed), "ExampleBot").Decide(path); !d.Allowed || d.Line != 3 {
				t.Errorf("%+v", d)
			}
		}
	})
}

// TestRobotsTokens: with several tokens, a path has to be allowed for each of them.
func TestRobotsTokens(t *testing.T) {
	file := []byte("User-agent: OwnBot\nDisallow: /own\nCrawl-delay: 1\n\nUser-agent: FleetBot\nDisallow: /fleet\n" +
		"Content-Signal: search=no\n\nUser-agent: *\nDisallow: /all\n")
	f := ParseRobots(file, "OwnBot", "FleetBot")
	for path, want := range map[string]bool{"/own": false, "/fleet": false, "/all": true, "/": true} {
		t.Run("P13/"+map[bool]string{true: "accept", false: "reject"}[want]+"-"+cmp.Or(path[1:], "root")+"-by-two-tokens", func(t *testing.T) {
			if d := f.Decide(path); d.Allowed != want || d.Path != path {
				t.Errorf("%+v", d)
			}
		})
	}
	t.Run("P13/accept-what-both-state", func(t *testing.T) {
		if f.Len() != 2 || !f.Named() || f.CrawlDelay().Seconds() != 1 || f.Usage("/").Search != No {
			t.Error(f.Len(), f.Named(), f.CrawlDelay(), f.Usage("/"))
		}
	})
	two := Options{Foreign: ForeignIgnore, Robots: Robots{Tokens: []string{"OwnBot", "FleetBot"}}}
	inWorld(t, "P13/reject-by-the-guard", two, func(w *world) {
		w.robots(string(file))
		c, _ := w.guarded(two)
		for _, path := range []string{"/own", "/fleet"} {
			if resp, err := c.Get("https://shop.example" + path); lookleap.CodeOf(err) != CodeRobotsDisallowed {
				if err == nil {
					resp.Body.Close()
				}
				w.Errorf("%s: %v", path, err)
			}
		}
	})
	t.Run("P13/reject-in-a-foreign-file", func(t *testing.T) {
		p := Judge(Response{Status: 200, ContentType: "text/plain", Body: file}, two)
		if p.Decide("/own").Allowed || p.Decide("/fleet").Allowed || !p.Decide("/all").Allowed {
			t.Error(p.Report("/own", "/fleet", "/all").Decisions)
		}
	})
}

// TestRobotsCut: what is not read of a file is said.
func TestRobotsCut(t *testing.T) {
	long := strings.Repeat("# filler\n", 1<<20/9) + "User-agent: *\nDisallow: /\n"
	t.Run("P37/reject-silence-about-rules-beyond-the-limit", func(t *testing.T) {
		found := ParseRobots([]byte(long), "ExampleBot").Findings()
		if len(found) != 1 || found[0].Code != lookleap.CodeTooLarge || found[0].Fix == "" {
			t.Error(found)
		}
		if found := ParseRobots([]byte("User-agent: *\n"), "ExampleBot").Findings(); found != nil {
			t.Error(found)
		}
	})
	inWorld(t, "P37/reject-silence-of-the-guard", Web("ExampleBot"), func(w *world) {
		w.robots(long)
		_, g := w.guarded(Web("ExampleBot"))
		req, _ := http.NewRequest("GET", "https://shop.example/x", nil)
		v, err := g.Check(req)
		if err != nil || v.Checks[len(v.Checks)-1].Status != lookleap.Noted || v.Checks[len(v.Checks)-1].Code != lookleap.CodeTooLarge {
			w.Error(v, err)
		}
	})
}

// TestUsageIsRead: permissions come only from valid Structured Fields; an objection of robots.txt is
// not lost by a slip.
func TestUsageIsRead(t *testing.T) {
	for name, c := range map[string]struct{ line, header, robots string }{
		"two-equals":       {"train-ai=y, search==n", "", "search=no"},
		"in-a-string":      {`note="a, train-ai=y, b"`, "", ""},
		"blanks":           {"train-ai = y", "", ""},
		"capitals":         {"TRAIN-AI=N", "", "ai-train=no"},
		"capital-yes":      {"train-ai=Y", "", ""},
		"objection":        {"train-ai = n", "", "ai-train=no"},
		"list":             {"train-ai=(y n)", "", ""},
		"string":           {`train-ai="y"`, "", ""},
		"last-member":      {"train-ai=y, train-ai=n", "ai-train=no", "ai-train=no"},
		"objection-first":  {"train-ai=n, train-ai=y", "ai-train=yes", "ai-train=no"},
		"valid":            {"train-ai=y, search=n;x=1", "search=no, ai-train=yes", "search=no, ai-train=yes"},
		"comma-at-the-end": {"train-ai=y,", "", ""},
	} {
		t.Run("P34/reject-"+name, func(t *testing.T) {
			if got := ParseContentUsage(http.Header{"Content-Usage": {c.line}}).String(); got != c.header {
				t.Errorf("header: %q, want %q", got, c.header)
			}
			f := ParseRobots([]byte("User-agent: *\nContent-Usage: "+c.line+"\nDisallow:\n"), "ExampleBot")
			if got := f.Usage("/").String(); got != c.robots {
				t.Errorf("robots.txt: %q, want %q", got, c.robots)
			}
		})
	}
	t.Run("P34/reject-tab-before-an-objection", func(t *testing.T) {
		f := ParseRobots([]byte("User-agent: *\nContent-Usage: /a\ttrain-ai=n\nContent-Signal: /b\tai-train=no\n"), "ExampleBot")
		if f.Usage("/a").AITrain != No || f.Usage("/b").AITrain != No || f.Usage("/c").AITrain != Unstated {
			t.Error(f.Usage("/a"), f.Usage("/b"), f.Usage("/c"))
		}
	})
	t.Run("P34/accept-two-lines", func(t *testing.T) {
		if got := ParseContentUsage(http.Header{"Content-Usage": {"train-ai=y", "search=n"}}).String(); got != "search=no, ai-train=yes" {
			t.Error(got)
		}
	})
}
