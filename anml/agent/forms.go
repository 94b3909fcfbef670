package agent

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// forms lists what one value of the profile may be written as: itself, and the forms
// of a date, a number, a telephone number or a name that services read as the same. A
// text that holds one of them holds the value.
func forms(value string) (list []wanted) {
	value = strings.TrimSpace(value)
	own := newWanted(value)
	if own.text == "" {
		return nil
	}
	list = append(list, own)
	add := func(texts ...string) {
		for _, text := range texts {
			w := newWanted(text)
			if utf8.RuneCountInString(w.text) >= rowLen && !slices.ContainsFunc(list, func(known wanted) bool { return known.text == w.text }) {
				list = append(list, w)
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
	if digits := own.text; strings.HasPrefix(value, "+") && len(digits) >= nationalLen {
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
	return list
}

// nationalLen is how many digits a telephone number has at least that is recognised
// without its country code.
const nationalLen = 7

// dateLayouts are ways to write a day that differ when they are folded, its month as a
// number or in English as [monthsInEnglish] writes it.
var dateLayouts = [...]string{
	"2006 01 02", "02 01 2006", "01 02 2006", "2006 1 2", "2 1 2006", "1 2 2006", "02 01 06", "01 02 06", "06 01 02",
	"2 Jan 2006", "02 Jan 2006", "Jan 2 2006", "Jan 02 2006", "2006 Jan 2", "2006 Jan 02",
	"2 Jan 06", "02 Jan 06", "Jan 2 06", "Jan 02 06", "06 Jan 02",
}

// dateOf reads a day as profiles write one.
func dateOf(value string) (time.Time, bool) {
	f := fold(value)
	named := monthsInEnglish(&f)
	for _, layout := range [...]string{time.DateOnly, time.RFC3339, "20060102", "2.1.2006", "2006/1/2"} {
		if t, err := time.Parse(layout, value); err == nil {
			return t, true
		}
	}
	for _, layout := range [...]string{"2 Jan 2006", "Jan 2 2006", "2006 Jan 2"} {
		if t, err := time.Parse(layout, named); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}
