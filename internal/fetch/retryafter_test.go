package fetch_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/lookleap/lookleap/internal/fetch"
)

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
