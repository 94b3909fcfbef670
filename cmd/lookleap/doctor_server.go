package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/agentstxt"
	"github.com/lookleap/lookleap/contrib/hostflags"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/internal/dnssec"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// address asks for the site's addresses, and whether an attacker could forge them.
func (p *patient) address(ctx context.Context) diagnosis {
	name := p.url.Host()
	if why := p.unlooked(); why != "" {
		return skip(why)
	}
	p.down = "the site has no address"
	for _, t := range []lookleap.RRType{lookleap.TypeA, lookleap.TypeAAAA} {
		a, err := p.host.Lookup(ctx, name, t)
		if err != nil {
			if unreachableDNS(err) {
				p.down = "the DNS server cannot be reached"
			}
			d := ill(err, "")
			d.Findings[0].Fix, d.Snippet = adviceDNS(err, name, p.url.Origin())
			return d
		}
		if len(a.Records) > 0 {
			p.down = ""
			return ok(fmt.Sprintf("%s, DNSSEC %s", plaintext.Plural(len(a.Records), "address", "addresses"), a.DNSSEC),
				append(dvs.LintDNS(a), unvalidated(a)...)...)
		}
	}
	d := ill(fault(lookleap.CodeNoAddress, name+" has no address", ""), "publish A or AAAA records")
	d.Snippet = name + ". 3600 IN A ADDRESS"
	return d
}

// unreachableDNS reports whether an error is about the DNS server, and says nothing about the site.
func unreachableDNS(err error) bool {
	var none *dnssec.NoServerError
	var failed *dnssec.ServerError
	return errors.As(err, &none) || errors.As(err, &failed) && failed.Rcode == 0
}

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
	return []lookleap.Finding{warning(dvs.CodeDNSSECInsecure,
		"DNSSEC of "+answer.Name+" cannot be judged: the DNS server passes no signatures on",
		"ask a server that does: --dns ADDRESS:53")}
}

// connection opens the site once, so that a server that is down is one fault, not many.
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
			Message: "the server speaks " + tls.VersionName(resp.Conn.TLS) + ", and AI endpoints need TLS 1.3",
			Fix:     "switch on TLS 1.3"})
	}
	if to, err := fetch.Location(front, resp.Header, domain.Rules{}); err == nil && to.Origin() != p.url.Origin() {
		findings = append(findings, warning(lookleap.CodeRedirectCrossOrigin,
			"visitors are sent on to "+to.Origin()+", where agents do not look for what this site publishes",
			"answer for documents at "+p.url.Origin()+" itself, or publish everything at "+to.Origin()+" and examine that"))
	}
	if resp.Status == http.StatusForbidden || resp.Status == http.StatusServiceUnavailable || resp.OK() {
		if wall := unusable(resp, "/"); wall != nil && wall.Code == lookleap.CodeForbidden {
			findings = append(findings, warning(wall.Code, wall.Message, wall.Fix))
		}
	}
	return ok("the server answers", findings...)
}

// curl returns a command that sends the same request, in development mode too.
func (p *patient) curl(path string) string {
	server := p.s.options.DevServer()
	switch {
	case server == "":
		return "curl -sv " + p.url.Origin() + path
	case p.url.Host() == hostflags.DevName:
		return "curl -sv " + server + path
	}
	return "curl -sv -H 'Host: " + p.url.Host() + "' " + server + path
}

// get reads a path of the site. It returns nil and no error if nothing is there.
func (p *patient) get(ctx context.Context, path, accept string) (*fetch.Response, error) {
	return p.read(ctx, p.url.Origin()+path, accept)
}

// read reads a document that the site publishes or points to. Its errors say how to fix the cause.
func (p *patient) read(ctx context.Context, url, accept string) (*fetch.Response, error) {
	u, err := domain.Parse(url)
	if err != nil {
		return nil, fault(lookleap.CodeBadURL, url+" is not a URL that agents follow: "+err.Error(),
			"write an https URL of a public host")
	}
	var elsewhere domain.URL
	resp, err := fetch.Do(ctx, p.host, &fetch.Request{
		URL: u, Header: http.Header{"Accept": {accept}}, ReadBody: func(int) bool { return true },
		Redirect: func(hop fetch.Hop) error {
			if !hop.SameOrigin() {
				elsewhere = hop.To
				return fetch.SameOrigin(hop)
			}
			return nil
		},
	})
	path := strings.TrimPrefix(url, p.url.Origin())
	switch {
	case !elsewhere.IsZero():
		return nil, leaves(u, elsewhere, path)
	case err != nil:
		if fix := adviceConnection(err); fix != "" {
			return nil, fault(lookleap.CodeOf(err), refuse(err).Message, fix)
		}
		return nil, err
	case resp.Status == http.StatusNotFound || resp.Status == http.StatusGone:
		return nil, nil
	}
	if no := unusable(resp, path); no != nil {
		return nil, no
	}
	return resp, nil
}

var login = regexp.MustCompile(
	`(?i)(^|[/._?=-])(log-?in|sign-?in|sso|saml|oauth2?|auth|accounts?|session)([/._?&=-]|$)`)

// leaves says where a document was redirected that agents read at its own origin only.
func leaves(from, to domain.URL, path string) error {
	e := fault(lookleap.CodeRedirectCrossOrigin, path+" redirects to "+to.WithoutQuery()+
		", and agents read it at its own origin only", "answer at "+from.Origin()+path+" itself")
	bare := func(host string) string { return strings.TrimPrefix(host, "www.") }
	switch {
	case bare(from.Host()) == bare(to.Host()) && from.Host() != to.Host():
		e.Fix = "answer at https://" + from.Host() + path + " itself, or publish everything at " + to.Origin() +
			" and examine that"
	case login.MatchString(to.String()):
		e.Message = path + " redirects to a login at " + to.WithoutQuery()
		e.Fix = withoutLogin(path)
	}
	return e
}

func withoutLogin(path string) string { return "let everyone read " + path + " without a login" }

// wall matches what the services that keep bots away answer.
var wall = regexp.MustCompile(`(?i)just a moment|attention required|checking your browser|` +
	`enable javascript and cookies|` +
	`verify you are (a )?human|captcha|_incapsula_|ddos-guard|px-captcha|datadome|request unsuccessful|` +
	`access denied.{0,200}reference`)

// unusable says why an answer is no document, nil if it may be one.
func unusable(resp *fetch.Response, path string) *lookleap.Error {
	html := strings.HasPrefix(resp.MediaType, "text/html") || resp.MediaType == "application/xhtml+xml"
	status := func(says, fix string) *lookleap.Error {
		return fault(agentstxt.CodeStatus, fmt.Sprintf("%s answers with status %d%s", path, resp.Status, says), fix)
	}
	switch {
	case resp.Header.Get("Cf-Mitigated") != "" || html && wall.Match(resp.Body) ||
		resp.Header.Get("X-Datadome") != "" && resp.Status == http.StatusForbidden:
		no := status(": a bot wall answers in the place of the site",
			"make an exception for GET "+path+" in the bot protection: agents cannot solve its puzzles")
		no.Code = lookleap.CodeForbidden
		return no
	case resp.Status == http.StatusUnauthorized || resp.Status == http.StatusProxyAuthRequired:
		return status(": it demands a login", withoutLogin(path))
	case resp.Status == http.StatusForbidden:
		return status(": the server forbids it", "allow GET "+path+
			" in the rules of the server and of the firewall before it, and make the file readable for the server")
	case resp.Status == http.StatusTooManyRequests:
		return status(": it limits requests", "raise the limit for "+path+", which agents ask for at each visit")
	case resp.Status >= 500:
		return status(": the server fails, and agents must not read that as absent",
			"look into the log of the server for "+path+"; if there is no such document, answer 404")
	case resp.Status == http.StatusNotAcceptable || resp.Status == http.StatusUnsupportedMediaType:
		return status(": it does not have the form that was asked for", "answer GET "+path+" whatever the Accept header says")
	case !resp.OK():
		return status("", "answer 200 with the document, or 404 if there is none")
	case html && strings.Contains(strings.ToLower(string(resp.Body)), `type="password"`):
		return fault(lookleap.CodeSoft404, path+" answers with a page for a login", withoutLogin(path))
	case html:
		return fault(lookleap.CodeSoft404, path+" answers 200 with a web page, as for every path",
			"answer 404 for paths that do not exist, and send the document itself if there is one")
	}
	return nil
}
