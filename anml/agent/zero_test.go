package agent_test

import (
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anml/agent"
	"github.com/lookleap/lookleap/internal/test/zerotest"
)

// TestZeroValues uses everything that the package exports with nothing in hand.
func TestZeroValues(t *testing.T) {
	zerotest.Run(t, []reflect.Type{
		reflect.TypeFor[agent.Act](), reflect.TypeFor[agent.Agent](), reflect.TypeFor[agent.Assertion](),
		reflect.TypeFor[agent.Call](), reflect.TypeFor[agent.Consent](), reflect.TypeFor[agent.Context](), reflect.TypeFor[agent.Counter](),
		reflect.TypeFor[agent.Decision](),
		reflect.TypeFor[agent.CrossService](), reflect.TypeFor[agent.Effect](), reflect.TypeFor[agent.Entry](), reflect.TypeFor[agent.Head](),
		reflect.TypeFor[agent.EntryKind](), reflect.TypeFor[agent.Explanation](), reflect.TypeFor[agent.Fields](),
		reflect.TypeFor[agent.Ledger](), reflect.TypeFor[agent.Filter](), reflect.TypeFor[agent.Flow](), reflect.TypeFor[agent.FlowStep](),
		reflect.TypeFor[agent.Forgotten](), reflect.TypeFor[agent.Guidance](), reflect.TypeFor[agent.Inform](),
		reflect.TypeFor[agent.Limits](), reflect.TypeFor[agent.MediaContent](),
		reflect.TypeFor[agent.Medium](),
		reflect.TypeFor[agent.Model](), reflect.TypeFor[agent.ModelWish](), reflect.TypeFor[agent.Notice](),
		reflect.TypeFor[agent.NoticeKind](), reflect.TypeFor[agent.Options](), reflect.TypeFor[agent.Page](), reflect.TypeFor[agent.PageReason](),
		reflect.TypeFor[agent.Pager](), reflect.TypeFor[agent.Party](), reflect.TypeFor[agent.Persona](), reflect.TypeFor[agent.PersonaItem](),
		reflect.TypeFor[agent.PersonaPolicy](), reflect.TypeFor[agent.PersonaReport](), reflect.TypeFor[agent.UserPolicy](),
		reflect.TypeFor[agent.PurposeVerdict](), reflect.TypeFor[agent.Question](), reflect.TypeFor[agent.RedirectError](),
		reflect.TypeFor[agent.RefReport](), reflect.TypeFor[agent.Reply](), reflect.TypeFor[agent.CallResult](), reflect.TypeFor[agent.Session](),
		reflect.TypeFor[agent.SiteRef](), reflect.TypeFor[agent.StandingRule](), reflect.TypeFor[agent.Subject](),
		reflect.TypeFor[agent.Tool](), reflect.TypeFor[agent.Transfer](), reflect.TypeFor[agent.UntrustedText](),
		reflect.TypeFor[agent.User](), reflect.TypeFor[agent.Advice](), reflect.TypeFor[agent.Definition](), reflect.TypeFor[agent.Remedy](), reflect.TypeFor[agent.Vendor](), reflect.TypeFor[agent.Value](), reflect.TypeFor[agent.Verb](), reflect.TypeFor[agent.WebPage](),
		reflect.TypeFor[agent.Weight](),
	}, map[string]any{
		"Advise": agent.Advise, "ErrorText": agent.ErrorText, "New": agent.New,
		"NewLedger": agent.NewLedger, "VerifyLedger": agent.VerifyLedger,
	})
}

// TestUnmade uses what nothing made, with arguments that are right: each use says what
// is missing.
func TestUnmade(t *testing.T) {
	const origin = "https://shop.example"
	ctx, decision := t.Context(), lookleap.ConsentDecision{}
	uses := map[string]error{
		"tool":       second(agent.Tool{}.Call(ctx, nil)),
		"nil-host":   second(agent.New(nil, agent.Options{}).NewSession(agent.User{})),
		"zero-agent": second(new(agent.Agent).NewSession(agent.User{})),
		"nil-agent":  second((*agent.Agent)(nil).NewSession(agent.User{})),
		"no-ledger":  second(agent.Filter{}.Export(ctx, nil, io.Discard)),
		"nil-remove": (*agent.UserPolicy)(nil).Remove("email", "*"),
		"nil-rules":  (*agent.UserPolicy)(nil).Set(agent.StandingRule{Field: "email", Domain: "*"}),
	}
	for kind, s := range map[string]*agent.Session{"nil": nil, "zero": {}} {
		for name, err := range map[string]error{
			"open": second(s.Open(ctx, origin)), "discover": second(s.Discover(ctx, origin)), "forget-discovery": s.ForgetDiscovery(ctx, origin),
			"resume": second(s.Resume(ctx, nil, decision)), "resume-transfer": s.ResumeTransfer(ctx, nil, decision),
			"resume-pager": second(s.ResumePager(ctx, nil, decision)), "refuse": s.RefuseDomain(ctx, "shop.example"),
			"allow": s.AllowDomain(ctx, "shop.example"), "forget": second(s.Forget(ctx, "shop.example")), "consents": second(s.Consents(ctx)),
			"withdraw": second(s.Withdraw(ctx, "id")), "allowed": s.Allowed(agent.Inform{Usage: anml.UsageTrain}, anml.UsageNone, time.Time{}),
			"close":  s.Close(),
			"ledger": second(agent.Filter{}.Export(ctx, s.Ledger(), io.Discard)),
		} {
			uses[kind+"-session-"+name] = err
		}
	}
	for kind, p := range map[string]*agent.Page{"nil": nil, "zero": {}} {
		uses[kind+"-page-do"] = second(p.Do(ctx, agent.Call{Action: "order"}))
		uses[kind+"-page-transfer"] = p.AuthorizeTransfer(ctx, agent.Transfer{Action: "order", Field: "email"})
		uses[kind+"-page-medium"] = second(p.LoadMedium(ctx, agent.Medium{URL: origin + "/logo.png"}))
		uses[kind+"-page-allowed"] = p.Allowed(anml.Site{}, "", anml.Node{}, anml.UsageNone)
		uses[kind+"-page-pager"] = second(p.Pager().Next(ctx, agent.PageWanted))
	}
	for kind, l := range map[string]*agent.Ledger{"nil": nil, "zero": {}} {
		uses[kind+"-ledger-append"] = l.Append(ctx, agent.Entry{Kind: agent.EntryDisclosed})
		uses[kind+"-ledger-entries"] = second(agent.Filter{}.Export(ctx, l, io.Discard))
		uses[kind+"-ledger-prune"] = second(l.Prune(ctx, time.Time{}))
	}
	for name, err := range uses {
		t.Run("O27/reject-"+name, func(t *testing.T) {
			hasCode(t, err, lookleap.CodeUsage)
			if strings.Contains(name, "-page-") && strings.Contains(err.Error(), "there is no session") {
				t.Errorf("what is missing is a page: %v", err)
			}
		})
	}
}
