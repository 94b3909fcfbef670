package dvs_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/agentstxt"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/lookleaptest"
)

const indexAt = "https://shop.example/.well-known/skills/index.json"

func digestOf(s string) string { return dvs.DigestOf([]byte(s)).String() }

func zipped(s string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(s))
	_ = z.Close()
	return b.String()
}

func TestDiscover(t *testing.T) {
	const root = "https://shop.example/"
	const index = `[{"name":"a","description":"d","path":"/s/a/"}]`
	const child = "https://shop.example/c1.xml"
	for _, c := range []struct {
		id   string
		site func(*lookleaptest.Site)
		want string
	}{
		{"DVS-3.2-06/accept-both-merged", func(s *lookleaptest.Site) {
			s.File("/.well-known/skills/index.json", "application/json", index).File("/sitemap.xml", "application/xml", urlset("https://shop.example/s/a/SKILL.md", "https://shop.example/s/b/SKILL.md"))
		}, "/s/a/ /s/b/"},
		{"DVS-3.2-06/accept-bad-index-not-fatal", func(s *lookleaptest.Site) {
			s.File("/.well-known/skills/index.json", "application/json", "{").File("/sitemap.xml", "application/xml", urlset("https://shop.example/s/b/SKILL.md"))
		}, "!bad-index /s/b/"},
		{"DVS-3.2-06/accept-failed-index-not-fatal", func(s *lookleaptest.Site) {
			s.Redirect("/.well-known/skills/index.json", "https://evil.example/i.json").File("/sitemap.xml", "application/xml", urlset("https://shop.example/s/b/SKILL.md"))
		}, "!redirect-outside-root /s/b/"},
		{"DVS-3.2-06/accept-bad-sitemap-not-fatal", func(s *lookleaptest.Site) {
			s.File("/.well-known/skills/index.json", "application/json", index).File("/sitemap.xml", "application/xml", "<urlset>")
		}, "/s/a/ !bad-sitemap"},
		{"DVS-3.2-06/accept-failed-sitemap-not-fatal", func(s *lookleaptest.Site) {
			s.File("/.well-known/skills/index.json", "application/json", index).Redirect("/sitemap.xml", "https://evil.example/s.xml")
		}, "/s/a/ !redirect-outside-root"},
		{"DVS-3.2-05/accept-sitemap-alone", func(s *lookleaptest.Site) {
			s.File("/sitemap.xml", "application/xml", urlset("https://shop.example/s/b/SKILL.md"))
		}, "/s/b/"},
		{"DVS-3.2-09/accept-one-level", func(s *lookleaptest.Site) {
			s.File("/sitemap.xml", "application/xml", sitemapIndex(child, "https://shop.example/c2.xml")).File("/c1.xml", "application/xml", urlset("https://shop.example/s/b/SKILL.md")).
				File("/c2.xml", "application/xml", urlset("https://shop.example/s/c/SKILL.md"))
		}, "/s/b/ /s/c/"},
		{"DVS-3.2-09/reject-second-level", func(s *lookleaptest.Site) {
			s.File("/sitemap.xml", "application/xml", sitemapIndex(child)).File("/c1.xml", "application/xml", sitemapIndex("https://shop.example/c2.xml")).File("/c2.xml", "application/xml", urlset("https://shop.example/s/c/SKILL.md"))
		}, "!sitemap-nested"},
		{"DVS-3.2-09/accept-the-next-after-a-second-level", func(s *lookleaptest.Site) {
			s.File("/sitemap.xml", "application/xml", sitemapIndex(child, "https://shop.example/c3.xml")).File("/c1.xml", "application/xml", sitemapIndex("https://shop.example/c2.xml")).File("/c3.xml", "application/xml", urlset("https://shop.example/s/c/SKILL.md"))
		}, "!sitemap-nested /s/c/"},
		{"DVS-3.2-09/accept-the-next-after-a-missing-one", func(s *lookleaptest.Site) {
			s.File("/sitemap.xml", "application/xml", sitemapIndex(child, "https://shop.example/c3.xml")).File("/c3.xml", "application/xml", urlset("https://shop.example/s/c/SKILL.md"))
		}, "/s/c/"},
		{"DVS-3.2-09/reject-other-port", func(s *lookleaptest.Site) {
			s.File("/sitemap.xml", "application/xml", sitemapIndex("https://shop.example:8443/c.xml"))
		}, "!sitemap-nested"},
		{"DVS-3.2-09/reject-other-origin", func(s *lookleaptest.Site) {
			s.File("/sitemap.xml", "application/xml", sitemapIndex("https://evil.example/c.xml"))
		}, "!sitemap-nested"},
		{"DVS-3.2-11/accept-gzip-file", func(s *lookleaptest.Site) {
			s.File("/sitemap.xml", "application/gzip", zipped(urlset("https://shop.example/s/b/SKILL.md")))
		}, "/s/b/"},
		{"DVS-3.2-11/reject-bomb", func(s *lookleaptest.Site) {
			s.File("/sitemap.xml", "application/gzip", zipped(strings.TrimSuffix(urlset("https://shop.example/s/b/SKILL.md"), "</urlset>")+strings.Repeat("<url/>", 9<<20)))
		}, "!sitemap-limit /s/b/"},
		{"DVS-3.2-11/reject-damaged-gzip-header", func(s *lookleaptest.Site) { s.File("/sitemap.xml", "application/gzip", "\x1f\x8bxxxxxxxxxxxx") }, "!bad-sitemap"},
		{"DVS-3.2-11/reject-truncated-gzip-file", func(s *lookleaptest.Site) {
			s.File("/sitemap.xml", "application/gzip", zipped(urlset("https://shop.example/s/b/SKILL.md"))[:40])
		}, "!bad-sitemap"},
		{"N01/reject-bomb", func(s *lookleaptest.Site) { s.Fault("/sitemap.xml", lookleaptest.GzipBomb(64)) }, "!bad-sitemap"},
		{"DVS-3.2-13/accept-missing", func(*lookleaptest.Site) {}, ""},
		{"DVS-3.2-13/accept-forbidden", func(s *lookleaptest.Site) { s.Status("/sitemap.xml", 403) }, ""},
		{"DVS-3.2-13/accept-html", func(s *lookleaptest.Site) { s.File("*", "text/html", "<p>") }, ""},
		{"DVS-3.2-13/accept-xhtml", func(s *lookleaptest.Site) { s.File("*", "application/xhtml+xml", "<p>") }, ""},
		{"DVS-3.2-14/accept-no-index", func(s *lookleaptest.Site) {
			s.Status("/.well-known/skills/index.json", 404).File("/sitemap.xml", "application/xml", urlset("https://shop.example/s/b/SKILL.md"))
		}, "/s/b/"},
		{"DVS-3.2-15/accept-redirect-inside", func(s *lookleaptest.Site) {
			s.Redirect("/.well-known/skills/index.json", "/i.json").File("/i.json", "application/json", index)
		}, "/s/a/"},
		{"DVS-3.2-15/reject-redirect-to-other-port", func(s *lookleaptest.Site) {
			s.Redirect("/.well-known/skills/index.json", "https://shop.example:8443/i.json")
		}, "!redirect-outside-root"},
		{"DVS-3.2-15/reject-redirect-outside", func(s *lookleaptest.Site) {
			s.Redirect("/.well-known/skills/index.json", "https://evil.example/i.json")
		}, "!redirect-outside-root"},
		{"DVS-3.2-23/accept-json", func(s *lookleaptest.Site) { s.File("/.well-known/skills/index.json", "application/x+json", index) }, "/s/a/"},
		{"DVS-3.2-23/accept-plain", func(s *lookleaptest.Site) { s.File("/.well-known/skills/index.json", "text/plain", index) }, "!media-type /s/a/"},
		{"DVS-3.2-23/accept-bytes", func(s *lookleaptest.Site) {
			s.File("/.well-known/skills/index.json", "application/octet-stream", index)
		}, "!media-type /s/a/"},
		{"DVS-3.2-23/accept-no-type", func(s *lookleaptest.Site) {
			s.HandleFunc("/.well-known/skills/index.json", func(w http.ResponseWriter, _ *http.Request) {
				w.Header()["Content-Type"] = nil
				_, _ = w.Write([]byte(index))
			})
		}, "!media-type /s/a/"},
		{"DVS-3.2-23/reject-html", func(s *lookleaptest.Site) { s.File("/.well-known/skills/index.json", "text/html", index) }, ""},
		{"DVS-3.2-23/reject-image", func(s *lookleaptest.Site) {
			s.File("/.well-known/skills/index.json", "image/png", index).File("/sitemap.xml", "application/xml", urlset("https://shop.example/s/b/SKILL.md"))
		}, "!media-type /s/b/"},
	} {
		t.Run(c.id, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // much is read within a limit of time
				net := lookleaptest.ForTest(t)
				c.site(net.Site("shop.example"))
				net.Site("evil.example").File("*", "application/json", index)
				var got []string
				for l, err := range dvs.NewLoader(net.StubHost(), dvs.Options{}).Discover(t.Context(), root) {
					var skipped *dvs.Skipped
					switch {
					case errors.As(err, &skipped):
						got = append(got, "!"+string(skipped.Finding.Code))
					case err != nil:
						t.Fatal(err)
					default:
						got = append(got, strings.TrimPrefix(l.Skill.Directory(), "https://shop.example"))
					}
				}
				if text := strings.Join(got, " "); text != c.want {
					t.Errorf("got %q, want %q", text, c.want)
				}
				if seen := net.Journal().Requests("evil.example"); len(seen) != 0 {
					t.Error("another origin was asked")
				}
			})
		})
	}
	t.Run("DVS-3.2-04/reject-path-root", func(t *testing.T) {
		net, reported := lookleaptest.ForTest(t), 0
		for _, root := range []string{"https://github.com/o/", "https://shop.example/a/"} {
			for l, err := range dvs.NewLoader(net.StubHost(), dvs.Options{}).Discover(t.Context(), root) {
				if !l.Skill.IsZero() || lookleap.CodeOf(err) != dvs.CodeNoOriginDiscovery {
					t.Error(l, err)
				}
				reported++
			}
		}
		if reported != 2 {
			t.Errorf("reported %d times", reported)
		}
		if len(net.Journal().Dials()) != 0 {
			t.Error("something was asked")
		}
	})
	t.Run("DVS-5.3-02/reject-bogus", func(t *testing.T) {
		net := lookleaptest.ForTest(t)
		net.Site("shop.example").File("/sitemap.xml", "application/xml", urlset("https://shop.example/s/b/SKILL.md"))
		net.Name("shop.example").Bogus()
		var codes []lookleap.Code
		for _, err := range dvs.NewLoader(net.StubHost(), dvs.Options{}).Discover(t.Context(), root) {
			codes = append(codes, lookleap.CodeOf(err))
		}
		if !slices.Equal(codes, []lookleap.Code{lookleap.CodeDNSSECBogus}) || len(net.Journal().Dials()) != 0 {
			t.Errorf("got %v", codes)
		}
	})
	t.Run("reject-what-cannot-be-asked", func(t *testing.T) {
		for name, l := range map[string]*dvs.Loader{"usage": nil, "bad-url": dvs.NewLoader(lookleaptest.ForTest(t).StubHost(), dvs.Options{Indexes: []string{"/\x00/"}})} {
			var codes []lookleap.Code
			for _, err := range l.Discover(t.Context(), root) {
				codes = append(codes, lookleap.CodeOf(err))
			}
			if !slices.Equal(codes, []lookleap.Code{lookleap.Code(name)}) {
				t.Errorf("got %v, want %s", codes, name)
			}
		}
	})
	t.Run("DVS-3.2-10/accept-as-many-as-the-limit", func(t *testing.T) {
		net := lookleaptest.ForTest(t)
		net.Site("shop.example").File("/.well-known/skills/index.json", "text/plain", `[{"name":"a","description":"d","path":"/s/a/"},5,{"name":"b","description":"d","path":"/s/b/"}]`).
			File("/.well-known/agent-skills/index.json", "application/json", `{"$schema":"`+dvs.IndexSchema+`","skills":[{"name":"a","type":"archive","description":"d","url":"/s/a.zip","digest":"`+digestOf(refund)+`"}]}`).
			File("/sitemap.xml", "application/xml", sitemapIndex("https://evil.example/c.xml", child, "https://shop.example/c2.xml", "https://shop.example/c4.xml")).
			File("/c1.xml", "application/xml", sitemapIndex("https://shop.example/c3.xml")).
			File("/c2.xml", "application/xml", urlset("https://shop.example/s/c/SKILL.md", "https://shop.example/s/d/SKILL.md")).
			File("/c4.xml", "application/xml", urlset("https://shop.example/s/e/SKILL.md"))
		const all = "/s/a.zip !media-type !bad-index-entry !duplicate-entry /s/b/SKILL.md !sitemap-nested !sitemap-nested /s/c/SKILL.md !sitemap-limit"
		for n := range strings.Fields(all) { // whatever it yields, the caller can stop there
			var got []string
			for l, err := range dvs.NewLoader(net.StubHost(), dvs.Options{Limits: dvs.Limits{Candidates: 4}}).Discover(t.Context(), root) {
				if got = append(got, strings.TrimPrefix(l.Skill.String(), "https://shop.example")); err != nil {
					got[len(got)-1] = "!" + string(lookleap.CodeOf(err))
				}
				if len(got) == n+1 && n+1 < len(strings.Fields(all)) {
					break
				}
			}
			if want := strings.Fields(all)[:n+1]; !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		}
	})
	t.Run("DVS-3.2-10/accept-sitemap-below-its-limit", func(t *testing.T) {
		net, found := lookleaptest.ForTest(t), 0
		net.Site("shop.example").File("/sitemap.xml", "application/xml", urlset("https://shop.example/s/a/SKILL.md", "https://shop.example/s/b/SKILL.md")+strings.Repeat(" ", 3<<19))
		for _, err := range dvs.NewLoader(net.StubHost(), dvs.Options{Limits: dvs.Limits{Sitemap: 2 << 20}}).Discover(t.Context(), root) {
			if found++; err != nil {
				t.Error(err)
			}
		}
		if found != 2 {
			t.Errorf("%d skills", found)
		}
	})
	t.Run("DVS-3.2-04/accept-origin", func(t *testing.T) {
		net := lookleaptest.ForTest(t)
		net.Site("shop.example")
		for range dvs.NewLoader(net.StubHost(), dvs.Options{}).Discover(t.Context(), root) {
			t.Error("there is something")
		}
		got := net.Journal().Paths("shop.example")
		if slices.Sort(got[:2]); !slices.Equal(got, []string{"GET /.well-known/agent-skills/index.json", "GET /.well-known/skills/index.json", "GET /sitemap.xml"}) {
			t.Errorf("got %v", got)
		}
	})
	t.Run("DVS-3.2-15/accept-agent-skills", func(t *testing.T) {
		net := lookleaptest.ForTest(t)
		net.Site("shop.example").File("/s/a/SKILL.md", "text/markdown", refund).File("/s/b/SKILL.md", "text/markdown", refund).
			File("/.well-known/agent-skills/index.json", "application/json", `{"$schema":"`+dvs.IndexSchema+`","skills":[{"name":"refund","type":"skill-md","description":"Refunds an order.","url":"/s/a/SKILL.md","digest":"`+digestOf(refund)+
				`"},{"name":"b","type":"skill-md","description":"d","url":"/s/b/SKILL.md","digest":"`+digestOf("other")+`"}]}`)
		loader := dvs.NewLoader(net.StubHost(), dvs.Options{Roots: registry(t, root)})
		var codes []string
		for l, err := range loader.Discover(t.Context(), root) {
			if err != nil {
				t.Fatal(err)
			}
			skill, err := loader.LoadListing(t.Context(), l)
			codes = append(codes, string(lookleap.CodeOf(err)))
			if err == nil && hasFinding(skill.Verdict, dvs.CodeIndexMismatch) {
				t.Error("the index says the same")
			}
		}
		if !slices.Equal(codes, []string{"ok", "digest-mismatch"}) {
			t.Errorf("got %v", codes)
		}
	})
	for name, c := range map[string]struct {
		indexes []string
		want    []string
	}{
		"accept-both-by-default": {nil, []string{"/s/new/SKILL.md", "/s/a/SKILL.md"}},
		"accept-narrowed":        {[]string{dvs.SkillsPrefix}, []string{"/s/a/SKILL.md"}},
		"accept-other-order":     {[]string{dvs.SkillsPrefix, dvs.AgentSkillsPrefix}, []string{"/s/a/SKILL.md", "/s/new/SKILL.md"}},
		"accept-sitemap-alone":   {[]string{}, nil},
	} {
		t.Run("DVS-3.2-15/"+name, func(t *testing.T) {
			net := lookleaptest.ForTest(t)
			net.Site("shop.example").File("/.well-known/skills/index.json", "application/json", `[{"name":"a","description":"d","path":"/s/a/"}]`).
				File("/.well-known/agent-skills/index.json", "application/json", `{"$schema":"`+dvs.IndexSchema+`","skills":[{"name":"new","type":"skill-md","description":"d","url":"/s/new/SKILL.md","digest":"`+digestOf(refund)+`"}]}`)
			var got []string
			for l, err := range dvs.NewLoader(net.StubHost(), dvs.Options{Roots: registry(t, root), Indexes: c.indexes}).Discover(t.Context(), root) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, strings.TrimPrefix(l.Skill.String(), "https://shop.example"))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %v", got)
			}
			asked := 0
			for _, path := range net.Journal().Paths("shop.example") {
				if strings.HasSuffix(path, "/index.json") {
					asked++
				}
			}
			if want := len(c.indexes); c.indexes == nil && asked != 2 || c.indexes != nil && asked != want {
				t.Errorf("%d indexes were asked for", asked)
			}
		})
	}
	t.Run("DVS-3.2-15/accept-one-round", func(t *testing.T) {
		net := lookleaptest.ForTest(t)
		both := make(chan struct{}, 2)
		meet := func(w http.ResponseWriter, r *http.Request) {
			both <- struct{}{}
			for len(both) < 2 && r.Context().Err() == nil {
				runtime.Gosched()
			}
			w.WriteHeader(http.StatusNotFound)
		}
		net.Site("shop.example").HandleFunc("/.well-known/skills/index.json", meet).HandleFunc("/.well-known/agent-skills/index.json", meet)
		for _, err := range dvs.NewLoader(net.StubHost(), dvs.Options{}).Discover(t.Context(), root) {
			t.Error(err)
		}
	})
	t.Run("DVS-3.2-21/accept-file-decides", func(t *testing.T) {
		net := lookleaptest.ForTest(t)
		net.Site("shop.example").File("/s/a/SKILL.md", "text/markdown", refund).File("/.well-known/skills/index.json", "application/json", index)
		loader := dvs.NewLoader(net.StubHost(), dvs.Options{Roots: registry(t, root)})
		for l, err := range loader.Discover(t.Context(), root) {
			if err != nil {
				t.Fatal(err)
			}
			skill, err := loader.LoadListing(t.Context(), l)
			if err != nil || skill.Name != "refund" || !hasFinding(skill.Verdict, dvs.CodeIndexMismatch) {
				t.Error(skill, err)
			}
		}
	})
	t.Run("N04/reject-disallowed-path", func(t *testing.T) {
		net := lookleaptest.ForTest(t)
		net.Site("shop.example").File("/s/a/SKILL.md", "text/markdown", refund).File("/sitemap.xml", "application/xml", urlset("https://shop.example/s/a/SKILL.md")).
			File("/.well-known/skills/index.json", "text/html", "").Status("/agents.txt", 401)
		host := net.StubHost()
		loader := dvs.NewLoader(host, dvs.Options{Roots: registry(t, root), Guard: agentstxt.Guard(host)})
		refused := 0
		for l, err := range loader.Discover(t.Context(), root) {
			if refused++; err == nil || lookleap.CodeOf(err) != dvs.CodeBlockedByPolicy {
				t.Error(l, err)
			}
		}
		if refused != 1 || slices.Contains(net.Journal().Paths("shop.example"), "GET /sitemap.xml") {
			t.Errorf("%d results; the sitemap was asked for: %v", refused, net.Journal().Paths("shop.example"))
		}
		if _, err := loader.Load(t.Context(), "https://shop.example/s/a/SKILL.md"); lookleap.CodeOf(err) != dvs.CodeBlockedByPolicy {
			t.Error(err)
		}
	})
	t.Run("reject-invalid-root", func(t *testing.T) {
		net := lookleaptest.ForTest(t)
		n := 0
		for l, err := range dvs.NewLoader(net.StubHost(), dvs.Options{}).Discover(t.Context(), "http://shop.example/") {
			if n++; !l.Skill.IsZero() || lookleap.CodeOf(err) != lookleap.CodeNotHTTPS {
				t.Error(l, err)
			}
		}
		if n != 1 || len(net.Journal().Dials()) != 0 {
			t.Errorf("%d results", n)
		}
	})
	t.Run("DVS-3.2-06/reject-cancelled", func(t *testing.T) {
		net := lookleaptest.ForTest(t)
		net.Site("shop.example")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		n := 0
		for _, err := range dvs.NewLoader(net.StubHost(), dvs.Options{}).Discover(ctx, root) {
			if n++; !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "the list of skills was not read") {
				t.Error(err)
			}
		}
		if n != 1 {
			t.Errorf("%d results", n)
		}
	})
}

func FuzzIndex(f *testing.F) {
	for _, s := range []string{`[]`, `{"skills":[{"name":"a","files":["SKILL.md"]}]}`, `[{"name":"a","path":"../x","url":"https://shop.example/x"}]`,
		`{"$schema":"` + dvs.IndexSchema + `","skills":[{"name":"a","type":"skill-md","url":"x","digest":"` + digestOf("") + `"}]}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := dvs.ParseIndex(data, indexAt, dvs.Rules{}, dvs.Limits{})
		checkListings(t, list, err)
	})
}

func FuzzSitemap(f *testing.F) {
	for _, s := range []string{urlset("https://shop.example/a/SKILL.md", "&amp;"), "<sitemapindex><sitemap><loc>https://shop.example/x</loc></sitemap></sitemapindex>", "<!DOCTYPE x><urlset/>"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := dvs.ReadSitemap(bytes.NewReader(data), "https://shop.example/sitemap.xml", dvs.Rules{}, dvs.Limits{})
		checkListings(t, list, err)
	})
}

func checkListings(t *testing.T, list *dvs.Listings, err error) {
	if err != nil {
		if list != nil || !lookleap.CodeOf(err).Known() {
			t.Fatalf("got %v with %v", err, list)
		}
		return
	}
	root, _ := dvs.ParseTrustRoot("https://shop.example/", dvs.Rules{})
	for _, l := range list.Skills {
		if !root.Covers(l.Skill) && (l.Digest.IsZero() || !l.Foreign()) || !strings.HasSuffix(l.Skill.String(), "/SKILL.md") && l.Digest.IsZero() {
			t.Fatalf("listed %s", l.Skill)
		}
	}
}

// checkListing compares what was read from an index or a sitemap with the skills and findings that
// it should have, or with the code of the refusal.
func checkListing(t *testing.T, list *dvs.Listings, err error, refused lookleap.Code, want []string, findings []lookleap.Code) {
	t.Helper()
	if refused != "" {
		if list != nil || lookleap.CodeOf(err) != refused {
			t.Errorf("got %v, %v", list, err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range list.Skills {
		got = append(got, l.Skill.String())
	}
	var codes []lookleap.Code
	for _, f := range list.Findings {
		codes = append(codes, f.Code)
	}
	if !slices.Equal(got, want) || !slices.Equal(codes, findings) {
		t.Errorf("got %v with %v, want %v with %v", got, list.Findings, want, findings)
	}
}
