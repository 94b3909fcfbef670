package agent

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/lookleaptest"
)

func TestNoticesOfFailures(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*lookleaptest.Site)
		want  NoticeKind
		code  lookleap.Code
	}{
		"not-well-formed": {func(s *lookleaptest.Site) { s.File("/page", anml.MediaTypeXML, "<anml") }, NoticeInvalid, "unexpected-end"},
		"json":            {func(s *lookleaptest.Site) { s.File("/page", anml.MediaTypeJSON, `{"anml":"1.0","anml":"1.0"}`) }, NoticeInvalid, "json-duplicate-name"},
		"role": {func(s *lookleaptest.Site) {
			s.File("/page", anml.MediaTypeXML, strings.Replace(service(titled), `"service"`, `"x"`, 1))
		}, NoticeInvalid, "role-conflict"},
		"limit": {func(s *lookleaptest.Site) {
			s.File("/page", anml.MediaTypeXML, service(strings.Repeat("<x>", 40)+strings.Repeat("</x>", 40)))
		}, NoticeInvalid, lookleap.CodeLimit},
		"version": {func(s *lookleaptest.Site) {
			s.File("/page", anml.MediaTypeXML, strings.Replace(service(titled), "anml:1.0", "anml:2.0", 1))
		}, NoticeUnsupported, anml.CodeVersion},
		"unreachable": {func(s *lookleaptest.Site) { s.Fault("/page", lookleaptest.Reset()) }, NoticeUnreachable, lookleap.CodeConnReset},
		"401":         {func(s *lookleaptest.Site) { s.Status("/page", 401) }, NoticeAuthRequired, lookleap.CodeBadStatus},
		"500":         {func(s *lookleaptest.Site) { s.Status("/page", 500) }, NoticeServerError, lookleap.CodeBadStatus},
		"502":         {func(s *lookleaptest.Site) { s.Status("/page", 502) }, NoticeServerError, lookleap.CodeBadStatus},
		"503":         {func(s *lookleaptest.Site) { s.Status("/page", 503) }, NoticeUnavailable, lookleap.CodeBadStatus},
		"404":         {func(s *lookleaptest.Site) { s.Status("/page", 404) }, "", lookleap.CodeBadStatus},
		"html":        {func(s *lookleaptest.Site) { s.File("/page", "text/html", "") }, "", lookleap.CodeMediaType},
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
