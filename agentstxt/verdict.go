package agentstxt

import (
	"errors"
	"fmt"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/coded"
)

// verdict tells the story of one decision: how the policy was read, and what it
// says.
func (c *Client) verdict(o origin, h *held, d Decision, summary string) *lookleap.Verdict {
	v := &lookleap.Verdict{
		Document: Draft, Subject: o.name + d.Path, OK: d.Allowed, Code: d.Code, Summary: summary, CheckedAt: c.host.Time(),
	}
	if d.Allowed {
		v.Code = lookleap.CodeOK
	}
	if h == nil {
		v.Checks = []lookleap.Check{
			{Requirement: "AGT-2-02", Code: d.Code, Status: lookleap.Failed, Message: summary},
			{Requirement: "AGT-6-11", Code: lookleap.CodeSkipped, Status: lookleap.Skipped, Message: "no directive was looked for"},
		}
		return v
	}
	v.Expires, v.Findings = h.until, h.policy.Findings()
	v.Checks = []lookleap.Check{h.read(), h.decided(d, summary)}
	return v
}

// read is the check that there is a policy to go by.
func (h *held) read() lookleap.Check {
	p, evidence := h.policy, h.evidence
	evidence.Digest = p.Integrity()
	check := lookleap.Check{Requirement: "AGT-7-01", Code: lookleap.CodeOK, Status: lookleap.Passed, Until: h.until, Evidence: []lookleap.Evidence{evidence}}
	switch {
	case p.state == Valid && h.standing:
		check.Status, check.Code, check.Requirement = lookleap.Noted, lookleap.CodeStale, "AGT-2-12"
		check.Message = "the policy could not be read again, an earlier copy is in force"
	case p.state == Valid:
		check.Message = fmt.Sprintf("the policy is whole, with %d directives", p.own)
	case p.state == Absent:
		check.Status, check.Code, check.Requirement = lookleap.Noted, p.reason, "AGT-2-08"
		check.Message = "the origin publishes no policy"
	default:
		check.Status, check.Code, check.Requirement = lookleap.Failed, p.Reason(), "AGT-5-01"
		check.Message = p.Err().Error()
	}
	return check
}

// decided is the check of the path.
func (h *held) decided(d Decision, summary string) lookleap.Check {
	check := lookleap.Check{Requirement: "AGT-6-11", Code: d.Code, Status: lookleap.Failed, Message: summary, Until: h.until}
	if d.Allowed {
		check.Code, check.Status = lookleap.CodeOK, lookleap.Passed
	}
	if h.policy.State() != Valid {
		check.Requirement = "AGT-5-04"
	}
	if d.Allowed && h.policy.State() == Absent { // there was nothing to look for
		check.Code, check.Status = lookleap.CodeSkipped, lookleap.Skipped
	}
	if d.Line > 0 {
		check.Evidence = []lookleap.Evidence{{Text: fmt.Sprintf("line %d: %s", d.Line, d.Rule)}}
	}
	return check
}

// sentence says what a decision under the policy means.
func (p *Policy) sentence(d Decision) string {
	switch {
	case d.Code == CodeRestricted:
		return "the whole origin is restricted: " + p.distrust()
	case d.Line > 0 && d.Limit > 0:
		return fmt.Sprintf("%s in line %d, at most %d requests in the window", d.Code.Title(), d.Line, d.Limit)
	case d.Line > 0:
		return fmt.Sprintf("%s in line %d", d.Code.Title(), d.Line)
	}
	return d.Code.Title()
}

// distrust says why the policy is restricted, where one sentence can.
func (p *Policy) distrust() string {
	var why *lookleap.Error
	var status *StatusError
	switch err := p.Err(); {
	case !errors.As(err, &why):
		return p.Reason().Title()
	case why.Position.Line > 0:
		return fmt.Sprintf("%s, in line %d of its policy", why.Message, why.Position.Line)
	case errors.Is(err, ErrMalformed), errors.As(err, &status), coded.Cause(why.Err) == nil:
		return why.Message
	}
	return fmt.Sprintf("%s: %s", why.Message, lookleap.CodeOf(why.Err).Title())
}
