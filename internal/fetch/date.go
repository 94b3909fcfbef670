package fetch

import (
	"net/http"
	"time"
)

// The obsolete forms of dates that a recipient reads too (RFC 9110 section 5.6.7).
// Both are in GMT, which asctime does not say.
const (
	rfc850Form  = "Monday, 02-Jan-06 15:04:05 GMT"
	asctimeForm = "Mon Jan _2 15:04:05 2006"
)

// parseDate reads an HTTP date in any of its three forms, exactly as they are
// written. The weekday must be that of the date.
func parseDate(s string, now time.Time) (time.Time, bool) {
	if t, ok := parseExactly(http.TimeFormat, s); ok {
		return t, true
	}
	if t, ok := parseExactly(asctimeForm, s); ok {
		return t, true
	}
	t, err := time.Parse(rfc850Form, s)
	if err != nil {
		return time.Time{}, false
	}
	// Of the years with these two digits it is the last one that is not more than
	// 50 years ahead.
	now = now.UTC()
	year := now.Year()/100*100 + t.Year()%100 + 100
	for {
		t = time.Date(year, t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), 0, time.UTC)
		if !t.After(now.AddDate(50, 0, 0)) {
			break
		}
		year -= 100
	}
	return t, t.Format(rfc850Form) == s
}

// parseExactly reads a date that is written as its form writes it.
func parseExactly(form, s string) (time.Time, bool) {
	t, err := time.Parse(form, s)
	if err != nil || t.Format(form) != s { // also the day of the week
		return time.Time{}, false
	}
	return t, true
}

// httpDate reads a header that is exactly one date.
func httpDate(h http.Header, name string, now time.Time) (time.Time, bool) {
	lines := h.Values(name)
	if len(lines) != 1 {
		return time.Time{}, false
	}
	return parseDate(lines[0], now)
}
