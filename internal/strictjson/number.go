package strictjson

import (
	"bytes"
	"errors"
	"math"
	"strconv"
	"strings"
)

// maxInt is the largest integer below which a double holds every integer.
const maxInt = 1 << 53

// Float gives a number as the IEEE 754 double that it denotes. It refuses
// numbers beyond the doubles ([CodeOverflow]) and numbers that were written with
// digits which the double does not have ([CodePrecisionLoss]): what two readers
// take for two numbers must decide nothing.
func (v Value) Float() (float64, error) {
	if err := v.Expect(Number); err != nil {
		return 0, err
	}
	source := v.Source()
	f, err := strconv.ParseFloat(source, 64)
	if errors.Is(err, strconv.ErrRange) && math.IsInf(f, 0) {
		return 0, v.Refuse(CodeOverflow, "the number is larger than any double", "write a number below 1.8e308")
	}
	if !keepsDigits(source, f) {
		return 0, v.Refuse(CodePrecisionLoss, "a double holds the number with other digits", "write at most 15 digits, or a string")
	}
	return f, nil
}

// Int gives a number that has no fraction, however it is written: 1, 1.0 and 1e0
// are the same. It refuses fractions ([CodeNotInteger]) and integers that a
// double does not hold exactly, which begins beyond 2^53 ([CodePrecisionLoss]).
func (v Value) Int() (int64, error) {
	f, err := v.Float()
	if err != nil {
		return 0, err
	}
	if math.Abs(f) > maxInt {
		return 0, v.Refuse(CodePrecisionLoss, "the integer is beyond those that a double holds exactly", "write an integer up to 9007199254740992, or a string")
	}
	if f != math.Trunc(f) {
		return 0, v.Refuse(CodeNotInteger, "an integer is expected, found a fraction", "write the number without a fraction")
	}
	return int64(f), nil
}

// safeDigits is the number of decimal digits that every double keeps.
const safeDigits = 15

// keepsDigits reports whether the shortest text of the double has the digits of
// the source, so that reading and writing again gives the same number.
func keepsDigits(source string, f float64) bool {
	if len(source) <= safeDigits && !strings.ContainsAny(source, "eE") {
		return true
	}
	var wroteBuf, keptBuf, shortest [2 * maxDigits]byte
	wrote, wroteExponent := decimal(wroteBuf[:0], source)
	kept, keptExponent := decimal(keptBuf[:0], strconv.AppendFloat(shortest[:0], f, 'e', -1, 64))
	return bytes.Equal(wrote, kept) && (wroteExponent == keptExponent || len(kept) == 0)
}

// maxDigits is one more than the shortest text of a double ever has.
const maxDigits = 18

// decimal gives the digits of a number without the zeros around them, but of the
// long ones only enough to tell that they are too many, and the power of ten by
// which 0.digits is multiplied.
func decimal[T text](dst []byte, source T) (digits []byte, exponent int) {
	zeros, fraction := 0, false // zeros since the last other digit
	for i := range len(source) {
		switch c := source[i]; c {
		case '-':
		case '.':
			fraction = true
		case 'e', 'E':
			power, _ := strconv.Atoi(string(source[i+1:])) // out of range: the greatest or least int
			return dst, exponent + min(max(power, math.MinInt32), math.MaxInt32)
		case '0':
			switch {
			case len(dst) > 0:
				zeros++
				if !fraction {
					exponent++
				}
			case fraction:
				exponent--
			}
		default:
			if !fraction {
				exponent++
			}
			for ; zeros > 0 && len(dst) < maxDigits; zeros-- {
				dst = append(dst, '0')
			}
			if len(dst) < maxDigits {
				dst = append(dst, c)
			}
			zeros = 0
		}
	}
	return dst, exponent
}
