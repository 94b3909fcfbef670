package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/agentstxt"
	"github.com/lookleap/lookleap/aiuri"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anml/agent"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/contrib/hostflags"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/wellknown"
)

const fixServer = "let the server answer with 200 and the document, or with 404 if there is none"

const fixDocument = "correct the document: lookleap anml FILE --lint shows each fault"

const (
	anmlPath     = "/.well-known/anml"
	manifestPath = "/.well-known/anml-trust"
	aiipPath     = "/.well-known/aiip"
	keysPath     = "/.well-known/jwks.json"
)

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

func (p *patient) robots(ctx context.Context) diagnosis {
	resp, err := p.get(ctx, "/robots.txt", "text/plain")
	switch {
	case err != nil && lookleap.CodeOf(err) == lookleap.CodeSoft404:
		return ill(err, fixServer)
	case err != nil: // RFC 9309 section 2.3.1.4: an unreachable file closes the site
		d := ill(err, "")
		d.Findings[0].Fix = "answer 200 with the file, or 404: crawlers read another status as a site that is closed"
		return d
	case resp == nil:
		return notThere("there is no robots.txt, so crawlers may read everything")
	}
	file := agentstxt.ParseRobots(resp.Body, agentToken)
	if err := file.Err(); err != nil {
		return ill(err, "send a text file of at most 500 KiB")
	}
	return ok("the file can be obeyed", file.Findings()...)
}

func (p *patient) access(ctx context.Context) diagnosis {
	if len(p.found) == 0 {
		return notThere("nothing is published for agents to read")
	}
	agents := agentstxt.NewClient(p.host, agentstxt.Web(agentToken))
	var findings []lookleap.Finding
	for _, path := range p.found {
		d, err := agents.Decide(ctx, p.url.Origin()+path)
		switch {
		case err != nil:
			return ill(err, fixServer)
		case d.Allowed:
			continue
		case d.Line == 0: // reported where the file is judged
			return skip("a broken agents.txt or robots.txt closes the whole site")
		}
		findings = append(findings, lookleap.Finding{Code: d.Code,
			Message: fmt.Sprintf("the site's own rules close %s to agents: the rule %s in line %d", path,
				plaintext.Quote(d.Rule, 100), d.Line),
			Fix: "add the line \"" + path + " ALLOW\" to agents.txt and \"Allow: " + path + "\" to robots.txt"})
	}
	return ok("agents may read what is published for them", findings...)
}

func (p *patient) document(ctx context.Context) diagnosis {
	xml, err := p.anml(ctx, anml.XML)
	if err != nil {
		return ill(err, fixDocument)
	}
	if xml == nil {
		return notThere("there is no ANML document at " + anmlPath)
	}
	p.found = append(p.found, anmlPath)
	json, err := p.anml(ctx, anml.JSON)
	if err != nil {
		return ill(err, fixDocument)
	}
	findings := anml.Lint(xml)
	switch {
	case xml.Format() == anml.JSON:
		return ok("the document reads well; it is served as JSON only", findings...)
	case json == nil || json.Format() != anml.JSON:
		return ok("the document reads well; it is served as XML only", findings...)
	case !anml.Equal(xml, json):
		findings = append(findings, lookleap.Finding{Code: lookleap.CodeConflict,
			Message: "the two forms of the document say different things",
			Fix:     "make both from one page, as lookleap publish does"})
	}
	return ok("the document reads well in both forms", findings...)
}

// anml reads the document in one form; nil when there is none.
func (p *patient) anml(ctx context.Context, f anml.Format) (*anml.Document, error) {
	resp, err := p.get(ctx, anmlPath, anml.Accept(f))
	if err != nil || resp == nil {
		return nil, err
	}
	self := []string{p.url.Host()}
	if registrable, ok := domain.Registrable(p.url.Host()); ok {
		self = append(self, registrable)
	}
	return anml.Parse(resp.Header.Get("Content-Type"), resp.Body,
		anml.ReadOptions{Role: anml.RoleService, WellKnown: true, Self: self})
}

// claims asks, as an agent does, whether the sites for which the document speaks have agreed.
func (p *patient) claims(ctx context.Context) diagnosis {
	if p.dev || p.named {
		return skip("not looked up in development mode or with --connect")
	}
	if !slices.Contains(p.found, anmlPath) {
		return notThere("there is no document that claims anything")
	}
	session, err := agent.New(p.host, agent.Options{}).NewSession(agent.User{})
	if err != nil {
		return ill(err, "")
	}
	defer session.Close()
	page, err := session.Discover(ctx, p.url.Origin())
	if err != nil {
		return ill(err, "look at the findings about the document")
	}
	var findings []lookleap.Finding
	parties := page.Parties()
	for _, party := range parties {
		if party.Err != nil {
			findings = append(findings, lookleap.Finding{Code: lookleap.CodeOf(party.Err),
				Message: "agents ignore what the document says for " + plaintext.Quote(party.Domain, 253) + ": " +
					refuse(party.Err).Message,
				Fix: "let that site name " + p.url.Host() + " in its trust manifest, or take its part out of the document"})
		}
	}
	return ok(plaintext.Plural(len(parties), "site is spoken for", "sites are spoken for"), findings...)
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
			return nil, nil, fault(agentstxt.CodeDuplicate, "there are several records with v=anml1", "")
		}
		found = record
	}
	return found, answer, nil
}

func (p *patient) trustRecord(ctx context.Context) diagnosis {
	if why := p.unlooked(); why != "" {
		return skip(why)
	}
	record, answer, err := p.record(ctx)
	switch {
	case err != nil:
		return ill(err, "publish one record, as lookleap record prints it")
	case record == nil:
		return notThere("no server is authorized to speak for the site")
	}
	findings, err := anmltrust.LintRecord(p.url.Host(), answer)
	if err = cmp.Or(record.Check(p.url.Host()), err); err != nil {
		return ill(err, "publish the record as lookleap record prints it")
	}
	if record.Query != "" { // without a question it may well answer 400
		if _, err := p.read(ctx, record.Query, "application/json"); err != nil &&
			lookleap.CodeOf(err) != agentstxt.CodeStatus {
			return ill(err, "let the query endpoint answer, or take it out of the record")
		}
	}
	return ok(record.String(), append(findings, unvalidated(answer)...)...)
}

func (p *patient) manifest(ctx context.Context) diagnosis {
	url := p.url.Origin() + manifestPath
	if !p.dev {
		record, _, err := p.record(ctx)
		if err != nil || record == nil || record.Manifest == "" {
			return notThere("no trust record names one")
		}
		url = record.Manifest
	}
	resp, err := p.read(ctx, url, anmltrust.ManifestMediaType)
	switch {
	case err != nil:
		return ill(err, fixServer)
	case resp == nil && p.dev:
		return notThere("there is none at " + manifestPath)
	case resp == nil:
		return ill(fault(wellknown.CodeAbsent, "the record names a manifest that is not there", ""),
			"publish the manifest, or take it out of the record")
	}
	p.publishes(url)
	findings, err := anmltrust.LintManifest(resp.Body, p.url.Host(), p.host.Time())
	if err != nil {
		return ill(err, "make it again with lookleap publish")
	}
	if m, err := anmltrust.ParseManifest(resp.Body); err == nil {
		if m.Expires.After(p.host.Time()) {
			findings = append(findings, p.ending("the manifest", m.Expires, "make it again, with a later end")...)
		}
		if p.url.Host() == hostflags.DevName && m.Site != hostflags.DevName {
			for i := range findings {
				findings[i].Fix = "examine the site under the name that it will have: lookleap doctor --dev --connect " +
					strings.TrimPrefix(strings.TrimPrefix(p.s.options.DevServer(), "https://"), "http://") + " https://" + m.Site
			}
		}
	}
	if resp.MediaType != anmltrust.ManifestMediaType {
		findings = append(findings, lookleap.Finding{Code: lookleap.CodeMediaType,
			Message: "the manifest is served with another media type", Fix: "serve it as " + anmltrust.ManifestMediaType})
	}
	return ok("the manifest speaks for the site", findings...)
}

func (p *patient) endpoint(ctx context.Context) diagnosis {
	found, err := aiuri.NewDiscoverer(p.host, aiuri.DiscovererOptions{DNS: true}).Discover(ctx, p.url.Origin()+"/")
	switch {
	case lookleap.CodeOf(err) == aiuri.CodeNoEndpoint:
		return notThere("no AI endpoint is advertised")
	case err != nil && p.oldTLS:
		return ill(err, "switch on TLS 1.3")
	case err != nil:
		return ill(err, "publish a descriptor that names the endpoint and its keys")
	}
	findings := append(aiuri.Lint(found), found.Findings...)
	if found.DocumentOrigin == p.url.Origin() {
		p.found = append(p.found, aiipPath)
	}
	if found.Document == nil || found.Document.JWKS == "" {
		return ok(found.Endpoint.String(), findings...)
	}
	const fix = "publish the public keys as a JWK Set (RFC 7517) that anyone can read"
	resp, err := p.read(ctx, found.Document.JWKS, "application/jwk-set+json, application/json")
	switch {
	case err != nil:
		return ill(err, fix)
	case resp == nil:
		message := "the descriptor names keys at " + found.Document.JWKS + ", and there are none"
		return ill(fault(wellknown.CodeAbsent, message, ""), fix)
	}
	keys, err := aiuri.ParseKeySet(resp.Body)
	if err == nil && keys.Len() == 0 {
		err = fault(aiuri.CodeBadKeySet, "the key set has no key with which a result can be verified", "")
	}
	if err != nil {
		return ill(err, fix)
	}
	return ok(found.Endpoint.String(), append(findings, keys.Findings()...)...)
}

const maxExamined = 50

// skills lists the index and the sitemaps, as agents do, and loads each skill of this site.
func (p *patient) skills(ctx context.Context) diagnosis {
	loader := dvs.NewLoader(p.host, dvs.Options{})
	if _, err := loader.Roots().Register(p.url.Origin()+"/", dvs.ByUser); err != nil {
		return ill(err, "")
	}
	var findings []lookleap.Finding
	count, broken := 0, 0
	for entry, err := range loader.Discover(ctx, p.url.Origin()+"/") {
		var skipped *dvs.Skipped
		switch {
		case errors.As(err, &skipped):
			findings = append(findings, skipped.Finding)
			continue
		case err != nil:
			return ill(err, fixServer)
		}
		count++
		p.publishes(entry.Source)
		if entry.Foreign() || count > maxExamined {
			continue
		}
		problems := p.skill(ctx, loader, entry)
		if slices.ContainsFunc(problems, isError) {
			broken++
		}
		findings = append(findings, problems...)
	}
	message := plaintext.Plural(count, "skill is listed", "skills are listed")
	switch {
	case count == 0 && len(findings) == 0:
		return notThere("no skills are listed")
	case count == 0: // what spoils every listing is more than a warning
		findings[0].Severity = lookleap.SeverityError
		findings[0].Fix = cmp.Or(findings[0].Fix, "publish an index as lookleap publish writes it")
	case count > maxExamined:
		message += fmt.Sprintf(", and the first %d were loaded", maxExamined)
	case broken == 0:
		message += ", and those of this site load"
	}
	return ok(message, findings...)
}

func (p *patient) skill(ctx context.Context, loader *dvs.Loader, entry dvs.Listing) []lookleap.Finding {
	name := "the skill " + plaintext.Quote(entry.Name, 64) + ": "
	broken := func(err error) []lookleap.Finding {
		r := refuse(err)
		fix := ""
		for _, f := range r.Findings {
			fix = cmp.Or(fix, f.Fix)
		}
		if at, err := p.read(ctx, entry.Skill.ServedFrom(), "text/markdown, application/octet-stream"); err != nil {
			if fault := (*lookleap.Error)(nil); errors.As(err, &fault) { // the cause, in the publisher's words
				fix = cmp.Or(fault.Fix, fix)
			}
		} else if at == nil {
			fix = "publish the file " + entry.Skill.ServedFrom() + ", or take the skill out of the index"
		}
		return []lookleap.Finding{{Code: r.Code, Message: name + r.Message,
			Fix: cmp.Or(fix, "correct the skill, and run lookleap skill on its directory")}}
	}
	loaded, err := loader.LoadListing(ctx, entry)
	if err != nil {
		return broken(err)
	}
	p.publishes(entry.Skill.ServedFrom())
	bundle, err := loaded.Bundle(ctx, entry.Files...)
	if err != nil {
		return broken(err)
	}
	var findings []lookleap.Finding
	for _, f := range bundle.Findings {
		f.Message = name + f.Message
		if f.Code == dvs.CodeSkillNotFound {
			f.Severity, f.Fix = lookleap.SeverityError, cmp.Or(f.Fix, "publish the file, or take it out of the skill")
		}
		findings = append(findings, f)
	}
	return findings
}
