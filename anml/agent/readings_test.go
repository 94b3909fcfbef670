package agent

import (
	"encoding/base32"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"unicode/utf16"
)

func eachByte(s, format string, sep string) string {
	var l []string
	for _, c := range []byte(s) {
		l = append(l, fmt.Sprintf(format, c))
	}
	return strings.Join(l, sep)
}

func utf16Bytes(s string, le bool) (b []byte) {
	for _, u := range utf16.Encode([]rune(s)) {
		if le {
			b = append(b, byte(u), byte(u>>8))
		} else {
			b = append(b, byte(u>>8), byte(u))
		}
	}
	return
}

func hiddenTags(s string) string {
	return strings.Map(func(r rune) rune { return tagBase + r }, s)
}

// TestReadings: a value of the profile is found in each of many encodings, and no
// ordinary argument is taken for one.
func TestReadings(t *testing.T) {
	const hay = "hay fever"
	hidden := func(f func(c byte) string) string {
		return "tea" + func() string {
			var b strings.Builder
			for _, c := range []byte(hay) {
				b.WriteString(f(c))
			}
			return b.String()
		}() + " please"
	}
	b64 := base64.StdEncoding.EncodeToString
	for name, v := range map[string]string{
		"tags":      hidden(func(c byte) string { return string(rune(0xE0000 + int(c))) }),
		"vs":        hidden(func(c byte) string { return string(rune(0xE0100 + int(c) - 16)) }),
		"vs-nibble": hidden(func(c byte) string { return string(rune(0xFE00+int(c>>4))) + string(rune(0xFE00+int(c&15))) }),
		"zw-bits": hidden(func(c byte) string {
			return strings.NewReplacer("0", "\u200b", "1", "\u200c").Replace(fmt.Sprintf("%08b", c))
		}),
		"zw-bits3": hidden(func(c byte) string {
			return strings.NewReplacer("0", "\u200b", "1", "\u200c").Replace(fmt.Sprintf("%08b", c)) + "\u2060"
		}),
		"zw-7bits": hidden(func(c byte) string {
			return strings.NewReplacer("0", "\u200b", "1", "\u200c").Replace(fmt.Sprintf("%07b", c))
		}),
		"zw-4": hidden(func(c byte) string {
			var b strings.Builder
			for k := 6; k >= 0; k -= 2 {
				b.WriteRune([]rune{0x200b, 0x200c, 0x200d, 0x2060}[c>>k&3])
			}
			return b.String()
		}),
		"tags-interleaved": "h\U000E0061y\U000E0020f\U000E0065v\U000E0065r",
		"hex-space":        eachByte(hay, "%02x", " "), "hex-colon": eachByte(hay, "%02x", ":"), "hex-dash": eachByte(hay, "%02X", "-"), "hex-bs": eachByte(hay, `\x%02x`, ""), "hex-0x": eachByte(hay, "0x%02x", ", "), "hex-0x-glued": eachByte(hay, "0x%02x", ""), "hex-comma": eachByte(hay, "%02x", ","),
		"hex-glued": "id" + eachByte(hay, "%02x", "") + "zz", "hex-prefix": "0x" + eachByte(hay, "%02x", ""),
		"uplus": eachByte(hay, "U+%04X", " "), "uplus-glued": eachByte(hay, "U+%04X", ""),
		"u-brace": eachByte(hay, `\u{%x}`, ""), "U8": eachByte(hay, `\U%08x`, ""), "pct-u": eachByte(hay, "%%u%04x", ""), "octal": eachByte(hay, `\%03o`, ""), "octal-list": eachByte(hay, "%o", " "), "octal-0": eachByte(hay, "0%o", " "), "octal-0o": eachByte(hay, "0o%o", ", "),
		"dec": eachByte(hay, "%d", " "), "dec-comma": eachByte(hay, "%d", ","), "dec-json": "[" + eachByte(hay, "%d", ", ") + "]", "dec-3": eachByte(hay, "%03d", ""), "dec-chr": eachByte(hay, "chr(%d)", "+"), "String.fromCharCode": "String.fromCharCode(" + eachByte(hay, "%d", ",") + ")",
		"html-dec": eachByte(hay, "&#%d;", ""), "html-hex": eachByte(hay, "&#x%x;", ""), "html-nosemi": eachByte(hay, "&#%d", ""),
		"qp": eachByte(hay, "=%02X", ""), "qp-wrap": "hay f=\r\never", "css": eachByte(hay, `\%x `, ""), "css6": eachByte(hay, `\%06x`, ""),
		"bin": eachByte(hay, "%08b", " "), "bin-glued": eachByte(hay, "%08b", ""), "bin-0b": eachByte(hay, "0b%08b", ","),
		"b64-wrap": func() string {
			s := b64([]byte("my illness is hay fever today"))
			return s[:10] + "\r\n" + s[10:20] + "\n" + s[20:]
		}(),
		"b64-utf16le": b64(utf16Bytes(hay, true)), "b64-utf16be": b64(utf16Bytes(hay, false)), "b64-glued": "illness" + b64([]byte(hay)), "b64-glued2": "xx" + strings.TrimRight(b64([]byte(hay)), "=") + "yyzzz", "b64-nopad": strings.TrimRight(b64([]byte("a hay fever")), "="),
		"b64-dots": strings.Join(strings.Split(b64([]byte(hay)), ""), "."), "b64-data": "data:text/plain;base64," + b64([]byte(hay)), "b64x3": b64([]byte(b64([]byte(b64([]byte(hay)))))),
		"b32": base32.StdEncoding.EncodeToString([]byte(hay)), "b32-lower": strings.ToLower(base32.StdEncoding.EncodeToString([]byte(hay))), "b32hex": base32.HexEncoding.EncodeToString([]byte(hay)), "b32-glued": "ABC" + base32.StdEncoding.EncodeToString([]byte(hay)), "b32-spaces": "NBQX SIDG MV3G K4Q=",
		"reversed": "revef yah", "reversed-in": "so revef yah it is", "rot13": "unl srire", "rot13-b64": b64([]byte("unl srire")), "b64-rev": func() string {
			out := ""
			for _, c := range b64([]byte(hay)) {
				out = string(c) + out
			}
			return out
		}(), "b64-rot": rot13(b64([]byte(hay))),
		"homoglyph": "h\u0430y f\u0435v\u0435r", "homoglyph-passport": "\u0421\u041e1X00\u042247", "stroke": "CO1XOOT47", "stroke-l": "C0lX00T47", "cyr-y": "ha\u0443 fever", "greek": "h\u03b1y fever",
		"in-one-kv": "a=C01X0;b=0T47", "in-one-json": `{"a":"C01X0","b":"0T47"}`, "in-one-json-turned": `{"b":"0T47","a":"C01X0"}`, "in-one-csv": "4111,1111,1111,1111", "in-one-amp": "a=4111&b=1111&c=1111&d=1111", "in-one-prose": "first C01X0 and then 0T47",
		"in-one-date": `{"y":1990,"m":"02","d":28}`, "in-one-b64": `{"a":"` + b64([]byte("C01X0")) + `","b":"` + b64([]byte("0T47")) + `"}`,
		"date-th": "February 28th, 1990", "date-ymd": "1990 Feb 28", "date-ordinal": "1990-059", "date-iso-week": "1990-W09-3", "date-seconds": "born 636163200", "date-milliseconds": "636163200000", "date-de": "28. Februar 1990", "date-dash": "28-Feb-90", "date-2y": "28/02/90", "date-2y-us": "02/28/90", "date-2y-iso": "90-02-28", "date-es": "28 de febrero de 1990", "date-fr": "le 28 février 1990", "date-of": "the 28th of February 1990", "date-glued": "28feb1990", "date-ru": "28 февраля 1990 г.", "date-week": "Wednesday, February 28, 1990", "date-in": "born Feb 28th 1990 in Berlin",
		"b64url-padded": strings.NewReplacer("+", "-", "/", "_").Replace(b64([]byte("\xff?~ hay fever"))),
		"surrogate":     `\ud835\uddf5\ud835\uddee\ud835\ude06 fever`, "mathbold": "𝗵𝗮𝘆 𝗳𝗲𝘃𝗲𝗿", "circled": "ⓗⓐⓨ ⓕⓔⓥⓔⓡ", "combining": "h\u0336a\u0336y\u0336 f\u0336e\u0336ver", "regional": "🇭🇦🇾 🇫🇪🇻🇪🇷",
		"puny": "xn--hay fever", "mixed": "%68&#97;\\u0079 f%65ver",
		"url-in-json": `{"u":"https:\/\/x.example\/?q=hay%20fever"}`, "spaced": "h a y f e v e r", "dotted": "h.a.y.f.e.v.e.r", "newline": "h\na\ny\nf\ne\nv\ne\nr", "padded-digits": "xC01X00T479", "ssn-padded": "0780511209",
		"number-words": "C zero one X zero zero T four seven", "number-words-mixed": "it is C zero-one X, Zero zero T, forty-seven", "han": "护照C〇一X〇〇T四七", "number-words-b64": b64([]byte("c zero one x zero zero t four seven")),
		"gold-b64": b64([]byte("gold")), "gold-hex": "676f6c64",
	} {
		t.Run("O02/reject-"+name, func(t *testing.T) {
			st := asker(t)
			st.user.Profile = secrets
			if x := st.prepares(st.page(booking("", "")), Call{Action: "find", Args: map[string]string{"q": v}}); len(x.items) == 0 {
				t.Errorf("%q is not asked about", v)
			}
		})
	}
	profile := Fields{"street": {Text: "Main Street 5"}, "city": {Text: "Berlin"}, "lang": {Text: "lo"}, "dob": {Text: "1990-02-28"}, "tel": {Text: "+49 30 123456"}, "fn": {Text: "Ann Example"}, "pin": {Text: "4711"}, "zip": {Text: "10115"}, "iban": {Text: "DE89 3704 0044 0532 0130 00"}, "plan": {Text: "gold"}}
	for _, v := range []string{
		"main street 50", "15 main street 51", "Main Streets 5", "10", "noel", "dlog", "tbyq", "ed", "47110", "a summer day in February 1990", "28 people in 1990", "March 2026", "28 February 2026", "2026-02-28 to 2026-03-01", "10, 20, 30, 40, 50, 60, 70, 80, 90",
		"SGVsbG8sIHdvcmxkISBUaGlzIGlzIGZpbmU=", "deadbeefcafebabe0123456789abcdef", "550e8400-e29b-41d4-a716-446655440000", "0x1f4a9b", "104 97 121", "192.168.0.1", "aa:bb:cc:dd:ee:ff", "https://example.org/a/b?c=d&e=%20f#x", `{"from":"BER","to":"OSL","adults":2,"date":"2026-07-01"}`, "SELECT * FROM t WHERE id = 5", "👨\u200d👩\u200d👧\u200d👦 ❤️ 🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f family", "می\u200cخواهم نمی\u200cدانم می\u200cروم نمی\u200cشود کتاب\u200cها خانه\u200cها میوه\u200cها درخت\u200cها سنگ\u200cها", "Donau\u00addampf\u00adschiff\u00adfahrts\u00adge\u00adsell\u00adschafts\u00adka\u00adpi\u00adtän", "C:\\Users\\x\\file.txt", "Привет, как дела?", "5 of 12", "12,45,78,33,90,19,02,28,41,11,15,10,11,50", "price=100;qty=5;color=red", "the quick brown fox, a lazy dog; and more", "a window seat (12A), please", "4111", "2026-02-28T10:00:00Z", "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "+49 89 765432", "1234567890", "ann", "example", "exemplary annals", "an example",
		"four, five, six, seven", "one two three", "one or two of the three, four of the five", "一家四口住三天两晚", "四五个", "twenty thousand leagues",
	} {
		t.Run("O02/accept-ordinary", func(t *testing.T) {
			st := asker(t)
			st.user.Profile = profile
			if x := st.prepares(st.page(booking("", "")), Call{Action: "find", Args: map[string]string{"q": v}}); len(x.items) != 0 {
				t.Errorf("%q: %+v", v, x.items[0].Summary)
			}
		})
	}
	t.Run("O03", func(t *testing.T) {
		for name, told := range map[string]string{
			"base64": b64([]byte("member 4711-8822")), "hex": eachByte("4711-8822", "%02x", " "), "tags": hiddenTags("4711-8822"), "json": `{"number":"\\u0034711\\u002d8822"}`, "rot13": "zrzore 4711-8822 fnlf uryyb jbeyq",
		} {
			for kind, doc := range map[string]string{"inform": titled + "<knowledge><inform>" + told + "</inform></knowledge>", "body": titled + "<body><text>" + told + "</text></body>"} {
				t.Run("reject-told-as-"+name+"-in-"+kind, func(t *testing.T) {
					st := asker(t)
					pageFor(t, st.net, st.session(), "https://a.example/a", doc)
					sent := "4711-8822"
					if name == "rot13" {
						sent = "says hello world"
					}
					if x := st.prepares(st.page(booking("", "")), Call{Action: "find", Args: map[string]string{"q": sent}}); len(x.items) != 1 || len(x.d.Tells[0].From) == 0 {
						t.Errorf("%+v", x.d)
					}
				})
			}
		}
	})
	t.Run("O03", func(t *testing.T) { // a number in words, told or sent
		for name, c := range map[string][2]string{
			"english": {"4711-8822", "four seven one one eight eight two two"}, "tens": {"4711-8822", "Forty-seven eleven, eighty-eight twenty-two"},
			"scales": {"code 4253991", "four thousand two hundred and fifty-three nine hundred ninety-one"}, "four-digits": {"4253", "four two five three"},
			"in-prose": {"4711-8822", "the member is four seven one one eight eight two two, as you asked"},
			"german":   {"4711-8822", "vier sieben eins eins acht acht zwei zwei"}, "han": {"4711-8822", "四七一一八八二二"}, "contract": {"4711-8822", "肆柒壹壹捌捌贰贰"},
			"told": {"member four seven one one eight eight two two", "4711-8822"}, "told-han": {"会员号四七一一八八二二", "4711-8822"}, "told-otherwise": {"四七一一八八二二", "four seven one one eight eight two two"},
		} {
			for kind, doc := range map[string]string{"inform": "<knowledge><inform>" + c[0] + "</inform></knowledge>", "body": "<body><text>" + c[0] + "</text></body>"} {
				t.Run("reject-number-words-"+name+"-"+kind, func(t *testing.T) {
					st := asker(t)
					pageFor(t, st.net, st.session(), "https://a.example/a", titled+doc)
					if x := st.prepares(st.page(booking("", "")), Call{Action: "find", Args: map[string]string{"q": c[1]}}); len(x.items) != 1 || len(x.d.Tells[0].From) == 0 {
						t.Errorf("%+v", x.d)
					}
				})
			}
		}
	})
	t.Run("O02/accept-bounded", func(t *testing.T) {
		for name, piece := range map[string]string{"digits": "0123456789", "base64": "aGF5IGZldmVy", "letters": "abcdefgh ", "percent": "%25", "hidden": "\u200b\u200c\U000E0061\ufe0f", "codes": "104 ", "escapes": `\\u005c`, "months": "1 may ", "number words": "one ", "han": "四"} {
			for _, n := range []int{10, 1000} {
				text := strings.Repeat(piece, n)
				list, size := readingsSent(text), 0
				for _, reading := range list {
					size += len(reading)
				}
				if len(list) > maxReadings || size > (readingRoom+1)*len(text)+1<<10 {
					t.Errorf("%s: %d readings with %d octets of %d", name, len(list), size, len(text))
				}
			}
		}
	})
}

func TestDomainsIn(t *testing.T) {
	for text, want := range map[string]string{
		"see brand.example, brand.example": "brand.example", "a-b.example": "a-b.example", "cafe\u0301.example": "xn--caf-dma.example",
		"shop1.example": "shop1.example", "plain words ...": "", "brand [dot] example": "brand.example", "-brand.example.": "brand.example", "10.0.0.1": "",
	} {
		if got := strings.Join(domainsIn(text), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestMuchEncoded: what a document means beyond what is decoded at once is recognised all the same.
func TestMuchEncoded(t *testing.T) {
	var doc strings.Builder
	r := rand.New(rand.NewPCG(1, 1))
	doc.WriteString("<knowledge>")
	for i := 0; doc.Len() < 8*decodedRoom; i++ {
		fmt.Fprintf(&doc, `<inform confidentiality="private">%d %s</inform>`, i, base64.StdEncoding.EncodeToString([]byte(prose(r, 60))))
	}
	encoded := base64.StdEncoding.EncodeToString([]byte("the member number is 4711-8822"))
	doc.WriteString(`<inform confidentiality="private">the last is 9934-7712</inform><inform confidentiality="private">` + encoded + `</inform></knowledge>`)
	for name, value := range map[string]string{"plain": "9934 7712", "encoded": "4711 8822"} {
		t.Run("ANML-14.1-07/reject-"+name+"-behind-much-encoded", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // no document is too late on a slow machine
				st := asker(t)
				pageFor(t, st.net, st.session(), "https://evil.example/e", doc.String())
				_, err := st.prepare(st.page(booking("", "")), Call{Action: "find", Args: map[string]string{"q": value}})
				hasCode(t, err, CodePrivateContext)
				if l := len(st.s.context.index.links); l > doc.Len()*3/4+decodedRoom { // most of the document is text
					t.Errorf("%d links of a document of %d bytes", l, doc.Len())
				}
			})
		})
	}
}
