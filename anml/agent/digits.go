package agent

import (
	"iter"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// digitValues maps bytes to their values as digits, or to -1.
type digitValues [256]int8

var (
	base64Digits    = newDigits("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", "+-/_")
	base32Digits    = newDigits("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", lowerCase)
	base32HexDigits = newDigits("0123456789ABCDEFGHIJKLMNOPQRSTUV", lowerCase)
	base16Digits    = newDigits("0123456789ABCDEF", lowerCase)
	base36Digits    = newDigits("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", lowerCase)
	base2Digits     = newDigits("01", "")
)

// lowerCase are pairs of letters. The second letter counts as the first.
const lowerCase = "AaBbCcDdEeFfGgHhIiJjKkLlMmNnOoPpQqRrSsTtUuVvWwXxYyZz"

// newDigits returns the values of digits by their index. In each pair, the second character counts
// as the first.
func newDigits(digits, pairs string) *digitValues {
	d := new(digitValues)
	for i := range d {
		d[i] = -1
	}
	for i := range len(digits) {
		d[digits[i]] = int8(i)
	}
	for i := 0; i < len(pairs); i += 2 {
		d[pairs[i+1]] = d[pairs[i]]
	}
	return d
}

const (
	wholeLen   = 4 // bytes of the shortest text that a whole run means
	stretchLen = 6 // characters of the shortest text that a part of a run means
)

// digitRuns decodes each run of digits and ignores the text between runs.
func digitRuns(digits *digitValues, bits int) func(string) string {
	return func(text string) string {
		var found []string
		for i := 0; i < len(text); {
			j := i
			for j < len(text) && digits[text[j]] >= 0 {
				j++
			}
			if (j-i)*bits >= 8*wholeLen {
				found = append(found, unpack(text[i:j], digits, bits)...)
			}
			i = j + 1
		}
		return strings.Join(found, " ")
	}
}

// digitsJoined decodes all digits of a text as one run. Separators, prefixes such as 0x and line
// ends may stand anywhere in it.
func digitsJoined(digits *digitValues, bits int) func(string) string {
	return func(text string) string {
		if strings.ContainsAny(text, `0U+\`) {
			text = hexPrefixes.Replace(text)
		}
		row := make([]byte, 0, len(text))
		for i := range len(text) {
			if digits[text[i]] >= 0 {
				row = append(row, text[i])
			}
		}
		if len(row)*bits < 8*wholeLen {
			return ""
		}
		return strings.Join(unpack(string(row), digits, bits), " ")
	}
}

var hexPrefixes = strings.NewReplacer("0x", " ", "0X", " ", "0b", " ", `\x`, " ", "U+", " ", "u+", " ")

// unpack decodes a run of digits from each place at which a byte may begin, because other digits
// may precede it. It returns the parts that are text, or only the whole run if that is text.
func unpack(row string, digits *digitValues, bits int) (found []string) {
	data := make([]byte, 0, len(row)*bits/8)
	for from := range alignments(bits) {
		data = data[:0]
		var buffer, have uint
		for i := from; i < len(row); i++ {
			buffer, have = buffer<<bits|uint(digits[row[i]]), have+uint(bits)
			if have >= 8 {
				have -= 8
				data = append(data, byte(buffer>>have))
			}
		}
		text, all := textOf(data)
		if all {
			return []string{text}
		}
		if text != "" {
			found = append(found, text)
		}
	}
	return found
}

// alignments returns after how many digits a digit and a byte begin together again.
func alignments(bits int) int {
	n := 8
	for bits%2 == 0 {
		n, bits = n/2, bits/2
	}
	return n
}

// textOf returns the text of some bytes in UTF-8 or UTF-16, or the parts of them that are text, and
// whether all of it is text.
func textOf(data []byte) (text string, all bool) {
	if len(data) < wholeLen {
		return "", false
	}
	narrow := strings.ReplaceAll(string(data), "\x00", "") // UTF-16 of ASCII too
	narrow = strings.TrimRight(narrow, "\n")
	if len(narrow) >= wholeLen && printable(narrow) {
		return narrow, true
	}
	parts := stretches(nil, narrow)
	size := 0
	for _, part := range parts {
		size += len(part)
	}
	if 2*size < len(narrow) {
		for first := range 2 { // the byte order, and where the first pair begins
			parts = stretches(parts, alphabetic(data, first))
		}
	}
	return strings.Join(parts, " "), false
}

// alphabetic decodes big-endian UTF-16 from a place. It ignores characters beyond U+3000, because
// any two bytes may be one.
func alphabetic(data []byte, from int) string {
	row, longest := 0, 0
	for i := from; i+1 < len(data); i += 2 {
		row++
		if data[i] >= 0x30 {
			row = 0
		}
		longest = max(longest, row)
	}
	if longest < stretchLen {
		return ""
	}
	units := make([]uint16, 0, len(data)/2)
	for i := from; i+1 < len(data); i += 2 {
		unit := uint16(data[i])<<8 | uint16(data[i+1])
		if unit >= 0x3000 {
			unit = 0
		}
		units = append(units, unit)
	}
	return string(utf16.Decode(units))
}

// stretches appends the runs of printable characters of a text that are long enough.
func stretches(list []string, text string) []string {
	begin, count := 0, 0
	for i := 0; i <= len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if (r != utf8.RuneError || size > 1) && shows(r) {
			count++
			i += size
			continue
		}
		if count >= stretchLen {
			list = append(list, text[begin:i])
		}
		i += max(size, 1)
		begin, count = i, 0
	}
	return list
}

// printable reports whether a text is valid and all its characters are printable.
func printable(text string) bool {
	return utf8.ValidString(text) && strings.IndexFunc(text, func(r rune) bool { return !shows(r) }) < 0
}

func shows(r rune) bool {
	if r < utf8.RuneSelf {
		return ' ' <= r && r < 0x7F || '\t' <= r && r <= '\r'
	}
	return unicode.IsPrint(r) || unicode.IsSpace(r) || unseen(r)
}

// codeList decodes lists of character codes in some base, as in "104 97 121", and rows of digits in
// which each code has width digits.
func codeList(base, width int) func(string) string {
	return func(text string) string {
		var parts []string
		var list strings.Builder
		end := func() {
			if utf8.RuneCountInString(list.String()) >= wholeLen {
				parts = append(parts, list.String())
			}
			list.Reset()
		}
		for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r >= utf8.RuneSelf || base36Digits[byte(r)] < 0 }) {
			code, _ := number(strings.TrimLeft(word, "0oO"), base, 20)
			switch {
			case code >= ' ' && shows(rune(code)):
				list.WriteRune(rune(code))
				continue
			case len(word) >= width*stretchLen:
				parts = append(parts, packedCodes(word, base, width)...)
			case len(word) <= maxCodeName && !strings.ContainsFunc(word, unicode.IsDigit):
				continue // as in chr(104)+chr(97)
			}
			end()
		}
		end()
		return strings.Join(parts, " ")
	}
}

// maxCodeName is the largest length of a function name before each code of a list.
const maxCodeName = 4

// packedCodes decodes codes of width digits each, from every place at which the first may begin.
func packedCodes(word string, base, width int) (parts []string) {
	var room [3 * 64]byte
	for from := range width {
		data := room[:0]
		for i := from; i+width <= len(word); i += width {
			code, _ := number(word[i:i+width], base, 8)
			data = append(data, byte(code))
		}
		if longestText(data) >= stretchLen {
			parts = stretches(parts, string(data))
		}
	}
	return parts
}

// longestText returns the length of the longest run of bytes that are not control characters of
// ASCII. Most bytes that mean nothing are told apart by it from a text, without a copy.
func longestText(data []byte) (longest int) {
	row := 0
	for _, c := range data {
		row++
		if c < utf8.RuneSelf && !shownASCII[c] {
			row = 0
		}
		longest = max(longest, row)
	}
	return longest
}

// number returns the value of digits in some base, or 0 and false if they are not a number of at
// most some bits. Unlike [strconv.ParseUint] it allocates no error: most words are not a number.
func number(digits string, base, bits int) (n uint64, ok bool) {
	for i := range len(digits) {
		d := base36Digits[digits[i]]
		if d < 0 || int(d) >= base {
			return 0, false
		}
		n = n*uint64(base) + uint64(d)
		if n>>bits != 0 {
			return 0, false
		}
	}
	return n, digits != ""
}

// numberWords returns the rows of a text in which numbers are words or Han digits, as digits: "four
// two five three" and "four thousand two hundred and fifty-three" as those of 4253. A row has at
// least [wholeLen] such digits. Numbers and single letters may stand among them.
func numberWords(text string) string {
	var rows, row []string
	var before string // the digits of the word before
	digits, scaled := 0, false
	end := func() {
		if digits >= wholeLen {
			rows = append(rows, row...)
		}
		row, before, digits, scaled = row[:0], "", 0, false
	}
	for word := range wordsAndHan(text) {
		number := numberOf(word)
		switch {
		case number == scaleNumber:
			scaled = true
			continue
		case scaled && word == "and":
			continue
		case len(before) == 2 && before[1] == '0' && len(number) == 1 && number != "0":
			row[len(row)-1] = before[:1] + number // forty-two
		case number != "":
			row = append(row, number)
			digits += len(number)
		case len(word) == 1 || word[0] <= '9': // a letter, or what begins with a digit
			row = append(row, word)
		default:
			end()
		}
		before, scaled = number, false
	}
	end()
	return strings.Join(rows, " ")
}

// wordsAndHan yields the words of a text, and each character of Chinese and Japanese by itself.
func wordsAndHan(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		from := 0
		for i := 0; i < len(text); {
			r, size := utf8.DecodeRuneInString(text[i:])
			if r < firstHan && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
				i += size
				continue
			}
			if from < i && !yield(text[from:i]) || r >= firstHan && !yield(text[i:i+size]) {
				return
			}
			i += size
			from = i
		}
		if from < len(text) {
			yield(text[from:])
		}
	}
}

// firstHan is the Han zero, the first of the Han digits.
const firstHan = '〇'

// scaleNumber stands for a word that only says of what a digit is the number, such as "hundred".
const scaleNumber = "x"

// numberOf returns the digits of a number word or Han digit, or "".
func numberOf(word string) string {
	var lower [len("seventeen")]byte
	if len(word) > len(lower) {
		return ""
	}
	for i := range len(word) {
		lower[i] = word[i]
		if 'A' <= word[i] && word[i] <= 'Z' {
			lower[i] |= 0x20
		}
	}
	return numbersByWord()[string(lower[:len(word)])]
}

// numbersByWord returns the digits of several languages, the numbers of two digits in English, and
// the Han digits of everyday use and of contracts.
var numbersByWord = sync.OnceValue(func() map[string]string {
	numbers := make(map[string]string)
	for _, list := range [...]string{
		"zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen",
		"oh un deux trois quatre cinq six sept huit neuf", "zéro une", "null eins zwei drei vier fünf sechs sieben acht neun", "- - zwo",
		"cero uno dos tres cuatro cinco seis siete ocho nueve", "- um dois três quatro cinco seis sete oito nove", "- - duas",
		"- uno due tre quattro cinque sei sette otto nove", "nul een twee drie vier vijf zes zeven acht negen",
		"〇 一 二 三 四 五 六 七 八 九", "零 壹 贰 叁 肆 伍 陆 柒 捌 玖", "- - 貳 參 - - 陸",
	} {
		for n, word := range strings.Fields(list) {
			numbers[word] = strconv.Itoa(n)
		}
	}
	for n, word := range strings.Fields("twenty thirty forty fifty sixty seventy eighty ninety") {
		numbers[word] = strconv.Itoa(10 * (n + 2))
	}
	for _, word := range [...]string{"hundred", "thousand", "十", "百", "千"} {
		numbers[word] = scaleNumber
	}
	return numbers
})
