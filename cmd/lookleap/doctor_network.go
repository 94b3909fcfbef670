package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/contrib/hostflags"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/internal/dnssec"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// address asks for the site's addresses, and whether anybody could forge them.
func (p *patient) address(ctx context.Context) diagnosis {
	name := p.url.Host()
	if p.dev {
		return skip("not looked up in development mode")
	}
	if p.named {
		return skip("not looked up: --connect names the server")
	}
	for _, t := range []lookleap.RRType{lookleap.TypeA, lookleap.TypeAAAA} {
		a, err := p.host.Lookup(ctx, name, t)
		if err != nil {
			fix, snippet := adviceDNS(err, name, p.url.Origin())
			if unreachableDNS(err) {
				p.down = "the DNS server cannot be reached"
			} else {
				p.down = "the site has no address"
			}
			d := ill(err, fix)
			d.Findings[0].Fix, d.Snippet = fix, snippet
			return d
		}
		if len(a.Records) > 0 {
			return ok(fmt.Sprintf("%s, DNSSEC %s", plaintext.Plural(len(a.Records), "address", "addresses"), a.DNSSEC),
				append(dvs.LintDNS(a), unvalidated(a)...)...)
		}
	}
	p.down = "the site has no address"
	d := ill(coded{lookleap.CodeNoAddress, fmt.Errorf("%s has no address", name)}, "publish A or AAAA records")
	d.Snippet = name + ". 3600 IN A ADDRESS"
	return d
}

// unreachableDNS reports whether an error is about the DNS server, and says nothing about the site.
func unreachableDNS(err error) bool {
	var none *dnssec.NoServerError
	var failed *dnssec.ServerError
	return errors.As(err, &none) || errors.As(err, &failed) && failed.Rcode == 0
}

// adviceDNS returns the fix for a lookup that failed, and the command or record to paste.
func adviceDNS(err error, name, origin string) (fix, snippet string) {
	var bogus *lookleap.BogusError
	switch {
	case unreachableDNS(err):
		return "check the network of this machine, or ask another DNS server", "lookleap doctor --dns ADDRESS:53 " + origin
	case errors.As(err, &bogus):
		return "sign the zone again, or remove its DS records at the parent zone until it is signed", "delv " + name
	}
	return "make the name servers of the zone answer for " + name, "lookleap dns " + name
}

// unvalidated returns a finding if the DNS server cannot say whether a zone is signed.
func unvalidated(answer *lookleap.DNSAnswer) []lookleap.Finding {
	if answer.DNSSEC != lookleap.Indeterminate {
		return nil
	}
	return []lookleap.Finding{{Severity: lookleap.SeverityWarning, Code: dvs.CodeDNSSECInsecure,
		Message: "DNSSEC of " + answer.Name + " cannot be judged: the DNS server passes no signatures on",
		Fix:     "ask a server that does: --dns ADDRESS:53"}}
}

// connection opens the site once, so that a server that is down is one fault and not one for each
// document.
func (p *patient) connection(ctx context.Context) diagnosis {
	front, err := domain.Parse(p.url.Origin() + "/")
	if err != nil {
		return ill(err, "")
	}
	resp, err := fetch.Do(ctx, p.host, &fetch.Request{URL: front, ReadBody: func(int) bool { return true }})
	if fix := adviceConnection(err); fix != "" {
		p.down = "the server cannot be reached"
		d := ill(err, fix)
		d.Findings[0].Fix = fix
		d.Snippet = p.curl("/")
		return d
	}
	if err != nil {
		return ok("the server answers") // what is wrong, if anything, is about a document
	}
	var findings []lookleap.Finding
	if leaf := resp.Conn.Leaf; leaf != nil && !p.dev {
		findings = p.ending("the certificate", leaf.NotAfter, "renew the certificate, and let a program do so from now on")
	}
	if resp.Conn.TLS != 0 && resp.Conn.TLS < tls.VersionTLS13 && !p.dev {
		p.oldTLS = true
		findings = append(findings, lookleap.Finding{Severity: lookleap.SeverityInfo, Code: lookleap.CodeTLSTooOld,
			Message: "the server speaks " + tls.VersionName(resp.Conn.TLS) + ", and AI endpoints need TLS 1.3", Fix: "switch on TLS 1.3"})
	}
	if to, err := fetch.Location(front, resp.Header, domain.Rules{}); err == nil && to.Origin() != p.url.Origin() {
		findings = append(findings, lookleap.Finding{Severity: lookleap.SeverityWarning, Code: lookleap.CodeRedirectCrossOrigin,
			Message: "visitors are sent on to " + to.Origin() + ", where agents do not look for what this site publishes",
			Fix:     "answer for documents at " + p.url.Origin() + " itself, or publish everything at " + to.Origin() + " and examine that"})
	}
	if resp.Status == http.StatusForbidden || resp.Status == http.StatusServiceUnavailable || resp.OK() {
		var wall fault
		if errors.As(unusable(resp, "/"), &wall) && wall.code == lookleap.CodeForbidden {
			findings = append(findings, lookleap.Finding{Severity: lookleap.SeverityWarning, Code: wall.code, Message: wall.text, Fix: wall.do})
		}
	}
	return ok("the server answers", findings...)
}

// curl returns a command that sends the same request, in development mode too.
func (p *patient) curl(path string) string {
	switch {
	case p.devServer == "":
		return "curl -sv " + p.url.Origin() + path
	case p.url.Host() == hostflags.DevName:
		return "curl -sv " + p.devServer + path
	}
	return "curl -sv -H 'Host: " + p.url.Host() + "' " + p.devServer + path
}
