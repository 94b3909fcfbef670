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
	"github.com/lookleap/lookleap/internal/plaintext"
)

func siteCommand() command {
	return command{
		name:    "site",
		sites:   true,
		args:    "ORIGIN…",
		summary: "everything that can be found out about an origin, in one report",
		about: `Opens a site as an agent of a user without data would, and tells what it met: the policy,
the ANML document with who speaks in it and at which tier, what it offers and asks,
its skills, and its AI endpoint. Nothing is told, and nothing is done. The policy is
obeyed: what it forbids is not read. A site is accepted if nothing that it publishes
had to be turned away.

value: {
  "policy":   {"state", "reason"} of agents.txt
  "anml":     {"url", "serving", "explanation": {…}, "actions": [{"name", "site", "description", "inputSchema"}],
               "asks": [{"field", "purpose", "owner", "verb", "code"}], "notices"}; null without a document
  "skills":   [{"skill", "name", "description", "source"}]
  "endpoint": the ai: URI, "" for none
  "refused":  [{"what", "code", "message"}] that was turned away
  "publicSuffixList": the date of the built-in list, and the version of one in a file
}`,
		examples: []string{
			"lookleap site https://example.com",
			"lookleap --json site https://example.com https://shop.example.com",
		},
		build: func(flags *flag.FlagSet) action {
			options := policyFlags(flags)
			return func(ctx context.Context, s *session, args []string) error {
				host, err := s.Host()
				if err != nil {
					return err
				}
				return s.each(ctx, args, func(ctx context.Context, origin string) result {
					return reportSite(ctx, host, options(), origin)
				})
			}
		},
	}
}

type siteValue struct {
	Policy   sitePolicy    `json:"policy"`
	ANML     *siteANML     `json:"anml"`
	Skills   []listedSkill `json:"skills"`
	Endpoint string        `json:"endpoint"`
	Refused  []siteRefusal `json:"refused"`

	PublicSuffixList string `json:"publicSuffixList"`
}

type sitePolicy struct {
	State  string        `json:"state"`
	Reason lookleap.Code `json:"reason"`
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

// visit is one look at a site: what was found, for programs and for people.
type visit struct {
	origin string
	host   *lookleap.Host // behind the site's own policy
	value  siteValue
	result result
}

func reportSite(ctx context.Context, host *lookleap.Host, o agentstxt.Options, origin string) result {
	u, err := domain.Parse(origin)
	if err != nil {
		return refuseDomain("", err)
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
	v.row("public suffix list", v.value.PublicSuffixList)

	v.result.Value = v.value
	v.result.Message = "nothing had to be turned away"
	if n := len(v.value.Refused); n > 0 {
		first := v.value.Refused[0]
		v.result.OK, v.result.Code = false, first.Code
		v.result.Message = fmt.Sprintf("%s was turned away: %s", first.What, first.Message)
	}
	return v.result
}

func (v *visit) row(label, text string) {
	v.result.rows = append(v.result.rows, row{label, plaintext.Line(text)})
}

// turnAway notes what an agent does not use. What is simply not there is no refusal.
func (v *visit) turnAway(what string, err error) {
	code := lookleap.CodeOf(err)
	if v.result.cause == nil {
		v.result.cause = err
	}
	v.value.Refused = append(v.value.Refused, siteRefusal{what, code, refuse(err).Message})
	v.row("refused", what+": turned away ("+string(code)+")")
}

func (v *visit) policy(ctx context.Context, policies *agentstxt.Client) {
	p, err := policies.Policy(ctx, v.origin+"/")
	if err != nil {
		v.turnAway("policy", err)
		return
	}
	v.value.Policy = sitePolicy{p.State().String(), p.Reason()}
	if p.State() == agentstxt.Restricted {
		v.turnAway("policy", coded{p.Reason(), p.Err()})
		return
	}
	v.row("policy", p.State().String())
}

func (v *visit) anml(ctx context.Context) {
	session, err := agent.New(v.host, agent.Options{}).NewSession(agent.User{})
	if err != nil {
		v.turnAway("anml", err)
		return
	}
	defer session.Close()
	page, err := session.Discover(ctx, v.origin)
	switch {
	case lookleap.CodeOf(err) == agent.CodeNoANML:
		v.row("anml", "none")
		return
	case err != nil:
		v.turnAway("anml", err)
		return
	}
	found := &siteANML{
		URL: page.URL(), Serving: page.ServingDomain(), Explanation: page.Explain(),
		Actions: []siteAction{}, Asks: []siteAsk{}, Notices: session.Notices(),
	}
	v.value.ANML = found
	v.row("anml", page.URL())
	v.result.rows = append(v.result.rows, outputRows(found.Explanation.String())...)
	for _, party := range page.Parties() {
		v.result.claims = append(v.result.claims, claimOf(party))
		if party.Err != nil {
			v.turnAway("claim to speak for "+party.Domain, party.Err)
		}
	}
	for _, tool := range page.Tools() {
		found.Actions = append(found.Actions, siteAction{anmlTool{tool.Name, tool.Description, tool.InputSchema}, tool.Site})
		v.row("action", tool.Name+": "+tool.Description)
	}
	for _, d := range page.Decide(ctx) {
		found.Asks = append(found.Asks, siteAsk{d.Field, d.Ask.Purpose(), d.Owner.Domain, d.Verb.String(), d.Code})
		v.row("asks", fmt.Sprintf("%s of %s, %s", plaintext.Quote(d.Field, 60), d.Owner.Domain, plaintext.Quote(d.Ask.Purpose(), 120)))
	}
	v.result = v.result.with(page.Findings()...)
	for _, f := range page.Document().Findings() {
		v.result = v.result.with(f)
	}
}

func (v *visit) skills(ctx context.Context) {
	for entry, err := range dvs.NewLoader(v.host, dvs.Options{}).Discover(ctx, v.origin+"/") {
		var skipped *dvs.Skipped
		switch {
		case errors.As(err, &skipped):
			v.result = v.result.with(skipped.Finding)
		case err != nil:
			v.turnAway("skills", err)
		default:
			v.value.Skills = append(v.value.Skills, listedSkillOf(&entry))
			v.row("skill", plaintext.Quote(entry.Name, 40)+" "+entry.Skill.String())
		}
	}
	if len(v.value.Skills) == 0 {
		v.row("skills", "none")
	}
}

func (v *visit) endpoint(ctx context.Context) {
	found, err := aiuri.NewDiscoverer(v.host, aiuri.DiscovererOptions{}).Discover(ctx, v.origin+"/")
	switch {
	case lookleap.CodeOf(err) == aiuri.CodeNoEndpoint:
		v.row("ai endpoint", "none")
	case err != nil:
		v.turnAway("ai endpoint", err)
	default:
		v.value.Endpoint = found.Endpoint.String()
		v.row("ai endpoint", v.value.Endpoint)
		v.result = v.result.with(found.Findings...)
	}
}
