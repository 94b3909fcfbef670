package agent

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/internal/lab"
)

func TestNoticesOfFailures(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*lab.Site)
		want  NoticeKind
		code  lookleap.Code
	}{
		"not-well-formed": {func(s *lab.Site) { s.Body("/page", anml.MediaTypeXML, "<anml") }, NoticeInvalid, "unexpected-end"},
		"json":            {func(s *lab.Site) { s.Body("/page", anml.MediaTypeJSON, `{"anml":"1.0","anml":"1.0"}`) }, NoticeInvalid, "json-duplicate-name"},
		"role": {func(s *lab.Site) {
			s.Body("/page", anml.MediaTypeXML, strings.Replace(service(titled), `"service"`, `"x"`, 1))
		}, NoticeInvalid, anml.CodeRoleConflict},
		"limit": {func(s *lab.Site) {
			s.Body("/page", anml.MediaTypeXML, service(strings.Repeat("<x>", 40)+strings.Repeat("</x>", 40)))
		}, NoticeInvalid, lookleap.CodeLimit},
		"version": {func(s *lab.Site) {
			s.Body("/page", anml.MediaTypeXML, strings.Replace(service(titled), "anml:1.0", "anml:2.0", 1))
		}, NoticeUnsupported, anml.CodeVersion},
		"unreachable": {func(s *lab.Site) { s.Fault("/page", lab.Reset()) }, NoticeUnreachable, lookleap.CodeConnReset},
		"401":         {func(s *lab.Site) { s.Status("/page", 401) }, NoticeAuthRequired, lookleap.CodeBadStatus},
		"500":         {func(s *lab.Site) { s.Status("/page", 500) }, NoticeServerError, lookleap.CodeBadStatus},
		"502":         {func(s *lab.Site) { s.Status("/page", 502) }, NoticeServerError, lookleap.CodeBadStatus},
		"503":         {func(s *lab.Site) { s.Status("/page", 503) }, NoticeUnavailable, lookleap.CodeBadStatus},
		"404":         {func(s *lab.Site) { s.Status("/page", 404) }, "", lookleap.CodeBadStatus},
		"html":        {func(s *lab.Site) { s.Body("/page", "text/html", "") }, "", lookleap.CodeMediaType},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFinding(t)
			c.spoil(f.site)
			for range 2 {
				p, err := f.s.Open(t.Context(), pageURL)
				hasCode(f, err, c.code)
				if p != nil {
					t.Error("a page")
				}
			}
			switch {
			case c.want == "" && len(f.told) == 0:
			case len(f.told) != 1 || f.told[0].Kind != c.want || f.told[0].Code != c.code || f.told[0].Origin != shopOrigin || f.told[0].Text == "" || !f.told[0].Time.Equal(start):
				t.Errorf("%+v", f.told)
			}
		})
	}
	t.Run("again-after-it-was-reached", func(t *testing.T) {
		f := newFinding(t)
		for range 2 {
			f.site.Status("/page", 500)
			if _, err := f.s.Open(t.Context(), pageURL); err == nil {
				t.Error("no error")
			}
			f.serves("")
			f.opens()
		}
		if len(f.told) != 2 {
			t.Errorf("%+v", f.told)
		}
	})
	t.Run("a-hook-that-panics", func(t *testing.T) {
		f := newFinding(t)
		f.s.user.Notify = nil
		f.site.Status("/page", 500)
		_, err := f.s.Open(t.Context(), pageURL)
		hasCode(f, err, lookleap.CodeBadStatus)
		if len(f.s.Notices()) != 1 {
			t.Error(f.s.Notices())
		}
	})
}

func TestUnavailablePages(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		header []string
		held   time.Duration // 0: for the session
	}{
		"503-with-a-time": {503, []string{"Retry-After", "30"}, 30 * time.Second},
		"429-with-a-time": {429, []string{"Retry-After", "30"}, 30 * time.Second},
		"503":             {503, nil, 0},
		"429":             {429, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFinding(t)
			f.site.Status("/page", c.status, c.header...)
			for range 2 {
				_, err := f.s.Open(t.Context(), pageURL)
				hasCode(f, err, lookleap.CodeBadStatus)
			}
			f.requests("shop.example", "GET /page")
			f.serves("")
			f.net.Clock().Advance(max(c.held-time.Second, 0))
			if _, err := f.s.Open(t.Context(), pageURL); err == nil {
				t.Error("asked too early")
			}
			f.net.Clock().Advance(time.Second)
			if _, err := f.s.Open(t.Context(), pageURL); (err == nil) != (c.held > 0) {
				t.Error(err)
			}
		})
	}
}

func TestOpenIsBounded(t *testing.T) {
	t.Run("octets", func(t *testing.T) {
		f := newFinding(t)
		f.site.Body("/page", anml.MediaTypeXML, service(titled+"<body>"+strings.Repeat("x", 1<<20)+"</body>"))
		_, err := f.s.Open(t.Context(), pageURL)
		hasCode(f, err, lookleap.CodeTooLarge)
	})
	t.Run("bomb", func(t *testing.T) {
		f := newFinding(t)
		f.serves("")
		f.site.Fault("/page", lab.GzipBomb(20))
		_, err := f.s.Open(t.Context(), pageURL)
		hasCode(f, err, lookleap.CodeTooLarge)
	})
	for name, spoil := range map[string]func(*finding){
		"a-server-that-is-slow": func(f *finding) {
			f.site.Handle("/page", document(titled+"<body>"+strings.Repeat("x", 1<<19)+"</body>")).Fault("/page", lab.Slow(time.Minute))
		},
		"automatic-requests-that-hang": func(f *finding) {
			var sites strings.Builder
			for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
				sites.WriteString(`<site domain="` + name + `.example">` + titled + `</site>`)
				f.net.Name("_anml." + name + ".example").Drop()
			}
			f.site.Handle("/page", document(sites.String()))
		},
	} {
		t.Run("ANML-13.7-07/reject-"+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &finding{T: t, net: lab.ForTest(t)} // with a clock that runs
				f.site, f.s = f.net.Site("shop.example"), f.session()
				spoil(f)
				begin := time.Now()
				p, err := f.s.Open(t.Context(), pageURL)
				hasCode(f, err, lookleap.CodeTimeout)
				if took := time.Since(begin); p != nil || took != 30*time.Second {
					t.Errorf("%v after %v", err, took)
				}
			})
		})
	}
	t.Run("cancelled", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := &finding{T: t, net: lab.ForTest(t)}
			f.site, f.s = f.net.Site("shop.example"), f.session()
			f.site.Fault("/page", lab.Mute())
			ctx, cancel := contextWithTimeout(t, time.Second)
			defer cancel()
			_, err := f.s.Open(ctx, pageURL)
			hasCode(f, err, lookleap.CodeCancelled)
			if len(f.told) != 0 {
				t.Errorf("%+v", f.told)
			}
		})
	})
	for raw, want := range map[string]lookleap.Code{
		"": lookleap.CodeNotHTTPS, "shop.example": lookleap.CodeNotHTTPS, "https://": lookleap.CodeBadURL, "https://u@shop.example/": lookleap.CodeUserinfo,
		"https://127.0.0.1/": lookleap.CodeIPHost, "file:///etc/passwd": lookleap.CodeNotHTTPS, "https://shop.example/a/../b": lookleap.CodeDotSegment,
		"https://localhost/": lookleap.CodeSpecialHost, "https://shop.example/" + strings.Repeat("x", 9000): lookleap.CodeURLTooLong,
	} {
		t.Run("url-"+string(want)+"-"+raw[:min(len(raw), 30)], func(t *testing.T) {
			f := newFinding(t)
			_, err := f.s.Open(t.Context(), raw)
			hasCode(f, err, want)
			_, err = f.s.Discover(t.Context(), raw)
			hasCode(f, err, want)
		})
	}
}

// TestToldOnceAmongMany: what was told long ago is forgotten before what is met all
// the time.
func TestToldOnceAmongMany(t *testing.T) {
	s := newSession(t, newLab(t), User{}, Options{})
	told := 0
	s.user.Notify = func(_ context.Context, n Notice) {
		if n.Text == "often" {
			told++
		}
	}
	for i := range 2 * maxNotices {
		s.notices.tellOnce(t.Context(), fmt.Sprint("before ", i), Notice{Text: "flood"})
	}
	for i := range 3 * maxNotices {
		s.notices.tellOnce(t.Context(), fmt.Sprint(i), Notice{Text: "flood"})
		s.notices.tellOnce(t.Context(), "often", Notice{Text: "often"})
	}
	if told != 1 || s.notices.said.Len() > maxNotices {
		t.Errorf("told %d times, %d keys", told, s.notices.said.Len())
	}
}

// TestNoticesOfMany: a service that causes many notices displaces only its own, and the newest stay.
func TestNoticesOfMany(t *testing.T) {
	flooded := func(t *testing.T, origins int) *Session {
		s := newSession(t, newLab(t), User{}, Options{})
		s.notices.tell(t.Context(), Notice{Origin: "https://shop.example", Text: "first"})
		for i := range 2 * maxNotices {
			s.notices.tell(t.Context(), Notice{Origin: fmt.Sprint("https://evil", i%origins, ".example"), Text: fmt.Sprint(i)})
		}
		return s
	}
	t.Run("O05/accept-earlier-notice-of-another", func(t *testing.T) {
		list := flooded(t, 1).Notices()
		if len(list) != 1+maxNoticesOf || list[0].Text != "first" || list[1].Text != fmt.Sprint(2*maxNotices-maxNoticesOf) {
			t.Errorf("%d notices, %+v", len(list), list[:2])
		}
	})
	t.Run("O05/accept-later-notice-of-another", func(t *testing.T) {
		s := flooded(t, maxNotices)
		s.notices.tell(t.Context(), Notice{Origin: "https://shop.example", Text: "last"})
		if list := s.Notices(); len(list) != maxNotices || list[len(list)-1].Text != "last" {
			t.Errorf("%d notices, the last is %+v", len(list), list[len(list)-1])
		}
	})
}

func TestDomainsIn(t *testing.T) {
	for text, want := range map[string]string{
		"see brand.example, brand.example": "brand.example", "a-b.example": "a-b.example", "cafe\u0301.example": "xn--caf-dma.example",
		"shop1.example": "shop1.example", "plain words ...": "", "brand [dot] example": "brand.example", "-brand.example.": "brand.example", "10.0.0.1": "",
	} {
		if got := strings.Join(domainsIn(text), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
