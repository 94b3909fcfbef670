package anmltrust

import (
	"fmt"
	"slices"
	"time"

	"github.com/lookleap/lookleap"
)

// Decide judges a claim by evidence, at a time: the procedure of sections 12 and
// 13.4 as one pure function. A positive decision is an [*Authorization]; any
// other is Tier 0, a nil Authorization and a [*lookleap.VerifyError] with the
// whole story. Evidence that ends too early is Tier 0 too, and so is evidence
// whose grant has ended by then.
func Decide(claim Claim, ev Evidence, now time.Time) (*Authorization, error) {
	o := walk(claim, &ev, nil, now)
	if o.need != nil {
		code := CodeTrustEvidence
		if ev.Stopped != "" {
			code = ev.Stopped
		}
		o.deny(or(ev.Row, "A11"), code)
	}
	return o.conclude(claim, &ev, now)
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// need is a piece of evidence that a decision waits for.
type need struct {
	dns       bool
	mechanism Mechanism
	uri       string
	alone     bool // no other source of its kind is advertised
}

// memory is what a verifier remembers about one question. The zero value, and
// nil, is nothing.
type memory struct {
	limited lookleap.Code // 429 earlier in this interaction
	grants  []*kept
	denial  *kept
	pair    lookleap.Code // a backoff of the pair
	skip    bool          // look at no grants: fresh, refresh, or a newer trust-verified
}

// kept is a decision that is remembered.
type kept struct {
	auth    *Authorization // nil: a definitive no
	err     *lookleap.VerifyError
	code    lookleap.Code
	sources []string
	checked time.Time
	until   time.Time
	byQuery bool
	adopted bool // from another process
	record  []byte
}

// reach says what a definitive no takes with it.
type reach uint8

const (
	dropNothing  reach = iota
	dropHost           // grants of (domain, site, host), and the query grant of the pair
	dropHostOnly       // the same without the query grant
	dropPair           // grants of (domain, site), under both keys and for all hosts
	dropSite           // all grants of the site
	dropAll            // and all that is remembered of the site
)

// outcome is where a walk through the procedure ended, or what it needs.
type outcome struct {
	subject
	need     *need
	row      string
	code     lookleap.Code
	tier     Tier
	scope    Scope
	sources  []string
	byQuery  bool // who decided
	store    bool // the decision may be remembered beyond this interaction
	until    time.Time
	dnssec   lookleap.DNSSEC
	checks   []lookleap.Check
	findings []lookleap.Finding
	drop     reach
	holds    []placedHold
	useKept  *kept
	stale    []*kept // grants that ended or lost their source
	cause    error
	security bool

	narrow bool // the site looks for what it said about this host of its own
}

// placedHold is a hold and what it is about.
type placedHold struct {
	hold
	uri string
}

func (o *outcome) decided() bool { return o.need == nil && o.row != "" }

// check adds a step to the story.
func (o *outcome) check(row string, status lookleap.Status, code lookleap.Code, message string, evidence ...lookleap.Evidence) {
	o.checks = append(o.checks, lookleap.Check{Requirement: row, Code: code, Status: status, Message: message, Evidence: evidence})
}

// deny ends the walk with Tier 0 or, where a site only narrows itself, with what
// it is anyway.
func (o *outcome) deny(row string, code lookleap.Code) {
	o.need = nil
	if o.narrow {
		o.widen(row, code)
		return
	}
	o.row, o.code, o.tier, o.scope = row, code, Unlisted, 0
}

// widen is row B5: what the site did not say narrows nothing.
func (o *outcome) widen(row string, code lookleap.Code) {
	status, checked, message := lookleap.Passed, lookleap.CodeOK, "the host lies below the site, and the site does not narrow it"
	switch code {
	case CodeNoRecord, CodeNotListed, CodeSelf:
	default:
		status, checked, message = lookleap.Noted, CodeSelfNarrowUnavailable, "the host lies below the site, and whether the site narrows it could not be found out"
		o.findings = append(o.findings, lookleap.Finding{Severity: lookleap.SeverityWarning, Code: CodeSelfNarrowUnavailable, Requirement: "B5",
			Message: fmt.Sprintf("whether the site narrows this host could not be found out: %s (%s, row %s)", code.Title(), code, row)})
	}
	o.row, o.code, o.tier, o.scope = "B5", CodeSelf, Self, AllSections
	o.check("B5", status, checked, message)
}

// walk goes through the decision table row by row and ends with a decision or
// with the next piece of evidence that it needs.
func walk(claim Claim, ev *Evidence, mem *memory, now time.Time) *outcome {
	if mem == nil {
		mem = &memory{}
	}
	o := &outcome{}
	var row string
	var code lookleap.Code
	if o.subject, row, code = claim.preCheck(); code != "" {
		o.check(row, lookleap.Failed, code, code.Title())
		o.deny(row, code)
		return o
	}
	o.check("A", lookleap.Passed, lookleap.CodeOK, fmt.Sprintf("%s claims to speak for %s", o.server.Host, o.site))
	if o.self(ev.Policy); o.decided() {
		return o
	}
	if o.dns(ev); o.decided() || o.need != nil {
		return o
	}
	from := o.records(ev)
	if o.decided() {
		return o
	}
	if o.memory(mem, from, now); o.decided() {
		return o
	}
	o.choose(ev, from, now)
	return o
}

// self is part B.
func (o *outcome) self(p Rules) {
	k := kin(o.server, o.site)
	switch {
	case k == self:
		o.row = "B1"
	case k == below && p.SelfSubdomains == TrustSubdomains:
		o.row = "B2"
	case k == below && p.SelfSubdomains == Narrow:
		o.narrow = true
		o.check("B3", lookleap.Noted, lookleap.CodeOK, "the host lies below the site, which may narrow it")
		return
	default:
		o.check("B8", lookleap.Passed, lookleap.CodeOK, "the site is a third party to the server")
		return
	}
	o.code, o.tier, o.scope = CodeSelf, Self, AllSections
	o.check(o.row, lookleap.Passed, lookleap.CodeOK, "the server is the site itself, which needs no verification")
}

// dns is part C.
func (o *outcome) dns(ev *Evidence) {
	d := ev.DNS
	if d == nil {
		o.need = &need{dns: true}
		return
	}
	o.dnssec = d.DNSSEC
	seen := lookleap.Evidence{DNSName: d.Name, DNSType: lookleap.TypeTXT.String(), TTL: d.TTL, Text: d.Cause}
	fail := func(row string, code lookleap.Code, drop reach) {
		if d.Held {
			row, drop = "C1a", dropNothing
		}
		o.drop, o.cause = drop, d.err
		o.check(row, lookleap.Failed, code, code.Title(), seen)
		o.deny(row, code)
	}
	switch d.Outcome {
	case DNSBogus:
		o.security = !d.Held
		fail("C3", lookleap.CodeDNSSECBogus, dropAll)
		return
	case DNSAnswer, DNSAbsent:
	default:
		fail("C5", lookleap.CodeDNSError, dropNothing)
		return
	}
	seen.DNSSEC = &d.DNSSEC
	if d.Outcome == DNSAbsent {
		o.drop = dropSite
		o.check("C4", lookleap.Failed, CodeNoRecord, CodeNoRecord.Title(), seen)
		o.deny("C4", CodeNoRecord)
		return
	}
	o.check("C7", lookleap.Passed, lookleap.CodeOK, fmt.Sprintf("the site answers with %d records", len(d.Texts)), seen)
}

// records is part D.
func (o *outcome) records(ev *Evidence) sources {
	from, row, code, findings := selectRecords(o.site, ev.DNS.Texts)
	o.findings = append(o.findings, findings...)
	if code != "" {
		o.drop = dropSite
		o.check(row, lookleap.Failed, code, code.Title())
		o.deny(row, code)
		return from
	}
	o.check(row, lookleap.Passed, lookleap.CodeOK, fmt.Sprintf("the record advertises %d manifests and %d query endpoints", len(from.manifests), len(from.queries)))
	return from
}

// memory is part E.
func (o *outcome) memory(mem *memory, from sources, now time.Time) {
	stop := func(row string, code lookleap.Code) {
		o.check(row, lookleap.Failed, code, "an earlier answer stands: "+code.Title())
		o.deny(row, code)
	}
	if mem.limited != "" {
		stop("E0", mem.limited)
		return
	}
	if mem.denial != nil && now.Before(mem.denial.until) {
		o.useKept, o.row, o.code = mem.denial, "E6", mem.denial.code
		return
	}
	for _, g := range mem.grants {
		switch advertised := !slices.ContainsFunc(g.sources, func(uri string) bool { return !from.advertises(uri) }); {
		case !now.Before(g.until), !advertised: // rows E5 and E2
			o.stale = append(o.stale, g)
		case mem.skip: // rows E3 and E4
		case o.useKept == nil || g.checked.After(o.useKept.checked):
			o.useKept, o.row, o.code = g, "E1", g.code
		}
	}
	if o.useKept == nil && mem.pair != "" {
		stop("E7", mem.pair)
	}
}

// choose is part F, and what follows from it.
func (o *outcome) choose(ev *Evidence, from sources, now time.Time) {
	manifests, queries := from.manifests, from.queries
	secure := ev.DNS.DNSSEC == lookleap.Secure
	switch {
	case o.narrow:
		if len(manifests) == 0 {
			o.deny("B5", CodeNoRecord)
			return
		}
		o.run(ev, now, ManifestSource, manifests, "", nil)
	case secure && len(queries) > 0:
		o.check("F1", lookleap.Passed, lookleap.CodeOK, "the record is signed, so the query endpoint is asked first")
		o.run(ev, now, Query, queries, ManifestSource, manifests)
	case secure:
		o.check("F2", lookleap.Passed, lookleap.CodeOK, "only a manifest is advertised")
		o.run(ev, now, ManifestSource, manifests, "", nil)
	case len(manifests) > 0:
		if ev.Policy.RequireDNSSECForQuery {
			queries = nil
		}
		o.check("F3", lookleap.Passed, lookleap.CodeOK, "the record is not signed, so the manifest is read first")
		o.run(ev, now, ManifestSource, manifests, Query, queries)
	case ev.Policy.RequireDNSSECForQuery:
		o.check("F5", lookleap.Failed, CodeDNSSECRequired, CodeDNSSECRequired.Title())
		o.deny("F5", CodeDNSSECRequired)
	default:
		o.check("F4", lookleap.Noted, lookleap.CodeOK, "only a query endpoint is advertised, in a record that is not signed")
		o.run(ev, now, Query, queries, "", nil)
	}
}

// run asks the sources of one mechanism, and those of the other one where the
// first failed in a way that may pass.
func (o *outcome) run(ev *Evidence, now time.Time, first Mechanism, uris []string, other Mechanism, otherURIs []string) {
	j, ok := o.ask(ev, now, first, uris, false)
	if !ok {
		return
	}
	if j.state != passing || len(otherURIs) == 0 {
		o.finish(now, first, uris, j, false)
		return
	}
	o.check("K3", lookleap.Noted, j.code, "the other mechanism is asked, since this failure may pass")
	if j, ok = o.ask(ev, now, other, otherURIs, true); ok {
		o.finish(now, other, otherURIs, j, true)
	}
}

// ask judges all sources of one mechanism together (part K). It is not ok when
// evidence is missing.
func (o *outcome) ask(ev *Evidence, now time.Time, m Mechanism, uris []string, fallback bool) (judged, bool) {
	var total judged
	var failed *judged
	ttl := ev.DNS.ttl()
	o.store = true
	for i, uri := range uris {
		x := ev.exchange(m, uri)
		if x == nil {
			o.need = &need{mechanism: m, uri: uri, alone: len(uris) == 1}
			return total, false
		}
		var j judged
		if m == Query {
			j = x.judgeQuery(now, ttl)
		} else {
			j = x.judgeManifest(ev.Policy, o.subject, now, ttl, o.narrow)
		}
		if x.Held != "" && !fallback && !j.final {
			j.row = "E8"
			if j.state == passing {
				j.row = "E9"
			}
		}
		o.note(x, j)
		o.store = o.store && !x.NoStore
		switch {
		case o.narrow && j.code == CodeNotListed && i < len(uris)-1:
			continue
		case j.state == refused:
			return j, true
		case j.state == passing:
			failed = &j
		case total.row == "":
			total = j
		default:
			total = both(total, j)
		}
	}
	if failed != nil {
		return *failed, true
	}
	if fallback && m == ManifestSource && total.state == granted {
		total.code = CodeListedFallback
	}
	return total, true
}

// both combines two grants (row K1): the lowest tier, what both permit, until
// the earlier end.
func both(a, b judged) judged {
	out := a
	if b.tier < a.tier {
		out = b
	}
	out.row, out.tier, out.scope = "K1", min(a.tier, b.tier), a.scope&b.scope
	if out.until = a.until; b.until.Before(out.until) {
		out.until = b.until
	}
	return out
}

// note writes an exchange into the story.
func (o *outcome) note(x *Exchange, j judged) {
	o.findings = append(o.findings, j.findings...)
	status, message := lookleap.Failed, j.code.Title()
	switch j.state {
	case granted:
		status = lookleap.Passed
	case passing:
		status = lookleap.Noted
	}
	code := j.code
	if j.state == granted {
		code = lookleap.CodeOK
	}
	o.checks = append(o.checks, lookleap.Check{Requirement: j.row, Code: code, Status: status, Message: message, Until: j.until,
		Evidence: []lookleap.Evidence{{URL: or(x.Final, x.URL), Status: x.Status, MediaType: x.MediaType, Digest: x.Digest, Text: x.Cause}}})
	if j.hold.kind != holdNothing && !x.kept {
		o.holds = append(o.holds, placedHold{j.hold, x.URL})
	}
	if j.state == refused {
		o.cause = x.err
	}
	if j.security {
		o.security = true
		o.findings = append(o.findings, lookleap.Finding{Severity: lookleap.SeverityWarning, Code: j.code, Requirement: j.row, Message: j.code.Title()})
	}
}

// finish turns the judgement of the mechanism that decided into the outcome.
func (o *outcome) finish(now time.Time, m Mechanism, uris []string, j judged, fallback bool) {
	o.byQuery = m == Query
	row := j.row
	switch {
	case j.state == passing && fallback && m == ManifestSource, row == "M9":
		row = "M10"
	case row == "E9":
		row = "E7"
	case j.state == passing && row == "Q12":
		row = "Q13"
	case j.state == passing && row == "Q14":
		row = "Q15"
	}
	if j.state != granted {
		if o.narrow && row == "L5" {
			o.row, o.code, o.until = "B4", j.code, j.until
			return
		}
		o.until = j.until
		switch {
		case o.narrow || j.held || j.state == passing || isTransient(j.code):
		case m == Query:
			o.drop = dropPair
		case fallback:
			o.drop = dropHostOnly
		default:
			o.drop = dropHost
		}
		o.deny(row, j.code)
		return
	}
	if !now.Before(j.until) {
		o.check("E5", lookleap.Failed, CodeTrustEvidence, "what the evidence granted has ended")
		o.deny("E5", CodeTrustEvidence)
		return
	}
	o.row, o.code, o.tier, o.scope, o.until = row, j.code, j.tier, j.scope, j.until
	o.sources = slices.Clone(uris)
	if o.narrow {
		o.row, o.code = "B3", CodeSelfNarrowed
	}
}

// isTransient reports whether a Tier 0 may pass: it takes no grant with it.
func isTransient(code lookleap.Code) bool {
	switch code {
	case lookleap.CodeDNSError, CodeQueryUnavailable, CodeManifestUnavailable, CodeQuery429, CodeManifest429,
		lookleap.CodeTimeout, lookleap.CodeBudget, lookleap.CodeCancelled, lookleap.CodeClosed, CodeTrustEvidence:
		return true
	}
	return false
}

// exchange finds what was asked of a source.
func (ev *Evidence) exchange(m Mechanism, uri string) *Exchange {
	for i := range ev.Exchanges {
		if x := &ev.Exchanges[i]; x.Mechanism == m && x.URL == uri {
			return x
		}
	}
	return nil
}
