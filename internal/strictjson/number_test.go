package strictjson

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestNumbers(t *testing.T) {
	for _, test := range []struct {
		source    string
		float     float64
		floatCode string
		intCode   string // "" where the double is the integer too
	}{
		{"0", 0, "", ""},
		{"-0", math.Copysign(0, -1), "", ""},
		{"0e99999999999999999999", 0, "", ""},
		{"1", 1, "", ""},
		{"1.0", 1, "", ""},
		{"1e0", 1, "", ""},
		{"10E-1", 1, "", ""},
		{"1E2", 100, "", ""},
		{"-12.50e1", -125, "", ""},
		{"1.5", 1.5, "", CodeNotInteger},
		{"0.1", 0.1, "", CodeNotInteger},
		{"0.30000000000000004", 0.30000000000000004, "", CodeNotInteger},
		{"0.3000000000000000444", 0, CodePrecisionLoss, CodePrecisionLoss},
		{"7.97003404095981205", 0, CodePrecisionLoss, CodePrecisionLoss}, // without the 0 inside it is the shortest text of its double
		{"3.14159265358979323846", 0, CodePrecisionLoss, CodePrecisionLoss},
		{"9007199254740991", 1<<53 - 1, "", ""},
		{"9007199254740992", 1 << 53, "", ""},
		{"9007199254740993", 0, CodePrecisionLoss, CodePrecisionLoss},
		{"-9007199254740993", 0, CodePrecisionLoss, CodePrecisionLoss},
		{"9007199254740994", 1<<53 + 2, "", CodePrecisionLoss},
		{"100000000000000000000000", 1e23, "", CodePrecisionLoss},
		{"1e23", 1e23, "", CodePrecisionLoss},
		{"123123123123123123123123123123", 0, CodePrecisionLoss, CodePrecisionLoss},
		{"1.7976931348623157e308", math.MaxFloat64, "", CodePrecisionLoss},
		{"1e309", 0, CodeOverflow, CodeOverflow},
		{"-1e400", 0, CodeOverflow, CodeOverflow},
		{"1e99999999999999999999", 0, CodeOverflow, CodeOverflow},
		{"5e-324", 5e-324, "", CodeNotInteger},
		{"4e-324", 0, CodePrecisionLoss, CodePrecisionLoss},
		{"1e-400", 0, CodePrecisionLoss, CodePrecisionLoss},
		{"1e-99999999999999999999", 0, CodePrecisionLoss, CodePrecisionLoss},
		{"0." + strings.Repeat("0", 400) + "1", 0, CodePrecisionLoss, CodePrecisionLoss},
		{"1" + strings.Repeat("0", 20) + "." + strings.Repeat("0", 400), 1e20, "", CodePrecisionLoss},
	} {
		t.Run(test.source, func(t *testing.T) {
			v := accept(t, test.source, Limits{})
			f, err := v.Float()
			if f != test.float || math.Signbit(f) != math.Signbit(test.float) || code(err) != test.floatCode {
				t.Errorf("Float returns %v, %v", f, err)
			}
			i, err := v.Int()
			if code(err) != test.intCode || err == nil && float64(i) != test.float {
				t.Errorf("Int returns %v, %v", i, err)
			}
		})
	}
}

// code returns the reason code of an error of this package, and "" for a nil error.
func code(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// TestIntegersAreExact compares with arithmetic that loses nothing.
func TestIntegersAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		source := fmt.Sprintf("%d", rapid.Int64().Draw(t, "integer"))
		if rapid.Bool().Draw(t, "scientific") {
			source += fmt.Sprintf(".%se%d", strings.Repeat("0", rapid.IntRange(1, 3).Draw(t, "zeros")), rapid.IntRange(-3, 3).Draw(t, "exponent"))
		}
		v, err := Parse([]byte(source), Limits{})
		if err != nil {
			t.Fatal(err)
		}
		exact, _ := new(big.Rat).SetString(source)
		got, err := v.Int()
		within := exact.IsInt() && new(big.Int).Abs(exact.Num()).Cmp(big.NewInt(maxInt)) <= 0
		if within != (err == nil) || within && exact.Cmp(new(big.Rat).SetInt64(got)) != 0 {
			t.Fatalf("%s reads as %d, %v", source, got, err)
		}
	})
}
