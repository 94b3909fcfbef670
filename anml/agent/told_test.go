package agent

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestStretches compares the stretches of text in runs of digits with those that are found by
// decoding a run again from each of its digits.
func TestStretches(t *testing.T) {
	slowly := func(run string, digits *digitValues, bits int) (found []string) {
		for from := range alignments(bits) {
			var data []byte
			var buffer, have uint
			for i := from; i < len(run); i++ {
				buffer, have = buffer<<bits|uint(digits[run[i]]), have+uint(bits)
				if have >= 8 {
					have -= 8
					data = append(data, byte(buffer>>have))
				}
			}
			data = bytes.ReplaceAll(data, []byte{0}, nil)
			for _, text := range bytes.FieldsFunc(data, func(r rune) bool { return r >= 0x80 || !shownASCII[byte(r)] }) {
				if len(text) >= stretchLen {
					found = append(found, string(text))
				}
			}
		}
		return found
	}
	r := rand.New(rand.NewPCG(1, 2))
	some := 0
	for _, kind := range digitKinds {
		var all []byte
		for c := range 256 {
			if kind.digits[c] >= 0 {
				all = append(all, byte(c))
			}
		}
		for n := range 400 {
			run := make([]byte, n)
			for i := range run {
				run[i] = all[r.IntN(len(all))]
			}
			// A text in the middle, which begins at any digit.
			coded := textDigits(kind.digits, kind.bits, "hay\x00 fever "+string(rune('a'+n%26)))
			run = slices.Insert(run, r.IntN(n+1), coded...)
			var s digitScan
			got, want := s.stretches(nil, string(run), kind.digits, kind.bits), slowly(string(run), kind.digits, kind.bits)
			if !slices.Equal(got, want) {
				t.Fatalf("%d bits, %s: %q, want %q", kind.bits, run, got, want)
			}
			some += len(want)
		}
	}
	if some < 2000 {
		t.Errorf("only %d texts were found", some)
	}
}

// textDigits encodes a text in digits.
func textDigits(digits *digitValues, bits int, text string) (out []byte) {
	digit := func(value uint) byte {
		return byte(slices.IndexFunc(digits[:], func(v int8) bool { return v == int8(value) }))
	}
	var buffer, have uint
	for i := range len(text) {
		buffer, have = buffer<<8|uint(text[i]), have+8
		for have >= uint(bits) {
			have -= uint(bits)
			out = append(out, digit(buffer>>have&(1<<bits-1)))
		}
	}
	return out
}

// TestReadingsTold: what a told text means is found, each meaning once, in the order of its
// encodings.
func TestReadingsTold(t *testing.T) {
	twice := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	for text, want := range map[string][]string{
		"":                        nil,
		"hay fever":               nil,
		"%":                       nil,
		"==":                      nil,
		"h\u200b":                 nil,
		"%68ay":                   {"hay"},
		`\x68ay`:                  {"hay"},
		"&#104;ay":                {"hay"},
		"=68ay":                   {"hay"},
		"xn--a.b":                 {"\u0080 b"},
		"tea" + hiddenTags("hay"): {"teahay"},
		"\U0001F1ED\U0001F1E6":    {"HA"},
		"tea \ufe06\ufe08\ufe06\ufe01\ufe07\ufe09\ufe02\ufe01": {"hay!"},
		"%2568ay":                               {"%68ay", "hay"},
		"aGF5IQ":                                {"hay!"},
		"=68%61y":                               {"=68ay", "h%61y", "hay"},
		twice(twice(twice("hay fever"))):        {twice(twice("hay fever")), twice("hay fever"), "hay fever"},
		twice(twice(twice(twice("hay fever")))): {twice(twice(twice("hay fever"))), twice(twice("hay fever")), twice("hay fever")},
	} {
		var got []string
		for reading := range readingsTold(text) {
			got = append(got, reading)
		}
		if want = append([]string{text}, want...); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	t.Run("ends", func(t *testing.T) { // when the caller has seen enough
		for n := range 3 {
			seen := 0
			for range readingsTold("%2568ay") {
				if seen++; seen > n {
					break
				}
			}
			if seen != n+1 {
				t.Errorf("%d readings of %d", seen, n+1)
			}
		}
	})
	t.Run("bounded", func(t *testing.T) {
		var many strings.Builder
		for i := range 2 * maxReadings { // each number ends before the long word
			fmt.Fprintf(&many, "%d 104 97 121 words ", 100+i%26)
		}
		for i := range 2 * maxReadings {
			fmt.Fprintf(&many, "%d 104 97 121 %d words ", 100+i%26, 100+i/26)
		}
		if got := slices.Collect(readingsTold(many.String())); len(got) != maxReadings {
			t.Errorf("%d readings", len(got))
		}
		// 61 characters that mean 216, between escapes that make each nesting a text of its own.
		long := strings.Repeat("xn--2n7c"+strings.Repeat("a", 53)+" ", 10) + "%252561 =3D3D61"
		size, room := 0, readingRoom*len(long)+1<<10
		got := slices.Collect(readingsTold(long))
		for _, reading := range got[1:] {
			size += len(reading)
		}
		if len(got) != 20 || size > room || size < room/2 {
			t.Errorf("%d readings of %d bytes, at most %d", len(got), size, room)
		}
	})
}

// TestDigitScan has the runs and rows of digits in texts, and what they mean.
func TestDigitScan(t *testing.T) {
	const b64, b32, hex32, hex, bits = 0, 1, 2, 3, 4
	type parts = [len(digitKinds)][]string
	for text, want := range map[string]struct {
		parts parts
		rows  []string
	}{
		"":                             {},
		"plain words and more of them": {},
		// The shortest run of each kind, and one digit less.
		"aGF5IQ":                           {parts: parts{b64: {"hay!"}}},
		"aGF5I":                            {},
		"NBQXSII":                          {parts: parts{b32: {"hay!"}}},
		"NBQXSI":                           {},
		"D1GNI88":                          {parts: parts{hex32: {"hay!"}}},
		"D1GNI8":                           {},
		"68617921":                         {parts: parts{hex: {"hay!"}}},
		"6861792":                          {},
		"01101000011000010111100100100001": {parts: parts{bits: {"hay!"}}, rows: []string{"", ""}},
		"0110100001100001011110010010000":  {rows: []string{"", ""}},
		// Parts of runs.
		"aGF5IGZldmVy, it means":     {parts: parts{b64: {"hay fever"}}, rows: []string{"hay fever"}},
		"means: aGF5IGZldmVy":        {parts: parts{b64: {"hay fever"}}},
		"XXaGF5IGZldmVyZZ":           {parts: parts{b64: {"fWfW&Y", "hay fevere"}}},
		"ff68617920666576657201":     {parts: parts{hex: {"hay fever"}}},
		"aGF5IGZl.dmVyISEh":          {parts: parts{b64: {"hay fe", "ver!!!"}}, rows: []string{"hay fever!!!"}},
		"6a6b6c6d6e6f, 6f6e6d6c6b6a": {parts: parts{hex: {"jklmno", "onmlkj"}}},
		"6162630a0a0a":               {parts: parts{hex: {"abc\n\n\n"}}},
		// Rows of groups.
		"68 61 79 21":                                 {rows: []string{"hay!", "", ""}},
		"68 61 79":                                    {},
		"0x68 0X61 0x79 0x21":                         {rows: []string{"hay!"}},
		"0x 68 61 79 21":                              {rows: []string{"", ""}},
		"x68 x61 x79 x21":                             {rows: []string{"hay!"}},
		"X68 u61 o79 O21":                             {rows: []string{"hay!"}},
		"0x0068 0x0061 0x0079 0x0021":                 {rows: []string{"hay!"}},
		"0x00006861 0x00007921":                       {rows: []string{"hay!"}},
		"0x000006861 0x000007921":                     {},
		"0b01101000 0b01100001 0B01111001 0b00100001": {rows: []string{"hay!"}},
		"01101000 01100001 01111001 00100001":         {rows: []string{"hay!", "", ""}},
		"NBQX SII":                                    {rows: []string{"hay!"}},
		"nbqx sidg mv3g k4q":                          {rows: []string{"hay fever"}},
		"D1GN I836 CLR6 AS8":                          {rows: []string{"hay feveq"}},
		"aGF5 IGZl dmVy":                              {rows: []string{"hay fever"}},
		"6a6b6c 6d6e6f70":                             {parts: parts{hex: {"mnop"}}, rows: []string{"jklmnop"}},
		"0x 68 61 79 20 66 65 76 65 72 21":            {rows: []string{"65>5:", "BALAH"}},
		"cmVk cmVk":                                   {},
		"cmVk cmVk aGF5":                              {},
		"cmVk cmVk aGF5 aGF5":                         {rows: []string{"redredhayhay", "eT&U@1z"}},
		"the hay is in a barn or so":                  {},
		"68 is 61 to 79 in 21":                        {rows: []string{"", ""}},
		"Ab Cd Ef GH IJ":                              {},
		// Rows of codes.
		"104 97 121 33":                     {rows: []string{"", "hay!"}},
		"104, 97, 121":                      {},
		"104 97 hello 121 33":               {},
		"104 97 hell 121 33":                {rows: []string{"", "hay!"}},
		"hello 104 97 121 33 hello":         {rows: []string{"", "hay!"}},
		"chr(104)+chr(97)+chr(121)+chr(33)": {rows: []string{"@FGi;#", "", "hay!"}},
		"150 141 171 41":                    {rows: []string{"hay!", ""}},
		"o150 o141 o171 o41":                {rows: []string{"hay!", ""}},
		"0o150 0o141 0O171 0o41":            {rows: []string{"hay!", ""}},
		"oooo oooo oooo oooo":               {},
		"150141171040146145166145162":       {rows: []string{"hay fever", ""}},
		"104097121032102101118101114":       {rows: []string{"", "hay fever"}},
		"104097121033":                      {rows: []string{"", ""}},
		"104097121 033":                     {},
	} {
		var s digitScan
		for range 2 { // nothing stays of the first time
			s.scan(text)
			for k, got := range s.parts {
				if !slices.Equal(got, want.parts[k]) {
					t.Errorf("%q, kind %d: %q, want %q", text, k, got, want.parts[k])
				}
			}
			if !slices.Equal(s.rows, want.rows) {
				t.Errorf("%q: rows %q, want %q", text, s.rows, want.rows)
			}
		}
	}
}

// TestDigitCandidates: a run is decoded if all of it can be text, and stretches of it are looked
// for if it does not look like words.
func TestDigitCandidates(t *testing.T) {
	for run, want := range map[string]string{
		"68617921": "hay!", "6861792": "hay", "680061": "h\x00a", "7e0a0d09": "~\n\r\t", "80ffc3": "\x80\xff\xc3", "": "",
		"687f61": "false", "681f61": "false", "680161": "false",
	} {
		s := digitScan{data: []byte("earlier")}
		got := "false"
		if s.candidate(run, base16Digits, 4) {
			got = string(s.data)
		}
		if got != want {
			t.Errorf("%s: %q, want %q", run, got, want)
		}
	}
	for run, want := range map[string]struct{ base64, base32 bool }{
		"words": {}, "WORDS": {}, "Words": {}, "WoRds": {true, false}, "WOrds": {true, false}, "ABc": {true, false}, "words1": {false, true}, "WORDS1": {false, true},
		"123": {}, "1a": {false, true}, "1A": {false, true}, "AB1": {false, true}, "aA": {}, "": {},
	} {
		if got := looksCoded(run, base64Digits); got != want.base64 {
			t.Errorf("%q in base64: %v", run, got)
		}
		for _, digits := range []*digitValues{base32Digits, base32HexDigits} {
			if got := looksCoded(run, digits); got != want.base32 {
				t.Errorf("%q in base32: %v", run, got)
			}
		}
		if !looksCoded(run, base16Digits) || !looksCoded(run, base2Digits) {
			t.Errorf("%q looks like words in hex", run)
		}
	}
	for text, want := range map[string][3]int{
		"@AZ[": {2, 0, 0}, "`az{": {0, 2, 0}, "/09:": {0, 0, 2}, "Ab1": {1, 1, 1}, "": {}, "\u00c9 -": {},
	} {
		if upper, lower, number := countClasses(text); [3]int{upper, lower, number} != want {
			t.Errorf("%q: %d, %d, %d", text, upper, lower, number)
		}
	}
	for word, want := range map[string]bool{"0o150": true, "O150": true, "109": true, "/": false, "1:": false, "1n": false, "1p": false, "1a": false, "": true} {
		if got := isOctal(word); got != want {
			t.Errorf("%q is octal: %v", word, got)
		}
	}
}
