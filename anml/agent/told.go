package agent

import (
	"iter"
	"slices"
	"strings"
	"unicode/utf8"
)

// readingsTold yields a text that a service told, and what it means after decoding. Whole
// documents are told, so it decodes only what can be an encoding, and nothing of ordinary prose.
// A text that is sent is short and written by a model: [readingsSent] tries everything on it.
func readingsTold(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if !yield(text) {
			return
		}
		var s digitScan
		list, found := []string{text}, []string(nil)
		room := readingRoom*len(text) + 1<<10
		for depth, from := 0, 0; depth < readingDepth; depth++ {
			to := len(list)
			for _, outer := range list[from:to] {
				found = decodeTold(found[:0], outer, &s)
				for _, got := range found {
					if got == "" || len(list) == maxReadings || len(got) > room || slices.Contains(list, got) {
						continue
					}
					if !yield(got) {
						return
					}
					list = append(list, got)
					room -= len(got)
				}
			}
			from = to
		}
	}
}

// decodeTold undoes each kind of encoding once, and appends the meanings.
func decodeTold(readings []string, text string, s *digitScan) []string {
	if strings.ContainsAny(text, `%\&`) {
		readings = append(readings, escapes(text))
	}
	readings = append(readings, quotedPrintable(text), punycode(text), numberWords(text))
	if strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf && (isTag(r) || unseen(r)) }) {
		for _, decode := range hiddenDecoders {
			readings = append(readings, decode(text))
		}
	}
	s.scan(text)
	for _, parts := range s.parts {
		if len(parts) > 0 {
			readings = append(readings, strings.Join(parts, " "))
		}
	}
	return append(readings, s.rows...)
}

// digitKinds are the encodings of which runs of digits are looked for, with the length of the
// shortest run.
var digitKinds = [...]struct {
	digits *digitValues
	bits   int
	least  int
}{
	{base64Digits, 6, 6}, {base32Digits, 5, 7}, {base32HexDigits, 5, 7}, {base16Digits, 4, 8}, {base2Digits, 1, 32},
}

// wordClass is the bit of letters and digits in [digitClasses].
const wordClass = 1 << len(digitKinds)

// digitClasses has for each byte a bit for each of the digitKinds that it is a digit of.
var digitClasses = func() (classes [256]uint8) {
	for c := range classes {
		for i, kind := range digitKinds {
			if kind.digits[c] >= 0 {
				classes[c] |= 1 << i
			}
		}
		if base36Digits[c] >= 0 {
			classes[c] |= wordClass
		}
	}
	return classes
}()

// digitScan decodes, in one pass, the parts of a text that can be digits of an encoding: runs
// of digits, and rows of words as "68 61 79", "104, 97, 121" and "NBQX SIDG".
type digitScan struct {
	parts [len(digitKinds)][]string // meanings of runs, by their kind
	rows  []string                  // meanings of rows
	row   wordRow
	data  []byte
}

func (s *digitScan) scan(text string) {
	for k := range s.parts {
		s.parts[k] = s.parts[k][:0]
	}
	s.rows = s.rows[:0]
	var begins [len(digitKinds) + 1]int
	var open uint8
	for i := 0; i <= len(text); i++ {
		var class uint8
		if i < len(text) {
			class = digitClasses[text[i]]
		}
		if class == open {
			continue
		}
		for k := range begins {
			switch bit := uint8(1) << k; {
			case class&^open&bit != 0:
				begins[k] = i
			case open&^class&bit == 0:
			case bit == wordClass:
				s.word(text, begins[k], i)
			case i-begins[k] >= digitKinds[k].least:
				s.parts[k] = s.decode(s.parts[k], text[begins[k]:i], k)
			}
		}
		open = class
	}
	s.endRow(text)
}

// decode appends the meaning of a run of digits: the text that all of it is, or else the
// stretches of text in it, if the run does not look like words.
func (s *digitScan) decode(parts []string, run string, kind int) []string {
	digits, bits := digitKinds[kind].digits, digitKinds[kind].bits
	if s.candidate(run, digits, bits) {
		if text, all := textOf(s.data); all {
			return append(parts, text)
		}
	}
	if len(run)*bits < 8*stretchLen || !looksCoded(run, digits) {
		return parts
	}
	return s.stretches(parts, run, digits, bits)
}

// stretches appends the stretches of text in a run of digits, from each place at which a byte may
// begin. The digits become bytes once; each other place is a shift of these.
func (s *digitScan) stretches(parts []string, run string, digits *digitValues, bits int) []string {
	s.data = s.data[:0]
	var buffer, have uint
	for i := range len(run) {
		buffer, have = buffer<<bits|uint(digits[run[i]]), have+uint(bits)
		if have >= 8 {
			have -= 8
			s.data = append(s.data, byte(buffer>>have))
		}
	}
	s.data = append(s.data, byte(buffer<<(8-have)), 0)
	for from := range alignments(bits) {
		skip := from * bits
		begin, shift := skip/8, skip%8
		end, shown := begin+(len(run)*bits-skip)/8, 0
		for i := begin; i <= end; i++ {
			var c byte
			if i < end {
				c = s.data[i]<<shift | s.data[i+1]>>(8-shift)
			}
			switch {
			case shownASCII[c]:
				shown++
				continue
			case c == 0 && i < end: // as in UTF-16
				continue
			case shown >= stretchLen:
				parts = append(parts, s.shifted(begin, i, shift))
			}
			begin, shown = i+1, 0
		}
	}
	return parts
}

// shifted returns the bytes from one place to another after a shift, without zeros.
func (s *digitScan) shifted(begin, end, shift int) string {
	text := make([]byte, 0, end-begin)
	for i := begin; i < end; i++ {
		if c := s.data[i]<<shift | s.data[i+1]>>(8-shift); c != 0 {
			text = append(text, c)
		}
	}
	return string(text)
}

// candidate decodes digits into s.data, and reports whether the result can be text.
func (s *digitScan) candidate(run string, digits *digitValues, bits int) bool {
	s.data = s.data[:0]
	var buffer, have uint
	for i := range len(run) {
		buffer, have = buffer<<bits|uint(digits[run[i]]), have+uint(bits)
		if have < 8 {
			continue
		}
		have -= 8
		c := byte(buffer >> have)
		if c != 0 && c < utf8.RuneSelf && !shownASCII[c] {
			return false
		}
		s.data = append(s.data, c)
	}
	return true
}

// shownASCII are the ASCII characters of texts.
var shownASCII = func() (table [256]bool) {
	for c := range rune(utf8.RuneSelf) {
		table[c] = shows(c)
	}
	return table
}()

// looksCoded reports whether a run of digits does not look like words: base64 has capital
// letters among small ones, base32 letters and numbers.
func looksCoded(run string, digits *digitValues) bool {
	upper, lower, number := countClasses(run)
	switch digits {
	case base64Digits:
		return upper > 1 && lower > 0
	case base32Digits, base32HexDigits:
		return number > 0 && upper+lower > 0
	}
	return true
}

func countClasses(text string) (upper, lower, number int) {
	for i := range len(text) {
		switch c := text[i]; {
		case 'A' <= c && c <= 'Z':
			upper++
		case 'a' <= c && c <= 'z':
			lower++
		case '0' <= c && c <= '9':
			number++
		}
	}
	return upper, lower, number
}

// wordRow is a row of words that can be groups of digits or codes of characters.
type wordRow struct {
	begin, end int // in the text
	digits     []byte
	common     uint8 // kinds that all digits are of
	words      int
	coded      int // words that are not like those of prose
	numbers    int // words that are a number
}

const (
	maxGroup     = 10 // characters of a word with a prefix, as in 0x0001F600
	minCodeDigit = 3 * wholeLen
)

// word adds a word to the row, which ends before a word that cannot be part of one.
func (s *digitScan) word(text string, begin, end int) {
	word := text[begin:end]
	upper, lower, number := countClasses(word)
	group := word
	for group != "" && numberPrefixes[group[0]] {
		group = group[1:]
	}
	if len(word) > 2 && word[0] == '0' && strings.IndexByte("xXbB", word[1]) >= 0 {
		group = word[2:]
	}
	common := uint8(0xFF)
	for i := range len(group) {
		common &= digitClasses[group[i]]
	}
	const hex = 1 << 3
	isCode := number > 0 && isOctal(word)
	switch {
	case len(word) <= maxCodeName, isCode, upper > 1 && lower > 0, number > 0 && common&hex != 0 && len(word) <= maxGroup:
	default:
		s.endRow(text)
		return
	}
	r := &s.row
	if r.words == 0 {
		r.begin, r.common = begin, 0xFF
	}
	r.end = end
	r.digits = append(r.digits, group...)
	r.common &= common
	r.words++
	if len(word) == 1 || number > 0 || upper > 1 {
		r.coded++
	}
	if isCode {
		r.numbers += max(1, len(word)/minCodeDigit*wholeLen)
	}
}

// numberPrefixes are letters that may stand before digits of a number, as in x68.
var numberPrefixes = [256]bool{'x': true, 'X': true, 'u': true, 'U': true, 'o': true, 'O': true}

// isOctal reports whether a word has only digits and the letter of octal numbers.
func isOctal(word string) bool {
	for i := range len(word) {
		if c := word[i]; c|0x20 != 'o' && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

func (s *digitScan) endRow(text string) {
	r := &s.row
	if r.words > 1 && 2*r.coded >= r.words {
		for k := range digitKinds {
			if r.common&(1<<k) != 0 && len(r.digits) >= digitKinds[k].least {
				s.rows = s.decode(s.rows, string(r.digits), k)
			}
		}
	}
	if r.numbers >= wholeLen {
		list := text[r.begin:r.end]
		s.rows = append(s.rows, codeList(8, 3)(list), codeList(10, 3)(list))
	}
	*r = wordRow{digits: r.digits[:0]}
}
