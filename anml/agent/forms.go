package agent

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// forms lists the folded texts that one value of the profile may be written as: its
// own, and those of a date, a number, a telephone number or a name that services
// read as the same. A text that holds one of them holds the value.
func forms(value string) []string {
	value = strings.TrimSpace(value)
	list := []string{spelled(value)}
	add := func(texts ...string) {
		for _, text := range texts {
			text = spelled(text)
			if utf8.RuneCountInString(text) >= rowLen && !slices.Contains(list, text) {
				list = append(list, text)
			}
		}
	}
	if day, ok := dateOf(value); ok {
		for _, layout := range dateLayouts {
			add(day.Format(layout))
		}
	} else if f, err := strconv.ParseFloat(value, 64); err == nil {
		add(strconv.FormatFloat(f, 'f', -1, 64), strconv.FormatFloat(f, 'f', 2, 64), strconv.FormatFloat(f, 'e', -1, 64))
	}
	if digits := list[0]; strings.HasPrefix(value, "+") && len(digits) >= nationalLen {
		for code := 1; code <= 3 && len(digits)-code >= nationalLen; code++ {
			add(digits[code:]) // without the country code
		}
	}
	if words := strings.Fields(value); 1 < len(words) && len(words) <= 4 {
		for range len(words) - 1 { // "Ann Example" and "Example, Ann"
			words = append(words[1:], words[0])
			add(strings.Join(words, " "))
		}
	}
	return slices.DeleteFunc(list, func(text string) bool { return text == "" })
}

// nationalLen is how many digits a telephone number has at least that is recognised
// without its country code.
const nationalLen = 7

// dateLayouts are ways to write a day that differ when they are folded. Two digits
// for a year are not among them: six digits are in too many other numbers.
var dateLayouts = [...]string{
	"20060102", "02012006", "01022006", "2006.1.2", "2.1.2006", "1/2/2006",
	"2 January 2006", "January 2 2006", "2 Jan 2006", "Jan 2 2006", "02 January 2006", "January 02 2006",
	"02 Jan 2006", "Jan 02 2006", "Monday 2 January 2006", "Mon 2 Jan 2006", "Mon 02 Jan 2006",
}

// dateOf reads a day as profiles write one.
func dateOf(value string) (time.Time, bool) {
	for _, layout := range [...]string{time.DateOnly, time.RFC3339, "20060102", "2.1.2006"} {
		if t, err := time.Parse(layout, value); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}
