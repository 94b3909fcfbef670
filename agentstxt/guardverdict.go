package agentstxt

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/coded"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// refuse reports a refusal to the host and returns it as an error. The cause may be nil.
func (t *Transport) refuse(ctx context.Context, x *decided, cause error) error {
	c := t.client
	v := c.verdict(x)
	c.host.Report(ctx, lookleap.Event{Kind: lookleap.EventVerdict, Code: v.Code, Subject: v.Subject, Verdict: v, Err: cause})
	no := &lookleap.VerifyError{Verdict: v, Err: cause}
	_, temporary := lookleap.Retryable(no)
	if v.Code == lookleap.CodeLimit {
		temporary = !x.until.IsZero() // a limit of zero does not end
	}
	var reason *lookleap.Error
	if !errors.As(cause, &reason) || reason.Fix == "" {
		no.Err = coded.Attach(&lookleap.Error{Code: v.Code, Message: v.Summary, Fix: fixFor(v.Code, temporary)}, cause)
	}
	if !temporary {
		no.Err = errors.Join(lookleap.ErrDenied, no.Err)
	}
	return no
}

// refusalCode returns why a file could not be read or used: the code of the exchange, or
// that of a malformed file.
func refusalCode(err error) lookleap.Code {
	var status *lookleap.ResponseError
	switch {
	case errors.As(err, &status) && status.Status >= 500:
		return lookleap.CodeUnavailable
	case errors.Is(err, ErrUnavailable):
		var outer *lookleap.Error
		if errors.As(err, &outer) && outer.Code == lookleap.CodeUnreachable && coded.Cause(outer.Err) != nil {
			return lookleap.CodeOf(outer.Err)
		}
	}
	return lookleap.CodeOf(err)
}

// fixFor returns what the caller can do about a refusal.
func fixFor(code lookleap.Code, temporary bool) string {
	if temporary && code != lookleap.CodeLimit {
		return "try again later: lookleap.Retryable returns when"
	}
	switch code {
	case CodeDisallowed, CodeRobotsDisallowed, CodeForeignDisallowed:
		return "request other paths, or ask the site's operator; no option lifts it"
	case CodeUnlisted:
		return "set Options.Unlisted to request paths that the file does not list"
	case codeBadLimit:
		return "ask the site's operator to write the limit in digits"
	case codeUnknownParam:
		return "unset Options.DenyUnknownParams to ignore such parameters"
	case lookleap.CodeInsecureTransport:
		return "use https, or unset Options.RefuseHTTP"
	case lookleap.CodeNotHTTPS:
		return "use https; the default Fetcher sends nothing over http"
	case lookleap.CodeBlockedPort:
		return "allow the port in FetcherOptions.Ports"
	case lookleap.CodeBlockedAddress:
		return "use a site with a public address; in tests, set FetcherOptions.InsecureAllowPrivate"
	case CodeAccessDenied:
		return "the server answers without credentials only to some clients: ask the site's operator, or set Options.UserAgent"
	case lookleap.CodeLimit:
		if temporary {
			return "wait, or set Options.Window if the site means another time"
		}
		return "the site's limit is zero: ask its operator"
	}
	return ""
}

// verdict explains a decision by its checks: how the policy was read, what it says about
// the path, and what robots.txt says if it was asked.
func (c *Client) verdict(x *decided) *lookleap.Verdict {
	d, o := x.decision, x.target.origin
	v := &lookleap.Verdict{
		Document: Draft, Subject: o.name + d.Path, OK: d.Allowed, Code: d.Code, Summary: x.summary, CheckedAt: c.host.Time(),
	}
	if d.Allowed {
		v.Code = lookleap.CodeOK
	}
	if x.policy == nil {
		v.Checks = []lookleap.Check{
			{Requirement: "AGT-2-02", Code: d.Code, Status: lookleap.Failed, Message: v.Summary},
			{Requirement: "AGT-6-11", Code: lookleap.CodeSkipped, Status: lookleap.Skipped, Message: "no directive was looked for"},
		}
		return v
	}
	p := x.policy.value
	if v.Summary == "" {
		v.Summary = x.explain()
	}
	if d.Code == CodeRestricted {
		v.Code = refusalCode(p.Err())
	}
	v.Expires, v.Findings = x.policy.recheck, p.Findings()
	v.Checks = append(v.Checks, readCheck(x.policy), x.pathCheck(v.Summary))
	if x.robots != nil {
		v.Checks = append(v.Checks, x.robotsCheck(strings.Join(c.options.Robots.Tokens, ", ")))
		v.Expires = fetch.Earlier(v.Expires, x.robots.recheck)
		if !x.byRobots.Allowed {
			v.Expires = x.robots.recheck
		}
		if usage := x.robots.value.statedAt(x.target.path, x.target.query, x.target.hasQuery); !usage.IsZero() {
			v.Checks = append(v.Checks, lookleap.Check{
				Code: codeUsage, Status: lookleap.Noted,
				Message: "the site states about the use of its content: " + usage.String(), Until: x.robots.recheck,
				Evidence: []lookleap.Evidence{{URL: x.robots.evidence.URL, Text: usage.String()}},
			})
		}
	}
	if !x.until.IsZero() {
		v.Expires = x.until
	}
	return v
}

// readCheck says how the policy was read.
func readCheck(e *knownFile[*Policy]) lookleap.Check {
	p, evidence := e.value, e.evidence
	evidence.Digest = p.Integrity()
	read := lookleap.Check{Requirement: "AGT-7-01", Code: lookleap.CodeOK, Status: lookleap.Passed, Until: e.recheck,
		Evidence: []lookleap.Evidence{evidence}}
	switch {
	case e.stale:
		read.Status, read.Code, read.Requirement = lookleap.Noted, lookleap.CodeStale, "AGT-2-12"
		read.Message = "the policy could not be read again, so an earlier copy is in force"
	case p.state == Valid:
		read.Message = "the policy is whole, with " + plaintext.Plural(p.Len(), "directive", "directives")
	case p.state == Absent:
		read.Status, read.Code, read.Requirement = lookleap.Noted, p.reason, "AGT-2-08"
		read.Message = "the origin publishes no policy"
	default:
		read.Status, read.Code, read.Requirement = lookleap.Failed, p.Reason(), "AGT-5-01"
		read.Message = p.Err().Error()
	}
	return read
}

// pathCheck says what the policy decides about the path.
func (x *decided) pathCheck(summary string) lookleap.Check {
	d, p := x.decision, x.policy.value
	check := lookleap.Check{Requirement: "AGT-6-11", Code: d.Code, Status: lookleap.Failed, Message: summary, Until: x.policy.recheck}
	allowed := d.Allowed || x.robots != nil && !x.byRobots.Allowed
	if allowed {
		check.Code, check.Status = lookleap.CodeOK, lookleap.Passed
	}
	if allowed && !d.Allowed {
		check.Message = "the policy allows the path"
	}
	if d.Line > 0 {
		check.Evidence = []lookleap.Evidence{{Text: fmt.Sprintf("line %d: %s", d.Line, d.Rule)}}
	}
	if p.state != Valid {
		check.Requirement = "AGT-5-04"
	}
	if p.state == Absent && allowed { // there was nothing to look for
		check.Code = lookleap.CodeSkipped
		check.Status = lookleap.Skipped
		check.Message = CodeNoPolicy.Title()
	}
	return check
}

// robotsCheck says what robots.txt decides about the path.
func (x *decided) robotsCheck(token string) lookleap.Check {
	d, f := x.byRobots, x.robots.value
	evidence := x.robots.evidence
	check := lookleap.Check{Requirement: "AGT-1-01", Code: lookleap.CodeOK, Status: lookleap.Passed, Until: x.robots.recheck}
	var facts []string
	switch {
	case !d.Allowed:
		check.Code, check.Status = d.Code, lookleap.Failed
		facts = append(facts, x.explainRobots())
	case d.Line > 0:
		facts = append(facts, fmt.Sprintf("robots.txt allows the path in line %d", d.Line))
	case d.Code == CodeNoPolicy:
		facts = append(facts, "the origin has no robots.txt")
	default:
		facts = append(facts, "no rule of robots.txt disallows the path")
	}
	if f.Named() {
		facts = append(facts, "it names "+token)
	}
	if f.CrawlDelay() > 0 {
		facts = append(facts, fmt.Sprintf("it asks for %v between requests", f.CrawlDelay()))
	}
	if x.robots.stale {
		facts = append(facts, "it could not be read again, so an earlier copy is in force")
	}
	for _, found := range f.Findings() {
		facts = append(facts, found.Message)
		if check.Status == lookleap.Passed {
			check.Status, check.Code = lookleap.Noted, found.Code
		}
	}
	if d.Line > 0 {
		evidence.Text = fmt.Sprintf("line %d: %s", d.Line, d.Rule)
	}
	check.Message, check.Evidence = strings.Join(facts, "; "), []lookleap.Evidence{evidence}
	return check
}

// explain returns the decision as one sentence.
func (x *decided) explain() string {
	d := x.decision
	switch {
	case x.robots != nil && !x.byRobots.Allowed:
		return x.explainRobots()
	case d.Code == CodeRestricted:
		return "the whole origin is restricted: " + x.policy.value.restrictedBecause()
	case d.Limit > 0:
		return fmt.Sprintf("%s in line %d, at most %d requests in the window", d.Code.Title(), d.Line, d.Limit)
	case d.Line > 0:
		return fmt.Sprintf("%s in line %d", d.Code.Title(), d.Line)
	}
	return d.Code.Title()
}

// explainRobots returns why robots.txt denies the path, as one sentence.
func (x *decided) explainRobots() string {
	d := x.byRobots
	if err := x.robots.value.err; err != nil {
		return fmt.Sprintf("robots.txt could not be read, so every path counts as disallowed: %s", because(err))
	}
	if d.Line > 0 {
		return fmt.Sprintf("%s in line %d", d.Code.Title(), d.Line)
	}
	return d.Code.Title()
}

// restrictedBecause returns why the policy is restricted, as one clause.
func (p *Policy) restrictedBecause() string {
	var why *lookleap.Error
	switch err := p.Err(); {
	case !errors.As(err, &why):
		return p.Reason().Title()
	case why.Position.Line > 0:
		return fmt.Sprintf("%s, in line %d of its policy", why.Message, why.Position.Line)
	case coded.Cause(why.Err) == nil:
		return why.Message
	}
	return why.Message + ": " + because(p.err)
}

// because returns the cause of an error that a file could not be read.
func because(err error) string {
	var status *lookleap.ResponseError
	if errors.As(err, &status) && status.Status > 0 {
		return fmt.Sprintf("the server answered %d", status.Status)
	}
	return refusalCode(err).Title()
}
