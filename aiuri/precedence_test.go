package aiuri_test

import (
	"slices"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/aiuri"
	"github.com/lookleap/lookleap/lookleaptest"
)

// advertised is the endpoint that each source names; "" for none.
type advertised struct {
	document, link, element, dns string
	dnssec                       lookleap.DNSSEC
}

func (a advertised) publish(n *lookleaptest.Internet) {
	s := n.Site("shop.example")
	if a.document != "" {
		s.File(documentPath, "application/json", documentOf(a.document, "https://shop.example"))
	}
	page(s, a.link, a.element)
	if a.dns != "" {
		n.Name("_aiip.shop.example").TXT("endpoint=" + a.dns).DNSSEC(a.dnssec)
	}
}

// TestPrecedence: of two sources that disagree, the one with the higher precedence counts, and
// there is one finding for each other one.
func TestPrecedence(t *testing.T) {
	all := advertised{"ai://a/", "ai://b/", "ai://c/", "ai://d/", lookleap.Secure}
	noDocument, noLink, insecure, unknown := all, all, all, all
	noDocument.document = ""
	noLink.document, noLink.link = "", ""
	insecure.dnssec, unknown.dnssec = lookleap.Insecure, lookleap.Indeterminate
	for name, c := range map[string]struct {
		a     advertised
		order string // of the endpoints' names
	}{
		"accept-document-before-secure-dns": {all, "abdc"},
		"accept-link-before-secure-dns":     {noDocument, "bdc"},
		"accept-secure-dns-third":           {noLink, "dc"},
		"accept-insecure-dns-last":          {insecure, "abcd"},
		"accept-unvalidated-dns-last":       {unknown, "abcd"},
	} {
		check := func(t *testing.T) {
			net := lookleaptest.ForTest(t)
			c.a.publish(net)
			d, err := aiuri.NewDiscoverer(net.StubHost(), aiuri.DiscovererOptions{DNS: true}).Discover(t.Context(), "https://shop.example/")
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, candidate := range d.Candidates {
				got += candidate.Endpoint.Host()
			}
			conflicts := 0
			for _, f := range d.Findings {
				if f.Code == aiuri.CodeDiscoveryConflict {
					conflicts++
				}
			}
			if got != c.order || d.Endpoint.Host() != c.order[:1] || conflicts != len(c.order)-1 {
				t.Errorf("got %s, %s, findings %v", got, d.Endpoint, d.Findings)
			}
			if (d.Document != nil) != (d.Source == aiuri.SourceWellKnown) {
				t.Errorf("the document of %s is %+v", d.Source, d.Document)
			}
		}
		for _, row := range []string{"AIU-3.1-17/", "AIU-3.1-19/", "AIU-3.1-15/"} {
			t.Run(row+name, check)
		}
	}
}

// TestAgreement: FailOnConflict refuses a source that disagrees, whichever it is, and sources
// that agree in another spelling are no conflict.
func TestAgreement(t *testing.T) {
	const same, other = "AI://Bank:/%78", "ai://bank/y"
	for name, c := range map[string]struct {
		a        advertised
		conflict bool
	}{
		"accept-all-agree":         {advertised{"ai://bank/x", same, same, same, lookleap.Secure}, false},
		"accept-insecure-agrees":   {advertised{"ai://bank/x", same, same, same, lookleap.Insecure}, false},
		"reject-other-link":        {advertised{"ai://bank/x", other, same, same, lookleap.Secure}, true},
		"reject-other-element":     {advertised{"ai://bank/x", same, other, same, lookleap.Secure}, true},
		"reject-other-secure-dns":  {advertised{"ai://bank/x", same, same, other, lookleap.Secure}, true},
		"reject-other-dns":         {advertised{"ai://bank/x", same, same, other, lookleap.Insecure}, true},
		"reject-element-than-link": {advertised{link: same, element: other}, true},
	} {
		t.Run("AIU-3.1-19/"+name, func(t *testing.T) {
			net := lookleaptest.ForTest(t)
			c.a.publish(net)
			for _, fail := range []bool{false, true} {
				d, err := aiuri.NewDiscoverer(net.StubHost(), aiuri.DiscovererOptions{DNS: true, FailOnConflict: fail}).Discover(t.Context(), "https://shop.example/")
				if fail && c.conflict {
					if d != nil || lookleap.CodeOf(err) != aiuri.CodeDiscoveryConflict {
						t.Errorf("got %+v, %v", d, err)
					}
					continue
				}
				if err != nil || d.Endpoint.String() != "ai://bank/x" || (len(d.Findings) == 1) != c.conflict || len(d.Findings) > 1 {
					t.Errorf("got %+v, %v", d, err)
				}
			}
		})
	}
}

// TestBootstrapRecords: both kinds of records are validated, and the shorter life of both counts.
func TestBootstrapRecords(t *testing.T) {
	publish := func(t *testing.T) *lookleaptest.Internet {
		net := lookleaptest.ForTest(t)
		net.Clock().Freeze()
		page(net.Site("shop.example"), "ai://bank/x", "")
		net.Site("shop.example").File(documentPath, "application/json", documentOf("ai://bank/x", "https://shop.example")).
			Fault(documentPath, lookleaptest.Header("Cache-Control", "max-age=36000"))
		return net
	}
	t.Run("AIU-3.1-15/reject-bogus-service", func(t *testing.T) {
		net := publish(t)
		net.Name("_aiip._tcp.shop.example").Bogus()
		d, err := aiuri.NewDiscoverer(net.StubHost(), aiuri.DiscovererOptions{DNS: true}).Discover(t.Context(), "https://shop.example/")
		if d != nil || lookleap.CodeOf(err) != lookleap.CodeDNSSECBogus {
			t.Errorf("got %+v, %v", d, err)
		}
	})
	t.Run("AIU-3.1-15/accept-name-to-verify-unvalidated", func(t *testing.T) {
		net := publish(t)
		net.Name("_aiip._tcp.shop.example").SRV(0, 0, 443, "aiip.shop.example.").DNSSEC(lookleap.Indeterminate)
		d, err := aiuri.NewDiscoverer(net.StubHost(), aiuri.DiscovererOptions{DNS: true}).Discover(t.Context(), "https://shop.example/")
		if err != nil || len(d.Targets) != 1 || !slices.Equal(d.Targets[0].Names, []string{"shop.example"}) {
			t.Errorf("got %+v, %v", d, err)
		}
	})
	t.Run("AIU-3.1-14/accept-case-of-the-path", func(t *testing.T) {
		net := lookleaptest.ForTest(t)
		net.Site("shop.example")
		net.Name("_aiip.shop.example").TXT("Endpoint=ai://other/ endpoint=ai://bank/X")
		d, err := aiuri.NewDiscoverer(net.StubHost(), aiuri.DiscovererOptions{DNS: true}).Discover(t.Context(), "https://shop.example/")
		if err != nil || d.Endpoint.String() != "ai://bank/X" || len(d.Candidates) != 1 || len(d.Findings) != 0 {
			t.Errorf("got %+v, %v", d, err)
		}
	})
	t.Run("AIU-3.1-23/accept-document's-time-without-records", func(t *testing.T) {
		net := publish(t)
		d, err := aiuri.NewDiscoverer(net.StubHost(), aiuri.DiscovererOptions{DNS: true}).Discover(t.Context(), "https://shop.example/")
		if err != nil || d.Expires.Sub(net.Clock().Now()) < 9*time.Hour {
			t.Errorf("got %+v, %v", d, err)
		}
	})
	for _, c := range []struct{ text, service time.Duration }{{20 * time.Minute, time.Hour}, {time.Hour, 20 * time.Minute}} {
		t.Run("AIU-3.1-23/accept-dns-by-the-shorter-ttl", func(t *testing.T) {
			net := publish(t)
			net.Name("_aiip.shop.example").TXT("endpoint=ai://bank/x").TTL(c.text)
			net.Name("_aiip._tcp.shop.example").SRV(0, 0, 443, "aiip.shop.example.").TTL(c.service)
			d, err := aiuri.NewDiscoverer(net.StubHost(), aiuri.DiscovererOptions{DNS: true}).Discover(t.Context(), "https://shop.example/")
			if err != nil || !d.Expires.Equal(net.Clock().Now().Add(20*time.Minute)) || len(d.Targets) != 1 {
				t.Errorf("got %+v, %v", d, err)
			}
		})
	}
}
