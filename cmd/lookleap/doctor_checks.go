package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/agentstxt"
	"github.com/lookleap/lookleap/aiuri"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/contrib/hostflags"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/internal/dnssec"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/wellknown"
)

// check is one thing that a doctor looks at.
type check struct {
	name string
	run  func(context.Context) diagnosis
}

func (p *patient) checks() []check {
	return []check{
		{"address", p.address},
		{"connection", p.connection},
		{"agents.txt", p.policy},
		{"anml", p.document},
		{"trust record", p.trustRecord},
		{"trust manifest", p.manifest},
		{"skills", p.skills},
		{"ai endpoint", p.endpoint},
	}
}

const fixServer = "let the server answer with 200 and the document, or with 404 if there is none"

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

// policy lints the file that agents would obey, hash and all.
func (p *patient) policy(ctx context.Context) diagnosis {
	resp, err := p.get(ctx, "/agents.txt", "text/plain")
	switch {
	case err != nil:
		return ill(err, fixServer)
	case resp == nil:
		return notThere("there is no policy, so agents may read everything")
	}
	findings := agentstxt.Lint(resp.Body, resp.Header.Get("Content-Type"), agentstxt.Options{})
	return ok("the policy can be obeyed", findings...)
}

// document reads the ANML document in both forms and compares them.
func (p *patient) document(ctx context.Context) diagnosis {
	xml, err := p.anml(ctx, anml.XML)
	if err != nil {
		return ill(err, fixServer)
	}
	if xml == nil {
		return notThere("there is no ANML document at /.well-known/anml")
	}
	json, err := p.anml(ctx, anml.JSON)
	if err != nil {
		return ill(err, fixServer)
	}
	findings := anml.Lint(xml)
	message := "the document reads well in both forms"
	switch {
	case json == nil || json.Format() != anml.JSON:
		message = "the document reads well; it is served as XML only"
		if xml.Format() == anml.JSON {
			message = "the document reads well; it is served as JSON only"
		}
	case xml.Format() != anml.XML:
		message = "the document reads well; it is served as JSON only"
	case !anml.Equal(xml, json):
		findings = append(findings, lookleap.Finding{
			Code: lookleap.CodeConflict, Message: "the two forms of the document say different things",
			Fix: "make both of one model, for instance with anml.Marshal",
		})
	}
	return ok(message, findings...)
}

// anml reads the document in one form; nil when there is none.
func (p *patient) anml(ctx context.Context, f anml.Format) (*anml.Document, error) {
	resp, err := p.get(ctx, "/.well-known/anml", anml.Accept(f))
	if err != nil || resp == nil {
		return nil, err
	}
	self := []string{p.url.Host()}
	if registrable, ok := domain.Registrable(p.url.Host()); ok {
		self = append(self, registrable)
	}
	return anml.Parse(resp.Header.Get("Content-Type"), resp.Body, anml.ReadOptions{Role: anml.RoleService, WellKnown: true, Self: self})
}

// record returns the site's trust record, nil if it has no record.
func (p *patient) record(ctx context.Context) (*anmltrust.Record, *lookleap.DNSAnswer, error) {
	answer, err := p.host.Lookup(ctx, "_anml."+p.url.Host(), lookleap.TypeTXT)
	if err != nil {
		return nil, nil, err
	}
	var found *anmltrust.Record
	for _, r := range answer.Records {
		record, err := anmltrust.ParseRecord(r.Text)
		switch {
		case lookleap.CodeOf(err) == anmltrust.CodeNoRecord:
			continue // of another party
		case err != nil:
			return nil, nil, err
		case found != nil:
			return nil, nil, coded{agentstxt.CodeDuplicate, errors.New("there are several records with v=anml1")}
		}
		found = record
	}
	return found, answer, nil
}

func (p *patient) trustRecord(ctx context.Context) diagnosis {
	if p.dev {
		return skip("not looked up in development mode")
	}
	if p.named {
		return skip("not looked up: --connect names the server")
	}
	record, answer, err := p.record(ctx)
	switch {
	case err != nil:
		return ill(err, "publish one record, as lookleap record prints it")
	case record == nil:
		return notThere("no server is authorized to speak for the site")
	}
	if err := record.Check(p.url.Host()); err != nil {
		return ill(err, "publish the record as lookleap record prints it")
	}
	findings, err := anmltrust.LintRecord(p.url.Host(), answer)
	if err != nil {
		return ill(err, "")
	}
	return ok(record.String(), append(findings, unvalidated(answer)...)...)
}

func (p *patient) manifest(ctx context.Context) diagnosis {
	path := "/.well-known/anml-trust"
	if !p.dev {
		record, _, err := p.record(ctx)
		if err != nil || record == nil || record.Manifest == "" {
			return notThere("no trust record names one")
		}
		var here bool
		if path, here = strings.CutPrefix(record.Manifest, p.url.Origin()); !here {
			return notThere("it is kept at another origin: lookleap manifest judges a file")
		}
	}
	resp, err := p.get(ctx, path, anmltrust.ManifestMediaType)
	switch {
	case err != nil:
		return ill(err, fixServer)
	case resp == nil && p.dev:
		return notThere("there is none at " + path)
	case resp == nil:
		return ill(coded{wellknown.CodeAbsent, errors.New("the record names a manifest that is not there")},
			"publish the manifest, or take it out of the record")
	}
	findings, err := anmltrust.LintManifest(resp.Body, p.url.Host(), p.host.Time())
	if err != nil {
		return ill(err, "make it again with anmltrust.BuildManifest")
	}
	if resp.MediaType != anmltrust.ManifestMediaType {
		findings = append(findings, lookleap.Finding{
			Code: lookleap.CodeMediaType, Message: "the manifest is served with another media type",
			Fix: "serve it as " + anmltrust.ManifestMediaType,
		})
	}
	return ok("the manifest speaks for the site", findings...)
}

// skills lists the index and the sitemaps, as agents do.
func (p *patient) skills(ctx context.Context) diagnosis {
	var findings []lookleap.Finding
	count := 0
	for _, err := range dvs.NewLoader(p.host, dvs.Options{}).Discover(ctx, p.url.Origin()+"/") {
		var skipped *dvs.Skipped
		switch {
		case errors.As(err, &skipped):
			findings = append(findings, skipped.Finding)
		case err != nil:
			return ill(err, fixServer)
		default:
			count++
		}
	}
	switch {
	case count == 0 && len(findings) == 0:
		return notThere("no skills are listed")
	case count == 0: // what spoils every listing is more than a warning
		findings[0].Severity = lookleap.SeverityError
		if findings[0].Fix == "" {
			findings[0].Fix = "publish an index as dvs.WriteIndex writes it"
		}
	}
	return ok(plaintext.Plural(count, "skill is listed", "skills are listed"), findings...)
}

func (p *patient) endpoint(ctx context.Context) diagnosis {
	found, err := aiuri.NewDiscoverer(p.host, aiuri.DiscovererOptions{DNS: true}).Discover(ctx, p.url.Origin()+"/")
	switch {
	case lookleap.CodeOf(err) == aiuri.CodeNoEndpoint:
		return notThere("no AI endpoint is advertised")
	case err != nil:
		return ill(err, "publish a descriptor that names the endpoint and its keys")
	}
	return ok(found.Endpoint.String(), append(aiuri.Lint(found), found.Findings...)...)
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
	_, err := p.get(ctx, "/agents.txt", "text/plain")
	fix := adviceConnection(err)
	if fix == "" {
		return ok("the server answers") // what is wrong, if anything, is about the document
	}
	p.down = "the server cannot be reached"
	d := ill(err, fix)
	d.Findings[0].Fix = fix
	d.Snippet = p.curl("/agents.txt")
	return d
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
