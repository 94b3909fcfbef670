package anml

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// A service chooses the patterns that its parameters are checked with, so it must
// not choose what checking costs.
func TestPatternsCost(t *testing.T) {
	param := func(pattern string) Param {
		d, err := ParseXML([]byte(`<anml xmlns="`+Namespace+`" role="service"><interact><action id="a" method="POST" endpoint="/a"><param name="p" pattern="`+pattern+`"/></action></interact></anml>`), ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return first(first(d.Interact().Actions()).Params())
	}
	t.Run("O01", func(t *testing.T) {
		for _, c := range []struct{ pattern, fits, not string }{
			{`[0-9]{3}-[0-9]{4}`, "555-1234", "555-12345"},
			{`(?:\+\d{1,3}-)?\d{3}-\d{4}-\d{4}`, "+44-555-1234-5678", "44"},
			{`(?i)[a-z0-9._%+-]+@[a-z0-9.-]+\.[a-z]{2,63}`, "Ada@Example.com", "Ada"},
			{`[\p{L}\p{M}' -]{1,100}`, "Zoë d'Arc", "4"},
			{`(?i)stra(ß|ss)e`, "STRASSE", "street"},
			{`.{1,1000}`, strings.Repeat("x", 1000), strings.Repeat("x", 1001)},
			{`[a-z]{1,1000}`, "a", strings.Repeat("x", maxValue)}, // beyond what is tried
			{`(?:[A-Za-z0-9+/]{4}){0,200}`, strings.Repeat("abcd", 200), strings.Repeat("abcd", 201)},
			{`[a-z]*`, strings.Repeat("x", maxValue), "X"},
		} {
			t.Run("accept-"+c.pattern, func(t *testing.T) {
				if err := param(c.pattern).Check(c.fits); err != nil {
					t.Error(err)
				}
			})
			t.Run("reject-"+c.pattern, func(t *testing.T) {
				if err := param(c.pattern).Check(c.not); !errors.Is(err, ErrParamInvalid) {
					t.Error(err)
				}
			})
		}
		for _, pattern := range []string{
			strings.Repeat("a{1000}", 140), strings.Repeat(`\pL`, 300), "[" + strings.Repeat(`\PL`, 300) + "]",
			strings.Repeat(`(?i)[\x{80}-\x{10ffff}]`, 3), strings.Repeat("(?i:[é-ﷺ])", 40), strings.Repeat("(a?){1000}", 90),
		} {
			t.Run("accept-anything-for-"+pattern[:6], func(t *testing.T) {
				if p := param(pattern); p.Check("?") != nil || p.n.flags()&unchecked == 0 || len(p.d.Findings()) == 0 {
					t.Error("it is checked", p.Check("?"), p.d.Findings())
				}
			})
		}
		t.Run("accept-anything-beyond-a-documents-share", func(t *testing.T) {
			var b strings.Builder
			for i := range 2000 {
				fmt.Fprintf(&b, `<param name="p%d" pattern="((a{10}){10}){9}%d"/>`, i, i)
			}
			d, err := ParseXML([]byte(`<anml xmlns="`+Namespace+`" role="service"><interact><action id="a" method="POST" endpoint="/a">`+b.String()+`</action></interact></anml>`), ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			checked, weight := 0, 0
			for p := range first(d.Interact().Actions()).Params() {
				if p.n.flags()&unchecked == 0 {
					checked++
					weight += weightOf(p.Pattern()) + 900*weighInstr
				}
			}
			if budget := patternBase + patternByte*len(d.tree.src); checked == 0 || checked == 2000 || weight > budget {
				t.Errorf("%d checked, which weigh %d of %d", checked, weight, budget)
			}
		})
	})
}
