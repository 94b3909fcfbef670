package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/lookleap/lookleap/internal/plugin"
)

// carried finds the fields of the user that a text contains, if the text did not come from the
// profile. The name of the text does not matter.
type carried struct {
	names  map[string]string // fields that the profile knows, by their keys
	values []carriedValue    // the longest first
	failed bool              // some field of the profile could not be read
}

// carriedValue is one field of the profile in one of its written forms.
type carriedValue struct {
	field string
	wanted
}

// carried reads the fields of the profile to compare texts with: those that the profile lists, and
// those that the agent, the page, a standing rule or an argument names.
func (f *frame) carried(ctx context.Context, recipient string, args ...string) *carried {
	s := f.page.session
	c := &carried{names: map[string]string{}}
	listed, err := s.fieldNames(ctx)
	c.failed = err != nil
	names := slices.Concat(s.agent.names(), f.will.fields(), f.page.askedFields(), listed, args)
	slices.Sort(names)
	for _, field := range slices.Compact(names) {
		v, err := s.valueOf(ctx, Question{Field: field, Recipient: recipient})
		switch {
		case errors.Is(err, ErrNoValue):
			continue
		case err != nil && !slices.Contains(args, field):
			c.failed = true
			continue
		}
		c.names[fieldKey(field)] = field // also where the profile fails for a name that only a service gave
		for _, form := range forms(v.Text) {
			c.values = append(c.values, carriedValue{field, form})
		}
	}
	slices.SortStableFunc(c.values, func(a, b carriedValue) int {
		return cmp.Or(cmp.Compare(len(b.text), len(a.text)), strings.Compare(a.text, b.text))
	})
	return c
}

// fieldNames returns the fields of a profile that lists them.
func (s *Session) fieldNames(ctx context.Context) ([]string, error) {
	switch p := s.user.Profile.(type) {
	case NoProfile:
		return nil, nil
	case Fields:
		return p.FieldNames(ctx)
	case FieldLister:
		return plugin.Await(ctx, s.agent.plugins.profile, p.FieldNames)
	}
	return nil, nil
}

// askedFields returns the fields that the page asks for.
func (p *Page) askedFields() (names []string) {
	for site := range p.doc.Containers() {
		for ask := range site.Knowledge().Asks() {
			names = append(names, ask.Field())
		}
	}
	return names
}

// find returns the fields whose value a text is, or else those whose value it contains, the longest
// first. The texts are long and the values many, so it ends with ctx, as otherFields and divided do: the
// caller must then end too, because what is missing from their results was not looked for.
func (c *carried) find(ctx context.Context, p *searchText) []string {
	var whole, part []string
	text, last := p.rest(), ""
	for _, v := range c.values {
		if ctx.Err() != nil {
			return nil
		}
		value := v.in(p)
		switch {
		case value == text && distinct(text) && (!p.alike || len(text) >= 4):
			whole = append(whole, v.field)
		case utf8.RuneCountInString(v.text) < rowLen:
		case value == last:
			part = append(part, v.field)
		case p.cut(v.wanted): // and not only within a longer one, as a name in an address is
			part, last = append(part, v.field), value
		}
	}
	if whole != nil {
		return whole
	}
	return part
}

// distinct reports whether a whole value shows whose it is. Single characters, numbers of up to
// three digits and words such as "yes" are in most profiles and forms, so equality with them is no
// evidence.
func distinct(text string) bool {
	switch text {
	case "yes", "no", "true", "false", "on", "off", "null", "none":
		return false
	}
	n := utf8.RuneCountInString(text)
	if n > 3 {
		return true
	}
	return n > 1 && strings.ContainsFunc(text, unicode.IsLetter)
}

// otherFields returns the fields that a text contains in any spelling or encoding, without the
// field that it is sent as ("" if it is sent as no field).
func (c *carried) otherFields(ctx context.Context, field, text string) (found []string) {
	if len(c.values) == 0 {
		return nil
	}
	for _, reading := range readingsSent(text) {
		for p := range searchTexts(reading) {
			if ctx.Err() != nil {
				return found
			}
			for _, v := range c.values {
				if v.field == field {
					p.cut(v.wanted)
				}
			}
			for _, other := range c.find(ctx, p) {
				if other != field && !slices.Contains(found, other) {
					found = append(found, other)
				}
			}
		}
	}
	return found
}

// spelled returns a text in the spelling in which values are compared.
func spelled(text string) string {
	f := fold(text)
	return string(f.runes)
}

// forms returns the forms in which a value of the profile may be written: itself, and the forms of
// a date, a number, a telephone number or a name that services read as the same.
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
			if utf8.RuneCountInString(w.text) >= rowLen &&
				!slices.ContainsFunc(list, func(known wanted) bool { return known.text == w.text }) {
				list = append(list, w)
			}
		}
	}
	if day, ok := dateOf(value); ok {
		for _, layout := range dateLayouts {
			add(day.Format(layout))
		}
		year, week := day.ISOWeek()
		add(day.Format("2006 002"), fmt.Sprintf("%d W%02d %d", year, week, (int(day.Weekday())+6)%7+1),
			strconv.FormatInt(day.Unix(), 10), strconv.FormatInt(day.UnixMilli(), 10))
	} else if f, err := strconv.ParseFloat(value, 64); err == nil {
		add(strconv.FormatFloat(f, 'f', -1, 64), strconv.FormatFloat(f, 'f', 2, 64), strconv.FormatFloat(f, 'e', -1, 64))
	}
	if digits := own.text; strings.HasPrefix(value, "+") {
		for code := 1; code <= 3 && len(digits)-code >= nationalLen; code++ {
			add(digits[code:]) // without the country code
		}
	}
	if number := strings.TrimLeft(own.text, "0"); len(number) >= nationalLen && strings.Trim(number, "0123456789") == "" {
		add(number) // as JSON and spreadsheets write it
	}
	if strings.Contains(value, "@") {
		add(strings.NewReplacer("@", " at ", ".", " dot ").Replace(value))
	}
	if words := strings.Fields(value); len(words) <= 4 {
		for range words { // "Ann Example" and "Example, Ann"
			words = append(words[1:], words[0])
			add(strings.Join(words, " "))
		}
	}
	return list
}

// nationalLen is the smallest number of digits of a telephone number that is recognised without its
// country code.
const nationalLen = 7

// dateLayouts are the ways to write a day that differ after folding, with the month as a number or
// as [monthsInEnglish] writes it.
var dateLayouts = [...]string{
	"2006 01 02", "02 01 2006", "01 02 2006", "2006 1 2", "2 1 2006", "1 2 2006", "02 01 06", "01 02 06", "06 01 02",
	"2 Jan 2006", "02 Jan 2006", "Jan 2 2006", "Jan 02 2006", "2006 Jan 2", "2006 Jan 02",
	"2 Jan 06", "02 Jan 06", "Jan 2 06", "Jan 02 06", "06 Jan 02",
	"2006年1月2日", "2006年01月02日", "2006년 1월 2일", "2006년 01월 02일",
}

// dateOf parses a day in the forms that profiles use.
func dateOf(value string) (time.Time, bool) {
	f := fold(value)
	named := monthsInEnglish(&f)
	for _, layout := range [...]string{time.DateOnly, time.RFC3339, "20060102", "2.1.2006", "2006/1/2", "2006年1月2日", "2006년 1월 2일"} {
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

// monthsInEnglish returns a folded text with each name of a month as three English letters, with
// numbers as separate words, and without the words that join the parts of a date. It returns "" if
// the text names no month.
func monthsInEnglish(f *folded) string {
	var b strings.Builder
	named, number := false, false
	for _, word := range f.words {
		for word.len() > 0 {
			part := f.sameKind(word)
			word.from = part.to
			text := string(f.runes[part.from:part.to])
			month, ok := months()[text]
			switch {
			case ok:
				named, text = true, month
			case number && strings.Contains(ordinals, " "+text+" "), strings.Contains(dateWords, " "+text+" "):
				continue
			}
			b.WriteString(text + " ")
			number = unicode.IsDigit(f.runes[part.from])
		}
	}
	if !named {
		return ""
	}
	return strings.TrimSuffix(b.String(), " ")
}

// sameKind returns the beginning of a word that has only digits or no digit.
func (f *folded) sameKind(word span) span {
	i := word.from + 1
	for i < word.to && unicode.IsDigit(f.runes[i]) == unicode.IsDigit(f.runes[word.from]) {
		i++
	}
	return span{word.from, i}
}

const (
	ordinals  = " st nd rd th er re a o e te de ste den "
	dateWords = " of the de del le la den der am "
)

// monthNames are the names and abbreviations of the twelve months in several languages.
const monthNames = `
january february march april may june july august september october november december
jan feb mar apr may jun jul aug sep oct nov dec
januar februar märz april mai juni juli august september oktober november dezember
jänner feber mrz apr mai jun jul aug sept okt nov dez
janvier février mars avril mai juin juillet août septembre octobre novembre décembre
janv févr mars avr mai juin juil août sept oct nov déc
enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
ene feb mar abr may jun jul ago set oct nov dic
gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre
gen feb mar apr mag giu lug ago set ott nov dic
janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro
jan fev mar abr mai jun jul ago set out nov dez
januari februari maart april mei juni juli augustus september oktober november december
jan feb mrt apr mei jun jul aug sep okt nov dec
januari februari mars april maj juni juli augusti september oktober november december
januar februar marts april maj juni juli august september oktober november desember
styczeń luty marzec kwiecień maj czerwiec lipiec sierpień wrzesień październik listopad grudzień
stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia
ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık
январь февраль март апрель май июнь июль август сентябрь октябрь ноябрь декабрь
января февраля марта апреля мая июня июля августа сентября октября ноября декабря
`

// months maps the folded names of months to their English abbreviations.
var months = sync.OnceValue(func() map[string]string {
	english := strings.Fields("jan feb mar apr may jun jul aug sep oct nov dec")
	table := make(map[string]string)
	for i, name := range strings.Fields(monthNames) {
		if folded := spelled(name); table[folded] == "" {
			table[folded] = english[i%len(english)]
		}
	}
	return table
})

// divided returns, for each of some texts that are sent together, the fields whose value only
// several parts of them make, in any order. A field is listed for each form of its value. A
// part is the end of one text and the beginning of another, or a whole piece of a text.
func (c *carried) divided(ctx context.Context, texts []string) [][]string {
	found := make([][]string, len(texts))
	folded, parts, count := make([]string, len(texts)), make([][]string, len(texts)), 0
	for i, text := range texts {
		if ctx.Err() != nil {
			return found
		}
		folded[i], parts[i] = spelled(text), pieces(text)
		count += len(parts[i])
	}
	if count < 2 {
		return found
	}
	for _, v := range c.values {
		if utf8.RuneCountInString(v.text) < rowLen {
			continue
		}
		covered, marked := make([]bool, len(v.text)), 0
		var holders []int
		for i := range texts {
			if ctx.Err() != nil {
				return found
			}
			if strings.Contains(folded[i], v.text) {
				continue // found by itself
			}
			before := marked
			for _, piece := range parts[i] {
				if markParts(covered, v.text, piece) {
					marked++
				}
			}
			if marked > before {
				holders = append(holders, i)
			}
		}
		if slices.Contains(covered, false) {
			continue
		}
		for _, i := range holders {
			found[i] = append(found[i], v.field)
		}
	}
	return found
}

// pieces returns the folded parts of a text that may each be part of a value: the whole text, what
// stands between the separators of lists and structures, and words with a digit, in any encoding.
// The more pieces there are, the longer each must be, because many short ones make any value.
func pieces(text string) (list []string) {
	for _, reading := range readings(text) {
		list = append(list, spelled(reading))
		for part := range strings.FieldsFuncSeq(reading,
			func(r rune) bool { return strings.ContainsRune("=:;&?,{}[]()<>|\"'/\t\r\n", r) }) {
			list = append(list, spelled(part))
			for word := range strings.FieldsSeq(part) {
				if strings.ContainsFunc(word, unicode.IsDigit) {
					list = append(list, spelled(word))
				}
			}
		}
	}
	slices.Sort(list)
	list = slices.Compact(list)
	least := partLen
	for limit := fewPieces; len(list) > limit && least < rowLen; limit *= 2 {
		least++
	}
	return slices.DeleteFunc(list, func(piece string) bool { return len(piece) < least })
}

// fewPieces is the number of pieces of a text up to which they may be as short as partLen.
const fewPieces = 12

// partLen is the smallest part of a divided value, in bytes of the folded value.
const partLen = 2

// markParts marks the parts of a value that a text contains: all places of the text in it, the
// longest beginning of the value that the text ends with, and the longest end that it begins with.
func markParts(covered []bool, value, text string) (some bool) {
	mark := func(from, to int) {
		for i := from; i < to; i++ {
			covered[i] = true
		}
		some = true
	}
	if len(text) < partLen {
		return false
	}
	for from := 0; from+len(text) <= len(value); from++ {
		if value[from:from+len(text)] == text {
			mark(from, from+len(text))
		}
	}
	for n := min(len(value)-1, len(text)); n >= partLen; n-- {
		if strings.HasSuffix(text, value[:n]) {
			mark(0, n)
			break
		}
	}
	for n := min(len(value)-1, len(text)); n >= partLen; n-- {
		if strings.HasPrefix(text, value[len(value)-n:]) {
			mark(len(value)-n, len(value))
			break
		}
	}
	return some
}
