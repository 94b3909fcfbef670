package fetch_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap/internal/fetch"
)

// header reads "Name: value" lines.
func header(lines ...string) http.Header {
	h := make(http.Header)
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ": ")
		h.Add(name, value)
	}
	return h
}

func TestFreshness(t *testing.T) {
	tests := []struct {
		name   string
		header http.Header
		want   time.Duration // that is left, between 0 and a day, an hour where nothing is stated
	}{
		{"K23/accept-max-age", header("Cache-Control: max-age=60"), time.Minute},
		{"K23/accept-max-age-with-others", header("Cache-Control: public, MAX-AGE=60, immutable"), time.Minute},
		{"K23/accept-age", header("Cache-Control: max-age=60", "Age: 20"), 40 * time.Second},
		{"K23/accept-expires", header("Date: Wed, 04 Mar 2026 12:00:00 GMT", "Expires: Wed, 04 Mar 2026 12:01:00 GMT"), time.Minute},
		{"K23/accept-max-age-over-expires", header("Cache-Control: max-age=60", "Expires: Wed, 04 Mar 2026 13:00:00 GMT"), time.Minute},
		{"K23/accept-apparent-age", header("Cache-Control: max-age=60", "Date: Wed, 04 Mar 2026 11:59:50 GMT"), 50 * time.Second},
		{"K23/accept-nothing-stated", header("X-Other: y"), time.Hour},
		{"K23/accept-quoted-comma", header(`Cache-Control: ext="a, max-age=5", max-age=60`), time.Minute},
		{"K23/accept-unknown-directives", header("Cache-Control: foo=bar, baz, =, ,"), time.Hour},
		{"K23/reject-long", header("Cache-Control: max-age=1000000000000000000000"), 24 * time.Hour},
		{"K23/reject-date-in-future", header("Cache-Control: max-age=60", "Date: Thu, 05 Mar 2026 12:00:00 GMT"), time.Minute},
		{"K23/reject-two-headers", header("Cache-Control: max-age=3600", "Cache-Control: max-age=5"), 5 * time.Second},
		{"K23/reject-doubled-directive", header("Cache-Control: max-age=5, max-age=3600"), 5 * time.Second},
		{"K23/reject-quoted-number", header(`Cache-Control: max-age="5"`), 0},
		{"K23/reject-negative", header("Cache-Control: max-age=-1"), 0},
		{"K23/reject-fraction", header("Cache-Control: max-age=1.5"), 0},
		{"K23/reject-no-number", header("Cache-Control: max-age"), 0},
		{"K23/reject-bad-beside-good", header("Cache-Control: max-age=60, max-age=x"), 0},
		{"K23/reject-no-cache", header("Cache-Control: max-age=60, no-cache"), 0},
		{"K23/reject-no-cache-with-fields", header(`Cache-Control: max-age=60, no-cache="set-cookie"`), 0},
		{"K23/reject-pragma", header("Pragma: no-cache"), 0},
		{"K23/accept-pragma-beside-cache-control", header("Pragma: no-cache", "Cache-Control: max-age=60"), time.Minute},
		{"K23/reject-vary-everything", header("Cache-Control: max-age=60", "Vary: *"), 0},
		{"K23/reject-bad-expires", header("Expires: 0"), 0},
		{"K23/reject-two-expires", header("Expires: Wed, 04 Mar 2026 13:00:00 GMT", "Expires: Wed, 04 Mar 2026 13:00:00 GMT"), 0},
		{"K23/reject-past-expires", header("Expires: Wed, 04 Mar 2026 11:00:00 GMT"), 0},
		{"K23/reject-bad-age", header("Cache-Control: max-age=60", "Age: -5"), 0},
		{"K23/reject-older-than-its-lifetime", header("Cache-Control: max-age=60", "Age: 61"), 0},
		{"K23/reject-younger-of-two-ages", header("Cache-Control: max-age=60", "Age: 1", "Age: 50"), 10 * time.Second},
		{"O23/accept-rfc850", header("Date: Wednesday, 04-Mar-26 12:00:00 GMT", "Expires: Wednesday, 04-Mar-26 12:01:00 GMT"), time.Minute},
		{"O23/accept-asctime", header("Date: Wed Mar  4 12:00:00 2026", "Expires: Wed Mar  4 12:01:00 2026"), time.Minute},
		{"O23/accept-mixed-forms", header("Date: Wed, 04 Mar 2026 12:00:00 GMT", "Expires: Wed Mar  4 12:01:00 2026"), time.Minute},
		{"O23/accept-old-date-as-age", header("Cache-Control: max-age=60", "Date: Wednesday, 04-Mar-26 11:59:50 GMT"), 50 * time.Second},
		{"O23/accept-asctime-date-as-age", header("Cache-Control: max-age=60", "Date: Wed Mar  4 11:59:50 2026"), 50 * time.Second},
		{"O23/accept-year-of-the-last-century", header("Expires: Sunday, 06-Nov-94 08:49:37 GMT"), 0},
		{"O23/accept-50-years-ahead", header("Expires: Tuesday, 03-Mar-76 12:00:00 GMT"), 24 * time.Hour},
		{"O23/reject-more-than-50-years-ahead", header("Expires: Friday, 05-Mar-76 12:00:00 GMT"), 0}, // 1976
		{"O23/reject-other-weekday", header("Expires: Thursday, 04-Mar-26 13:00:00 GMT"), 0},
		{"O23/reject-short-weekday-in-rfc850", header("Expires: Wed, 04-Mar-26 13:00:00 GMT"), 0},
		{"O23/reject-other-zone", header("Expires: Wednesday, 04-Mar-26 13:00:00 EST"), 0},
		{"O23/reject-asctime-with-zone", header("Expires: Wed Mar  4 13:00:00 2026 GMT"), 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := fetch.ParseFreshness(test.header, noon, noon)
			if got := f.Until(0, 24*time.Hour, time.Hour).Sub(noon); got != test.want {
				t.Errorf("%v left, want %v (%+v)", got, test.want, f)
			}
		})
	}
}

func FuzzFreshness(f *testing.F) {
	f.Add("max-age=60, no-store", "5", "Wed, 04 Mar 2026 12:00:00 GMT", "0")
	f.Add(`no-cache="a,b", max-age="5"`, "x", "", "")
	f.Add(`a="\"`, "", "", "")
	f.Fuzz(func(t *testing.T, control, age, date, expires string) {
		h := http.Header{"Cache-Control": {control}, "Age": {age}, "Date": {date}, "Expires": {expires}}
		left := fetch.ParseFreshness(h, noon, noon).Until(time.Second, time.Hour, time.Minute).Sub(noon)
		if left < time.Second || left > time.Hour {
			t.Errorf("%v left", left)
		}
	})
}

func TestStrictest(t *testing.T) {
	at := func(received time.Time, lines ...string) fetch.Freshness {
		return fetch.ParseFreshness(header(lines...), received, received)
	}
	const file = "Cache-Control: max-age=86400, stale-while-revalidate=60"
	for name, test := range map[string]struct {
		hop     fetch.Freshness
		left    time.Duration
		oneUser bool
		noStore bool
	}{
		"accept-silent":           {at(noon), 24 * time.Hour, false, false},
		"accept-longer":           {at(noon, "Cache-Control: max-age=100000"), 24 * time.Hour, false, false},
		"reject-shorter":          {at(noon, "Cache-Control: max-age=60"), time.Minute, false, false},
		"reject-shorter-by-age":   {at(noon, "Cache-Control: max-age=60", "Age: 50"), 10 * time.Second, false, false},
		"reject-earlier":          {at(noon.Add(-30*time.Second), "Cache-Control: max-age=60"), 30 * time.Second, false, false},
		"reject-expires":          {at(noon, "Expires: Wed, 04 Mar 2026 12:01:00 GMT"), time.Minute, false, false},
		"reject-bad-expires":      {at(noon, "Expires: 0"), 0, false, false},
		"reject-no-cache":         {at(noon, "Cache-Control: no-cache"), 0, false, false},
		"reject-pragma":           {at(noon, "Pragma: no-cache"), 0, false, false},
		"reject-no-store":         {at(noon, "Cache-Control: no-store"), 24 * time.Hour, true, true},
		"reject-semicolons":       {at(noon, "Cache-Control: public; No-Store ; must-revalidate"), 24 * time.Hour, true, true},
		"reject-open-quote":       {at(noon, `Cache-Control: public, ext="a, no-store, b`), 24 * time.Hour, true, true},
		"reject-private":          {at(noon, "Cache-Control: private"), 24 * time.Hour, true, false},
		"reject-private-fields":   {at(noon, `Cache-Control: private="x-user, x-id"`), 24 * time.Hour, true, false},
		"reject-set-cookie":       {at(noon, "Set-Cookie: id=17"), 24 * time.Hour, true, false},
		"reject-empty-set-cookie": {at(noon, "Set-Cookie: "), 24 * time.Hour, true, false},
		"reject-vary-cookie":      {at(noon, "Vary: Accept, Cookie"), 24 * time.Hour, true, false},
		"reject-vary-all":         {at(noon, "Vary: *"), 0, true, false},
		"accept-vary-accept":      {at(noon, "Vary: accept , Accept-Encoding"), 24 * time.Hour, false, false},
		"reject-shared-maxage":    {at(noon, "Cache-Control: max-age=100000, s-maxage=0"), 24 * time.Hour, true, false},
	} {
		t.Run("O34/"+name, func(t *testing.T) {
			got := at(noon, file).Strictest(test.hop)
			if left := got.Until(0, 48*time.Hour, 0).Sub(noon); left != test.left || got.OneUser != test.oneUser || got.NoStore != test.noStore {
				t.Errorf("%v left, %+v", left, got)
			}
			if got.StaleWhileRevalidate.Given == test.hop.Stated {
				t.Errorf("stale: %+v", got.StaleWhileRevalidate)
			}
			back := test.hop.Strictest(at(noon, file)) // the same the other way round
			if left := back.Until(0, 48*time.Hour, 0).Sub(noon); left != test.left && test.hop.Received == noon || back.OneUser != test.oneUser {
				t.Errorf("the other way: %v left, %+v", left, back)
			}
		})
	}
}

func TestStrictestStaleUse(t *testing.T) {
	for name, c := range map[string]struct {
		hop, file string // Cache-Control
		want      time.Duration
	}{
		"accept-silent":                 {"max-age=60", "max-age=60", time.Hour},
		"accept-longer":                 {"stale-if-error=90", "stale-if-error=60", time.Minute},
		"reject-shorter":                {"stale-if-error=60", "stale-if-error=90", time.Minute},
		"reject-only-the-hop":           {"stale-if-error=0", "max-age=60", 0},
		"reject-fresh-hop-with-shorter": {"max-age=60, stale-if-error=1", "max-age=90, stale-if-error=90", time.Second},
		"reject-must-revalidate":        {"must-revalidate", "stale-if-error=90", 0},
	} {
		t.Run("O34/"+name, func(t *testing.T) {
			hop := fetch.ParseFreshness(http.Header{"Cache-Control": {c.hop}}, noon, noon)
			file := fetch.ParseFreshness(http.Header{"Cache-Control": {c.file}}, noon, noon)
			if got := file.Strictest(hop).StaleUse(time.Hour, 24*time.Hour); got != c.want {
				t.Errorf("%v", got)
			}
		})
	}
}

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

func TestParseRetryAfter(t *testing.T) {
	tests := []struct {
		name   string
		values []string
		want   time.Duration // 0: nothing to rely on
	}{
		{"F19/accept-seconds", []string{"120"}, 2 * time.Minute},
		{"F19/accept-zero-as-least", []string{"0"}, time.Second},
		{"F19/accept-leading-zeros", []string{"007"}, 7 * time.Second},
		{"F19/accept-long-as-most", []string{"9999999999"}, 24 * time.Hour},
		{"F19/accept-beyond-64-bits-as-most", []string{"99999999999999999999"}, 24 * time.Hour},
		{"F19/accept-date", []string{"Wed, 04 Mar 2026 12:10:00 GMT"}, 10 * time.Minute},
		{"F19/accept-past-date-as-least", []string{"Wed, 04 Mar 2026 11:00:00 GMT"}, time.Second},
		{"F19/accept-last-date-as-most", []string{"Fri, 31 Dec 9999 23:59:59 GMT"}, 24 * time.Hour},
		{"F19/reject-absent", nil, 0},
		{"F19/reject-empty", []string{""}, 0},
		{"F19/reject-negative", []string{"-5"}, 0},
		{"F19/reject-plus", []string{"+5"}, 0},
		{"F19/reject-fraction", []string{"1.5"}, 0},
		{"F19/reject-spaces", []string{" 3 "}, 0},
		{"F19/reject-hex", []string{"0x10"}, 0},
		{"F19/reject-words", []string{"soon"}, 0},
		{"F19/reject-two-headers", []string{"1", "2"}, 0},
		{"F19/reject-two-equal-headers", []string{"1", "1"}, 0},
		{"F19/reject-list", []string{"1, 2"}, 0},
		{"F19/reject-wrong-weekday", []string{"Mon, 04 Mar 2026 12:10:00 GMT"}, 0},
		{"F19/reject-other-zone", []string{"Wed, 04 Mar 2026 12:10:00 UTC"}, 0},
		{"F19/reject-one-digit-day", []string{"Wed, 4 Mar 2026 12:10:00 GMT"}, 0},
		{"F19/accept-rfc850", []string{"Wednesday, 04-Mar-26 12:10:00 GMT"}, 10 * time.Minute},
		{"F19/accept-rfc850-leap-day", []string{"Tuesday, 29-Feb-00 12:00:00 GMT"}, time.Second},
		{"F19/accept-asctime", []string{"Wed Mar  4 12:10:00 2026"}, 10 * time.Minute},
		{"F19/reject-rfc850-wrong-weekday", []string{"Monday, 04-Mar-26 12:10:00 GMT"}, 0},
		{"F19/reject-other-digits", []string{"१२"}, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, ok := fetch.ParseRetryAfter(http.Header{"Retry-After": test.values}, noon, fetch.MinRetryAfter, fetch.MaxRetryAfter)
			if got != test.want || ok != (test.want != 0) {
				t.Errorf("%v, %v; want %v", got, ok, test.want)
			}
		})
	}
}

func FuzzParseRetryAfter(f *testing.F) {
	for _, seed := range []string{"0", "120", "-5", "Wed, 04 Mar 2026 12:10:00 GMT", "9999999999"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		got, ok := fetch.ParseRetryAfter(http.Header{"Retry-After": {value}}, noon, time.Second, time.Hour)
		if ok && (got < time.Second || got > time.Hour) || !ok && got != 0 {
			t.Errorf("%q: %v, %v", value, got, ok)
		}
	})
}
