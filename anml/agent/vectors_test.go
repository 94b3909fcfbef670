package agent

import (
	"context"
	"reflect"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/internal/vectors"
	"github.com/lookleap/lookleap/lookleaptest"
)

// decisionVector is a document, a user, and what becomes of each ask.
type decisionVector struct {
	Name        string            `json:"name"`
	Requirement string            `json:"requirement"`
	Document    string            `json:"document"`
	Profile     map[string]string `json:"profile"`
	Rules       []vectorRule      `json:"rules"`
	Decisions   []vectorDecision  `json:"decisions"`
}

type vectorRule struct {
	Field  string `json:"field"`
	Effect string `json:"effect"`
	Domain string `json:"domain"`
}

type vectorDecision struct {
	Field  string        `json:"field"`
	Verb   string        `json:"verb"`
	Basis  string        `json:"basis,omitempty"`
	Reason anml.Reason   `json:"reason,omitempty"`
	Code   lookleap.Code `json:"code"`
}

// TestVectors decides the published cases, from both serializations alike.
func TestVectors(t *testing.T) {
	file := vectors.Open[decisionVector](t, "decisions.json", Draft)
	if len(file.Cases) < 20 {
		t.Fatalf("%d cases", len(file.Cases))
	}
	verbs := map[string]bool{}
	for i, c := range file.Cases {
		asXML := c.decide(t, c.Document)
		doc, err := anml.ParseXML([]byte(c.Document), anml.ReadOptions{})
		must(t, err)
		asJSON, err := anml.MarshalJSON(doc, anml.WriteOptions{Verbatim: true})
		must(t, err)
		if *vectors.Update {
			file.Cases[i].Decisions = asXML
			c.Decisions = asXML
		}
		side := "accept"
		for _, d := range c.Decisions {
			verbs[d.Verb] = true
			if d.Verb != VerbAllow.String() {
				side = "reject"
			}
		}
		t.Run(c.Requirement+"/"+side+"-vector-"+c.Name, func(t *testing.T) {
			if !reflect.DeepEqual(asXML, c.Decisions) || len(c.Decisions) == 0 {
				t.Errorf("got %+v, want %+v", asXML, c.Decisions)
			}
			if got := c.decide(t, string(asJSON)); !reflect.DeepEqual(got, c.Decisions) {
				t.Errorf("from JSON: %+v, want %+v", got, c.Decisions)
			}
		})
	}
	if !verbs["allow"] || !verbs["prompt"] || !verbs["refuse"] {
		t.Errorf("the cases show %v only", verbs)
	}
	if *vectors.Update {
		must(t, file.Write("decisions.json"))
	}
}

func (c decisionVector) decide(t *testing.T, document string) (out []vectorDecision) {
	t.Helper()
	net := newLab(t)
	user := User{Profile: Fields{}, Policy: &UserPolicy{}}
	for field, text := range c.Profile {
		user.Profile.(Fields)[field] = Value{Text: text}
	}
	for _, r := range c.Rules {
		effect := map[string]Effect{"allow": EffectAllow, "deny": EffectDeny}[r.Effect]
		must(t, user.Policy.Set(StandingRule{Field: r.Field, Domain: r.Domain, Effect: effect}))
	}
	host := net.StubHost()
	host.Prompter = lookleaptest.NewPrompter(t)
	session, err := New(host, Options{}).NewSession(user)
	must(t, err)
	defer session.Close()
	mediaType := anml.MediaTypeXML
	if document[0] == '{' {
		mediaType = anml.MediaTypeJSON
	}
	page, err := session.Open(context.Background(), net.Site("shop.example").File("/page", mediaType, document).URL("/page"))
	must(t, err)
	for _, d := range page.Decide(context.Background()) {
		basis := ""
		if d.Verb != VerbRefuse {
			basis = d.Basis.String()
		}
		out = append(out, vectorDecision{d.Field, d.Verb.String(), basis, d.Reason, d.Code})
	}
	return out
}
