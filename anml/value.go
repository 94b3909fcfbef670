package anml

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// DateTimeLayout is the layout of a datetime for package time: UTC, with seconds and without
// fractions (section 8.11).
const DateTimeLayout = "2006-01-02T15:04:05Z"

// DateLayout is the layout of a date for package time (section 8.11).
const DateLayout = "2006-01-02"

// CheckValue returns an [ErrType] if a text is not a value of the type (section 8.11). It applies
// to asks, fields, answers and parameters. White space around the value is not ignored.
func CheckValue(t Type, text string) error {
	if !hasType(t, text) {
		return newError(ErrType, plaintext.Quote(text, maxQuoted)+" is not a "+t.String(), "")
	}
	return nil
}

func hasType(t Type, text string) bool {
	switch t {
	case TypeNumber:
		return isFinite(text)
	case TypeBoolean:
		return text == "true" || text == "false"
	case TypeDate:
		return isDate(text)
	case TypeDateTime:
		return isDateTime(text)
	case TypeURI:
		return isURI(text)
	}
	return true
}

// formatValue returns a Go value as the text of a type: time.Time as date or as datetime in UTC,
// numbers and booleans in their canonical form, strings unchanged. It returns an [ErrType] if
// the text does not have the type, and an [ErrLimit] above 64 KiB.
func formatValue(t Type, v any) (string, error) {
	text := ""
	switch v := v.(type) {
	case string:
		text = v
	case bool:
		text = strconv.FormatBool(v)
	case int:
		text = strconv.Itoa(v)
	case int64:
		text = strconv.FormatInt(v, 10)
	case float64:
		text = strconv.FormatFloat(v, 'f', -1, 64)
	case time.Time:
		text = FormatDateTime(v)
		if t == TypeDate {
			text = v.Format(DateLayout)
		}
	default:
		return "", newError(ErrType, fmt.Sprintf("a Go value of type %T has no text", v),
			"pass a string, bool, int, int64, float64 or time.Time")
	}
	if len(text) > maxValue {
		return "", newError(ErrLimit, "the value is longer than "+itoa(maxValue)+" bytes", "")
	}
	return text, CheckValue(t, text)
}

// Number is a number as text and as the nearest double.
type Number struct {
	Text  string
	Float float64
	Exact bool // Float has all digits of Text
}

// ParseNumber parses a finite number in the grammar of JSON. It returns an [ErrType] for
// anything else. More digits than a double can represent are valid; Exact is then false.
func ParseNumber(text string) (Number, error) {
	if !isJSONNumber(text) {
		return Number{}, newError(ErrType, plaintext.Quote(text, maxQuoted)+" is not a number", "")
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return Number{}, newError(ErrType, plaintext.Quote(text, maxQuoted)+" is larger than any double", "")
	}
	return Number{Text: text, Float: f, Exact: significant(text) == significant(strconv.FormatFloat(f, 'g', -1, 64))}, nil
}

// isFinite reports whether a text is a number below the largest double.
func isFinite(text string) bool {
	if !isJSONNumber(text) {
		return false
	}
	_, err := strconv.ParseFloat(text, 64)
	return err == nil
}

// isJSONNumber reports whether s is a number in the grammar of RFC 8259, section 6.
func isJSONNumber(s string) bool {
	digits := func() bool {
		n := 0
		for n < len(s) && s[n] >= '0' && s[n] <= '9' {
			n++
		}
		s = s[n:]
		return n > 0
	}
	s = strings.TrimPrefix(s, "-")
	if strings.HasPrefix(s, "0") {
		s = s[1:]
	} else if !digits() {
		return false
	}
	if strings.HasPrefix(s, ".") {
		s = s[1:]
		if !digits() {
			return false
		}
	}
	if s != "" && (s[0] == 'e' || s[0] == 'E') {
		s = s[1:]
		if s != "" && (s[0] == '+' || s[0] == '-') {
			s = s[1:]
		}
		if !digits() {
			return false
		}
	}
	return s == ""
}

// significant returns the significant digits of a number in the JSON grammar. The nearest double is
// never ten times as large or as small, so the digits alone tell whether it is equal.
func significant(number string) string {
	mantissa, _, _ := strings.Cut(strings.ToLower(strings.TrimPrefix(number, "-")), "e")
	return strings.Trim(strings.Replace(mantissa, ".", "", 1), "0")
}

// isDate reports whether s is YYYY-MM-DD and in the calendar.
func isDate(s string) bool {
	if len(s) != len(DateLayout) || s[4] != '-' || s[7] != '-' {
		return false
	}
	century, year, month, day := twoDigits(s, 0), twoDigits(s, 2), twoDigits(s, 5), twoDigits(s, 8)
	if century < 0 || year < 0 || month < 1 || month > 12 || day < 1 {
		return false
	}
	year += 100 * century
	days := int("\x1F\x1C\x1F\x1E\x1F\x1E\x1F\x1F\x1E\x1F\x1E\x1F"[month-1])
	if month == 2 && year%4 == 0 && (year%100 != 0 || year%400 == 0) {
		days++
	}
	return day <= days
}

// twoDigits parses s[i:i+2]. It returns a negative number if these are not digits.
func twoDigits(s string, i int) int {
	tens, ones := s[i]-'0', s[i+1]-'0'
	if tens > 9 || ones > 9 {
		return -1
	}
	return 10*int(tens) + int(ones)
}

// isDateTime reports whether s has the form of DateTimeLayout. It accepts a leap second, which
// package time cannot represent.
func isDateTime(s string) bool {
	if len(s) != len(DateTimeLayout) || s[10] != 'T' || s[13] != ':' || s[16] != ':' || s[19] != 'Z' || !isDate(s[:10]) {
		return false
	}
	hour, minute, second := twoDigits(s, 11), twoDigits(s, 14), twoDigits(s, 17)
	if hour == 23 && minute == 59 && second == 60 {
		return true
	}
	return hour >= 0 && hour < 24 && minute >= 0 && minute < 60 && second >= 0 && second < 60
}

// parseTime parses the attributes that the draft calls ISO 8601. Strict reports whether the text
// has the form of DateTimeLayout. It also accepts RFC 3339 and times in minutes with Z. Package
// time would accept a comma and an hour of one digit, too.
func parseTime(s string) (t time.Time, strict, ok bool) {
	if isDateTime(s) {
		if t, err := time.Parse(DateTimeLayout, s); err == nil {
			return t, true, true
		}
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04Z"} {
		if t, err := time.Parse(layout, s); err == nil && !strings.Contains(s, ",") && s[len("2006-01-02T15")] == ':' {
			return t.UTC(), false, true
		}
	}
	return time.Time{}, false, false
}

// FormatDateTime returns t as a datetime in UTC.
func FormatDateTime(t time.Time) string { return t.UTC().Format(DateTimeLayout) }

// isURI reports whether s has a scheme and only characters of a URI (RFC 3986).
func isURI(s string) bool {
	scheme, rest, _ := strings.Cut(s, ":")
	if scheme == "" || rest == "" {
		return false
	}
	for i := range len(scheme) {
		c := scheme[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (i == 0 || !(c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.')) {
			return false
		}
	}
	return isURIReference(s)
}

// isURIReference reports whether s has only characters and percent-encodings of RFC 3986.
func isURIReference(s string) bool {
	for i := range len(s) {
		if _, escape := domain.Unescape(s, i); !escape && !domain.IsPathChar(s[i]) && strings.IndexByte("?#[]", s[i]) < 0 {
			return false
		}
	}
	return strings.Count(s, "#") <= 1
}

// seconds parses a non-negative integer without leading zeros. Values above 2^31 become 2^31.
func seconds(text string) (int64, bool) {
	if text == "" || len(text) > 1 && text[0] == '0' {
		return 0, false
	}
	var n int64
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return 0, false
		}
		n = min(n*10+int64(text[i]-'0'), 1<<31)
	}
	return n, true
}

func itoa(n int) string { return strconv.Itoa(n) }

// isLang reports whether s has the form of a BCP 47 tag: subtags of 1 to 8 letters and digits.
func isLang(s string) bool {
	for i, part := range strings.Split(s, "-") {
		if part == "" || len(part) > 8 {
			return false
		}
		for _, c := range []byte(part) {
			letter := c|0x20 >= 'a' && c|0x20 <= 'z'
			if !letter && (i == 0 || c < '0' || c > '9') {
				return false
			}
		}
	}
	return true
}
