package fetch

import (
	"net/http"
	"time"
)

// Default bounds of Retry-After.
const (
	MinRetryAfter = time.Second
	MaxRetryAfter = 24 * time.Hour
)

// ParseRetryAfter reads the Retry-After header (RFC 9110 section 10.2.3) of an answer
// received at the time now: a number of seconds in digits alone, or an HTTP date in one of
// its three forms (section 5.6.7). The result lies between least and most. A missing,
// malformed or doubled header is false, which means: do not try again by yourself.
func ParseRetryAfter(h http.Header, now time.Time, least, most time.Duration) (time.Duration, bool) {
	lines := h.Values("Retry-After")
	if len(lines) != 1 {
		return 0, false
	}
	if n, ok := digits(lines[0], maxSeconds); ok {
		return clamp(time.Duration(n)*time.Second, least, most), true
	}
	if date, ok := parseDate(lines[0], now); ok {
		return clamp(date.Sub(now), least, most), true
	}
	return 0, false
}
