package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/internal/dnssec"
	"github.com/lookleap/lookleap/internal/fetch"
)

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
		Message: "DNSSEC of " + answer.Name + " cannot be judged: the DNS server passes no signatures on", Fix: "ask a server that does: --dns ADDRESS:53"}}
}

// connection opens the site once, so that a server that is down is one fault and not one for each
// document.
func (p *patient) connection(ctx context.Context) diagnosis {
	_, err := p.get(ctx, "/agents.txt", "text/plain")
	var failed *fetch.Error
	if err == nil || !errors.As(err, &failed) || failed.Status != 0 {
		return ok("the server answers")
	}
	fix, known := adviceConnection[failed.Code]
	if !known {
		return ok("the server answers") // what is wrong is about the document
	}
	p.down = "the server cannot be reached"
	d := ill(err, fix)
	d.Findings[0].Fix = fix
	d.Snippet = "curl -sv " + p.url.Origin() + "/agents.txt"
	return d
}

// adviceConnection is the fix of a connection that failed.
var adviceConnection = map[lookleap.Code]string{
	lookleap.CodeConnRefused:    "start the server, and let it listen on this port",
	lookleap.CodeConnReset:      "find out why the server, or a firewall before it, ends connections",
	lookleap.CodeTimeout:        "find out why the server, or a firewall before it, does not answer",
	lookleap.CodeTLS:            "let the server send a certificate for this name, with the whole chain, that has not expired",
	lookleap.CodeTLSTooOld:      "switch on TLS 1.2 or 1.3",
	lookleap.CodeTruncated:      "let the server send complete responses",
	lookleap.CodeBlockedAddress: "publish public addresses in DNS; for a machine of your own use --dev or --allow-private",
	lookleap.CodeBlockedPort:    "serve the site on port 443; for a machine of your own use --dev or --allow-private",
}

// snippets are what to paste for a check that found something wrong, %s is the origin and %[2]s
// the host.
var snippets = map[string]string{
	"agents.txt":     "lookleap agentstxt sign agents.txt --write",
	"anml":           "lookleap anml page.xml --lint",
	"trust record":   `_anml.%[2]s. 3600 IN TXT "v=anml1; manifest=%[1]s/.well-known/anml-trust"`,
	"trust manifest": "lookleap manifest anml-trust.json --site %[2]s",
	"skills":         `{"skills":[{"name":"NAME","description":"WHAT IT IS FOR","files":["SKILL.md"]}]}`,
	"ai endpoint":    `{"endpoint":"ai://%[2]s/PATH","jwks":"%[1]s/.well-known/jwks.json"}`,
}

// snippet returns what to paste for a check.
func (p *patient) snippet(check string) string {
	form := snippets[check]
	if form == "" {
		return ""
	}
	return fmt.Sprintf(form+"%.0[1]s%.0[2]s", p.url.Origin(), p.url.Host())
}
