package agent_test

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml/agent"
	"github.com/lookleap/lookleap/lookleaptest"
)

// pages serves a result in n pages at /r?page=1 and so on.
func (r *retail) pages(n int) {
	site := r.net.Site("shop.example")
	site.HandleFunc("/r", func(w http.ResponseWriter, q *http.Request) {
		var i int
		_, _ = fmt.Sscanf(q.URL.RawQuery, "page=%d", &i)
		next := ""
		if i < n {
			next = fmt.Sprintf(` next="/r?page=%d"`, i+1)
		}
		w.Header().Set("Content-Type", "application/anml+xml")
		_, _ = fmt.Fprint(w, documentOf(fmt.Sprintf(`<body>entry %d<nav%s total="250" cursor="c-%d"/></body>`, i, next, i)))
	})
}

func (r *retail) pager(url string) *agent.Pager {
	r.Helper()
	p, err := r.start().Open(r.Context(), url)
	must(r, err)
	return p.Pager()
}

// body is a page with content and a next.
func body(content, next string) string {
	return `<head><title>T</title></head><body>` + content + `<nav next="` + next + `"/></body>`
}

func TestPager(t *testing.T) {
	const first = "https://shop.example/r?page=1"
	t.Run("ANML-11.5-01/reject-unasked", func(t *testing.T) {
		r := newRetail(t)
		r.pages(3)
		g := r.pager(first)
		hasCode(t, second(g.Next(t.Context(), agent.PageUnasked)), lookleap.CodeUsage)
		r.gets("shop.example", "GET /r?page=1")
	})
	for _, why := range []agent.PageReason{agent.PageWanted, agent.PageNeeded} {
		t.Run(fmt.Sprintf("ANML-11.5-01/accept-reason-%d", why), func(t *testing.T) {
			r := newRetail(t)
			r.pages(2)
			g := r.pager(first)
			p, err := g.Next(t.Context(), why)
			if err != nil || !strings.Contains(p.Document().Body().Text(), "entry 2") || g.More() || g.Pages() != 2 {
				t.Errorf("%v, %d", err, g.Pages())
			}
			hasCode(t, second(g.Next(t.Context(), why)), agent.CodeNoMorePages)
		})
	}
	for _, id := range []string{"ANML-11.5-02", "K16"} {
		t.Run(id+"/reject-eleventh", func(t *testing.T) {
			r := newRetail(t)
			r.pages(30)
			user := r.asks(lookleaptest.Refuse())
			g := r.pager(first)
			for range 9 {
				must(t, second(g.Next(t.Context(), agent.PageWanted)))
			}
			isError(t, second(g.Next(t.Context(), agent.PageWanted)), lookleap.ErrConsentRefused)
			equals(t, len(r.net.Journal().Requests("shop.example")), 10)
			asked := user.Requests()
			if len(asked) != 1 || asked[0].Kind != lookleap.ConsentRead || !strings.Contains(asked[0].Summary, "pages 11 to 20") || !strings.Contains(asked[0].Summary, "250") {
				t.Errorf("%+v", asked)
			}
		})
	}
	t.Run("ANML-11.5-02/reject-no-prompter", func(t *testing.T) {
		r := newRetail(t)
		r.options.Limits.Pages = 1
		r.pages(3)
		isError(t, second(r.pager(first).Next(t.Context(), agent.PageNeeded)), lookleap.ErrConsentRefused)
		r.gets("shop.example", "GET /r?page=1")
	})
	t.Run("ANML-11.5-04/accept-ten-more", func(t *testing.T) {
		r := newRetail(t)
		r.pages(30)
		user := r.asks(lookleaptest.Approve(), lookleaptest.Refuse())
		g := r.pager(first)
		for i := range 19 {
			if _, err := g.Next(t.Context(), agent.PageWanted); err != nil {
				t.Fatal(i, err)
			}
		}
		if _, err := g.Next(t.Context(), agent.PageWanted); !errors.Is(err, lookleap.ErrConsentRefused) || g.Pages() != 20 || len(user.Requests()) != 2 {
			t.Errorf("%v, %d pages, %d questions", err, g.Pages(), len(user.Requests()))
		}
	})
	t.Run("ANML-11.5-04/accept-resumed", func(t *testing.T) {
		r := newRetail(t)
		r.pages(30)
		r.options.Limits.Pages = 2
		r.asks(lookleaptest.Pending())
		g := r.pager(first)
		_, _ = g.Next(t.Context(), agent.PageWanted)
		_, err := g.Next(t.Context(), agent.PageWanted)
		pending := pendingOf(t, err)
		r.session = nil // another process
		on, err := r.start().ResumePager(t.Context(), pending.State, lookleaptest.Decide(pending.Request))
		must(t, err)
		p, err := on.Next(t.Context(), agent.PageWanted)
		if err != nil || !strings.Contains(p.Document().Body().Text(), "entry 3") {
			t.Errorf("%v", err)
		}
		isError(t, second(r.start().ResumePager(t.Context(), pending.State, lookleaptest.Decide(pending.Request))), lookleap.ErrAlreadyDone)
	})
	t.Run("ANML-11.5-04/reject-other-plan", func(t *testing.T) {
		r := newRetail(t)
		user := r.asks(lookleaptest.Pending())
		p := r.open(`<interact><action id="a" method="POST" endpoint="/a" confirm="true"/></interact>`)
		_, err := p.Do(t.Context(), agent.Call{Action: "a"})
		var pending *lookleap.PendingError
		if !errors.As(err, &pending) || len(user.Requests()) != 1 {
			t.Fatal(err)
		}
		hasCode(t, second(r.start().ResumePager(t.Context(), pending.State, lookleaptest.Decide(pending.Request))), lookleap.CodePlanInvalid)
	})

	loops := []struct {
		name, second string // what the second page says is next
		path         string // where the second page is
		code         lookleap.Code
	}{
		{"reject-self", "/2", "/2", agent.CodePageLoop},
		{"reject-back", "/1", "/2", agent.CodePageLoop},
		{"reject-fragment", "/1#x", "/2", agent.CodePageLoop},
		{"reject-host-case", "https://SHOP.example/1", "/2", agent.CodePageLoop},
		{"reject-port", "https://shop.example:443/1", "/2", agent.CodePageLoop},
		{"reject-percent", "/%31", "/2", agent.CodePageLoop},
		{"reject-dots", "a/../1", "/2", agent.CodePageLoop},
		{"reject-query-order", "/2?b=2&amp;a=1", "/2?a=1&amp;b=2", agent.CodePageLoop},
		{"reject-query-escape", "/2?a=%31", "/2?a=1", agent.CodePageLoop},
		{"reject-redirect-back", "/redirect", "/2", agent.CodePageLoop},
		{"reject-same-content", "/copy", "/2", agent.CodePageLoop},
		{"reject-other-origin", "https://other.example/3", "/2", agent.CodePageForeign},
		{"reject-other-port", "https://shop.example:8443/3", "/2", agent.CodePageForeign},
		{"reject-redirect-elsewhere", "/away", "/2", agent.CodePageForeign},
		{"reject-http", "http://shop.example/3", "/2", lookleap.CodeBadURL},
		{"reject-javascript", "javascript:alert(1)", "/2", lookleap.CodeBadURL},
	}
	for _, c := range loops {
		for _, id := range []string{"ANML-11.5-07", "ANML-11.5-08", "K16"} {
			t.Run(id+"/"+c.name, func(t *testing.T) {
				r := newRetail(t)
				r.serve("shop.example", "/1", body("one", c.path))
				two := documentOf(body("two", c.second))
				r.net.Site("shop.example").File("/2", "application/anml+xml", two)
				r.serve("shop.example", "/copy", body("two", "/yet-another"))
				r.net.Site("shop.example").Redirect("/redirect", "/1").Redirect("/away", "https://other.example/3")
				r.serve("other.example", "/3", body("three", ""))
				g := r.pager("https://shop.example/1")
				must(t, second(g.Next(t.Context(), agent.PageWanted)))
				before := len(r.net.Journal().Requests())
				_, err := g.Next(t.Context(), agent.PageWanted)
				hasCode(t, err, c.code)
				most := 0
				if strings.Contains(c.name, "redirect") || c.name == "reject-same-content" {
					most = 1
				}
				equals(t, len(r.net.Journal().Requests())-before, most)
				r.gets("other.example")
			})
		}
	}
	t.Run("ANML-11.5-08/reject-first-url-before-redirect", func(t *testing.T) {
		r := newRetail(t)
		r.net.Site("shop.example").Redirect("/start", "/1")
		r.serve("shop.example", "/1", body("one", "/start"))
		g := r.pager("https://shop.example/start")
		before := len(r.net.Journal().Requests())
		if _, err := g.Next(t.Context(), agent.PageWanted); lookleap.CodeOf(err) != agent.CodePageLoop || len(r.net.Journal().Requests()) != before {
			t.Errorf("%v, %q", err, r.net.Journal().Paths("shop.example"))
		}
	})
	t.Run("ANML-11.5-08/accept-nested-nav", func(t *testing.T) {
		r := newRetail(t)
		r.serve("shop.example", "/1", `<head><title>T</title></head><body><section label="s">one<nav next="2"/></section></body>`)
		r.serve("shop.example", "/2", body("two", ""))
		must(t, second(r.pager("https://shop.example/1").Next(t.Context(), agent.PageWanted)))
	})
	t.Run("K16/reject-cursor-only", func(t *testing.T) {
		r := newRetail(t)
		r.serve("shop.example", "/1", `<head><title>T</title></head><body>one<nav cursor="abc"/></body>`)
		g := r.pager("https://shop.example/1")
		if g.More() || g.Cursor().Raw() != "abc" {
			t.Error(g.Cursor())
		}
		hasCode(t, second(g.Next(t.Context(), agent.PageWanted)), agent.CodeNoMorePages)
	})
	for _, c := range []struct{ name, total, want string }{
		{"accept-number", "250", "250"},
		{"reject-negative", "-1", "0"},
		{"reject-huge", "1000000000000000000", "0"},
		{"accept-largest", "1000000000", "1000000000"},
		{"reject-one-more", "1000000001", "0"},
		{"reject-word", "many", "0"},
		{"reject-long-cursor", "7", "7"},
	} {
		t.Run("K17/"+c.name, func(t *testing.T) {
			r := newRetail(t)
			r.serve("shop.example", "/1", `<head><title>T</title></head><body>one<nav next="/2" total="`+c.total+`" cursor="`+strings.Repeat("c", 1<<16)+`"/></body>`)
			g := r.pager("https://shop.example/1")
			if total, _ := g.Total(); fmt.Sprint(total) != c.want || !g.Cursor().Empty() {
				t.Errorf("total %d, cursor of %d", total, len(g.Cursor().Raw()))
			}
		})
	}
	for n, want := range map[int]int{1: 1, 256: 256, 257: 0} {
		t.Run(map[bool]string{true: "K17/accept", false: "K17/reject"}[want > 0]+"-cursor-of-"+strconv.Itoa(n), func(t *testing.T) {
			r := newRetail(t)
			r.serve("shop.example", "/1", `<head><title>T</title></head><body>one<nav next="/2" cursor="`+strings.Repeat("c", n)+`"/></body>`)
			equals(t, len(r.pager("https://shop.example/1").Cursor().Raw()), want)
		})
	}
	t.Run("ANML-11.5-01/accept-again-after-failure", func(t *testing.T) {
		r := newRetail(t)
		r.serve("shop.example", "/1", body("one", "/2"))
		r.serve("shop.example", "/2", body("two", ""))
		r.net.Site("shop.example").Fault("/2", lookleaptest.Replace("<"))
		g := r.pager("https://shop.example/1")
		if _, err := g.Next(t.Context(), agent.PageWanted); err == nil {
			t.Fatal("read")
		}
		r.net.Site("shop.example").Fault("/2")
		if _, err := g.Next(t.Context(), agent.PageWanted); err != nil || g.Pages() != 2 {
			t.Error(err)
		}
	})
}

// next reads a page that has to be there.
func next(t *testing.T, g *agent.Pager) *agent.Page {
	t.Helper()
	p, err := g.Next(t.Context(), agent.PageWanted)
	must(t, err)
	return p
}

// ends fails unless no page is read, for this reason and with so many requests.
func (r *retail) ends(g *agent.Pager, code lookleap.Code, requests int) {
	r.Helper()
	before := len(r.net.Journal().Requests())
	if _, err := g.Next(r.Context(), agent.PageWanted); lookleap.CodeOf(err) != code {
		r.Errorf("%v, want %s", err, code)
	}
	equals(r, len(r.net.Journal().Requests())-before, requests)
}

// TestPagerLoops shows circles that do not look like ones.
func TestPagerLoops(t *testing.T) {
	for _, c := range []struct{ name, again, path string }{
		{"reject-path-escape", "/2%3Bx", "/2;x"},
		{"reject-parameter-order", "/2?b=2&a=1", "/2?a=1&b=2"},
		{"reject-empty-parameter", "/2?a=1&", "/2?a=1"},
		{"reject-empty-query", "/2?", "/2"},
		{"reject-plus", "/2?a=x+y", "/2?a=x%20y"},
	} {
		t.Run("ANML-11.5-08/"+c.name, func(t *testing.T) {
			r := newRetail(t)
			bare, _, _ := strings.Cut(c.path, "?")
			r.serve("shop.example", "/1", strings.ReplaceAll(body("one", c.path), "&", "&amp;"))
			r.serve("shop.example", bare, strings.ReplaceAll(body("two", c.again), "&", "&amp;"))
			g := r.pager("https://shop.example/1")
			next(t, g)
			r.ends(g, agent.CodePageLoop, 0)
		})
	}
	t.Run("ANML-11.5-08/accept-escaped-separator", func(t *testing.T) {
		r := newRetail(t)
		r.serve("shop.example", "/1", body("one", "/2?a=1%26b=2"))
		r.net.Site("shop.example").HandleFunc("/2", func(w http.ResponseWriter, q *http.Request) {
			w.Header().Set("Content-Type", "application/anml+xml")
			_, _ = fmt.Fprint(w, documentOf(body("two "+strings.ReplaceAll(q.URL.RawQuery, "&", " "), "/2?a=1&amp;b=2")))
		})
		g := r.pager("https://shop.example/1")
		next(t, g)
		next(t, g)
	})
	t.Run("ANML-11.5-07/reject-after-equal-content", func(t *testing.T) {
		r := newRetail(t)
		r.serve("shop.example", "/1", body("one", "/2"))
		r.serve("shop.example", "/2", body("one", "/3"))
		g := r.pager("https://shop.example/1")
		r.ends(g, agent.CodePageLoop, 1)
		r.ends(g, agent.CodeNoMorePages, 0)
	})
	for _, c := range []struct{ name, one, two string }{
		{"accept-other-item", `<data id="d"><item><field name="f">1</field></item></data>`, `<data id="d"><item><field name="f">2</field></item></data>`},
		{"accept-other-link", `<link href="/a"/>`, `<link href="/b"/>`},
		{"accept-other-image", `<img src="/a"/>`, `<img src="/b"/>`},
		{"accept-other-audio", `<audio src="/a"/>`, `<audio src="/b"/>`},
		{"accept-other-video", `<video src="/a"/>`, `<video src="/b"/>`},
		{"accept-other-text", `a`, `b`},
		{"accept-other-section", `<section>a</section>`, `<section>b</section>`},
		{"accept-other-inform", `same</body><knowledge><inform>a</inform></knowledge><body>`, `same</body><knowledge><inform>b</inform></knowledge><body>`},
	} {
		t.Run("ANML-11.5-07/"+c.name, func(t *testing.T) {
			page := func(content, nav string) string {
				knowledge := ""
				if before, after, ok := strings.Cut(content, "</body>"); ok {
					content, knowledge = before, strings.TrimSuffix(after, "<body>")
				}
				return `<head><title>T</title></head>` + knowledge + `<body>` + content + nav + `</body>`
			}
			for second, code := range map[string]lookleap.Code{c.two: agent.CodeNoMorePages, c.one: agent.CodePageLoop} {
				r := newRetail(t)
				r.serve("shop.example", "/1", page(c.one, `<nav next="/2"/>`))
				r.serve("shop.example", "/2", page(second, ""))
				g := r.pager("https://shop.example/1")
				if code == agent.CodeNoMorePages {
					next(t, g)
					r.ends(g, code, 0)
				} else {
					r.ends(g, code, 1)
				}
			}
		})
	}
}

// TestPagerBounds shows what keeps a result from being read further.
func TestPagerBounds(t *testing.T) {
	t.Run("ANML-11.5-02/reject-by-another-pager", func(t *testing.T) {
		r := newRetail(t)
		r.options.Limits.Pages = 2
		r.pages(9)
		p := next(t, r.pager("https://shop.example/r?page=1"))
		isError(t, second(p.Pager().Next(t.Context(), agent.PageWanted)), lookleap.ErrConsentRefused)
		equals(t, p.Pager().Pages(), 2)
	})
	t.Run("ANML-11.5-01/reject-two-at-a-time", func(t *testing.T) {
		r := newRetail(t)
		r.serve("shop.example", "/1", body("one", "/2"))
		var g *agent.Pager
		var meanwhile error
		r.net.Site("shop.example").HandleFunc("/2", func(w http.ResponseWriter, q *http.Request) {
			_, meanwhile = g.Next(q.Context(), agent.PageWanted)
			w.Header().Set("Content-Type", "application/anml+xml")
			_, _ = fmt.Fprint(w, documentOf(body("two", "")))
		})
		g = r.pager("https://shop.example/1")
		next(t, g)
		hasCode(t, meanwhile, lookleap.CodeUsage)
		equals(t, g.Pages(), 2)
	})
	for name, to := range map[string]string{"reject-gone": "/.well-known/anml", "reject-redirect-to-gone": "/away"} {
		t.Run("ANML-11.5-08/"+name, func(t *testing.T) {
			r := newRetail(t)
			r.net.Site("shop.example").Status("/.well-known/anml", http.StatusGone).Redirect("/away", "/.well-known/anml")
			hasCode(t, second(r.start().Discover(t.Context(), "https://shop.example")), agent.CodeGone)
			r.serve("shop.example", "/1", body("one", to))
			r.ends(r.pager("https://shop.example/1"), agent.CodeGone, map[string]int{"/away": 1}[to])
		})
	}
	t.Run("ANML-11.5-01/reject-failed-status", func(t *testing.T) {
		r := newRetail(t)
		r.serve("shop.example", "/1", body("one", "/2"))
		r.net.Site("shop.example").HandleFunc("/2", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/anml+xml")
			w.WriteHeader(http.StatusNotFound)
			_, _ = fmt.Fprint(w, documentOf(body("two", "")))
		})
		g := r.pager("https://shop.example/1")
		r.ends(g, lookleap.CodeBadStatus, 1)
		equals(t, g.Pages(), 1)
	})
}

// TestCursor shows whose the name of a place is, and for how long.
func TestCursor(t *testing.T) {
	t.Run("ANML-11.5-08/accept-second-nav", func(t *testing.T) {
		r := newRetail(t)
		r.serve("shop.example", "/1", `<head><title>T</title></head><body>one<nav cursor="first"/><nav next="/2" cursor="second"/></body>`)
		r.serve("shop.example", "/2", body("two", ""))
		g := r.pager("https://shop.example/1")
		equals(t, g.Cursor().Quoted(), `cursor of shop.example, untrusted: "second"`)
		next(t, g)
		if !g.Cursor().Empty() {
			t.Error("a page keeps the cursor of the one before")
		}
	})
	t.Run("ANML-12.7-07/accept-owner-of-cursor", func(t *testing.T) {
		r := newRetail(t).grants(2, "body")
		g := r.open(shopSite + `<site domain="brand.example"><body>one<nav cursor="c"/></body></site>`).Pager()
		equals(t, g.Cursor().Source(), "brand.example")
		r.net.Clock().Set(opening.AddDate(0, 1, 0)) // the authorization is over
		if got := r.openAt("https://shop.example/later", shopSite+`<site domain="brand.example"><body>one<nav cursor="c"/></body></site>`).Pager().Cursor().Source(); got != "shop.example" {
			t.Error(got)
		}
	})
	t.Run("ANML-11.5-04/accept-cursor-resumed", func(t *testing.T) {
		r := newRetail(t)
		r.options.Limits.Pages = 1
		r.pages(3)
		r.asks(lookleaptest.Pending())
		g := r.pager("https://shop.example/r?page=1")
		_, err := g.Next(t.Context(), agent.PageWanted)
		pending := pendingOf(t, err)
		r.session = nil
		on, err := r.start().ResumePager(t.Context(), pending.State, lookleaptest.Decide(pending.Request))
		if err != nil || on.Cursor() != g.Cursor() || on.Cursor().Raw() != "c-1" {
			t.Errorf("%v, %v", err, on.Cursor())
		}
	})
}
