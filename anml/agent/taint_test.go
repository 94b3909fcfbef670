package agent

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/internal/domain"
)

// told makes the context of a session in which services told texts: pairs of
// domain and text, all of them public.
func told(t testing.TB, pairs ...string) *Context {
	t.Helper()
	c := &Context{index: newTaintIndex([16]byte{1}, 1<<20), heard: newHearsay(384 << 20)}
	for i := 0; i < len(pairs); i += 2 {
		key, err := domainKey(pairs[i])
		if err != nil {
			t.Fatal(err)
		}
		c.index.add(origin{serving: key, host: key, site: key, confidentiality: anml.Public}, pairs[i+1])
	}
	return c
}

func domains(sources []source) string {
	var names []string
	for _, s := range sources {
		name := s.Domain
		if s.Deleted {
			name = "-" + name
		}
		names = append(names, name)
	}
	return strings.Join(names, " ")
}

func TestTaint(t *testing.T) {
	for _, c := range []struct {
		name, inform, value string
		tainted             bool
	}{
		{"the same", "4711-8822", "4711-8822", true},
		{"a token of it", "Member 4711-8822", "4711-8822", true},
		{"a token of both", "Your member number is 4711-8822.", "my number: 4711-8822, thanks", true},
		{"no separators", "Member 4711-8822", "47118822", true},
		{"other separators", "Member 4711-8822", "4711 8822", true},
		{"more separators", "Member 47118822", "4.7.1.1/8 8-2_2", true},
		{"groups", "DE89 3704 0044 0532 0130 00", "de89370400440532013000", true},
		{"some of the groups", "DE89 3704 0044 0532 0130 00", "x: 3704 0044", true},
		{"in a label", "Member 4711-8822", "id:4711-8822", true},
		{"in JSON", "Member 4711-8822", `{"m":"4711-8822"}`, true},
		{"glued", "Member 4711-8822", "X47118822Y", true},
		{"within a word", "ref ABX47118822YZ", "4711-8822", true},
		{"case", "Voucher SUMMERTREE", "summerTree", true},
		{"full width", "Member 4711-8822", "４７１１－８８２２", true},
		{"hidden characters", "Member 4711-8822", "4711\u200b88\u00ad22", true},
		{"hidden in the inform", "Mem\u200dber 47\u206011-8822", "47118822", true},
		{"decomposed", "Zoë Müller-Łódź", "mu\u0308ller", true},
		{"eszett", "Straße 5", "STRASSE", true},
		{"short and the same", "4711", " 4711 ", true},
		{"a word of six", "Breakfast at eight", "breakfast", true},
		{"e-mail", "write to alice@example.com", "alice@example.com", true},

		{"accents", "Zoë Müller-Łódź", "Muller", true},
		{"accents on digits", "Member 4711-8822", "4\u03017\u030111\u20dd8822", true},
		{"digits of another script", "Member 4711-8822", "٤٧١١-٨٨٢٢", true},
		{"digits of a third one", "Member ๔๗๑๑๘๘", "೪೭೧೧೮೮", true},
		{"single digits", "Member 4711-8822", "it is 4 7 1 1 8 8 2 2, thanks", true},
		{"spelled", "Voucher SUMMERTREE", "code s-u-m-m-e-r-t-r-e-e please", true},
		{"bidirectional marks", "Member 4711-8822", "\u202e4711\u202c8822", true},
		{"circled", "Member 4711-8822", "④⑦①①⑧⑧②②", true},

		{"row of short numbers", "Code 47 11 88 ok", "it is 47 11 88, thanks", true},

		{"invisible tags alone", "Voucher SUMMERTREE", "\U000E0073\U000E0075\U000E006D\U000E006D\U000E0065\U000E0072\U000E0074\U000E0072\U000E0065\U000E0065", true},
		{"a letter before a number", "Code 471188 ok", "x471188", false},

		{"letters of another script in base64", "ref 0L/QsNGB0L/QvtGA0YI=", "паспорт", true},

		{"too short a token", "Code 12345 ok", "12345", false},
		{"another end of a short text", "4711", "4719", false},
		{"another end of the whole", "4711-8822", "4711-8823", false},
		{"some groups of letters and digits", "Code CD2 EF3 GH4", "it is AB1 CD2 EF3 GH4, thanks", true},
		{"a short row after a part of a word", "Sundow 47, please", "window 4 7 seat", false},
		{"another number", "Member 4711-8822", "4711-8823", false},
		{"another day", "Booked for 2026-06-14", "2026-06-15", false},
		{"a word within a word", "substations", "station wagons", true},
		{"part of a token in common", "stationary", "stationed", false},
		{"nothing", "Member 4711-8822", "", false},
		{"separators alone", "--- ---", "- - -", false},
		{"unrelated", "Member 4711-8822", "window seat", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := told(t, "a.example", c.inform).taint("b.example", c.value)
			if (len(got) > 0) != c.tainted {
				t.Errorf("%q in %q: %v", c.value, c.inform, got)
			}
			if got := told(t, "a.example", c.inform).taint("a.example", c.value); len(got) > 0 {
				t.Errorf("its own service: %v", got)
			}
		})
	}
}

func TestTaintSources(t *testing.T) {
	c := told(t, "a.example", "Member 4711-8822", "c.example", "4711 8822", "b.example", "47118822", "d.example", "else")
	if got := domains(c.taint("b.example", "4711-8822")); got != "a.example c.example" {
		t.Error(got)
	}
	c.index.add(origin{serving: "a.example", host: "x.a.example", site: "a.example", confidentiality: anml.Private}, "4711-8822!")
	if got := c.taint("b.example", "4711-8822"); got[0].Confidentiality != anml.Private || got[1].Confidentiality != anml.Public {
		t.Error("the strictest confidentiality does not count", got)
	}
	if got := c.taint("b.example", "4711-8822 elsewhere"); len(got) != 2 {
		t.Error(got)
	}
}

// TestTaintOfBodies: a word that tags divide is found where there are tags.
func TestTaintOfBodies(t *testing.T) {
	for mediaType, want := range map[string]string{"text/html": "a.example", "application/xhtml+xml": "a.example", "text/xml": "a.example", "text/plain": "", "application/json": ""} {
		c := told(t)
		u, err := domain.Parse("https://a.example/x")
		if err != nil {
			t.Fatal(err)
		}
		if err := c.hearBody(t.Context(), u, mediaType, []byte(`<b>ABQXT<i id="x">ZWKLM</i>`)); err != nil {
			t.Fatal(err)
		}
		if got := domains(c.taint("b.example", "ABQXTZWKLM")); got != want {
			t.Errorf("%s: %q, want %q", mediaType, got, want)
		}
	}
}

func TestTaintOfTheUsersOwn(t *testing.T) {
	c := told(t, "a.example", "Dear Alice Johnson of alice@example.com, member 4711-8822, code QWxpY2UgSm9obnNvbg")
	c.Supplied("Alice Johnson")
	for value, want := range map[string]string{
		"Alice Johnson":               "",
		"JOHNSON":                     "", // a token of what the user said
		"alice@example.com":           "a.example",
		"QWxpY2UgSm9obnNvbg":          "a.example", // which means the user's name, and is the service's
		"Alice Johnson, 4711-8822":    "a.example",
		"Alice Johnson, blue, window": "",
	} {
		if got := domains(c.taint("b.example", value)); got != want {
			t.Errorf("%s: from %q, want %q", value, got, want)
		}
	}
}

// A text that looks like an earlier one is read all the same, because it can mean something else.
func TestTaintOfTextsThatLookAlike(t *testing.T) {
	hidden := strings.Map(func(r rune) rune { return tagBase + r }, "member 4711-8822")
	code := base64.StdEncoding.EncodeToString([]byte("member 4711-8822"))
	for name, texts := range map[string][2]string{
		"hidden": {"Welcome", "Welcome" + hidden}, "case": {strings.ToLower(code), code}, "again": {code, code},
	} {
		t.Run("O03/"+name, func(t *testing.T) {
			st := asker(t)
			pageFor(t, st.net, st.session(), "https://a.example/a", titled+"<knowledge><inform>"+texts[0]+"</inform><inform>"+texts[1]+"</inform></knowledge>")
			for _, c := range []*Context{st.s.context, told(t, "a.example", texts[0], "a.example", texts[1])} {
				if got := domains(c.taint("b.example", "4711-8822")); got != "a.example" {
					t.Errorf("from %q", got)
				}
			}
		})
	}
}

// What the user said is the user's also where it can be read as what a service told.
func TestTaintOfTheUsersOwnCode(t *testing.T) {
	c := told(t, "a.example", "Member 4711-8822")
	code := base64.StdEncoding.EncodeToString([]byte("4711-8822"))
	if got := domains(c.taint("b.example", code)); got != "a.example" {
		t.Errorf("from %q", got)
	}
	c.Supplied(code)
	if got := domains(c.taint("b.example", code)); got != "" {
		t.Errorf("from %q", got)
	}
}

// Punctuation that the user wrote does not make what is hidden in invisible characters the user's.
func TestTaintBehindTheUsersPunctuation(t *testing.T) {
	c := told(t, "a.example", "Voucher SUMMERTREE")
	c.Supplied("!")
	hidden := strings.Map(func(r rune) rune { return tagBase + r }, "summertree")
	if got := domains(c.taint("b.example", hidden)); got != "a.example" {
		t.Errorf("from %q", got)
	}
	// What has neither letters nor digits is the user's as it was written, and no other way.
	c.Supplied(hidden)
	if got := domains(c.taint("b.example", hidden)); got != "" {
		t.Errorf("the user's own: from %q", got)
	}
	if got := domains(c.taint("b.example", hidden+"\x00")); got != "a.example" {
		t.Errorf("another: from %q", got)
	}
}

// A whole text outside of informs shows where an equal value came from if it is no word of every document.
func TestTaintOfWholeTexts(t *testing.T) {
	for _, c := range []struct{ said, value, want string }{
		{"Summertree", "SUMMERTREE", "a.example"}, {"Summertree", "the Summertree", ""}, {"Summer", "summer", "a.example"}, {"Plum", "plum", ""},
		{"A711", "a 711", "a.example"}, {"A71", "a71", ""}, {"2026", "2026", ""}, {"1984", "1984", ""}, {"4711", "4711", "a.example"}, {"20262", "20262", "a.example"},
	} {
		heard := told(t)
		must(t, heard.heard.hear(t.Context(), speaker{"a.example", anml.Public}, len(c.said), slices.Values([]string{c.said})))
		if got := domains(heard.taint("b.example", c.value)); got != c.want {
			t.Errorf("%s in %q: from %q, want %q", c.value, c.said, got, c.want)
		}
	}
}

// What does not fit into the index is known all the same, and takes no room of others.
func TestTaintBeyondItsLimit(t *testing.T) {
	c := &Context{index: newTaintIndex([16]byte{}, 100), heard: newHearsay(384 << 20)}
	for _, i := range []*Inform{
		{Serving: "quiet.example", Host: "quiet.example", Text: "Member 4711-8822"},
		{Serving: "loud.example", Host: "loud.example", Text: prose(rand.New(rand.NewPCG(7, 8)), 400) + " 9934-7712"},
		{Serving: "late.example", Host: "late.example", Text: "Member 5566-7788"},
	} {
		must(t, c.indexText(t.Context(), i, new(folder), new(int)))
	}
	for value, want := range map[string]string{
		"something quite different": "", "4711-8822": "quiet.example", "9934 7712": "loud.example", "5566-7788": "late.example",
	} {
		if got := domains(c.taint("b.example", value)); got != want {
			t.Errorf("%s: %q, want %q", value, got, want)
		}
	}
	if len(c.index.links) > 200 {
		t.Error(len(c.index.links))
	}
}

// Texts are looked at two by two up to a number and a length, so that many cost no more.
func TestTaintDivided(t *testing.T) {
	s := newSession(t, newLab(t), User{}, Options{})
	for _, text := range []string{"Member 4711-8822", "SUMMERTREE"} {
		s.context.index.add(origin{serving: "a.example", host: "a.example", site: "a.example"}, text)
	}
	for name, c := range map[string]struct {
		more  int
		texts []string
		want  bool
	}{
		"two":       {0, []string{"4711", "8822"}, true},
		"turned":    {0, []string{"8822", "4711"}, true},
		"many":      {maxDivided - 2, []string{"4711", "8822"}, true},
		"too-many":  {maxDivided - 1, []string{"4711", "8822"}, false},
		"repeated":  {maxDivided - 2, []string{"0", "0", "4711", "8822"}, true},
		"long":      {0, []string{"4711", "8822" + strings.Repeat(" ", maxDividedLen-4)}, true},
		"too-long":  {0, []string{"4711", "8822" + strings.Repeat(" ", maxDividedLen-3)}, false},
		"words":     {0, []string{"summer", "tree"}, false},    // which are in too many texts
		"one-alone": {0, []string{"4711-8822", "8822"}, false}, // which is found by itself
	} {
		t.Run("O03/"+name, func(t *testing.T) {
			var texts []string
			for i := range c.more {
				texts = append(texts, fmt.Sprint(i))
			}
			found := s.dividedSources("b.example", append(texts, c.texts...))
			if want := map[bool]int{true: 2}[c.want]; len(found) != want || c.want && domains(found["4711"])+domains(found[c.texts[len(c.texts)-1]]) != "a.examplea.example" {
				t.Errorf("%v", found)
			}
		})
	}
}

// What a server delivers is told by its serving domain, or by its host if it has none.
func TestTellerOf(t *testing.T) {
	for url, want := range map[string]string{
		"https://www.a.example/x": "a.example", "https://a.example:8443/x": "a.example", "http://www.a.example/x": "www.a.example",
		"https://10.0.0.1/x": "10.0.0.1",
	} {
		u, err := domain.Rules{Schemes: []string{"https", "http"}, AllowIP: true}.Parse(url)
		must(t, err)
		if got := tellerOf(u); got != want {
			t.Errorf("%s: %q, want %q", url, got, want)
		}
	}
}

// A value that holds a token of an inform, however it is dressed, is found; one
// that shares no three characters with any is not.
func TestTaintProperty(t *testing.T) {
	token := rapid.StringMatching(`[a-z0-9]{6,20}`)
	rest := rapid.StringMatching(`([A-Z]{1,4}[ ,.;-]){0,5}`)
	rapid.Check(t, func(t *rapid.T) {
		secret := token.Draw(t, "secret")
		inform := rest.Draw(t, "before") + " " + secret + " " + rest.Draw(t, "after")
		c := &Context{index: newTaintIndex([16]byte{2}, 1<<16), heard: newHearsay(384 << 20)}
		o := origin{serving: "a.example", host: "a.example", site: "a.example"}
		c.index.add(o, inform)
		dressed := secret
		switch rapid.IntRange(0, 3).Draw(t, "dress") {
		case 0:
			dressed = strings.ToUpper(secret)
		case 1:
			dressed = strings.Join(strings.Split(secret, ""), "\u200b")
		case 2:
			dressed = strings.Map(func(r rune) rune { return r + 0xFEE0 }, secret)
		}
		value := rest.Draw(t, "said") + " " + dressed + " " + rest.Draw(t, "too")
		if len(c.taint("b.example", value)) != 1 {
			t.Fatalf("%q not found in %q", value, inform)
		}
		if got := c.taint("b.example", strings.Repeat("жщ ", 1+len(value)%7)); len(got) > 0 {
			t.Fatal(got)
		}
		// Deleted, it goes to no one; told again, it is as before.
		c.index.delete(func(x origin) bool { return x == o })
		if got := c.taint("a.example", value); len(got) != 1 || !got[0].Deleted {
			t.Fatalf("%q survives a deletion: %v", value, got)
		}
		c.index.add(o, inform)
		if got := c.taint("b.example", value); len(got) != 1 || got[0].Deleted {
			t.Fatalf("%q stays deleted: %v", value, got)
		}
	})
}

func FuzzTaint(f *testing.F) {
	f.Add("Member 4711-8822", "4711 8822")
	f.Add("ﬁve Straße \u200b", "FIVE")
	f.Add("\xff\xfe", "\xff")
	f.Add("\xea#%", "4711  822") // nothing but a letter in ISO 8859-1
	f.Add("y", "+\x7f\x00\xff")
	f.Fuzz(func(t *testing.T, inform, value string) {
		c := told(t, "a.example", inform)
		got := c.taint("b.example", inform)
		folded := func(text string) bool { return len(fold(text).runes) > 0 }
		if folded(inform) && len(got) != 1 || len(got) > 0 && !slices.ContainsFunc(readings(inform), folded) {
			t.Fatalf("%q and itself: %v", inform, got)
		}
		if len(c.taint("b.example", value)) > 1 || len(c.taint("a.example", value)) > 0 {
			t.Fatal("more than was told")
		}
		c.Supplied(value)
		if got := c.taint("b.example", value); len(got) > 0 {
			t.Fatalf("%q is the user's: %v", value, got)
		}
	})
}

// prose makes text of about n bytes from a vocabulary, as services write it.
func prose(r *rand.Rand, n int) string {
	var b strings.Builder
	for b.Len() < n {
		if r.IntN(8) == 0 {
			fmt.Fprintf(&b, "%04d-%04d ", r.IntN(10000), r.IntN(10000))
			continue
		}
		length := 2 + r.IntN(9)
		for range length {
			b.WriteByte("etaoinshrdlucmfw"[r.IntN(16)])
		}
		b.WriteByte(' ')
	}
	return b.String()[:n]
}

// remembered is an index of so many informs of 1 KiB each, of some services that
// share half of their words.
func remembered(informs, services int) *Context {
	r := rand.New(rand.NewPCG(1, 2))
	shared := prose(r, 512)
	c := &Context{index: newTaintIndex([16]byte{3}, 1000*informSize), heard: newHearsay(384 << 20)}
	for i := range informs {
		name := fmt.Sprintf("s%d.example", i%services)
		c.index.add(origin{serving: name, host: name, site: name, confidentiality: anml.Public}, shared[i%64:]+prose(r, 512))
	}
	return c
}

// The goal is 1 ms for a response against 1,000 informs: 32 answers of 32
// characters. One against a tenth of them runs as well, to show the curve.
func BenchmarkTaint(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		for _, services := range []int{1, 10, 100} {
			b.Run(fmt.Sprintf("informs=%d/services=%d", n, services), func(b *testing.B) {
				c := remembered(n, services)
				r := rand.New(rand.NewPCG(3, 4))
				var answers []string
				for range 32 {
					answers = append(answers, prose(r, 32))
				}
				b.ReportAllocs()
				for b.Loop() {
					for _, a := range answers {
						c.taint("s0.example", a)
					}
				}
			})
		}
	}
	// The peer folds the same informs once, and looks for every token in all of them.
	b.Run("naive", func(b *testing.B) {
		r := rand.New(rand.NewPCG(1, 2))
		shared := prose(r, 512)
		var texts []string
		for i := range 1000 {
			f := fold(shared[i%64:] + prose(r, 512))
			texts = append(texts, string(f.runes))
		}
		r = rand.New(rand.NewPCG(3, 4))
		var answers []string
		for range 32 {
			answers = append(answers, prose(r, 32))
		}
		x := newTaintIndex([16]byte{}, 0)
		b.ReportAllocs()
		for b.Loop() {
			for _, a := range answers {
				f := fold(a)
				x.tokens(&f, func(s span) {
					token := string(f.runes[s.from:s.to])
					for _, text := range texts {
						if strings.Contains(text, token) {
							break
						}
					}
				})
			}
		}
	})
	b.Run("receive", func(b *testing.B) {
		r := rand.New(rand.NewPCG(5, 6))
		text := prose(r, 1024)
		b.SetBytes(1024)
		b.ReportAllocs()
		for b.Loop() {
			c := &Context{index: newTaintIndex([16]byte{}, 1<<20), heard: newHearsay(384 << 20)}
			c.index.add(origin{serving: "a.example"}, text)
		}
	})
}
