package lookleaptest_test

import (
	"context"
	"errors"
	stdnet "net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/lookleaptest"
)

// texts are the records of an answer as short text.
func texts(a *lookleap.DNSAnswer) string {
	var out []string
	for _, r := range a.Records {
		switch {
		case r.Addr.IsValid():
			out = append(out, r.Addr.String())
		default:
			out = append(out, r.Text)
		}
	}
	slices.Sort(out)
	return strings.Join(out, "|")
}

func TestResolver(t *testing.T) {
	net := lookleaptest.ForTest(t)
	net.Site("shop.example").At("93.184.216.9", "2606:2800:220::9")
	net.Name("_anml.shop.example").TXT("v=anml1; ", `query="\x`+"\x00\xff").TXT("other").TTL(time.Minute)
	net.Name("_aiip._tcp.shop.example").TXT("x")
	net.Name("www.shop.example").CNAME("shop.example").TTL(10 * time.Second)
	net.Name("gone.shop.example").CNAME("nothing.example")
	net.Name("a.example").CNAME("b.example")
	net.Name("b.example").CNAME("a.example")
	net.Name("mixed.example", "93.184.216.50", "10.0.0.1", "fd00::1")
	for _, c := range []struct {
		name    string
		rrtype  lookleap.RRType
		records string
		exists  bool
		ttl     time.Duration
		owner   string
	}{
		{"shop.example", lookleap.TypeA, "93.184.216.9", true, 5 * time.Minute, "shop.example"},
		{"SHOP.example", lookleap.TypeAAAA, "2606:2800:220::9", true, 5 * time.Minute, "shop.example"},
		{"_anml.shop.example", lookleap.TypeTXT, "other|v=anml1; query=\"\\x\x00\xff", true, time.Minute,
			"_anml.shop.example"},
		{"www.shop.example", lookleap.TypeA, "93.184.216.9", true, 10 * time.Second, "shop.example"},
		{"www.shop.example", lookleap.TypeTXT, "", true, 10 * time.Second, "shop.example"},
		{"gone.shop.example", lookleap.TypeA, "", false, 5 * time.Minute, "nothing.example"},
		{"shop.example", lookleap.TypeTXT, "", true, 5 * time.Minute, "shop.example"},
		{"nothing.example", lookleap.TypeTXT, "", false, 5 * time.Minute, "nothing.example"},
		{"_tcp.shop.example", lookleap.TypeSRV, "", true, 5 * time.Minute, "_tcp.shop.example"},
		{"mixed.example", lookleap.TypeA, "10.0.0.1|93.184.216.50", true, 5 * time.Minute, "mixed.example"},
	} {
		a, err := net.Stub().Lookup(t.Context(), c.name, c.rrtype)
		if err != nil || texts(a) != c.records || a.Exists != c.exists || a.TTL != c.ttl || a.Name != c.owner ||
			a.DNSSEC != lookleap.Indeterminate {
			t.Errorf("%s %s: %+v %q %v", c.name, c.rrtype, a, texts(a), err)
		}
	}
	if a, err := net.Stub().Lookup(t.Context(), "a.example", lookleap.TypeA); err == nil {
		t.Error("a loop of aliases:", a)
	}
	if q := net.Journal().Queries("shop.example"); len(q) != 3 || q[2].Type != lookleap.TypeTXT {
		t.Error(q)
	}
}

func TestImpossibleNames(t *testing.T) {
	net := lookleaptest.ForTest(t)
	long := strings.Repeat("a", 64)
	for _, name := range []string{"", "..", "a..b", ".a", long + ".example", strings.Repeat("a.", 150)} {
		if a, err := net.Stub().Lookup(t.Context(), name, lookleap.TypeA); err == nil {
			t.Errorf("%q: %+v", name, a)
		}
	}
	for _, name := range []string{".", "a\x00b.example", "a b", "*", long[:63]} {
		if a, err := net.Stub().Lookup(t.Context(), name, lookleap.TypeA); err != nil || a.Exists && name != "." {
			t.Errorf("%q: %+v %v", name, a, err)
		}
	}
	for what, bad := range map[string]func(){
		"record": func() { net.Name("a.example").Record("A 1.2.3") },
		"string": func() { net.Name("a.example").TXT(strings.Repeat("x", 256)) },
		"name":   func() { net.Name("a..example") },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("no panic for a bad", what)
				}
			}()
			bad()
		}()
	}
}

func TestNamesChange(t *testing.T) {
	net := lookleaptest.ForTest(t)
	look := func() (*lookleap.DNSAnswer, error) {
		return net.Stub().Lookup(t.Context(), "_anml.shop.example", lookleap.TypeTXT)
	}
	name := net.Name("_anml.shop.example").TXT("one")
	if a, _ := look(); texts(a) != "one" {
		t.Error(a)
	}
	name.TXT("two")
	if a, _ := look(); texts(a) != "one|two" {
		t.Error(a)
	}
	name.Clear()
	if a, _ := look(); a.Exists || texts(a) != "" {
		t.Error(a)
	}
	name.Record(`CAA 0 issue "ca.example"`)
	if a, _ := look(); !a.Exists || texts(a) != "" {
		t.Error(a)
	}
}

func TestScriptedStates(t *testing.T) {
	net := lookleaptest.ForTest(t)
	net.Site("shop.example")
	net.Name("shop.example").DNSSEC(lookleap.Secure)
	net.Name("_anml.shop.example").TXT("v=anml1").DNSSEC(lookleap.Insecure)
	net.Name("bogus.example").Bogus()
	for name, want := range map[string]lookleap.DNSSEC{
		"shop.example": lookleap.Secure, "none.shop.example": lookleap.Secure,
		"_anml.shop.example": lookleap.Insecure, "other.example": lookleap.Indeterminate,
	} {
		if a, err := net.Stub().Lookup(t.Context(), name, lookleap.TypeTXT); err != nil || a.DNSSEC != want {
			t.Error(name, a, err)
		}
	}
	a, err := net.Stub().Lookup(t.Context(), "www.bogus.example", lookleap.TypeA)
	var bogus *lookleap.BogusError
	if a != nil || !errors.As(err, &bogus) || bogus.Zone != "bogus.example" {
		t.Error(a, err)
	}
	net.Name("bogus.example").Heal()
	if _, err := net.Stub().Lookup(t.Context(), "www.bogus.example", lookleap.TypeA); err != nil {
		t.Error(err)
	}
}

func TestFailingNames(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*lookleaptest.Name)
		took  time.Duration
		wait  bool
	}{
		"ServFail": {func(n *lookleaptest.Name) { n.ServFail() }, 0, false},
		"Refuse":   {func(n *lookleaptest.Name) { n.Refuse() }, 0, false},
		"Drop":     {func(n *lookleaptest.Name) { n.Drop() }, 5 * time.Second, true},
		"Delay":    {func(n *lookleaptest.Name) { n.Delay(time.Minute) }, 5 * time.Second, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				net := lookleaptest.ForTest(t)
				c.spoil(net.Name("shop.example", "93.184.216.9"))
				begin := time.Now()
				a, err := net.Stub().Lookup(t.Context(), "shop.example", lookleap.TypeA)
				var no *stdnet.DNSError
				if a != nil || !errors.As(err, &no) || no.IsTimeout != c.wait || errors.Is(err, lookleap.ErrBogus) ||
					time.Since(begin) != c.took {
					t.Error(a, err, time.Since(begin))
				}
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				if _, err := net.Stub().Lookup(ctx, "shop.example", lookleap.TypeA); c.wait && !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
				net.Name("shop.example").Heal()
				if a, err := net.Stub().Lookup(t.Context(), "shop.example", lookleap.TypeA); err != nil || len(a.Records) != 1 {
					t.Error(a, err)
				}
			})
		})
	}
}
