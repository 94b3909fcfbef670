package anmltrust

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/fetch"
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
	ruling
	missing   *missing
	sources   []string
	fromQuery bool // a query endpoint decided
	storable  bool // the decision may be remembered beyond this interaction
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

func (o *outcome) pass(row, message string, evidence ...lookleap.Evidence) {
	o.check(row, lookleap.Passed, lookleap.CodeOK, message, evidence...)
}

// fail adds the step that ends the walk with Tier 0.
func (o *outcome) fail(row string, code lookleap.Code, message string, evidence ...lookleap.Evidence) {
	o.check(row, lookleap.Failed, code, message, evidence...)
	o.deny(row, code)
}

// deny ends the walk with Tier 0. Where a site only narrows itself, it ends with
// Tier 3: what the site did not say narrows nothing (row B5).
func (o *outcome) deny(row string, code lookleap.Code) {
	o.missing, o.sources = nil, nil
	if code == CodeQuery429 || code == CodeManifest429 {
		o.rateLimited = code
	}
	until := o.until
	switch {
	case !o.narrowing:
		o.ruling = ruling{row: row, code: code, until: until}
		return
	case code == CodeNoRecord, code == CodeNotListed:
		o.pass("B5", "the host lies below the site, and the site does not narrow it")
	default:
		const unknown = "whether the site narrows this host could not be found out"
		o.check("B5", lookleap.Noted, CodeSelfNarrowUnavailable, "the host lies below the site, and "+unknown)
		o.findings = append(o.findings, warn(CodeSelfNarrowUnavailable, "B5",
			fmt.Sprintf("%s: %s (%s, row %s)", unknown, code.Title(), code, row), ""))
	}
	o.ruling, o.unnarrowed = ruling{"B5", CodeSelf, Self, AllSections, until}, true
}

// walk goes through the decision table part by part. It ends with a decision or
// with the next piece of evidence that it lacks. What is recalled may be nil.
func walk(claim Claim, ev *Evidence, known *recalled, now time.Time) *outcome {
	o := &outcome{}
	if o.isSelf(claim, ev.Policy) || o.code != "" {
		return o
	}
	if ev.DNS == nil {
		o.missing = &missing{}
		return o
	}
	if from, ok := o.readRecord(ev.DNS); ok && (known == nil || !o.recall(known, from, now)) {
		o.choose(ev, from, now)
	}
	return o
}

// isSelf is parts A and B: the claim itself, and whether the server is the site.
func (o *outcome) isSelf(claim Claim, rules Rules) bool {
	s, row, code := claim.preCheck()
	o.subject = s
	if code != "" {
		o.fail(row, code, code.Title())
		return false
	}
	o.pass("A", fmt.Sprintf("%s claims to speak for %s", s.server.Host, s.site))
	row = "B1"
	switch k := kin(s.server, s.site); {
	case k == below && rules.SelfSubdomains == Narrow:
		o.narrowing = true
		o.check("B3", lookleap.Noted, lookleap.CodeOK, "the host lies below the site, which may narrow it")
		return false
	case k == third || k == below && rules.SelfSubdomains != TrustSubdomains:
		o.pass("B8", "the site is a third party to the server")
		return false
	case k == below:
		row = "B2"
	}
	o.pass(row, "the server is the site itself, which needs no verification")
	o.ruling = ruling{row: row, code: CodeSelf, tier: Self, scope: AllSections}
	return true
}

// readRecord is parts C and D: the site's record, and what it advertises.
func (o *outcome) readRecord(d *DNSEvidence) (from sources, ok bool) {
	var ofSite []string
	if !d.remembered {
		ofSite = []string{withdrawal(o.site, "", "")}
	}
	o.dnssec, o.cause = d.DNSSEC, d.err
	lookup := lookleap.Evidence{DNSName: d.Name, DNSType: lookleap.TypeTXT.String(), TTL: d.TTL, Text: d.Cause}
	row, code := "", lookleap.CodeDNSError
	switch {
	case d.Outcome == DNSAnswer:
	case d.Outcome == DNSAbsent:
		row, code, lookup.DNSSEC, o.withdraws = "C4", CodeNoRecord, &d.DNSSEC, ofSite
	case d.Outcome == DNSBogus:
		row, code = "C3", lookleap.CodeDNSSECBogus
		if !d.Held {
			o.security, o.withdraws = true, ofSite
		}
	default:
		row = "C5"
	}
	if d.Held && row != "" {
		row = "C1a"
	}
	if row != "" {
		o.fail(row, code, code.Title(), lookup)
		return from, false
	}
	o.cause, lookup.DNSSEC = nil, &d.DNSSEC
	o.pass("C7", "the site answers with "+plaintext.Plural(len(d.Texts), "record", "records"), lookup)
	from, row, code, o.findings = selectRecords(o.site, d.Texts)
	if code != "" {
		o.withdraws = ofSite
		o.fail(row, code, code.Title())
		return from, false
	}
	o.pass(row, "the record advertises "+plaintext.Plural(len(from.manifests), "manifest", "manifests")+
		" and "+plaintext.Plural(len(from.queries), "query endpoint", "query endpoints"))
	return from, true
}

// recall is part E: what was found out earlier. It reports whether that decides.
func (o *outcome) recall(known *recalled, from sources, now time.Time) (decided bool) {
	const stands = "an earlier answer stands: "
	switch {
	case known.rateLimited != "":
		o.fail("E0", known.rateLimited, stands+known.rateLimited.Title())
		return true
	case known.denial != nil:
		o.reuse = known.denial
		return true
	}
	for _, g := range known.grants {
		gone := slices.ContainsFunc(g.auth.Sources, func(uri string) bool {
			return !slices.Contains(from.manifests, uri) && !slices.Contains(from.queries, uri)
		})
		switch {
		case gone, !now.Before(g.until): // rows E2 and E5
			o.ended = append(o.ended, g)
		case known.ignoreGrants: // rows E3 and E4
		case o.reuse == nil || g.checked().After(o.reuse.checked()):
			o.reuse = g
		}
	}
	if o.reuse == nil && known.backoff != "" {
		o.fail("E7", known.backoff, stands+known.backoff.Title())
		return true
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
		o.pass("F1", "the record is signed, so the query endpoint is asked first")
		first, other = Query, ManifestSource
	case secure:
		o.pass("F2", "only a manifest is advertised")
	case len(from.manifests) > 0:
		o.pass("F3", "the record is not signed, so the manifest is read first")
		if !ev.Policy.RequireDNSSECForQuery {
			other = Query
		}
	case ev.Policy.RequireDNSSECForQuery:
		o.fail("F5", CodeDNSSECRequired, CodeDNSSECRequired.Title())
		return
	default:
		o.check("F4", lookleap.Noted, lookleap.CodeOK, "only a query endpoint is advertised, in a record that is not signed")
		first = Query
	}
	j := o.ask(ev, now, first, uris[first], false)
	fallback := o.missing == nil && j.state == failedTemporarily && len(uris[other]) > 0
	if fallback {
		o.check("K3", lookleap.Noted, j.code, "the other mechanism is asked, since this failure may pass")
		first = other
		j = o.ask(ev, now, other, uris[other], true)
	}
	if o.missing == nil {
		o.sources = uris[first]
		o.finish(now, first, j, fallback)
	}
}

// ask judges all sources of one mechanism together (part K). A source that has
// not been asked is missing.
func (o *outcome) ask(ev *Evidence, now time.Time, m Mechanism, uris []string, fallback bool) judgement {
	var total, failed, unlisted *judgement
	o.storable = true
	for _, uri := range uris {
		at := slices.IndexFunc(ev.Exchanges, func(x Exchange) bool { return x.Mechanism == m && x.URL == uri })
		if at < 0 {
			o.missing = &missing{m, uri, len(uris) == 1}
			return judgement{}
		}
		x := &ev.Exchanges[at]
		j := x.judge(ev.Policy, o.subject, now, ev.DNS.ttl(), o.narrowing)
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
			if j.tier > total.tier {
				j.tier, j.code = total.tier, total.code
			}
			j.row, j.scope, j.until = "K1", total.scope&j.scope, fetch.Earlier(total.until, j.until)
			total = &j
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
		o.findings = append(o.findings, warn(j.code, j.row, j.code.Title(), ""))
	}
}

// finish turns the judgement of the mechanism that decided into the outcome.
func (o *outcome) finish(now time.Time, m Mechanism, j judgement, fallback bool) {
	o.fromQuery, o.until = m == Query, j.until
	ofHost := withdrawal(o.site, o.server.Domain, o.server.Host)
	switch {
	case o.narrowing && j.entryMalformed:
		o.row, o.code = "B4", j.code
	case j.state == failedTemporarily:
		o.deny(j.lastRow, j.code)
	case j.state == refused && (o.narrowing || j.held || isTemporary(j.code)):
		o.deny(j.row, j.code)
	case j.state == refused:
		o.withdraws = []string{ofHost}
		if m == Query {
			o.withdraws = []string{withdrawal(o.site, o.server.Domain, "")}
		} else if !fallback {
			o.withdraws = append(o.withdraws, withdrawal(o.site, o.server.Domain, anyQuery))
		}
		o.deny(j.row, j.code)
	case !now.Before(j.until):
		o.until = time.Time{}
		o.fail("E5", CodeTrustEvidence, "what the evidence granted has ended")
	default:
		o.ruling = j.ruling
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
