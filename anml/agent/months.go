package agent

import (
	"strings"
	"sync"
	"unicode"
)

// monthsInEnglish is a folded text with each name of a month as three letters of
// English, each number as a word, and without the words that join the parts of a date;
// "" if it names no month.
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

// sameKind is the beginning of a word that is a number or holds no digit.
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

// monthNames are names of the twelve months in several languages, whole or as long as
// they are abbreviated.
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

// months are the English abbreviations of the names of months, which are folded.
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
