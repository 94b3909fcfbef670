package anmltrust

import (
	"fmt"
	"slices"
	"time"

	"github.com/lookleap/lookleap"
)

// steps are the parts of the procedure, for those that were not reached.
var steps = []struct{ part, message string }{
	{"A", "the claim itself"}, {"B", "whether the server is the site"}, {"C", "the site's record"}, {"D", "what the record advertises"},
	{"F", "which source is asked first"}, {"Q", "the query endpoint"}, {"M", "the manifest"},
}

// conclude states the outcome as a verdict.
func (o *outcome) conclude(claim Claim, ev *Evidence, now time.Time) (*Authorization, error) {
	v := &lookleap.Verdict{
		Document: Draft, Subject: fmt.Sprintf("%s for %s", hostOrURL(o.server, claim), or(o.site, claim.Site)),
		OK: o.tier > Unlisted, Code: o.code, CheckedAt: now, Expires: o.until, Checks: o.checks, Findings: o.findings,
		Record: encodeRecord(claim, ev, o.server),
	}
	for _, step := range steps {
		reached := slices.ContainsFunc(o.checks, func(c lookleap.Check) bool {
			return c.Requirement[:1] == step.part || step.part == "M" && c.Requirement[:1] == "L"
		})
		if !reached {
			v.Checks = append(v.Checks, lookleap.Check{Requirement: step.part, Code: lookleap.CodeSkipped, Status: lookleap.Skipped, Message: step.message + ": not needed"})
		}
	}
	if o.tier == Unlisted {
		v.Expires = time.Time{}
		v.Summary = "Tier 0: " + o.code.Title()
		v.Checks = append(v.Checks, lookleap.Check{Requirement: o.row, Code: o.code, Status: lookleap.Failed, Message: v.Summary, Until: o.until})
		return nil, &lookleap.VerifyError{Verdict: v, Err: o.cause}
	}
	a := &Authorization{
		Server: o.server, Site: o.site, Tier: o.tier, Scope: o.scope & o.tier.Ceiling(), Truncated: o.scope &^ o.tier.Ceiling(),
		Reason: o.code, Sources: o.sources, DNSSEC: o.dnssec, CheckedAt: now, Expires: o.until, Verdict: v,
	}
	if !o.until.IsZero() {
		life := o.until.Sub(now)
		a.RefreshAfter = o.until.Add(-min(life/10, time.Hour))
	}
	v.Summary = fmt.Sprintf("Tier %d (%s): %s; it may speak for %s", a.Tier, a.Tier, o.code.Title(), scopeWords(a))
	v.Checks = append(v.Checks, lookleap.Check{Requirement: o.row, Code: o.code, Status: lookleap.Passed, Message: v.Summary, Until: o.until})
	return a, nil
}

func scopeWords(a *Authorization) string {
	switch {
	case a.Tier == Self:
		return "every section"
	case a.Scope == 0:
		return "no section"
	}
	return a.Scope.String()
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
