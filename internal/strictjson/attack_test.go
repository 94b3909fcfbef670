package strictjson

import (
	"fmt"
	"strings"
	"testing"
)

// TestAttacks has the attack cases on JSON, as far as the JSON itself decides them.
func TestAttacks(t *testing.T) {
	refuse := func(name, text, code, pointer string) func(*testing.T) {
		return func(t *testing.T) {
			t.Run("reject-"+name, func(t *testing.T) {
				if e := refusal(t, text, Limits{}); e.Code != code || e.Place().Path != pointer {
					t.Errorf("%s: %v, want %s at %q", text, e, code, pointer)
				}
			})
		}
	}
	each := func(tests ...func(*testing.T)) func(*testing.T) {
		return func(t *testing.T) {
			for _, test := range tests {
				test(t)
			}
		}
	}

	manyNames := ""
	for i := range 100 {
		manyNames += fmt.Sprintf(`"k%d":1,`, i)
	}
	t.Run("J01", each(
		refuse("duplicate", `{"tier":1,"tier":2}`, CodeDuplicateName, "/tier"),
		refuse("nested", `{"a":[{"b":{"tier":1,"x":0,"tier":1}}]}`, CodeDuplicateName, "/a/0/b/tier"),
		refuse("escaped", `{"tier":1,"ti\u0065r":2}`, CodeDuplicateName, "/tier"),
		refuse("escaped-first", `{"\u0074ier":1,"tier":2}`, CodeDuplicateName, "/tier"),
		refuse("empty", `{"":1,"":2}`, CodeDuplicateName, "/"),
		refuse("among-many", `{`+manyNames+`"k7":2}`, CodeDuplicateName, "/k7"),
		refuse("escaped-among-many", `{`+manyNames+`"\u006b7":2}`, CodeDuplicateName, "/k7"),
		refuse("pair-of-surrogates", `{"\ud83d\ude00":1,"😀":2}`, CodeDuplicateName, "/😀"),
	))

	t.Run("J02", func(t *testing.T) {
		for name, text := range map[string]string{
			"ascii":  `{"Tier":2,"tier":1}`,
			"long-s": `{"tier":1,"ſcope":["interact"],"tıer":2}`,
			"kelvin": `{"tier":1,"\u212Aid":"x","tier\u0000":2}`,
		} {
			t.Run("reject-"+name, func(t *testing.T) {
				root := accept(t, text, Limits{})
				tier, _ := root.Member("tier")
				if got, err := tier.Int(); got != 1 || err != nil {
					t.Errorf("the tier is %d, %v", got, err)
				}
				for _, name := range []string{"TIER", "scope", "kid", "Kid"} {
					if _, ok := root.Member(name); ok {
						t.Errorf("a member is found as %s", name)
					}
				}
			})
		}
	})

	t.Run("J04", each(
		refuse("octet", "{\"a\":\"\xff\"}", CodeNotUTF8, "/a"),
		refuse("octet-in-name", "{\"a\xff\":1}", CodeNotUTF8, ""),
		refuse("overlong", "[\"\xc0\x80\"]", CodeNotUTF8, "/0"),
		refuse("overlong-slash", "[\"\xe0\x80\xaf\"]", CodeNotUTF8, "/0"),
		refuse("surrogate-octets", "[\"\xed\xa0\x80\"]", CodeNotUTF8, "/0"),
		refuse("beyond-unicode", "[\"\xf4\x90\x80\x80\"]", CodeNotUTF8, "/0"),
		refuse("cut", "[\"\xe2\x82", CodeNotUTF8, "/0"),
		refuse("high-surrogate", `["\ud800"]`, CodeSurrogate, "/0"),
		refuse("low-surrogate", `["\udc00"]`, CodeSurrogate, "/0"),
		refuse("two-high", `["\ud800\ud800"]`, CodeSurrogate, "/0"),
		refuse("high-and-text", `["\ud800dc00"]`, CodeSurrogate, "/0"),
		refuse("surrogate-in-name", `{"a":{"\ud800":1}}`, CodeSurrogate, "/a"),
	))

	t.Run("J05", each(
		refuse("utf-8", "\xEF\xBB\xBF{}", CodeBOM, ""),
		refuse("inside", "{\xEF\xBB\xBF}", CodeSyntax, ""),
		refuse("utf-16-big", "\xFE\xFF\x00{\x00}", CodeNotUTF8, ""),
		refuse("utf-16-little", "\xFF\xFE{\x00}\x00", CodeNotUTF8, ""),
		refuse("utf-16-unmarked", "{\x00}\x00", CodeNotUTF8, ""),
	))

	t.Run("J07", func(t *testing.T) {
		for name, test := range map[string]struct{ source, code string }{
			"overflow":          {"1e400", CodeOverflow},
			"overflow-ttl":      {"1e9999", CodeOverflow},
			"negative-overflow": {"-1e400", CodeOverflow},
			"overflow-digits":   {strings.Repeat("9", 400), CodeOverflow},
			"lost-digits":       {"9007199254740993", CodePrecisionLoss},
			"beyond-2-53":       {"9007199254740994", CodePrecisionLoss},
			"below-minus-2-53":  {"-9007199254740994", CodePrecisionLoss},
			"fraction":          {"0.5", CodeNotInteger},
		} {
			t.Run("reject-"+name, func(t *testing.T) {
				if got, err := accept(t, test.source, Limits{}).Int(); code(err) != test.code || got != 0 {
					t.Errorf("%s reads as %d, %v", test.source, got, err)
				}
			})
		}
		for source, want := range map[string]int64{"-0": 0, "1E2": 100, "1.0": 1, "1e0": 1, "2.0e0": 2, "-1": -1, "9007199254740992": 1 << 53, "-9007199254740992": -1 << 53} {
			t.Run("accept-"+source, func(t *testing.T) {
				if got, err := accept(t, source, Limits{}).Int(); got != want || err != nil {
					t.Errorf("%s reads as %d, %v", source, got, err)
				}
			})
		}
		t.Run("accept-double-sum", func(t *testing.T) {
			tenth, fifth, third := 0.1, 0.2, 0.30000000000000004 // doubles, not the exact constants
			if got, err := accept(t, "0.30000000000000004", Limits{}).Float(); got != tenth+fifth || got != third || err != nil {
				t.Errorf("reads as %v, %v", got, err)
			}
		})
	})
}
