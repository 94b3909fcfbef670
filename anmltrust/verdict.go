package anmltrust

import (
	"cmp"
	"fmt"
	"time"

	"github.com/lookleap/lookleap"
)

// part is a part of the procedure, as a verdict shows it.
type part uint8

const (
	partClaim part = iota
	partServer
	partRecord
	partSources
	partMemory
	partChoice
	partQuery
	partManifest
	partCount
)

// skippedParts are the parts that a verdict mentions if they were not reached.
var skippedParts = [partCount]struct{ letter, message string }{
	partClaim:    {"A", "the claim itself"},
	partServer:   {"B", "whether the server is the site"},
	partRecord:   {"C", "the site's record"},
	partSources:  {"D", "what the record advertises"},
	partChoice:   {"F", "which source is asked first"},
	partQuery:    {"Q", "the query endpoint"},
	partManifest: {"M", "the manifest"},
}

// conclude states the outcome as a verdict.
func (o *outcome) conclude(claim Claim, ev *Evidence, now time.Time) *result {
	v := &lookleap.Verdict{
		Document: Draft, Subject: fmt.Sprintf("%s for %s", hostOrURL(o.server, claim), cmp.Or(o.site, claim.Site)),
		OK: o.tier > Unlisted, Code: o.code, CheckedAt: now, Expires: o.until, Checks: o.checks, Findings: o.findings,
		Record: encodeRecord(claim, ev, o.server),
	}
	for p, skipped := range skippedParts {
		if skipped.letter != "" && !o.reached[p] {
			v.Checks = append(v.Checks, lookleap.Check{Requirement: skipped.letter, Code: lookleap.CodeSkipped, Status: lookleap.Skipped, Message: skipped.message + ": not needed"})
		}
	}
	last := lookleap.Check{Requirement: o.row, Code: o.code, Until: o.until}
	if o.tier == Unlisted {
		v.Expires = time.Time{}
		v.Summary = "Tier 0: " + o.code.Title()
		last.Status, last.Message = lookleap.Failed, v.Summary
		v.Checks = append(v.Checks, last)
		return &result{err: &lookleap.VerifyError{Verdict: v, Err: o.cause}}
	}
	a := &Authorization{
		Server: o.server, Site: o.site, Tier: o.tier, Scope: o.scope & o.tier.Ceiling(), Truncated: o.scope &^ o.tier.Ceiling(),
		Reason: o.code, Sources: o.sources, DNSSEC: o.dnssec, CheckedAt: now, Expires: o.until, Verdict: v,
	}
	if !o.until.IsZero() {
		a.RefreshAfter = o.until.Add(-min(o.until.Sub(now)/10, time.Hour))
	}
	words := cmp.Or(a.Scope.String(), "no section")
	if a.Tier == Self {
		words = "every section"
	}
	v.Summary = fmt.Sprintf("Tier %d (%s): %s; it may speak for %s", a.Tier, a.Tier, o.code.Title(), words)
	last.Status, last.Message = lookleap.Passed, v.Summary
	v.Checks = append(v.Checks, last)
	return &result{auth: a}
}

func hostOrURL(s Server, c Claim) string {
	if s.Host != "" {
		return s.Host
	}
	return quote(c.URL)
}

// Row is the row of the decision table that decided a verdict of this package;
// "" for any other verdict.
func Row(v *lookleap.Verdict) string {
	if v == nil || v.Document != Draft || len(v.Checks) == 0 {
		return ""
	}
	return v.Checks[len(v.Checks)-1].Requirement
}
