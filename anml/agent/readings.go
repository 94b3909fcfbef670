package agent

import (
	"slices"
	"strings"
)

// Bounds of what is read out of one text.
const (
	readingDepth = 3  // encodings inside one another
	maxReadings  = 64 // texts, the text itself included
	readingRoom  = 24 // octets of all readings, for each octet of the text
)

// readings lists a text and what it means after decoding, by each of the decoders
// and by several inside one another. A service can undo each of these, so a value
// hides in none of them. The work grows with the length of the text.
func readings(text string) []string { return decoded(text, nil) }

// readingsSent lists the readings of a text that is sent, those of the text reversed
// and in ROT13 included. What a service told needs neither: a value that it told in
// either is found when the value is turned into it.
func readingsSent(text string) []string { return decoded(text, ciphers[:]) }

func decoded(text string, ciphers []func(string) string) []string {
	list, plain := []string{text}, []bool{true} // plain: no cipher was undone
	room := readingRoom*len(text) + 1<<10
	for depth, from := 0, 0; depth < readingDepth && from < len(list); depth++ {
		to := len(list)
		for i := from; i < to; i++ {
			add := func(undo func(string) string, isPlain bool) {
				got := undo(list[i])
				if got == "" || len(list) == maxReadings || len(got) > room || slices.Contains(list, got) {
					return
				}
				list, plain = append(list, got), append(plain, isPlain)
				room -= len(got)
			}
			for _, undo := range decoders {
				add(undo, plain[i])
			}
			if plain[i] {
				for _, undo := range ciphers {
					add(undo, false)
				}
			}
		}
		from = to
	}
	return list
}

// decoders each undo one kind of encoding. They return "" where there is none of it.
var decoders = [...]func(string) string{
	escapes,
	quotedPrintable,
	punycode,
	hiddenDecoders[0], hiddenDecoders[1], hiddenDecoders[2], hiddenDecoders[3], hiddenDecoders[4],
	digitRuns(base64Digits, 6), digitsJoined(base64Digits, 6),
	digitRuns(base32Digits, 5), digitsJoined(base32Digits, 5),
	digitRuns(base32HexDigits, 5), digitsJoined(base32HexDigits, 5),
	digitRuns(base16Digits, 4), digitsJoined(base16Digits, 4),
	digitsJoined(base2Digits, 1),
	codeList(8, 3), codeList(10, 3),
}

// hiddenDecoders undo encodings in characters that are not visible.
var hiddenDecoders = [...]func(string) string{
	tags, invisible(tagText), invisible(selectorBytes), invisible(selectorNibbles), invisible(twoSymbols),
}

// ciphers each undo a way to write a text that any text can be written in, so they
// find something in each that is long enough not to be another by chance.
var ciphers = [...]func(string) string{reversed, rot13}

func reversed(text string) string {
	runes := []rune(text)
	if len(runes) < rowLen {
		return ""
	}
	slices.Reverse(runes)
	return string(runes)
}

func rot13(text string) string {
	if len(text) < rowLen {
		return ""
	}
	return strings.Map(func(r rune) rune {
		switch letter := r | 0x20; {
		case 'a' <= letter && letter <= 'm':
			return r + 13
		case 'n' <= letter && letter <= 'z':
			return r - 13
		}
		return r
	}, text)
}
