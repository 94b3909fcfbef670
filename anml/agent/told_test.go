package agent

import (
	"bytes"
	"math/rand/v2"
	"slices"
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
