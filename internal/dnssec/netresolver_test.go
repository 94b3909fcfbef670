package dnssec_test

import (
	"errors"
	"net"
	"testing"

	"github.com/miekg/dns"

	"github.com/lookleap/lookleap/internal/dnssec"
	"github.com/lookleap/lookleap/internal/lab/zone"
)

func TestNetResolver(t *testing.T) {
	// Not in a bubble: package net keeps state of its own.
	s := newSmall()
	s.Fail("broken.example.com", zone.Fault{Rcode: dns.RcodeServerFailure})
	r := dnssec.NetResolver{Resolver: &net.Resolver{PreferGo: true, Dial: zone.Dial(s)}}
	for _, c := range []struct {
		name   string
		rrtype uint16
		want   string
		text   string
	}{
		{"www.example.com", dns.TypeA, "indeterminate", " 192.0.2.1 192.0.2.2"},
		{"WWW.example.com.", dns.TypeA, "indeterminate", " 192.0.2.1 192.0.2.2"},
		{"www.example.com", dns.TypeAAAA, "indeterminate nxdomain", ""},
		{"_anml.example.com", dns.TypeTXT, "indeterminate", " v=anml1; manifest=\"x\\y\"\x00\xff second"},
		{"_s._tcp.example.com", dns.TypeSRV, "indeterminate", " 10 20 443 Host.example.com."},
		{"nope.example.com", dns.TypeTXT, "indeterminate nxdomain", ""},
		{"broken.example.com", dns.TypeTXT, "server", ""},
	} {
		result, err := r.Lookup(t.Context(), c.name, c.rrtype)
		if got := outcome(result, err); got != c.want || text(result) != c.text {
			t.Errorf("%s: %s %q, %v", c.name, got, text(result), err)
		}
	}
	var bad *dnssec.NameError
	if _, err := r.Lookup(t.Context(), "www.example.com", dns.TypeMX); !errors.As(err, &bad) {
		t.Error(err)
	}
}
