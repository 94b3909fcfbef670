package main

import (
	"context"
	"errors"
	"flag"
	"fmt"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/agentstxt"
	"github.com/lookleap/lookleap/aiuri"
	"github.com/lookleap/lookleap/anml/agent"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/htmlreport"
	"github.com/lookleap/lookleap/internal/plaintext"
)

func siteCommand(flags *flag.FlagSet) action {
	options := policyFlags(flags)
	return func(ctx context.Context, s *session, args []string) error {
		return s.words(ctx, args, func(ctx context.Context, origin string) result {
			return reportSite(ctx, s.host, options(), origin)
		})
	}
}

type siteValue struct {
	Policy struct {
		State  string        `json:"state"`
		Reason lookleap.Code `json:"reason"`
	} `json:"policy"`
	ANML     *siteANML     `json:"anml"`
	Skills   []listedSkill `json:"skills"`
	Endpoint string        `json:"endpoint"`
	Refused  []siteRefusal `json:"refused"`

	PublicSuffixList string `json:"publicSuffixList"`
}

type siteANML struct {
	URL         string            `json:"url"`
	Serving     string            `json:"serving"`
	Explanation agent.Explanation `json:"explanation"`
	Actions     []siteAction      `json:"actions"`
	Asks        []siteAsk         `json:"asks"`
	Notices     []agent.Notice    `json:"notices"`
}

type siteAction struct {
	anmlTool
	Site string `json:"site"`
}

type siteAsk struct {
	Field   string        `json:"field"`
	Purpose string        `json:"purpose"`
	Owner   string        `json:"owner"`
	Verb    string        `json:"verb"` // what would become of it without data and rules of the user's
	Code    lookleap.Code `json:"code"`
}

type siteRefusal struct {
	What    string        `json:"what"`
	Code    lookleap.Code `json:"code"`
	Message string        `json:"message"`
}

type visit struct {
	origin string
	host   *lookleap.Host // behind the site's own policy
	value  siteValue
	result result
}

func reportSite(ctx context.Context, host *lookleap.Host, o agentstxt.Options, origin string) result {
	u, err := domain.Parse(origin)
	if err != nil {
		return refuse(err)
	}
	v := &visit{origin: u.Origin(), result: accept(nil),
		value: siteValue{Skills: []listedSkill{}, Refused: []siteRefusal{}, PublicSuffixList: lookleap.PublicSuffixVersion()}}
	policies := agentstxt.NewClient(host, o)
	v.host = &lookleap.Host{Fetcher: policies.Guard(), Resolver: host, Now: host.Time} // goes by the policies of the sites
	defer v.host.Close()
	v.policy(ctx, policies)
	v.anml(ctx)
	v.skills(ctx)
	v.endpoint(ctx)
	v.result.row("public suffix list", v.value.PublicSuffixList)
	v.result.Value = v.value
	v.result.Message = "nothing had to be turned away"
	if len(v.value.Refused) > 0 {
		first := v.value.Refused[0]
		v.result.OK, v.result.Code, v.result.Message = false, first.Code, first.What+" was turned away: "+first.Message
	}
	if v.result.picture == nil {
		v.result.picture = v.picture(origin)
	}
	return v.result
}

// picture shows a site that speaks for itself, or for no one.
func (v *visit) picture(input string) *htmlreport.Picture {
	p := newPicture(input)
	read := htmlreport.Edge{From: htmlreport.Agent, To: htmlreport.ServingHost, Status: lookleap.Passed,
		Text: "what the site publishes was read over https from its own host"}
	if !v.result.OK {
		read.Status, read.Text = lookleap.Failed, v.result.Message
	}
	speaks := htmlreport.Edge{From: htmlreport.ServingHost, To: htmlreport.Site, Status: lookleap.Skipped,
		Text: "no document speaks for anyone"}
	if v.value.ANML != nil {
		speaks.Status, speaks.Text = lookleap.Passed, "the host speaks for itself, so no one else has to vouch for it"
	}
	p.Edges = append(p.Edges, read, speaks)
	return p
}

// check notes what one step came to, for the page. Without a text there was nothing.
func (v *visit) check(name, text string) *htmlreport.Check {
	c := htmlreport.Check{Name: name, Status: lookleap.Skipped, Message: "none"}
	if text != "" {
		c.Status, c.Message = lookleap.Passed, text
	}
	v.result.checks = append(v.result.checks, c)
	return &v.result.checks[len(v.result.checks)-1]
}

// turnAway notes what an agent does not use, in a check too. What is simply not there is no refusal.
func (v *visit) turnAway(c *htmlreport.Check, err error) {
	if v.result.cause == nil {
		v.result.cause = err
	}
	r := refuse(err)
	v.value.Refused = append(v.value.Refused, siteRefusal{c.Name, r.Code, r.Message})
	v.result.row("refused", c.Name+": turned away ("+string(r.Code)+")")
	if c.Status != lookleap.Failed {
		c.Status, c.Code, c.Message = lookleap.Failed, r.Code, "turned away: "+r.Message
	}
}

func (v *visit) policy(ctx context.Context, policies *agentstxt.Client) {
	p, err := policies.Policy(ctx, v.origin+"/")
	if err != nil {
		v.turnAway(v.check("policy", ""), err)
		return
	}
	v.value.Policy.State, v.value.Policy.Reason = p.State().String(), p.Reason()
	c := v.check("policy", v.value.Policy.State)
	if p.State() == agentstxt.Restricted {
		v.turnAway(c, &lookleap.Error{Code: p.Reason(), Err: p.Err()})
		return
	}
	v.result.row("policy", v.value.Policy.State)
}

func (v *visit) anml(ctx context.Context) {
	session, err := agent.New(v.host, agent.Options{}).NewSession(agent.User{})
	if err != nil {
		v.turnAway(v.check("anml", ""), err)
		return
	}
	defer session.Close()
	page, err := session.Discover(ctx, v.origin)
	switch {
	case lookleap.CodeOf(err) == agent.CodeNoANML:
		v.check("anml", "")
		v.result.row("anml", "none")
		return
	case err != nil:
		v.turnAway(v.check("anml", ""), err)
		return
	}
	found := &siteANML{
		URL: page.URL(), Serving: page.ServingDomain(), Explanation: page.Explain(),
		Actions: []siteAction{}, Asks: []siteAsk{}, Notices: session.Notices(),
	}
	v.value.ANML = found
	v.result.row("anml", page.URL())
	v.result.rows = append(v.result.rows, linesOf(found.Explanation.String())...)
	document := v.check("anml", page.URL())
	document.Checks = v.claims(page)
	for _, tool := range page.Tools() {
		found.Actions = append(found.Actions, siteAction{anmlTool{tool.Name, tool.Description, tool.InputSchema}, tool.Site})
		v.result.row("action", tool.Name+": "+tool.Description)
	}
	for _, d := range page.Decide(ctx) {
		found.Asks = append(found.Asks, siteAsk{d.Field, d.Ask.Purpose(), d.Owner.Domain, d.Verb.String(), d.Code})
		v.result.row("asks", fmt.Sprintf("%s of %s, %s", plaintext.Quote(d.Field, 60), d.Owner.Domain,
			plaintext.Quote(d.Ask.Purpose(), 120)))
	}
	document.Message = fmt.Sprintf("%s offers %s and asks for %s", page.URL(),
		plaintext.Plural(len(found.Actions), "action", "actions"), plaintext.Plural(len(found.Asks), "field", "fields"))
	v.result = v.result.with(page.Findings()...).with(page.Document().Findings()...)
}

// claims returns a check for each site that the document speaks for. The picture shows the first claim
// that was refused, or else the first one that was verified.
func (v *visit) claims(page *agent.Page) (checks []htmlreport.Check) {
	refused := false
	for _, party := range page.Parties() {
		c := htmlreport.Check{Name: "claim to speak for " + party.Domain, Status: lookleap.Passed,
			Message: "the host speaks for itself"}
		var verdict *lookleap.Verdict
		var no *lookleap.VerifyError
		if party.Authorization != nil {
			verdict = party.Authorization.Verdict
			c.Message = verdict.Summary
		} else if errors.As(party.Err, &no) {
			verdict = no.Verdict
		}
		if verdict != nil {
			c.Checks = htmlreport.OfVerdict(verdict)
			if v.result.picture == nil || !refused && party.Err != nil {
				v.result.picture = htmlreport.OfTrust(verdict, page.ServingDomain(), party.Domain)
			}
			refused = refused || party.Err != nil
		}
		if party.Err != nil {
			v.turnAway(&c, party.Err)
		}
		checks = append(checks, c)
	}
	return checks
}

func (v *visit) skills(ctx context.Context) {
	c := v.check("skills", "")
	for entry, err := range dvs.NewLoader(v.host, dvs.Options{}).Discover(ctx, v.origin+"/") {
		var skipped *dvs.Skipped
		switch {
		case errors.As(err, &skipped):
			v.result = v.result.with(skipped.Finding)
		case err != nil:
			v.turnAway(c, err)
		default:
			v.value.Skills = append(v.value.Skills, listedSkillOf(&entry))
			v.result.row("skill", plaintext.Quote(entry.Name, 40)+" "+entry.Skill.String())
		}
	}
	switch n := len(v.value.Skills); {
	case n == 0:
		v.result.row("skills", "none")
	case c.Status != lookleap.Failed:
		c.Status, c.Message = lookleap.Passed, plaintext.Plural(n, "skill", "skills")
	}
}

func (v *visit) endpoint(ctx context.Context) {
	found, err := aiuri.NewDiscoverer(v.host, aiuri.DiscovererOptions{}).Discover(ctx, v.origin+"/")
	switch {
	case lookleap.CodeOf(err) == aiuri.CodeNoEndpoint:
		v.check("ai endpoint", "")
		v.result.row("ai endpoint", "none")
	case err != nil:
		v.turnAway(v.check("ai endpoint", ""), err)
	default:
		v.value.Endpoint = found.Endpoint.String()
		v.check("ai endpoint", v.value.Endpoint)
		v.result.row("ai endpoint", v.value.Endpoint)
		v.result = v.result.with(found.Findings...)
	}
}
