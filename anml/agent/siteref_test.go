package agent_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anml/agent"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/lookleaptest"
)

// ref is a site-ref.
func ref(domain, canonical string) string {
	return `<site-ref domain="` + domain + `" canonical="` + canonical + `" relationship="carries-products"/>`
}

func head(inner string) string { return `<head><title>T</title>` + inner + `</head>` }

// known lists the site-refs of a page: "domain known" or "domain code".
func known(p *agent.Page) string {
	var out []string
	for _, r := range p.SiteRefs() {
		switch cause := errors.Unwrap(r.Err); {
		case r.Page != nil && r.Err == nil:
			out = append(out, r.Domain+" known")
		case lookleap.CodeOf(r.Err) != agent.CodeSiteUnknown || r.Page != nil:
			out = append(out, r.Domain+" "+fmt.Sprint(r.Err))
		case cause == nil:
			out = append(out, r.Domain+" unknown")
		default:
			out = append(out, r.Domain+" "+string(lookleap.CodeOf(cause)))
		}
	}
	return strings.Join(out, ", ")
}

func TestSiteRefs(t *testing.T) {
	const own = "<head><title>Own</title></head><aesthetic><display-name>A</display-name></aesthetic>"
	for _, c := range []struct {
		ids, name, refs string
		prepare         func(*retail)
		want            string
	}{
		{"ANML-12.6-05", "accept-three-in-order", ref("a.example", "https://a.example/anml") + ref("b.example", "https://b.example/anml") + ref("c.example", "https://c.example/anml"), nil,
			"a.example known, b.example known, c.example known"},
		{"ANML-12.6-04 H22", "reject-foreign-host", ref("a.example", "https://evil.example/anml"), nil, "a.example foreign-site"},
		{"ANML-12.6-04", "accept-host-below", ref("a.example", "https://www.a.example/anml"), nil, "a.example known"},
		{"ANML-12.6-04", "accept-the-host-itself", ref("www.a.example", "https://www.a.example/anml"), nil, "www.a.example known"},
		{"H22", "reject-http", ref("a.example", "http://a.example/anml"), nil, ""},
		{"H22", "reject-other-name", ref("a.example", "https://evil.example/a.example/anml"), nil, "a.example foreign-site"},
		{"H22", "accept-same-host", ref("a.example", "https://a.example/anml"), nil, "a.example known"},
		{"ANML-12.6-04 H22", "reject-sibling", ref("shop.a.example", "https://www.a.example/anml"), nil, "shop.a.example foreign-site"},
		{"ANML-12.6-04 H22", "reject-parent", ref("www.a.example", "https://a.example/anml"), nil, "www.a.example foreign-site"},
		{"ANML-12.6-04 ANML-12.6-08 H22", "reject-redirect-away", ref("a.example", "https://a.example/anml"), func(r *retail) {
			r.net.Site("a.example").Redirect("/anml", "https://evil.example/anml")
		}, "a.example foreign-site"},
		{"ANML-12.6-04", "accept-redirect-within", ref("a.example", "https://a.example/anml"), func(r *retail) {
			r.net.Site("a.example").Redirect("/anml", "https://www.a.example/anml")
		}, "a.example known"},
		{"ANML-12.6-08", "reject-404", ref("a.example", "https://a.example/none"), nil, "a.example bad-status"},
		{"ANML-12.6-08", "reject-503", ref("a.example", "https://a.example/anml"), func(r *retail) { r.net.Site("a.example").Status("/anml", 503) }, "a.example bad-status"},
		{"ANML-12.6-08", "reject-certificate", ref("a.example", "https://a.example/anml"), func(r *retail) { r.net.Site("a.example").Certificate(lookleaptest.CertificateWrongName) }, "a.example tls"},
		{"ANML-12.6-08", "reject-html", ref("a.example", "https://a.example/anml"), func(r *retail) {
			r.net.Site("a.example").File("/anml", "text/html", `<link rel="alternate" type="application/anml+xml" href="/other">`)
		}, "a.example media-type"},
		{"ANML-12.6-08", "reject-unreadable", ref("a.example", "https://a.example/anml"), func(r *retail) { r.net.Site("a.example").File("/anml", anml.MediaTypeXML, "<anml") }, "a.example unexpected-end"},
		{"ANML-12.6-08", "reject-same-again", ref("a.example", "https://a.example/none") + ref("a.example", "https://a.example/none"), nil, "a.example bad-status, a.example bad-status"},
		{"ANML-12.6-08", "accept-others-go-on", ref("a.example", "https://a.example/none") + ref("b.example", "https://b.example/anml"), nil, "a.example bad-status, b.example known"},
		{"ANML-12.6-06", "reject-sixth", func() (all string) {
			for i := range 7 {
				all += ref("a.example", fmt.Sprintf("https://a.example/%d", i))
			}
			return all
		}(), func(r *retail) {
			for i := range 7 {
				r.serve("a.example", fmt.Sprintf("/%d", i), own)
			}
		}, strings.Repeat("a.example known, ", 5) + "a.example limit, a.example limit"},
		{"ANML-12.6-06", "reject-over-budget", ref("a.example", "https://a.example/anml") + ref("b.example", "https://b.example/anml"), func(r *retail) { r.options.Limits.Requests = 1 },
			"a.example known, b.example budget"},
	} {
		for _, id := range strings.Fields(c.ids) {
			t.Run(id+"/"+c.name, func(t *testing.T) {
				r := newRetail(t)
				for _, host := range []string{"a.example", "b.example", "c.example", "www.a.example", "evil.example"} {
					r.serve(host, "/anml", own)
				}
				if c.prepare != nil {
					c.prepare(r)
				}
				equals(t, known(r.open(head(c.refs))), c.want)
				r.gets("evil.example")
				switch c.name {
				case "reject-never", "reject-http":
					r.gets("a.example")
				case "reject-same-again":
					r.gets("a.example", "GET /none")
				case "reject-sixth":
					equals(t, r.findings("ANML-12.6-06"), 2)
				}
				if strings.Contains(c.want, "foreign-site") && r.findings("ANML-12.6-04") != 1 {
					t.Error("no finding")
				}
			})
		}
	}
	t.Run("ANML-12.6-05/accept-anonymous", func(t *testing.T) {
		r := newRetail(t)
		r.user.Language = "de"
		r.net.Site("a.example").HandleFunc("/anml", func(w http.ResponseWriter, q *http.Request) {
			w.Header().Set("Set-Cookie", "id=1")
			w.Header().Set("Content-Type", anml.MediaTypeXML)
			_, _ = w.Write([]byte(documentOf(own)))
		})
		r.open(head(ref("a.example", "https://a.example/anml")))
		r.openAt("https://shop.example/two", head(ref("a.example", "https://a.example/anml")))
		seen := r.net.Journal().Requests("a.example")
		equals(t, len(seen), 2)
		for _, q := range seen {
			for _, name := range []string{"Cookie", "Authorization", "Referer", "Origin", "Accept-Language"} {
				equals(t, q.Header.Get(name), "")
			}
		}
	})
	t.Run("ANML-12.6-05/accept-equal-once", func(t *testing.T) {
		r := newRetail(t)
		r.serve("a.example", "/anml", own)
		p := r.open(head(ref("a.example", "https://a.example/anml") + ref("a.example", "HTTPS://A.example:443/anml")))
		equals(t, known(p), "a.example known, a.example known")
		r.gets("a.example", "GET /anml")
	})
	t.Run("ANML-12.6-05/accept-sites", func(t *testing.T) {
		r := newRetail(t)
		r.serve("a.example", "/anml", own)
		p := r.open(`<site domain="shop.example">` + head("") + `</site><site domain="brand.example">` + head(ref("a.example", "https://a.example/anml")) + `</site>`)
		equals(t, known(p), "a.example known")
	})
	t.Run("ANML-12.6-07/accept-same-set", func(t *testing.T) {
		var first []string
		for _, u := range []agent.User{{}, {Language: "de", Profile: agent.Fields{"email": {Text: "u@example.com"}}}} {
			r := newRetail(t)
			r.user = u
			r.serve("a.example", "/anml", own)
			r.open(head(ref("a.example", "https://a.example/anml")))
			got := r.net.Journal().Paths("a.example")
			if first == nil {
				first = got
			}
			equals(t, len(got), 1)
			equals(t, fmt.Sprint(got), fmt.Sprint(first))
		}
	})
	t.Run("ANML-12.6-06/accept-budget-of-trust-first", func(t *testing.T) {
		r := newRetail(t).grants(2, "knowledge")
		r.options.Limits.Requests = 1
		r.serve("a.example", "/anml", own)
		p := r.open(shopSite + `<site domain="brand.example">` + head(ref("a.example", "https://a.example/anml")) + `<knowledge><inform>x</inform></knowledge></site>`)
		r.says(p, "brand.example", "knowledge", "brand.example", 2)
		equals(t, known(p), "a.example budget")
	})
	t.Run("ANML-12.6-08/reject-timeout", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRetailOn(t, lookleaptest.ForTest(t))
			r.serve("a.example", "/anml", own)
			r.net.Site("a.example").Fault("/anml", lookleaptest.Mute())
			equals(t, known(r.open(head(ref("a.example", "https://a.example/anml")))), "a.example timeout")
		})
	})
	t.Run("ANML-12.6-09/reject-stale-copy", func(t *testing.T) {
		r := newRetail(t)
		cached := lookleaptest.Wrap(func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
				w.Header().Set("Cache-Control", "max-age=60, stale-while-revalidate=3600, stale-if-error=3600")
				next.ServeHTTP(w, q)
			})
		})
		r.serve("a.example", "/anml", own)
		r.net.Site("a.example").Fault("/anml", cached)
		must(t, second(r.start().Open(t.Context(), "https://a.example/anml")))
		refs := head(ref("a.example", "https://a.example/anml"))
		r.net.Site("a.example").Status("/anml", 500)
		p := r.openAt("https://shop.example/one", refs)
		if got := known(p); got != "a.example known" { // a fresh copy counts as fetched
			t.Error(got)
		}
		r.net.Clock().Advance(2 * time.Minute)
		p = r.openAt("https://shop.example/two", refs)
		equals(t, known(p), "a.example bad-status")
		if p.Aesthetic("a.example").Exists() || p.Persona("a.example").Quoted() != "" {
			t.Error("an unknown site has an identity")
		}
	})
	for _, id := range []string{"ANML-12.6-10", "H23"} {
		t.Run(id+"/reject-recursion", func(t *testing.T) {
			r := newRetail(t)
			r.serve("a.example", "/anml", head(ref("b.example", "https://b.example/anml")+ref("shop.example", shopURL)))
			r.serve("b.example", "/anml", head(ref("a.example", "https://a.example/anml")))
			p := r.open(head(ref("a.example", "https://a.example/anml")))
			if len(p.SiteRefs()) != 1 || len(p.SiteRefs()[0].Page.SiteRefs()) != 0 {
				t.Error("followed further")
			}
			r.gets("b.example")
			r.gets("shop.example", "GET /anml")
		})
	}
	t.Run("H23/reject-ten-thousand", func(t *testing.T) {
		r := newRetail(t)
		r.serve("a.example", "/anml", own)
		var refs strings.Builder
		for i := range 10_000 {
			refs.WriteString(ref("a.example", fmt.Sprintf("https://a.example/anml?%d", i)))
		}
		r.serve("shop.example", "/anml", head(refs.String()))
		p, err := r.start().Open(t.Context(), shopURL)
		if err == nil && !strings.HasPrefix(known(p), strings.Repeat("a.example known, ", 5)+"a.example limit") {
			t.Error("accepted otherwise")
		}
		if n := len(r.net.Journal().Requests("a.example")); n > 5 {
			t.Errorf("%d requests", n)
		}
	})
	t.Run("ANML-12.6-12/accept-tier-3", func(t *testing.T) {
		r := newRetail(t)
		r.serve("a.example", "/anml", everything("a.example")+everything("brand.example"))
		page := r.open(head(ref("a.example", "https://a.example/anml"))).SiteRefs()[0].Page
		r.says(page, "a.example", "persona", "a.example", 3)
		r.says(page, "brand.example", "persona", "", 0)
		equals(t, page.ServingDomain(), "a.example")
	})
	for _, id := range []string{"ANML-12.6-13", "ANML-12.8-10"} {
		t.Run(id+"/reject-raised", func(t *testing.T) {
			r := newRetail(t)
			r.serve("brand.example", "/anml", everything("brand.example"))
			p := r.open(shopSite + `<site domain="brand.example"><head><title>T</title>` + ref("brand.example", "https://brand.example/anml") + `</head><persona><tone value="formal"/></persona><knowledge><inform>x</inform></knowledge></site>`)
			equals(t, known(p), "brand.example known")
			r.says(p, "brand.example", "persona", "", 0)
			r.says(p, "brand.example", "knowledge", "", 0)
			if !p.Persona("brand.example").Tone.Empty() || p.Aesthetic("brand.example").Exists() {
				t.Error("the referring document borrowed an identity")
			}
			if owner, a := p.Owner(siteOf(p, "brand.example"), anmltrust.Interact); a == anmltrust.OfSite {
				t.Error(owner.Domain)
			}
			for _, d := range p.Decide(t.Context()) {
				t.Errorf("an ask of another document is decided here: %s", d.Field)
			}
		})
	}
}

// TestSiteRefMemory shows that what a session remembers opens no way around the
// rules of site-refs.
func TestSiteRefMemory(t *testing.T) {
	const own = "<head><title>Own</title></head><aesthetic><display-name>A</display-name></aesthetic>"
	kept := lookleaptest.Wrap(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			w.Header().Set("Cache-Control", "max-age=3600")
			next.ServeHTTP(w, q)
		})
	})
	for _, c := range []struct{ name, first, then, want string }{
		{"reject-kept-of-another", "https://evil.example/anml", "https://a.example/anml", "a.example foreign-site"},
		{"reject-kept-by-way-of-another", "https://evil.example/hop", "https://a.example/two", "a.example foreign-site"},
		{"accept-kept-within", "https://www.a.example/anml", "", "a.example known"},
	} {
		for _, id := range []string{"ANML-12.6-04", "H22"} {
			t.Run(id+"/"+c.name, func(t *testing.T) {
				r := newRetail(t)
				for _, host := range []string{"a.example", "www.a.example", "evil.example"} {
					for _, path := range []string{"/anml", "/two"} {
						r.serve(host, path, own)
						r.net.Site(host).Fault(path, kept)
					}
				}
				// only what permanent redirects lead to is kept
				r.net.Site("a.example").Handle("/start", http.RedirectHandler(c.first, http.StatusMovedPermanently)).Fault("/start", kept)
				r.net.Site("evil.example").Handle("/hop", http.RedirectHandler(c.then, http.StatusMovedPermanently)).Fault("/hop", kept)
				before, err := r.start().Open(t.Context(), "https://a.example/start")
				must(t, err)
				if again, err := r.start().Open(t.Context(), "https://a.example/start"); err != nil || again != before {
					t.Fatalf("not kept: %v", err)
				}
				p := r.open(head(ref("a.example", "https://a.example/start")))
				equals(t, known(p), c.want)
				if c.name == "accept-kept-within" && p.SiteRefs()[0].Page != before {
					t.Error("it was requested again")
				}
			})
		}
	}
	t.Run("ANML-12.6-04/reject-same-url-for-another", func(t *testing.T) {
		r := newRetail(t)
		r.serve("a.example", "/anml", own)
		r.net.Site("www.a.example").Redirect("/anml", "https://a.example/anml")
		p := r.open(head(ref("a.example", "https://www.a.example/anml") + ref("www.a.example", "https://www.a.example/anml")))
		equals(t, known(p), "a.example known, www.a.example foreign-site")
	})
	for name, canonical := range map[string]string{"reject-gone": "https://a.example/.well-known/anml", "reject-redirect-to-gone": "https://a.example/away"} {
		t.Run("ANML-12.6-08/"+name, func(t *testing.T) {
			r := newRetail(t)
			r.net.Site("a.example").Status("/.well-known/anml", http.StatusGone).Redirect("/away", "/.well-known/anml")
			hasCode(t, second(r.start().Discover(t.Context(), "https://a.example")), agent.CodeGone)
			r.net.Journal().Clear()
			equals(t, known(r.open(head(ref("a.example", canonical)))), "a.example gone")
			for _, path := range r.net.Journal().Paths("a.example") {
				if path == "GET /.well-known/anml" {
					t.Error("what is gone was asked for")
				}
			}
		})
	}
	t.Run("ANML-12.6-08/reject-plain-http", func(t *testing.T) {
		r := newRetail(t)
		r.net.Site("a.example").Plain().Redirect("/anml", "http://a.example/plain")
		r.serve("a.example", "/plain", own)
		p := r.open(head(ref("a.example", "https://a.example/anml") + ref("a.example", "http://a.example/plain")))
		equals(t, known(p), "a.example not-https")
		for _, s := range p.SiteRefs() {
			if s.Page != nil {
				t.Error("read over plain http")
			}
		}
		for _, path := range r.net.Journal().Paths("a.example") {
			if path == "GET /plain" {
				t.Error("asked for over plain http")
			}
		}
	})
	t.Run("ANML-12.6-06/reject-budget-of-its-own", func(t *testing.T) {
		r := newRetail(t).grants(2, "persona")
		r.options.Limits.Requests = 1
		r.serve("a.example", "/anml", everything("brand.example"))
		page := r.open(head(ref("a.example", "https://a.example/anml"))).SiteRefs()[0].Page
		for _, a := range page.Explain().Assertions {
			equals(t, a.Reason, lookleap.CodeBudget)
		}
		r.gets("brand.example")
	})
	t.Run("ANML-12.6-12/accept-well-known", func(t *testing.T) {
		r := newRetail(t)
		r.serve("a.example", "/.well-known/anml", `<head><title>T</title></head><interact><action id="a" method="POST" endpoint="https://other.example/a"/></interact>`)
		page := r.open(head(ref("a.example", "https://a.example/.well-known/anml"))).SiteRefs()[0].Page
		if list := page.Findings(); len(list) != 1 || list[0].Code != agent.CodeImpersonation {
			t.Errorf("%v", list)
		}
	})
	t.Run("ANML-12.6-08/reject-all-too-slow", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRetailOn(t, lookleaptest.ForTest(t))
			r.options.Limits.Time = 10 * time.Second
			r.net.Site("a.example").Fault("*", lookleaptest.Mute())
			before := time.Now() // of the bubble
			p := r.open(head(ref("a.example", "https://a.example/1") + ref("a.example", "https://a.example/2")))
			equals(t, known(p), "a.example timeout, a.example timeout")
			for _, s := range p.SiteRefs() {
				hasTexts(t, s.Err.Error(), "the documents of site-refs took too long")
			}
			equals(t, time.Since(before), 5*time.Second)
		})
	})
}

// TestSiteRefIsNotMerged: the document of a site-ref stays one of its own.
func TestSiteRefIsNotMerged(t *testing.T) {
	open := func(t *testing.T) (referring, referred *agent.Page) {
		r := newRetail(t)
		r.serve("a.example", "/anml", allSections)
		referring = r.open(head(ref("a.example", "https://a.example/anml")))
		return referring, referring.SiteRefs()[0].Page
	}
	t.Run("ANML-12.6-12/accept-tier-3-of-a-single-site", func(t *testing.T) {
		_, p := open(t)
		if parties := p.Parties(); len(parties) != 1 || parties[0].Domain != "a.example" || !parties[0].Serving || parties[0].Tier != anmltrust.Self {
			t.Errorf("%+v", parties)
		}
		if len(p.Tools()) != 1 || len(p.Decide(t.Context())) != 2 || p.Persona("a.example").Tone.Raw() != "formal" {
			t.Error("the site does not speak for itself")
		}
	})
	t.Run("ANML-12.6-13/reject-merged", func(t *testing.T) {
		p, _ := open(t)
		if n := len(p.Tools()) + len(p.Decide(t.Context())) + len(p.Media()); n != 0 {
			t.Errorf("%d parts of the other document", n)
		}
		for _, domain := range []string{"shop.example", "a.example"} {
			if !p.Persona(domain).Tone.Empty() || p.Aesthetic(domain).Exists() {
				t.Errorf("%s has the identity of the other document", domain)
			}
		}
		if parties := p.Parties(); len(parties) != 1 || parties[0].Domain != "shop.example" {
			t.Errorf("%+v", parties)
		}
		for _, a := range p.Explain().Assertions {
			equals(t, a.Section, anmltrust.Head)
		}
	})
}
