package aiuri_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/aiuri"
	"github.com/lookleap/lookleap/internal/lab"
)

func TestLinkTargets(t *testing.T) {
	const bank = "ai://bank/service/payments"
	one := []string{bank}
	for _, c := range []struct {
		id     string
		values []string
		want   []string
	}{
		{"AIU-3.1-02/accept-quoted-relation", []string{`<ai://bank/service/payments>; rel="aiip"`}, one},
		{"AIU-3.1-02/accept-token", []string{`<ai://bank/service/payments>;rel=aiip`}, one},
		{"AIU-3.1-02/accept-case", []string{`<ai://bank/service/payments>; REL="next AIIP"`}, one},
		{"AIU-3.1-02/accept-blanks", []string{" ,\t<ai://bank/service/payments> ; rel = \"aiip\" ,"}, one},
		{"AIU-3.1-02/accept-second", []string{`</a>; rel=next; title="a, b; c\"", <ai://bank/service/payments>; rel=aiip`}, one},
		{"AIU-3.1-02/accept-two-fields", []string{`</a>; rel=next`, `<ai://bank/service/payments>; rel=aiip`}, one},
		{"AIU-3.1-02/accept-comma-in-target", []string{`</a,b>; rel=next, <ai://bank/service/payments>; rel=aiip`}, one},
		{"AIU-3.1-02/accept-other-params", []string{`<ai://bank/service/payments>; crossorigin; title*=UTF-8''x; rel=aiip;`}, one},
		{"AIU-3.1-02/accept-after-malformed", []string{`nonsense; rel=aiip, <ai://bank/service/payments>; rel=aiip`}, one},
		{"AIU-3.1-02/accept-after-missing-comma", []string{`<a> <b>; rel=aiip, <ai://bank/service/payments>; rel=aiip`}, one},
		{"AIU-3.1-02/reject-other-relation", []string{`<ai://bank/>; rel="aiip2 xaiip"`}, nil},
		{"AIU-3.1-02/reject-no-relation", []string{`<ai://bank/>`}, nil},
		{"AIU-3.1-02/reject-second-rel", []string{`<ai://bank/>; rel=next; rel=aiip`}, nil},
		{"AIU-3.1-02/reject-anchor", []string{`<ai://bank/>; rel=aiip; anchor="https://other.example/"`}, nil},
		{"AIU-3.1-02/reject-rev", []string{`<ai://bank/>; rev=aiip`}, nil},
		{"AIU-3.1-02/accept-open-quote", []string{`<ai://bank/service/payments>; rel="aiip`}, one}, // RFC 8288, appendix B.4
		{"AIU-3.1-02/reject-open-target", []string{`<ai://bank/; rel=aiip`}, nil},
		{"AIU-3.1-02/reject-inside-quotes", []string{`</a>; title="<ai://bank/>; rel=aiip, <ai://x/>; rel=aiip"`}, nil},
		{"AIU-3.1-02/reject-beyond-100", []string{strings.Repeat("</a>;rel=next,", 100) + `<ai://bank/>;rel=aiip`}, nil},
	} {
		t.Run(c.id, func(t *testing.T) {
			if got := aiuri.LinkTargets(c.values); !slices.Equal(got, c.want) {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestElementTargets(t *testing.T) {
	const link = `<link rel="aiip" href="ai://bank/service/payments">`
	one := []string{"ai://bank/service/payments"}
	for _, c := range []struct {
		id, page string
		want     []string
	}{
		{"AIU-3.1-03/accept-in-head", "<!DOCTYPE html><html><head><title>x</title>" + link + "</head><body>", one},
		{"AIU-3.1-03/accept-implied-head", "<!doctype html>\n<meta charset=utf-8>\n" + link, one},
		{"AIU-3.1-03/accept-case-and-blanks", `<HEAD><LINK HREF=" ai://bank/service/payments " REL="next AIIP"/>`, one},
		{"AIU-3.1-03/accept-after-script", `<head><script>"<link rel=aiip href=ai://evil/>"</script>` + link, one},
		{"AIU-3.1-03/accept-after-template", "<head><template><template></template><p>" + `<link rel=aiip href=ai://evil/></template>` + link, one},
		{"AIU-3.1-03/accept-after-noscript", "<head><noscript><link rel=aiip href=ai://evil/></noscript>" + link, one},
		{"AIU-3.1-03/reject-body", "<head></head><body>" + link, nil},
		{"AIU-3.1-03/reject-implied-body", "<head><p>" + link, nil},
		{"AIU-3.1-03/reject-after-text", "<head>text" + link, nil},
		{"AIU-3.1-03/reject-after-head", "<head></head>" + link, nil},
		{"AIU-3.1-03/reject-comment", "<head><!-- " + link + " --></head>", nil},
		{"AIU-3.1-03/reject-script", "<head><script>" + link + "</script></head>", nil},
		{"AIU-3.1-03/reject-title", "<head><title>" + link + "</title></head>", nil},
		{"AIU-3.1-03/reject-template", "<head><template>" + link + "</template></head>", nil},
		{"AIU-3.1-03/reject-noscript", "<head><noscript>" + link + "</noscript></head>", nil},
		{"AIU-3.1-03/reject-no-href", "<head><link rel=aiip></head>", nil},
		{"AIU-3.1-03/reject-other-relation", "<head><link rel=next href=ai://bank/></head>", nil},
		{"AIU-3.1-03/reject-second-rel", "<head><link rel=next rel=aiip href=ai://bank/></head>", nil},
		{"AIU-3.1-04/accept-bare-ampersand", `<head><link rel="aiip" href="ai://x/p?amount=10&currency=USD">`, []string{"ai://x/p?amount=10&currency=USD"}},
		{"AIU-3.1-04/accept-escaped-ampersand", `<head><link rel="aiip" href="ai://x/p?amount=10&amp;currency=USD">`, []string{"ai://x/p?amount=10&currency=USD"}},
		{"L07/accept-two", `<head><link rel=aiip href=ai://a/><link rel=aiip href=ai://b/>`, []string{"ai://a/", "ai://b/"}},
		{"L07/accept-base-has-no-effect", `<head><base href=//evil.example>` + link, one},
		{"L07/reject-svg", "<head><svg>" + link, nil},
		{"L07/reject-body", "<body>" + link, nil},
		{"L07/reject-comment", "<!--" + link + "-->", nil},
		{"L07/reject-template", "<template>" + link, nil},
		{"L07/reject-noscript", "<noscript>" + link, nil},
		{"L07/reject-paragraph", "<head><p>" + link, nil},
		{"L07/reject-text", "<head>text" + link, nil},
		{"L07/reject-after-the-head", "<head></head>" + link, nil},
		{"L07/reject-template-in-template", "<head><template><template></template>" + link, nil},
		{"L07/reject-beyond-size", "<head>" + strings.Repeat(" ", 512<<10) + link, nil},
		{"L07/reject-huge-attribute", "<head><meta content='" + strings.Repeat("x", 70<<10) + "'>" + link, nil},
	} {
		t.Run(c.id, func(t *testing.T) {
			if got := aiuri.ElementTargets([]byte(c.page)); !slices.Equal(got, c.want) {
				t.Errorf("got %q", got)
			}
		})
	}
}

func FuzzLinkTargets(f *testing.F) {
	f.Add(`<ai://bank/>; rel="aiip"; title="a\"b", </x>; rel=next`)
	f.Fuzz(func(t *testing.T, value string) {
		if got := aiuri.LinkTargets([]string{value}); len(got) > 100 {
			t.Fatal(len(got))
		}
		with := aiuri.LinkTargets([]string{value, `<ai://last/>;rel=aiip`})
		if strings.Count(value, ",") < 90 && (len(with) == 0 || with[len(with)-1] != "ai://last/") {
			t.Fatalf("%q swallows the next field", value)
		}
	})
}

func FuzzElementTargets(f *testing.F) {
	f.Add([]byte(`<head><template><link rel=aiip href=ai://a/></template><link rel=aiip href=ai://b/>`))
	f.Fuzz(func(t *testing.T, page []byte) {
		if got := aiuri.ElementTargets(page); len(got) > 100 {
			t.Fatal(len(got))
		}
	})
}

// TestLinkSuites holds what the test suites of browsers and of link parsers agree
// on, told with our relation. Where they disagree the stricter reading is taken:
// a link that some reader would not see is not one.
func TestLinkSuites(t *testing.T) {
	const a, b = "ai://a/", "ai://b/"
	for _, c := range []struct {
		name  string
		value string
		want  []string
	}{
		// White space, case and empty parameters.
		{"no-space", `<ai://a/>;rel=aiip`, []string{a}},
		{"spaces-around-semicolon", `<ai://a/>   ;   rel=aiip`, []string{a}},
		{"tabs", "<ai://a/>\t\t ; \trel=aiip \t  ", []string{a}},
		{"space-inside-brackets", `<   ai://a/ >; rel=aiip`, []string{a}},
		{"space-before-equals", `<ai://a/>; rel =aiip`, []string{a}},
		{"space-after-equals", `<ai://a/>; rel= aiip`, []string{a}},
		{"tab-after-equals-quoted", "<ai://a/>;rel=\t\"aiip\"", []string{a}},
		{"name-case", `<ai://a/>; Rel=aiip`, []string{a}},
		{"relation-case", `<ai://a/>; rel=AiIp`, []string{a}},
		{"many-semicolons", `<ai://a/>;;;;; rel=aiip`, []string{a}},
		{"final-semicolon", `<ai://a/>; rel=aiip;`, []string{a}},
		{"space-and-final-semicolon", `<ai://a/>; x=y ; rel =aiip  ` + "\t  ;", []string{a}},
		{"leading-commas", `, , ` + "\t" + `,<ai://a/>; rel=aiip,`, []string{a}},
		{"empty", ``, nil},
		{"commas-alone", ` , ,, `, nil},

		// Relations.
		{"two-relations", `<ai://a/>; rel="start aiip"`, []string{a}},
		{"extension-relation-beside", `<ai://a/>; rel="https://example.com/rel aiip"`, []string{a}},
		{"extension-relation-alone", `<ai://a/>; rel=https://example.com/aiip`, nil},
		{"same-twice-in-one-link", `<ai://a/>; rel="aiip aiip"`, []string{a}},
		{"first-rel-counts", `<ai://a/>; rel=aiip; rel=next`, []string{a}},
		{"second-rel-does-not", `<ai://a/>; rel=next; rel=aiip`, nil},
		{"first-rel-empty", `<ai://a/>; rel=""; rel=aiip`, nil},
		{"rel-without-value", `<ai://a/>; rel`, nil},
		{"rel-empty", `<ai://a/>; rel=`, nil},
		{"no-rel", `<ai://a/>`, nil},
		{"rel-star", `<ai://a/>; rel*=UTF-8''aiip`, nil},
		{"similar-name", `<ai://a/>; relAtion="aiip"; rev=aiip`, nil},
		{"two-words-for-a-name", `<ai://a/>; rel pel=aiip`, nil},
		{"single-quotes-are-text", `<ai://a/>; rel='aiip'`, nil},
		{"open-single-quote", `<ai://a/>; rel='aiip`, nil},
		{"comma-in-relation", `<ai://a/>; rel="aiip,next"`, nil},
		{"semicolon-in-relation", `<ai://a/>; rel="aiip; next"`, nil},
		{"escaped-relation", `<ai://a/>; rel="\a\i\i\p"`, []string{a}},

		// Other parameters.
		{"valueless", `<ai://a/>; crossorigin; rel=aiip`, []string{a}},
		{"empty-title", `<ai://a/>; title=""; rel="aiip"; `, []string{a}},
		{"title-with-semicolon", `<ai://a/>; title="previous; chapter"; rel=aiip`, []string{a}},
		{"title-with-comma", `<ai://a/>; title="previous, chapter"; rel=aiip`, []string{a}},
		{"title-with-link", `<ai://a/>; title="<ai://b/>; rel=aiip"; rel=aiip`, []string{a}},
		{"title-with-escapes", `<ai://a/>; title="a DQUOTE \" and ;a backslash,: \\"; rel=aiip`, []string{a}},
		{"title-with-apostrophe", `<ai://a/>; title="an ' and ;more,: "; rel=aiip`, []string{a}},
		{"title-in-apostrophes", `<ai://a/>; title='several words \' and: '; rel=aiip; `, []string{a}},
		{"title-of-words", `<ai://a/>; title=several words; rel=aiip`, []string{a}},
		{"extended-title", `<ai://a/>; title*=UTF-8'de'n%c3%a4chstes%20Kapitel; rel=aiip`, []string{a}},
		{"broken-extended-title", `<ai://a/>; title*=UTF-8''x%; title="fallback"; rel=aiip`, []string{a}},
		{"title-first-of-two", `<ai://a/>; title*=x; title=y; title=z; rel=aiip`, []string{a}},
		{"no-title-end", `<ai://a/>; rel=aiip; title="`, []string{a}},
		{"escaped-title-end", `<ai://a/>; rel=aiip; title="x \"`, []string{a}},
		{"title-ends-in-backslash", `<ai://a/>; rel=aiip; title="x \`, []string{a}},

		// Targets.
		{"comma-in-target", `<ai://a/x,y>; rel=aiip`, []string{"ai://a/x,y"}},
		{"semicolon-in-target", `<ai://a/x;rel=next>; rel=aiip`, []string{"ai://a/x;rel=next"}},
		{"escapes-in-target", `<ai://a/%20%3d?sd>; rel=aiip`, []string{"ai://a/%20%3d?sd"}},
		{"ampersand-in-target", `<ai://a/x?p=3&currency=USD>; rel=aiip`, []string{"ai://a/x?p=3&currency=USD"}},
		{"backslash-does-not-escape-bracket", `<ai://a/\>; rel=aiip, <ai://b/>; rel=aiip`, []string{`ai://a/\`, b}},
		{"empty-target", `<>; rel=aiip`, []string{""}}, // which is not an ai: URI

		// Several links.
		{"two-of-ours", `<ai://a/>; rel=aiip,<ai://b/>; rel="aiip"`, []string{a, b}},
		{"ours-between", `</x>; rel="a,b;c", <ai://a/>; rel=aiip, </y>; rel="d;e,f"`, []string{a}},
		{"valueless-before-comma", `</x>; nopush, <ai://a/>; rel=aiip`, []string{a}},
		{"ours-without-rel-beside", `<ai://b/>; pet="cat", <ai://a/>; rel=aiip, `, []string{a}},

		// Malformed links, which are passed over as a whole.
		{"parameters-first", `rel=aiip; <ai://a/>`, nil},
		{"no-brackets", `ai://a/; rel=aiip`, nil},
		{"no-closing-bracket", `<ai://a/; rel="aiip";`, nil},
		{"no-semicolon", `<ai://a/> x=y ; rel =aiip`, nil},
		{"words-then-ours", `hello, <ai://a/>; rel=aiip`, []string{a}},
		{"quoted-words-then-ours", `"x, <ai://b/>; rel=aiip", <ai://a/>; rel=aiip`, []string{a}},
		{"malformed-then-ours", `</x> y; rel="a, b", <ai://a/>; rel=aiip`, []string{a}},
		{"rest-after-quotes", `<ai://b/>; rel="aiip"x, <ai://a/>; rel=aiip`, []string{a}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := aiuri.LinkTargets([]string{c.value}); !slices.Equal(got, c.want) {
				t.Errorf("%s\ngot %q, want %q", c.value, got, c.want)
			}
		})
	}
}

// TestElementSuites holds how the HTML standard and its tests read a page's head,
// as far as link elements go.
func TestElementSuites(t *testing.T) {
	const link = `<link rel=aiip href=ai://a/>`
	one := []string{"ai://a/"}
	for _, c := range []struct {
		name, page string
		want       []string
	}{
		{"no-quotes", `<head>` + link, one},
		{"single-quotes", `<head><link rel='aiip' href='ai://a/'>`, one},
		{"self-closing", `<head><link rel="aiip" href="ai://a/"/>`, one},
		{"href-first", `<head><link href=ai://a/ rel=aiip>`, one},
		{"line-breaks", "<head><link\n\trel\n=\n\"next\naiip\"\fhref=\"\n ai://a/\t\">", one},
		{"references", `<head><link rel="&#97;iip" href="ai://a&#x2f;">`, one},
		{"reference-without-semicolon", `<head><link rel=aiip href="ai://a/?x=1&lt=2">`, []string{"ai://a/?x=1&lt=2"}},
		{"doctype-comment-first", "<!--x--><!doctype html><!--y--><html lang=en><!--z--><head>" + link, one},
		{"byte-order-mark", "\ufeff<!doctype html>" + link, one},
		{"after-style", `<head><style>a>b{content:"</head><link rel=aiip href=ai://b/>"}</style>` + link, one},
		{"after-title-that-looks-like-markup", `<head><title><b>x</b></title>` + link, one},
		{"after-meta-and-base", `<meta charset=utf-8><base href=https://x.example/><head>` + link, one},
		{"end-tag-of-nothing", `<head></p>` + link, nil},
		{"body-implied-by-image", `<head><img>` + link, nil},
		{"body-implied-by-iframe", `<head><iframe srcdoc="x"></iframe>` + link, nil},
		{"inside-textarea", `<head><textarea>` + link, nil},
		{"inside-comment-with-odd-end", `<head><!-- --!` + link + `-->`, nil},
		{"inside-comment-ended-early", `<head><!-->` + link, one},
		{"inside-script-comment", `<head><script><!--<script></script>` + link + `--></script>`, nil},
		{"inside-nested-template", `<head><template><template></template>` + link + `</template>`, nil},
		{"inside-math", `<head><math>` + link + `</math>`, nil},
		{"inside-CDATA", `<head><![CDATA[` + link + `]]>`, nil},
		{"NUL-begins-the-body", "<head>\x00" + link, nil},
		{"other-element-name", `<head><linkx rel=aiip href=ai://a/>`, nil},
		{"attribute-prefix", `<head><link data-rel=aiip href=ai://a/>`, nil},
		{"rev", `<head><link rev=aiip href=ai://a/>`, nil},
		{"unclosed-tag", `<head><link rel=aiip href=ai://a/`, nil},
		{"a-element", `<head><a rel=aiip href=ai://a/>`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := aiuri.ElementTargets([]byte(c.page)); !slices.Equal(got, c.want) {
				t.Errorf("%s\ngot %q, want %q", strings.ReplaceAll(c.page, "\x00", "<NUL>"), got, c.want)
			}
		})
	}
}

func TestNamesToVerify(t *testing.T) {
	for name, state := range map[string]lookleap.DNSSEC{"secure": lookleap.Secure, "insecure": lookleap.Insecure} {
		t.Run("AIU-3.1-15/accept-name-to-verify-"+name, func(t *testing.T) {
			net := lab.ForTest(t)
			page(net.Site("bank.example"), "ai://bank/x", "")
			net.Name("_aiip._tcp.bank.example").SRV(0, 0, 443, "aiip.bank.example.").DNSSEC(state)
			d, err := aiuri.NewDiscoverer(net.Host(), aiuri.DiscovererOptions{DNS: true}).Discover(t.Context(), "https://bank.example")
			if err != nil || len(d.Targets) != 1 || d.Targets[0].Host != "aiip.bank.example" || d.Targets[0].Port != 443 {
				t.Fatalf("got %+v, %v", d, err)
			}
			if names := d.Targets[0].Names; names[0] != "bank.example" || (len(names) == 2) != (state == lookleap.Secure) {
				t.Errorf("got %v", names)
			}
		})
	}
}

// TestPageFailures: a page that fails is no matter next to a document, unless its name is forged.
func TestPageFailures(t *testing.T) {
	const shop = "https://shop.example"
	for name, c := range map[string]struct {
		set  func(*lab.Internet, *lab.Site)
		code lookleap.Code
	}{
		"accept-500":   {func(_ *lab.Internet, s *lab.Site) { s.Status("/", 500) }, lookleap.CodeOK},
		"accept-reset": {func(_ *lab.Internet, s *lab.Site) { s.Fault("/", lab.Reset()) }, lookleap.CodeOK},
		"reject-bogus": {func(n *lab.Internet, _ *lab.Site) { n.Name("shop.example").Bogus() }, lookleap.CodeDNSSECBogus},
	} {
		t.Run("AIU-3.1-02/"+name, func(t *testing.T) {
			net := lab.ForTest(t)
			net.Clock().Freeze()
			s := net.Site("shop.example").Body(documentPath, "application/json", documentOf("ai://shop.example/pay", shop))
			s.Fault(documentPath, lab.Header("Connection", "close"))
			d := aiuri.NewDiscoverer(net.Host(), aiuri.DiscovererOptions{})
			if _, err := d.Resolve(t.Context(), parse(t, "ai://shop.example/pay")); err != nil {
				t.Fatal(err)
			}
			c.set(net, s)
			found, err := d.Discover(t.Context(), shop+"/")
			if (found != nil) != (c.code == lookleap.CodeOK) || lookleap.CodeOf(err) != c.code {
				t.Errorf("got %v, %v", found, err)
			}
		})
	}
	t.Run("AIU-3.1-02/reject-page-over-http", func(t *testing.T) {
		net := lab.ForTest(t)
		for _, page := range []string{"http://shop.example/", "", "https://shop.example/%zz"} {
			var no *lookleap.VerifyError
			if found, err := aiuri.NewDiscoverer(net.Host(), aiuri.DiscovererOptions{}).Discover(t.Context(), page); found != nil || !errors.As(err, &no) ||
				no.Verdict.Subject != "a page" || !strings.HasPrefix(no.Verdict.Summary, "the page is not an https URL: ") {
				t.Errorf("%q: %v, %v", page, found, err)
			}
		}
	})
}
