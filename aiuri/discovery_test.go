package aiuri_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/aiuri"
	"github.com/lookleap/lookleap/lookleaptest"
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
		{"AIU-3.1-02/accept-after-malformed", []string{`nonsense; rel=aiip, <ai://bank/service/payments>; rel=aiip`}, one},
		{"AIU-3.1-02/accept-after-missing-comma", []string{`<a> <b>; rel=aiip, <ai://bank/service/payments>; rel=aiip`}, one},
		{"AIU-3.1-02/reject-other-relation", []string{`<ai://bank/>; rel="aiip2 xaiip"`}, nil},
		{"AIU-3.1-02/reject-no-relation", []string{`<ai://bank/>`}, nil},
		{"AIU-3.1-02/reject-second-rel", []string{`<ai://bank/>; rel=next; rel=aiip`}, nil},
		{"AIU-3.1-02/reject-anchor", []string{`<ai://bank/>; rel=aiip; anchor="https://other.example/"`}, nil},
		{"AIU-3.1-02/reject-rev", []string{`<ai://bank/>; rev=aiip`}, nil},
		{"AIU-3.1-02/accept-open-quote", []string{`<ai://bank/service/payments>; rel="aiip`}, one}, // RFC 8288, appendix B.4
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

func TestNamesToVerify(t *testing.T) {
	for name, state := range map[string]lookleap.DNSSEC{"secure": lookleap.Secure, "insecure": lookleap.Insecure} {
		t.Run("AIU-3.1-15/accept-name-to-verify-"+name, func(t *testing.T) {
			net := lookleaptest.ForTest(t)
			page(net.Site("bank.example"), "ai://bank/x", "")
			net.Name("_aiip._tcp.bank.example").SRV(0, 0, 443, "aiip.bank.example.").DNSSEC(state)
			d, err := aiuri.NewDiscoverer(net.StubHost(), aiuri.DiscovererOptions{DNS: true}).Discover(t.Context(), "https://bank.example")
			if err != nil || len(d.Targets) != 1 || d.Targets[0].Host != "aiip.bank.example" || d.Targets[0].Port != 443 {
				t.Fatalf("got %+v, %v", d, err)
			}
			if names := d.Targets[0].Names; names[0] != "bank.example" || (len(names) == 2) != (state == lookleap.Secure) {
				t.Errorf("got %v", names)
			}
		})
	}
}
