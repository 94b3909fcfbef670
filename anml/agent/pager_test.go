package agent_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml/agent"
	"github.com/lookleap/lookleap/internal/lab"
	"github.com/lookleap/lookleap/internal/lab/labprompt"
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
	if err != nil {
		r.Fatal(err)
	}
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
		if _, err := g.Next(t.Context(), agent.PageUnasked); lookleap.CodeOf(err) != lookleap.CodeUsage {
			t.Error(err)
		}
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
			if _, err := g.Next(t.Context(), why); lookleap.CodeOf(err) != agent.CodeNoMorePages {
				t.Error(err)
			}
		})
	}
	t.Run("ANML-11.5-02/reject-eleventh", func(t *testing.T) {
		r := newRetail(t)
		r.pages(30)
		user := r.asks(labprompt.Deny())
		g := r.pager(first)
		for range 9 {
			if _, err := g.Next(t.Context(), agent.PageWanted); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := g.Next(t.Context(), agent.PageWanted); !errors.Is(err, lookleap.ErrConsentRefused) {
			t.Error(err)
		}
		if n := len(r.net.Journal().Requests("shop.example")); n != 10 {
			t.Errorf("%d requests", n)
		}
		asked := user.Requests()
		if len(asked) != 1 || asked[0].Kind != lookleap.ConsentRead || !strings.Contains(asked[0].Summary, "pages 11 to 20") || !strings.Contains(asked[0].Summary, "250") {
			t.Errorf("%+v", asked)
		}
	})
	t.Run("ANML-11.5-02/reject-no-prompter", func(t *testing.T) {
		r := newRetail(t)
		r.options.Limits.Pages = 1
		r.pages(3)
		if _, err := r.pager(first).Next(t.Context(), agent.PageNeeded); !errors.Is(err, lookleap.ErrConsentRefused) {
			t.Error(err)
		}
		r.gets("shop.example", "GET /r?page=1")
	})
	t.Run("ANML-11.5-04/accept-ten-more", func(t *testing.T) {
		r := newRetail(t)
		r.pages(30)
		user := r.asks(labprompt.Approve(), labprompt.Deny())
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
		r.asks(labprompt.Pending())
		g := r.pager(first)
		_, _ = g.Next(t.Context(), agent.PageWanted)
		_, err := g.Next(t.Context(), agent.PageWanted)
		var pending *lookleap.PendingError
		if !errors.As(err, &pending) {
			t.Fatal(err)
		}
		r.session = nil // another process
		on, err := r.start().ResumePager(t.Context(), pending.State, labprompt.Decide(pending.Request))
		if err != nil {
			t.Fatal(err)
		}
		p, err := on.Next(t.Context(), agent.PageWanted)
		if err != nil || !strings.Contains(p.Document().Body().Text(), "entry 3") {
			t.Errorf("%v", err)
		}
		if _, err := r.start().ResumePager(t.Context(), pending.State, labprompt.Decide(pending.Request)); !errors.Is(err, lookleap.ErrAlreadyDone) {
			t.Errorf("replayed: %v", err)
		}
	})
	t.Run("ANML-11.5-04/reject-other-plan", func(t *testing.T) {
		r := newRetail(t)
		user := r.asks(labprompt.Pending())
		p := r.open(`<interact><action id="a" method="POST" endpoint="/a" confirm="true"/></interact>`)
		_, err := p.Do(t.Context(), agent.Call{Action: "a"})
		var pending *lookleap.PendingError
		if !errors.As(err, &pending) || len(user.Requests()) != 1 {
			t.Fatal(err)
		}
		if _, err := r.start().ResumePager(t.Context(), pending.State, labprompt.Decide(pending.Request)); lookleap.CodeOf(err) != lookleap.CodePlanInvalid {
			t.Error(err)
		}
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
				second := documentOf(body("two", c.second))
				r.net.Site("shop.example").Body("/2", "application/anml+xml", second)
				r.serve("shop.example", "/copy", body("two", "/yet-another"))
				r.net.Site("shop.example").Redirect("/redirect", "/1").Redirect("/away", "https://other.example/3")
				r.serve("other.example", "/3", body("three", ""))
				g := r.pager("https://shop.example/1")
				if _, err := g.Next(t.Context(), agent.PageWanted); err != nil {
					t.Fatal(err)
				}
				before := len(r.net.Journal().Requests())
				_, err := g.Next(t.Context(), agent.PageWanted)
				if lookleap.CodeOf(err) != c.code {
					t.Errorf("%v, want %s", err, c.code)
				}
				most := 0
				if strings.Contains(c.name, "redirect") || c.name == "reject-same-content" {
					most = 1
				}
				if n := len(r.net.Journal().Requests()) - before; n != most {
					t.Errorf("%d more requests", n)
				}
				r.gets("other.example")
			})
		}
	}
	t.Run("ANML-11.5-08/reject-first-url-before-redirect", func(t *testing.T) {
		r := newRetail(t)
		r.net.Site("shop.example").Redirect("/start", "/1")
		r.serve("shop.example", "/1", body("one", "/start"))
		g := r.pager("https://shop.example/start")
		if _, err := g.Next(t.Context(), agent.PageWanted); lookleap.CodeOf(err) != agent.CodePageLoop {
			t.Error(err)
		}
	})
	t.Run("ANML-11.5-08/accept-nested-nav", func(t *testing.T) {
		r := newRetail(t)
		r.serve("shop.example", "/1", `<head><title>T</title></head><body><section label="s">one<nav next="2"/></section></body>`)
		r.serve("shop.example", "/2", body("two", ""))
		if _, err := r.pager("https://shop.example/1").Next(t.Context(), agent.PageWanted); err != nil {
			t.Error(err)
		}
	})
	t.Run("K16/reject-cursor-only", func(t *testing.T) {
		r := newRetail(t)
		r.serve("shop.example", "/1", `<head><title>T</title></head><body>one<nav cursor="abc"/></body>`)
		g := r.pager("https://shop.example/1")
		if g.More() || g.Cursor().Raw() != "abc" {
			t.Error(g.Cursor())
		}
		if _, err := g.Next(t.Context(), agent.PageWanted); lookleap.CodeOf(err) != agent.CodeNoMorePages {
			t.Error(err)
		}
	})
	for _, c := range []struct{ name, total, want string }{
		{"accept-number", "250", "250"},
		{"reject-negative", "-1", "0"},
		{"reject-huge", "1000000000000000000", "0"},
		{"reject-word", "many", "0"},
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
	t.Run("ANML-11.5-01/accept-again-after-failure", func(t *testing.T) {
		r := newRetail(t)
		r.serve("shop.example", "/1", body("one", "/2"))
		r.serve("shop.example", "/2", body("two", ""))
		r.net.Site("shop.example").Fault("/2", lab.Replace("<"))
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
