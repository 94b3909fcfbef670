package agent

import (
	"slices"
	"strings"
	"testing"
)

// TestForms has the forms in which values are recognised, the own one first.
func TestForms(t *testing.T) {
	day := []string{
		"19900228", "28021990", "02281990", "1990228", "2821990", "2281990", "280290", "022890", "900228",
		"28feb1990", "feb281990", "1990feb28", "28feb90", "feb2890", "90feb28",
		"1990年2月28日", "1990年02月28日", "1990년2월28일", "1990년02월28일", "1990059", "1990w093", "636163200", "636163200000",
	}
	own := func(form string, others ...string) []string {
		return append([]string{form}, slices.DeleteFunc(slices.Concat(day, others), func(other string) bool { return other == form })...)
	}
	for value, want := range map[string][]string{
		"":              nil,
		" @. ":          nil,
		"gold":          {"gold"},
		"1990-02-28":    day,
		" 28.2.1990":    own("2821990"),
		"28 févr. 1990": own("28fevr1990", "fevr199028", "199028fevr"),
		"2024-12-29": {
			"20241229", "29122024", "12292024", "291224", "122924", "241229", "29dec2024", "dec292024", "2024dec29", "29dec24", "dec2924", "24dec29",
			"2024年12月29日", "2024년12월29일", "2024364", "2024w527", "1735430400", "1735430400000", // a Sunday in the last week
		},
		"12.5":               {"125", "125e01"},
		"012-3456":           {"0123456"}, // without the zero it is too short
		"12345.60":           {"1234560", "123456", "123456e04"},
		"+49 30 123456":      {"4930123456", "930123456", "30123456", "0123456", "3012345649", "1234564930"},
		"+1 2345678":         {"12345678", "2345678", "23456781"},
		"+1234567":           {"1234567", "123456700", "1234567e06"},
		"+12345678901":       {"12345678901", "1234567890100", "12345678901e10", "2345678901", "345678901", "45678901"},
		"0049 30 1234567":    {"0049301234567", "49301234567", "3012345670049", "1234567004930"},
		"0001234567":         {"0001234567", "1234567", "123456700", "1234567e06"},
		"00-1234567":         {"001234567", "1234567"},
		"00a1234567":         {"00a1234567"},
		"a@b.example":        {"abexample", "aatbdotexample"},
		"Ann Example":        {"annexample", "exampleann"},
		"Ann B. Cee Example": {"annbceeexample", "bceeexampleann", "ceeexampleannb", "exampleannbcee"},
		"Ann B. C. D. Long":  {"annbcdlong"},
	} {
		var got []string
		for _, form := range forms(value) {
			got = append(got, form.text)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", value, got, want)
		}
	}
	for text, want := range map[string]string{
		"28th of February 1990": "28 feb 1990", "Feb 28th": "feb 28", "1990": "", "28feb1990": "28 feb 1990", "st february": "st feb",
		"2 de mayo de 2020": "2 may 2020", "le 1er mai 2020": "1 may 2020", "28. februar": "28 feb", "": "",
	} {
		if f := fold(text); monthsInEnglish(&f) != want {
			t.Errorf("%q: %q, want %q", text, monthsInEnglish(&f), want)
		}
	}
	for text, want := range map[string]bool{
		"yes": false, "no": false, "true": false, "false": false, "on": false, "off": false, "null": false, "none": false, "nope": true,
		"a": false, "é": false, "ab": true, "éé": true, "12": false, "123": false, "1234": true, "1a": true, "": false,
	} {
		if got := distinct(text); got != want {
			t.Errorf("%q is distinct: %v", text, got)
		}
	}
}

// TestParts has the pieces of texts, and the parts of a value that one marks.
func TestParts(t *testing.T) {
	for text, want := range map[string][]string{
		"":                        {},
		"a":                       {},
		"ab":                      {"ab"},
		"x:y":                     {"xy"},
		"seat 12a, please":        {"12a", "please", "seat12a", "seat12aplease"},
		"one 1 22":                {"22", "one122"},
		"а,б,в,г,д,ж,з,и,к,л,м":   {"а", "абвгджзиклм", "б", "в", "г", "д", "ж", "з", "и", "к", "л", "м"},
		"а,б,в,г,д,ж,з,и,к,л,м,н": {"абвгджзиклмн"},
		// Of more than twelve pieces those of two characters do not count.
		"a,bc,def,ghij,klmno,pqrstu,vw,xy,zz,qq,ww,ee,rr,tt,yyy,uuu,iii": {
			"abcdefghijklmnopqrstuvwxyzzqqwweerrttyyyuuuiii", "def", "ghij", "iii", "klmno", "ltkc", "pqrstu", "uuu", "yyy",
		},
	} {
		if got := pieces(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	for _, c := range []struct{ value, text, want string }{
		{"c01x00t47", "c01x0", "c01x0...."},
		{"c01x00t47", "0t47", ".....0t47"},
		{"c01x00t47", "x00", "...x00..."},
		{"c01x00t47", "47", ".......47"},
		{"c01x00t47", "c", ""},
		{"c01x00t47", "aac0", "c0......."},
		{"c01x00t47", "t4711", "......t47"},
		{"c01x00t47", "c01x00t47", "c01x00t47"},
		{"abab", "ab", "abab"},
		{"abcab", "zab", "ab..."},
		{"abcabc", "xxc", ""},
		{"abcdef", "defabc", "abcdef"},
		{"abcdef", "zz", ""},
		{"abcdef", "efzz", "....ef"},
		{"abcdef", "zzab", "ab...."},
		{"ab", "abc", ""}, // has all of it, which is found without this
	} {
		covered := make([]bool, len(c.value))
		some, got := markParts(covered, c.value, c.text), []byte(c.value)
		for i := range got {
			if !covered[i] {
				got[i] = '.'
			}
		}
		if some != (c.want != "") || some && string(got) != c.want || !some && slices.Contains(covered, true) {
			t.Errorf("%q of %q: %s, %v, want %s", c.text, c.value, got, some, c.want)
		}
	}
}

// TestManyPieces: the shortest piece of a long list has as many bytes as the shortest value.
func TestManyPieces(t *testing.T) {
	letters := []rune("абвгджзиклм")
	var list []string
	for i := range 200 {
		list = append(list, string([]rune{letters[i/100], letters[i/10%10], letters[i%10]}))
	}
	if got := pieces(strings.Join(list, ",")); len(got) != 201 {
		t.Errorf("%d pieces", len(got))
	}
}

// TestDivided has the texts that make a value only together.
func TestDivided(t *testing.T) {
	for _, c := range []struct {
		value string
		texts []string
		want  []int // texts that are a part of it
	}{
		{"4711-8822", []string{"4711", "8822"}, []int{0, 1}},
		{"4711-8822", []string{"8822", "blue", "4711"}, []int{0, 2}},
		{"4711-8822", []string{"4711", "882"}, nil},
		{"121212", []string{"1212"}, nil},                     // one piece is not divided
		{"4711", []string{"47", "11"}, nil},                   // too short
		{"4711-88", []string{"4711", "88"}, []int{0, 1}},      // just long enough
		{"4711-8822", []string{"4711-8822", "8822"}, nil},     // one of them has all of it
		{"4711-8822", []string{"no 4711, no 8822"}, []int{0}}, // pieces of one text
	} {
		data := &carried{values: []carriedValue{{"short", newWanted("жжжж")}, {"f", newWanted(c.value)}}}
		var got []int
		for i, fields := range data.divided(t.Context(), c.texts) {
			if slices.Equal(fields, []string{"f"}) {
				got = append(got, i)
			} else if fields != nil {
				t.Errorf("%q of %q: %q", c.texts, c.value, fields)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q of %q: %d, want %d", c.texts, c.value, got, c.want)
		}
	}
}

// TestOtherFields has the fields that a text contains, besides the one that it is sent as.
func TestOtherFields(t *testing.T) {
	data := new(carried)
	for _, v := range []struct{ field, value string }{ // in the order of carried.values
		{"tel", "hijklmn opq"}, {"id", "5bc d e f 1"}, {"fn", "abcdefg"}, {"nick", "abcdefg"}, {"key", "hijklmn"}, {"plan", "gold"}, {"pin", "ab0"},
	} {
		data.values = append(data.values, carriedValue{v.field, newWanted(v.value)})
	}
	for _, c := range []struct {
		field, text string
		want        []string
	}{
		{"", "tea", nil}, {"", "gold", []string{"plan"}}, {"plan", "gold", nil}, {"", "pure gold", nil},
		{"", "g0ld", []string{"plan"}}, {"", "abo", nil}, {"", "ab0", []string{"pin"}}, // three characters that look alike are not enough
		{"", "hijklmn, abcdefg", []string{"fn", "nick", "key"}}, {"key", "hijklmn, abcdefg", []string{"fn", "nick"}},
		{"id", "5bcdef1", nil}, {"id", "5bcdef15bcdef1", nil}, {"", "5bcdef1", []string{"id"}},
	} {
		if got := data.otherFields(t.Context(), c.field, c.text); !slices.Equal(got, c.want) {
			t.Errorf("%q, sent as %q: %q, want %q", c.text, c.field, got, c.want)
		}
	}
}

// TestOrderOfCarriedValues: values are compared from the longest to the shortest, and equal ones in
// a row. The first one that is found says as what a text is decided about.
func TestOrderOfCarriedValues(t *testing.T) {
	st := asker(t)
	st.user.Profile = Fields{"a": {Text: "hijklmn"}, "b": {Text: "abcdefg"}, "c": {Text: "abcdefgh"}, "d": {Text: "hijklmn"}}
	p := st.page(booking("", ""))
	var got []string
	for _, v := range p.frame(p.doc.Site, start, false).carried(t.Context(), "shop.example").values {
		got = append(got, v.field)
	}
	if want := []string{"c", "b", "a", "d"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
