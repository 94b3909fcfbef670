package fetch

import (
	"net/http"
	"strings"
	"time"
)

// CacheControl is the Cache-Control header of a response (RFC 9111 section 5.2.2), from all its
// lines. Of repeated directives, the more restrictive one counts. An argument that is not a plain
// number of seconds counts as 0.
type CacheControl struct {
	NoStore        bool
	NoCache        bool // also if it lists field names
	MustRevalidate bool
	Private        bool

	MaxAge               Seconds
	SMaxAge              Seconds // for shared caches only
	StaleWhileRevalidate Seconds // RFC 5861
	StaleIfError         Seconds // RFC 5861
}

// StaleUse returns for how long after it expired a response may be used if its server
// fails: what stale-if-error says, or otherwise, and most at most. It is 0 if the
// response must not be stored or used without asking again.
func (c CacheControl) StaleUse(otherwise, most time.Duration) time.Duration {
	switch {
	case c.NoStore, c.NoCache, c.MustRevalidate:
		return 0
	case c.StaleIfError.Given:
		return min(c.StaleIfError.Value, most)
	}
	return min(otherwise, most)
}

// Seconds is the argument of a directive.
type Seconds struct {
	Given bool
	Value time.Duration
}

// maxSeconds replaces longer times, so that nothing overflows (RFC 9111 section 1.2.2).
const maxSeconds = 1 << 31

// ParseCacheControl reads the header, with "Pragma: no-cache" in its absence.
func ParseCacheControl(h http.Header) CacheControl {
	var c CacheControl
	lines := h.Values("Cache-Control")
	if len(lines) == 0 {
		c.NoCache = containsFold(h.Values("Pragma"), "no-cache")
		return c
	}
	for _, line := range lines {
		for directives := range splitList(line) {
			for directive := range strings.SplitSeq(directives, ";") { // which some servers write for a comma
				c.add(directive)
			}
		}
	}
	return c
}

func containsFold(lines []string, token string) bool {
	for _, line := range lines {
		for item := range splitList(line) {
			if strings.EqualFold(item, token) {
				return true
			}
		}
	}
	return false
}

func (c *CacheControl) add(directive string) {
	name, arg, _ := strings.Cut(directive, "=")
	switch strings.ToLower(strings.TrimSpace(name)) {
	case "no-store":
		c.NoStore = true
	case "no-cache":
		c.NoCache = true
	case "must-revalidate":
		c.MustRevalidate = true
	case "private":
		c.Private = true
	case "max-age":
		c.MaxAge.least(arg)
	case "s-maxage":
		c.SMaxAge.least(arg)
	case "stale-while-revalidate":
		c.StaleWhileRevalidate.least(arg)
	case "stale-if-error":
		c.StaleIfError.least(arg)
	}
}

func (s *Seconds) least(arg string) {
	n, _ := digits(arg, maxSeconds) // 0 if it is not a number
	value := time.Duration(n) * time.Second
	if !s.Given || value < s.Value {
		*s = Seconds{true, value}
	}
}

// splitList yields the members of a comma-separated header line. It does not split quoted
// strings, unless one has no end: it would hide the members after it.
func splitList(line string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		ignoreQuotes := false
		for line != "" {
			end, open := listEnd(line, ignoreQuotes)
			if open {
				ignoreQuotes = true
				end, _ = listEnd(line, true)
			}
			item := strings.Trim(line[:end], " \t")
			if item != "" && !yield(item) {
				return
			}
			line = line[min(end+1, len(line)):]
		}
	}
}

// listEnd returns where the first member of a list ends, and whether a quoted string in it has no
// end.
func listEnd(line string, ignoreQuotes bool) (end int, open bool) {
	quoted := false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\\' && quoted:
			i++
		case c == '"' && !ignoreQuotes:
			quoted = !quoted
		case c == ',' && !quoted:
			return i, false
		}
	}
	return len(line), quoted
}

// digits reads a number that has nothing but digits, at most limit.
func digits(s string, limit int64) (n int64, ok bool) {
	if s == "" {
		return 0, false
	}
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = min(n*10+int64(s[i]-'0'), limit)
	}
	return n, true
}

// Freshness is how long a response may be used (RFC 9111 section 4.2). There are no heuristics:
// what the response does not state is 0.
type Freshness struct {
	CacheControl
	Stated   bool          // a lifetime was stated, by max-age or Expires
	Lifetime time.Duration // stated lifetime
	Age      time.Duration // how old the response was when it was received
	Received time.Time
	OneUser  bool // it must not be used for other users or put into shared caches
}

// ParseFreshness reads the header of a response to a request that was sent and answered at these
// times. Callers with a shared cache apply s-maxage themselves.
func ParseFreshness(h http.Header, sent, received time.Time) Freshness {
	f := Freshness{CacheControl: ParseCacheControl(h), Received: received}
	if containsFold(h.Values("Vary"), "*") {
		f.NoCache = true // such a response fits no later request
	}
	date, dated := httpDate(h, "Date", received)
	if !dated {
		date = received
	}
	switch expires, ok := httpDate(h, "Expires", received); {
	case f.MaxAge.Given:
		f.Stated, f.Lifetime = true, f.MaxAge.Value
	case ok:
		f.Stated, f.Lifetime = true, clamp(expires.Sub(date), 0, maxSeconds*time.Second)
	case len(h.Values("Expires")) > 0:
		f.Stated = true // malformed or doubled: already expired
	}
	f.Age = age(h, date, sent, received)
	f.OneUser = forOneUser(h, &f)
	return f
}

// age returns the corrected initial age of RFC 9111 section 4.2.3.
func age(h http.Header, date, sent, received time.Time) time.Duration {
	var stated int64
	for _, line := range h.Values("Age") {
		n, ok := digits(line, maxSeconds)
		if !ok {
			n = maxSeconds // an age that cannot be read is an old one
		}
		stated = max(stated, n)
	}
	apparent := received.Sub(date)
	corrected := time.Duration(stated)*time.Second + max(0, received.Sub(sent))
	return min(max(apparent, corrected), maxSeconds*time.Second) // a Date in the future makes apparent negative
}

// forOneUser reports whether a response may be used only for the user who asked for it: shared
// caches must not store it, it identifies a user, or it depends on header fields that differ from
// process to process.
func forOneUser(h http.Header, f *Freshness) bool {
	if f.NoStore || f.Private || f.SMaxAge.Given && f.SMaxAge.Value < f.Lifetime || len(h.Values("Set-Cookie")) > 0 {
		return true
	}
	for _, line := range h.Values("Vary") {
		for name := range splitList(line) {
			switch strings.ToLower(name) {
			case "accept", "accept-encoding":
			default:
				return true
			}
		}
	}
	return false
}

// Strictest returns the freshness of a response to which another one led, such as a redirect. What
// either of them forbids is forbidden.
func (f Freshness) Strictest(other Freshness) Freshness {
	f.NoStore = f.NoStore || other.NoStore
	f.NoCache = f.NoCache || other.NoCache
	f.MustRevalidate = f.MustRevalidate || other.MustRevalidate
	f.Private = f.Private || other.Private
	f.OneUser = f.OneUser || other.OneUser
	if e := other.StaleIfError; e.Given && (!f.StaleIfError.Given || e.Value < f.StaleIfError.Value) {
		f.StaleIfError = e
	}
	if !other.Stated {
		return f
	}
	left := other.Received.Add(other.Lifetime-other.Age).Sub(f.Received) + f.Age
	left = max(left, 0)
	if !f.Stated || left < f.Lifetime {
		f.Stated, f.Lifetime = true, left
	}
	f.SMaxAge.Value = min(f.SMaxAge.Value, left)
	f.StaleWhileRevalidate.Given = f.StaleWhileRevalidate.Given && other.StaleWhileRevalidate.Given
	f.StaleWhileRevalidate.Value = min(f.StaleWhileRevalidate.Value, other.StaleWhileRevalidate.Value)
	return f
}

// Until returns when the response stops being fresh: after the lifetime that it states, or after
// otherwise if it states none, but not before least or after most. With no-cache, nothing is left
// of the lifetime. The caller checks no-store itself: such a response may only be kept in memory.
func (f Freshness) Until(least, most, otherwise time.Duration) time.Time {
	left := otherwise
	switch {
	case f.NoCache:
		left = 0
	case f.Stated:
		left = f.Lifetime - f.Age
	}
	return f.Received.Add(clamp(left, least, most))
}

// Earlier returns the earlier of two times.
func Earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func clamp(d, least, most time.Duration) time.Duration {
	return max(least, min(d, most))
}

// Obsolete forms of dates that recipients must accept (RFC 9110 section 5.6.7). Both are in GMT;
// asctime does not say so.
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
	last := now.UTC().AddDate(50, 0, 0)
	year := last.Year() - (last.Year()-t.Year()%100)%100
	in := func(year int) time.Time {
		return time.Date(year, t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), 0, time.UTC)
	}
	date := in(year)
	if date.After(last) {
		date = in(year - 100)
	}
	return date, date.Format(rfc850Form) == s
}

// parseExactly reads a date that has exactly this form.
func parseExactly(form, s string) (time.Time, bool) {
	t, err := time.Parse(form, s)
	if err != nil || t.Format(form) != s { // also the day of the week
		return time.Time{}, false
	}
	return t, true
}

// httpDate reads a header field that appears once and is a date.
func httpDate(h http.Header, name string, now time.Time) (time.Time, bool) {
	lines := h.Values(name)
	if len(lines) != 1 {
		return time.Time{}, false
	}
	return parseDate(lines[0], now)
}

// Default bounds of Retry-After.
const (
	MinRetryAfter = time.Second
	MaxRetryAfter = 24 * time.Hour
)

// ParseRetryAfter reads the Retry-After header (RFC 9110 section 10.2.3) of a response
// received at the time now: a number of seconds in digits, or an HTTP date in one of
// its three forms (section 5.6.7). The result lies between least and most. A missing,
// malformed or repeated header is false: then do not retry automatically.
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
