package kit

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anml/agent"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/lookleaptest"
)

// RefusalClasses are the classes of documents that are refused as a whole.
var RefusalClasses = map[string]error{
	"not-well-formed": anml.ErrNotWellFormed, "encoding": anml.ErrEncoding, "limit": anml.ErrLimit, "not-anml": anml.ErrNotANML,
	"unsupported-version": anml.ErrUnsupportedVersion, "role-conflict": anml.ErrRoleConflict, "mixed-model": anml.ErrMixedModel,
}

// Roles are the roles of documents by name.
var Roles = map[string]anml.Role{"": anml.RoleUnspecified, "service": anml.RoleService, "agent-response": anml.RoleAgentResponse}

// Unfold returns a file in which the text between [*] and [/*] stands several times.
func Unfold(file string, repeat int) string {
	before, rest, found := strings.Cut(file, "[*]")
	if !found {
		return file
	}
	again, after, _ := strings.Cut(rest, "[/*]")
	return before + strings.Repeat(again, repeat) + after
}

func readDocument(_ context.Context, in struct {
	ContentType, Role, File string
	Base64                  []byte
	Repeat                  int
}) (map[string]any, error) {
	d, err := anml.Parse(in.ContentType, bytesOf(Unfold(in.File, in.Repeat), in.Base64), anml.ReadOptions{Role: Roles[in.Role]})
	if err != nil {
		outcome := map[string]any{}
		for name, class := range RefusalClasses {
			if errors.Is(err, class) {
				outcome["state"] = name
			}
		}
		return outcome, err
	}
	canonical, err := anml.MarshalJSON(d, anml.WriteOptions{Verbatim: true})
	if err != nil {
		return nil, err
	}
	return map[string]any{"decisions": DecisionsOf(d), "errors": Faults(d), "canonical": strings.TrimSuffix(string(canonical), "\n")}, nil
}

func checkValue(_ context.Context, in struct{ Type, Text string }) (map[string]any, error) {
	return nil, anml.CheckValue(anml.ParseType(in.Type), in.Text)
}

func decideTier(_ context.Context, in struct {
	URL, Site string
	Now       time.Time
	DNS       *struct {
		Outcome anmltrust.DNSOutcome
		Texts   []string
		TTL     int
		DNSSEC  lookleap.DNSSEC
	}
	Exchanges []struct {
		Mechanism            anmltrust.Mechanism
		URL, MediaType, Body string
		Status               int
		Failure              anmltrust.Failure
	}
}) (map[string]any, error) {
	var ev anmltrust.Evidence
	if d := in.DNS; d != nil {
		ev.DNS = &anmltrust.DNSEvidence{Name: "_anml." + in.Site, Outcome: d.Outcome, Texts: d.Texts,
			TTL: time.Duration(d.TTL) * time.Second, DNSSEC: d.DNSSEC, At: in.Now}
	}
	for _, x := range in.Exchanges {
		ev.Exchanges = append(ev.Exchanges, anmltrust.Exchange{
			Mechanism: x.Mechanism, URL: x.URL, At: in.Now, Status: x.Status, MediaType: x.MediaType,
			Body: []byte(x.Body), Failure: x.Failure,
		})
	}
	a, err := anmltrust.Decide(anmltrust.Claim{URL: in.URL, Site: in.Site, Form: anmltrust.SiteElement}, ev, in.Now)
	if err != nil {
		return nil, err
	}
	if a.Tier == anmltrust.Unlisted {
		return nil, refused(a.Reason)
	}
	return map[string]any{"tier": a.Tier, "scope": a.Scope}, nil
}

func decideAnswers(ctx context.Context, in struct {
	Document string
	Profile  map[string]string
	Rules    []struct{ Field, Effect, Domain string }
}) (map[string]any, error) {
	user := agent.User{Policy: &agent.UserPolicy{}}
	profile := agent.Fields{}
	for field, text := range in.Profile {
		profile[field] = agent.Value{Text: text}
	}
	user.Profile = profile
	for _, r := range in.Rules {
		effect := map[string]agent.Effect{"allow": agent.EffectAllow, "deny": agent.EffectDeny}[r.Effect]
		if err := user.Policy.Set(agent.StandingRule{Field: r.Field, Domain: r.Domain, Effect: effect}); err != nil {
			return nil, err
		}
	}
	net := lookleaptest.NewInternet()
	defer net.Close()
	net.Site("shop.example").File("/page", anml.MediaTypeXML, in.Document)
	host := net.Host()
	host.Prompter = asked{}
	session, err := agent.New(host, agent.Options{}).NewSession(user)
	if err != nil {
		return nil, err
	}
	defer session.Close()
	page, err := session.Open(ctx, "https://shop.example/page")
	if err != nil {
		return nil, err
	}
	type decision struct {
		Field  string        `json:"field"`
		Verb   string        `json:"verb"`
		Basis  string        `json:"basis,omitempty"`
		Reason anml.Reason   `json:"reason,omitempty"`
		Code   lookleap.Code `json:"code"`
	}
	decisions := []decision{}
	for _, d := range page.Decide(ctx) {
		one := decision{d.Field, d.Verb.String(), d.Basis.String(), d.Reason, d.Code}
		if d.Verb == agent.VerbRefuse {
			one.Basis = ""
		}
		decisions = append(decisions, one)
	}
	return map[string]any{"decisions": decisions}, nil
}

// asked is a user who can be asked, and who is not asked by what only decides.
type asked struct{}

func (asked) PromptConsent(context.Context, *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
	return lookleap.ConsentDecision{}, errors.New("a decision asks no one")
}
