package fetch_test

import (
	"net/http"
	"testing"

	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/fetch"
)

func answer(t testing.TB, url string, status int, lines ...string) *fetch.Response {
	t.Helper()
	u, err := domain.Rules{}.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	return &fetch.Response{Status: status, Header: header(lines...), URL: u, Received: noon}
}

func TestValidator(t *testing.T) {
	const url, other = "https://shop.example/a", "https://shop.example/b"
	const old, young = "Last-Modified: Sun, 01 Mar 2026 00:00:00 GMT", "Last-Modified: Mon, 02 Mar 2026 00:00:00 GMT"
	both := []string{`ETag: "1"`, old}
	for name, test := range map[string]struct {
		kept   []string
		at     string
		status int
		says   []string
		want   bool
	}{
		"accept-same-tag":              {both, url, 304, []string{`ETag: "1"`}, true},
		"accept-no-tag":                {both, url, 304, nil, true},
		"accept-weaker-tag":            {both, url, 304, []string{`ETag: W/"1"`}, true},
		"accept-weak-tag":              {[]string{`ETag: W/"1"`}, url, 304, []string{`ETag: W/"1"`}, true},
		"accept-same-date":             {[]string{old}, url, 304, []string{old}, true},
		"accept-same-date-in-old-form": {[]string{old}, url, 304, []string{"Last-Modified: Sun Mar  1 00:00:00 2026"}, true},
		"accept-same-tag-other-date":   {both, url, 304, []string{`ETag: "1"`, young}, true},
		"accept-date-next-to-a-tag":    {[]string{`ETag: "1"`}, url, 304, []string{old}, true},
		"reject-other-url":             {both, other, 304, []string{`ETag: "1"`}, false},
		"reject-other-tag":             {both, url, 304, []string{`ETag: "2"`}, false},
		"reject-other-weak-tag":        {both, url, 304, []string{`ETag: W/"2"`}, false},
		"reject-strong-for-weak":       {[]string{`ETag: W/"1"`}, url, 304, []string{`ETag: "1"`}, false},
		"reject-two-tags":              {both, url, 304, []string{`ETag: "1"`, `ETag: "1"`}, false},
		"reject-list-of-tags":          {both, url, 304, []string{`ETag: "1", "2"`}, false},
		"reject-tag-for-date":          {[]string{old}, url, 304, []string{`ETag: "1"`}, false},
		"reject-other-date":            {[]string{old}, url, 304, []string{young}, false},
		"reject-bad-date":              {[]string{old}, url, 304, []string{"Last-Modified: now"}, false},
		"reject-nothing-asked":         {nil, url, 304, nil, false},
		"reject-200":                   {both, url, 200, []string{`ETag: "1"`}, false},
	} {
		t.Run("O21/"+name, func(t *testing.T) {
			v := answer(t, url, 200, test.kept...).Validator()
			if got := v.Confirms(answer(t, test.at, test.status, test.says...)); got != test.want {
				t.Errorf("%v by %+v", got, v)
			}
		})
	}
	t.Run("O21/reject-after-redirect-that-dropped-the-question", func(t *testing.T) {
		r := answer(t, url, 304, `ETag: "1"`)
		from, _ := domain.Rules{}.Parse("https://other.example/")
		r.Hops = []fetch.Hop{{From: from, To: r.URL, Status: 302}}
		if answer(t, url, 200, both...).Validator().Confirms(r) {
			t.Error("confirmed")
		}
	})
	t.Run("O21/accept-after-redirect-of-its-origin", func(t *testing.T) {
		r := answer(t, url, 304, `ETag: "1"`)
		from, _ := domain.Rules{}.Parse("https://shop.example/old")
		r.Hops = []fetch.Hop{{From: from, To: r.URL, Status: 302}}
		if !answer(t, url, 200, both...).Validator().Confirms(r) {
			t.Error("not confirmed")
		}
	})
	t.Run("O21/reject-what-no-response-had", func(t *testing.T) {
		if (fetch.Validator{}).Confirms(&fetch.Response{Status: 304, Header: http.Header{}}) {
			t.Error("nothing is confirmed")
		}
		const first = "Mon, 01 Jan 0001 00:00:00 GMT" // the zero time
		for _, dates := range [][2]string{{"today", "now"}, {"today", first}, {first, "now"}} {
			if (fetch.Validator{URL: url, Modified: dates[0]}).Confirms(answer(t, url, 304, "Last-Modified: "+dates[1])) {
				t.Errorf("%q is confirmed by %q", dates[0], dates[1])
			}
		}
	})
	t.Run("O21/accept-sending-both", func(t *testing.T) {
		h := http.Header{}
		answer(t, url, 200, both...).Validator().Ask(h)
		if h.Get("If-None-Match") != `"1"` || h.Get("If-Modified-Since") != "Sun, 01 Mar 2026 00:00:00 GMT" || len(h) != 2 {
			t.Errorf("%v", h)
		}
	})
	for name, line := range map[string]string{
		"star": "ETag: *", "bare": "ETag: 1", "list": `ETag: "1", "2"`, "open": `ETag: "1`, "lower-weak": `ETag: w/"1"`, "blank": `ETag: "1 2"`, "date": "Last-Modified: yesterday",
	} {
		t.Run("O21/reject-sending-"+name, func(t *testing.T) {
			h := http.Header{}
			answer(t, url, 200, line).Validator().Ask(h)
			if len(h) != 0 {
				t.Errorf("%v", h)
			}
		})
	}
}

func FuzzValidator(f *testing.F) {
	f.Add(`"1"`, `W/"1"`, "Sun, 01 Mar 2026 00:00:00 GMT")
	f.Add("*", `"`, "Sunday, 01-Mar-26 00:00:00 GMT")
	f.Fuzz(func(t *testing.T, kept, says, date string) {
		r := answer(t, "https://shop.example/a", 200)
		r.Header = http.Header{"Etag": {kept}, "Last-Modified": {date}}
		v := r.Validator()
		h := http.Header{}
		v.Ask(h)
		if tag := h.Get("If-None-Match"); tag != "" && tag != kept {
			t.Errorf("asks by %q for %q", tag, kept)
		}
		again := answer(t, "https://shop.example/a", 304)
		again.Header = http.Header{"Etag": {says}}
		if v.Confirms(again) && says != v.ETag && says != "W/"+v.ETag {
			t.Errorf("%q confirms %q", says, v.ETag)
		}
	})
}
