package anmltrust

import "time"

// parseTime reads a date and time of RFC 3339 as sections 12.3 and 12.4 want it:
// every digit in its place, capital T and Z, a dot before a fraction. Where utc
// is set, the zone must be Z.
func parseTime(s string, utc bool) (time.Time, bool) {
	const form = "0000-00-00T00:00:00"
	if len(s) <= len(form) || len(s) > 40 {
		return time.Time{}, false
	}
	for i := range len(form) {
		if form[i] == '0' && !isDigit(s[i]) || form[i] != '0' && s[i] != form[i] {
			return time.Time{}, false
		}
	}
	zone := s[len(form):]
	if zone[0] == '.' {
		n := 1
		for n < len(zone) && isDigit(zone[n]) {
			n++
		}
		if n == 1 || n == len(zone) {
			return time.Time{}, false
		}
		zone = zone[n:]
	}
	if zone != "Z" && (utc || !isOffset(zone)) {
		return time.Time{}, false
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	return t.UTC(), err == nil
}

// isOffset reports whether a zone is a sign, hours below 24 and minutes below 60;
// package time reads 24:60 too.
func isOffset(zone string) bool {
	return len(zone) == len("+00:00") && (zone[0] == '+' || zone[0] == '-') && zone[1:3] < "24" && zone[4:] < "60"
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
