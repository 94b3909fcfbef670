package anmltrust

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// Decide judges a claim by evidence, at a time: the procedure of sections 12 and
// 13.4 as one pure function. A positive decision is an [*Authorization]. Any other
// is Tier 0: a nil Authorization, and a [*lookleap.VerifyError] that lists every
// check. Evidence that is not complete, or whose grant has expired at that time, is
// Tier 0 too.
func Decide(claim Claim, ev Evidence, now time.Time) (*Authorization, error) {
	r := decide(claim, &ev, now).conclude(claim, &ev, now)
	if r.err != nil {
		return nil, r.err
	}
	return r.auth, nil
}

func decide(claim Claim, ev *Evidence, now time.Time) *outcome {
	o := walk(claim, ev, nil, now)
	if o.missing != nil {
		o.deny(cmp.Or(ev.Row, "A11"), cmp.Or(ev.Stopped, CodeTrustEvidence))
	}
	return o
}

// outcome is where a walk through the procedure ended, or what it lacks.
type outcome struct {
	subject
	missing   *missing
	row       string
	code      lookleap.Code
	tier      Tier
	scope     Scope
	sources   []string
	fromQuery bool // a query endpoint decided
	storable  bool // the decision may be remembered beyond this interaction
	until     time.Time
	dnssec    lookleap.DNSSEC
	cause     error
	security  bool // reported to the host as a warning

	narrowing  bool // the host lies below the site, which may lower the tier of this host
	unnarrowed bool // and does not (row B5)

	rateLimited lookleap.Code // an endpoint answered 429, which ends this interaction with it (row E0)

	checks   []lookleap.Check
	findings []lookleap.Finding

	reuse     *decision   // an earlier decision that stands
	ended     []*decision // grants that expired or whose source is no longer advertised
	withdraws []string    // where it withdraws grants, see [withdrawal]
	backoffs  []backoff   // that it starts
}

func (s subject) pair() pair { return pair{s.server.Domain, s.site} }

// decisionKeys returns what decisions about the subject are about: all hosts of its pair, or its host.
func (s subject) decisionKeys() [2]decisionKey {
	return [2]decisionKey{{pair: s.pair()}, {s.pair(), s.server.Host}}
}

// decisionKey returns what the decision is about.
func (o *outcome) decisionKey() decisionKey {
	if o.fromQuery {
		return o.decisionKeys()[0]
	}
	return o.decisionKeys()[1]
}

// check adds a step to the verdict.
func (o *outcome) check(row string, status lookleap.Status, code lookleap.Code, message string, evidence ...lookleap.Evidence) {
	o.checks = append(o.checks, lookleap.Check{Requirement: row, Code: code, Status: status, Message: message, Evidence: evidence})
}

// deny ends the walk with Tier 0. Where a site only narrows itself, it ends with
// Tier 3: what the site did not say narrows nothing (row B5).
func (o *outcome) deny(row string, code lookleap.Code) {
	o.missing = nil
	if code == CodeQuery429 || code == CodeManifest429 {
		o.rateLimited = code
	}
	if !o.narrowing {
		o.row = row
		o.code = code
		o.tier = Unlisted
		o.scope = 0
		return
	}
	status, checked, message := lookleap.Passed, lookleap.CodeOK, "the host lies below the site, and the site does not narrow it"
	switch code {
	case CodeNoRecord, CodeNotListed, CodeSelf:
	default:
		status = lookleap.Noted
		checked = CodeSelfNarrowUnavailable
		message = "the host lies below the site, and whether the site narrows it could not be found out"
		o.findings = append(o.findings, lookleap.Finding{Severity: lookleap.SeverityWarning, Code: CodeSelfNarrowUnavailable,
			Requirement: "B5",
			Message: fmt.Sprintf("whether the site narrows this host could not be found out: %s (%s, row %s)",
				code.Title(), code, row)})
	}
	o.row = "B5"
	o.code = CodeSelf
	o.tier = Self
	o.scope = AllSections
	o.unnarrowed = true
	o.check("B5", status, checked, message)
}

// walk goes through the decision table part by part. It ends with a decision or
// with the next piece of evidence that it lacks. What is recalled may be nil.
func walk(claim Claim, ev *Evidence, known *recalled, now time.Time) *outcome {
	o := &outcome{}
	fail := func(row string, code lookleap.Code, evidence ...lookleap.Evidence) *outcome {
		o.check(row, lookleap.Failed, code, code.Title(), evidence...)
		o.deny(row, code)
		return o
	}

	// Part A: the claim itself.
	var row string
	var code lookleap.Code
	o.subject, row, code = claim.preCheck()
	if code != "" {
		return fail(row, code)
	}
	o.check("A", lookleap.Passed, lookleap.CodeOK, fmt.Sprintf("%s claims to speak for %s", o.server.Host, o.site))

	// Part B: whether the server is the site.
	switch k := kin(o.server, o.site); {
	case k == below && ev.Policy.SelfSubdomains == Narrow:
		o.narrowing = true
		o.check("B3", lookleap.Noted, lookleap.CodeOK, "the host lies below the site, which may narrow it")
	case k == third || k == below && ev.Policy.SelfSubdomains != TrustSubdomains:
		o.check("B8", lookleap.Passed, lookleap.CodeOK, "the site is a third party to the server")
	default:
		o.row = "B1"
		o.code = CodeSelf
		o.tier = Self
		o.scope = AllSections
		if k == below {
			o.row = "B2"
		}
		o.check(o.row, lookleap.Passed, lookleap.CodeOK, "the server is the site itself, which needs no verification")
		return o
	}

	// Part C: the site's record.
	d, ofSite := ev.DNS, []string{withdrawal(o.site, "", "")}
	if d == nil {
		o.missing = &missing{}
		return o
	}
	o.dnssec, o.cause = d.DNSSEC, d.err
	lookup := lookleap.Evidence{DNSName: d.Name, DNSType: lookleap.TypeTXT.String(), TTL: d.TTL, Text: d.Cause}
	switch {
	case d.Held && d.Outcome == DNSBogus:
		return fail("C1a", lookleap.CodeDNSSECBogus, lookup)
	case d.Outcome == DNSBogus:
		o.security, o.withdraws = true, ofSite
		return fail("C3", lookleap.CodeDNSSECBogus, lookup)
	case d.Outcome == DNSAbsent:
		lookup.DNSSEC, o.withdraws = &d.DNSSEC, ofSite
		return fail("C4", CodeNoRecord, lookup)
	case d.Outcome != DNSAnswer && d.Held:
		return fail("C1a", lookleap.CodeDNSError, lookup)
	case d.Outcome != DNSAnswer:
		return fail("C5", lookleap.CodeDNSError, lookup)
	}
	o.cause, lookup.DNSSEC = nil, &d.DNSSEC
	o.check("C7", lookleap.Passed, lookleap.CodeOK, "the site answers with "+plaintext.Plural(len(d.Texts), "record", "records"), lookup)

	// Part D: what the record advertises.
	from, row, code, findings := selectRecords(o.site, d.Texts)
	o.findings = findings
	if code != "" {
		o.withdraws = ofSite
		return fail(row, code)
	}
	o.check(row, lookleap.Passed, lookleap.CodeOK,
		"the record advertises "+plaintext.Plural(len(from.manifests), "manifest", "manifests")+
			" and "+plaintext.Plural(len(from.queries), "query endpoint", "query endpoints"))

	if known != nil && o.recall(known, from, now) {
		return o
	}
	o.choose(ev, from, now)
	return o
}

// recall is part E: what was found out earlier. It reports whether that decides.
func (o *outcome) recall(known *recalled, from sources, now time.Time) (decided bool) {
	stands := func(row string, code lookleap.Code) bool {
		o.check(row, lookleap.Failed, code, "an earlier answer stands: "+code.Title())
		o.deny(row, code)
		return true
	}
	if known.rateLimited != "" {
		return stands("E0", known.rateLimited)
	}
	if known.denial != nil {
		o.reuse = known.denial
		return true
	}
	for _, g := range known.grants {
		advertised := !slices.ContainsFunc(g.auth.Sources, func(uri string) bool {
			return !slices.Contains(from.manifests, uri) && !slices.Contains(from.queries, uri)
		})
		switch {
		case !now.Before(g.until), !advertised: // rows E5 and E2
			o.ended = append(o.ended, g)
		case known.ignoreGrants: // rows E3 and E4
		case o.reuse == nil || g.checked().After(o.reuse.checked()):
			o.reuse = g
		}
	}
	if o.reuse == nil && known.backoff != "" {
		return stands("E7", known.backoff)
	}
	return o.reuse != nil
}

// choose is part F: it asks the sources of one mechanism, and those of the other
// one where the first failed temporarily.
func (o *outcome) choose(ev *Evidence, from sources, now time.Time) {
	first, other := ManifestSource, Mechanism("")
	uris := map[Mechanism][]string{ManifestSource: from.manifests, Query: from.queries}
	switch secure := ev.DNS.DNSSEC == lookleap.Secure; {
	case o.narrowing && len(from.manifests) == 0:
		o.deny("B5", CodeNoRecord)
		return
	case o.narrowing:
	case secure && len(from.queries) > 0:
		o.check("F1", lookleap.Passed, lookleap.CodeOK, "the record is signed, so the query endpoint is asked first")
		first, other = Query, ManifestSource
	case secure:
		o.check("F2", lookleap.Passed, lookleap.CodeOK, "only a manifest is advertised")
	case len(from.manifests) > 0:
		o.check("F3", lookleap.Passed, lookleap.CodeOK, "the record is not signed, so the manifest is read first")
		if !ev.Policy.RequireDNSSECForQuery {
			other = Query
		}
	case ev.Policy.RequireDNSSECForQuery:
		o.check("F5", lookleap.Failed, CodeDNSSECRequired, CodeDNSSECRequired.Title())
		o.deny("F5", CodeDNSSECRequired)
		return
	default:
		o.check("F4", lookleap.Noted, lookleap.CodeOK, "only a query endpoint is advertised, in a record that is not signed")
		first = Query
	}
	j := o.ask(ev, now, first, uris[first], false)
	if o.missing != nil {
		return
	}
	fallback := j.state == failedTemporarily && len(uris[other]) > 0
	if fallback {
		o.check("K3", lookleap.Noted, j.code, "the other mechanism is asked, since this failure may pass")
		first = other
		j = o.ask(ev, now, other, uris[other], true)
		if o.missing != nil {
			return
		}
	}
	o.finish(now, first, uris[first], j, fallback)
}

// ask judges all sources of one mechanism together (part K). A source that has
// not been asked is missing.
func (o *outcome) ask(ev *Evidence, now time.Time, m Mechanism, uris []string, fallback bool) judgement {
	var total, failed, unlisted *judgement
	ttl := ev.DNS.ttl()
	o.storable = true
	for _, uri := range uris {
		at := slices.IndexFunc(ev.Exchanges, func(x Exchange) bool { return x.Mechanism == m && x.URL == uri })
		if at < 0 {
			o.missing = &missing{m, uri, len(uris) == 1}
			return judgement{}
		}
		x := &ev.Exchanges[at]
		j := x.judge(ev.Policy, o.subject, now, ttl, o.narrowing)
		switch {
		case x.Held == "" || fallback || j.final:
		case j.state == failedTemporarily:
			j.row, j.lastRow = "E9", "E7"
		default:
			j.row = "E8"
		}
		o.note(x, j)
		o.storable = o.storable && !x.NoStore
		switch {
		case o.narrowing && j.code == CodeNotListed: // another manifest may narrow the host
			unlisted = &j
		case j.state == refused:
			return j
		case j.state == failedTemporarily:
			failed = &j
		case total == nil:
			total = &j
		default: // row K1: the lower tier, what both permit, until the earlier end
			both := *total
			if j.tier < both.tier {
				both = j
			}
			both.row, both.scope = "K1", total.scope&j.scope
			both.until = total.until
			if j.until.Before(both.until) {
				both.until = j.until
			}
			total = &both
		}
	}
	switch {
	case failed != nil:
		return *failed
	case total == nil:
		return *unlisted
	case fallback && m == ManifestSource:
		total.code = CodeListedFallback
	}
	return *total
}

// note writes an exchange into the verdict.
func (o *outcome) note(x *Exchange, j judgement) {
	o.findings = append(o.findings, j.findings...)
	code, status := j.code, lookleap.Failed
	switch j.state {
	case granted:
		code, status = lookleap.CodeOK, lookleap.Passed
	case failedTemporarily:
		status = lookleap.Noted
	case refused:
		o.cause = x.err
	}
	o.check(j.row, status, code, j.code.Title(),
		lookleap.Evidence{URL: cmp.Or(x.Final, x.URL), Status: x.Status, MediaType: x.MediaType, Digest: x.Digest, Text: x.Cause})
	o.checks[len(o.checks)-1].Until = j.until
	if j.backoff.scope != noBackoff && !x.remembered {
		j.backoff.uri = x.URL
		o.backoffs = append(o.backoffs, j.backoff)
	}
	if j.security {
		o.security = true
		o.findings = append(o.findings, lookleap.Finding{Severity: lookleap.SeverityWarning, Code: j.code,
			Requirement: j.row, Message: j.code.Title()})
	}
}

// finish turns the judgement of the mechanism that decided into the outcome.
func (o *outcome) finish(now time.Time, m Mechanism, uris []string, j judgement, fallback bool) {
	o.fromQuery, o.until = m == Query, j.until
	switch {
	case o.narrowing && j.entryMalformed:
		o.row, o.code = "B4", j.code
	case j.state == failedTemporarily:
		o.deny(j.lastRow, j.code)
	case j.state == refused:
		ofHost := withdrawal(o.site, o.server.Domain, o.server.Host)
		switch {
		case o.narrowing || j.held || isTemporary(j.code):
		case m == Query:
			o.withdraws = []string{withdrawal(o.site, o.server.Domain, "")}
		case fallback:
			o.withdraws = []string{ofHost}
		default:
			o.withdraws = []string{ofHost, withdrawal(o.site, o.server.Domain, anyQuery)}
		}
		o.deny(j.row, j.code)
	case !now.Before(j.until):
		o.until = time.Time{}
		o.check("E5", lookleap.Failed, CodeTrustEvidence, "what the evidence granted has ended")
		o.deny("E5", CodeTrustEvidence)
	default:
		o.row = j.row
		o.code = j.code
		o.tier = j.tier
		o.scope = j.scope
		o.sources = slices.Clone(uris)
		if o.narrowing {
			o.row, o.code = "B3", CodeSelfNarrowed
		}
	}
}

// isTemporary reports whether a Tier 0 may pass by itself: it withdraws no grant.
func isTemporary(code lookleap.Code) bool {
	switch code {
	case lookleap.CodeDNSError, CodeQueryUnavailable, CodeManifestUnavailable, CodeQuery429, CodeManifest429,
		lookleap.CodeTimeout, lookleap.CodeBudget, lookleap.CodeCancelled, lookleap.CodeClosed, CodeTrustEvidence:
		return true
	}
	return false
}
