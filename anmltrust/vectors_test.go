package anmltrust_test

import (
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/internal/test/vectors"
)

// vector is one decision, with nothing in it that is ours alone.
type vector struct {
	Name        string           `json:"name"`
	Requirement string           `json:"requirement"` // row of the decision table
	URL         string           `json:"url"`         // that served the document
	Site        string           `json:"site"`        // as the document claims it
	Now         time.Time        `json:"now"`
	DNS         *vectorDNS       `json:"dns,omitempty"`
	Exchanges   []vectorExchange `json:"exchanges,omitempty"`
	Tier        anmltrust.Tier   `json:"tier"`
	Scope       anmltrust.Scope  `json:"scope"`
	Reason      lookleap.Code    `json:"reason"`
}

type vectorDNS struct {
	Outcome anmltrust.DNSOutcome `json:"outcome"`
	Texts   []string             `json:"texts,omitempty"`
	Seconds int                  `json:"ttl"`
	DNSSEC  lookleap.DNSSEC      `json:"dnssec"`
}

type vectorExchange struct {
	Mechanism anmltrust.Mechanism `json:"mechanism"`
	URL       string              `json:"url"`
	Status    int                 `json:"status,omitempty"`
	MediaType string              `json:"mediaType,omitempty"`
	Body      string              `json:"body,omitempty"`
	Failure   anmltrust.Failure   `json:"failure,omitempty"`
}

// claimed returns the arguments of Decide.
func (v vector) claimed() (anmltrust.Claim, anmltrust.Evidence) {
	var ev anmltrust.Evidence
	if v.DNS != nil {
		ev.DNS = &anmltrust.DNSEvidence{
			Name: "_anml." + v.Site, Outcome: v.DNS.Outcome, Texts: v.DNS.Texts, TTL: time.Duration(v.DNS.Seconds) * time.Second, DNSSEC: v.DNS.DNSSEC, At: v.Now,
		}
	}
	for _, x := range v.Exchanges {
		ev.Exchanges = append(ev.Exchanges, anmltrust.Exchange{
			Mechanism: x.Mechanism, URL: x.URL, At: v.Now, Status: x.Status, MediaType: x.MediaType, Body: []byte(x.Body), Failure: x.Failure,
		})
	}
	return anmltrust.Claim{URL: v.URL, Site: v.Site, Form: anmltrust.SiteElement}, ev
}

// agrees reports whether the case decides as it says.
func (v vector) agrees(t *testing.T) bool {
	a, err := anmltrust.Decide(func() (anmltrust.Claim, anmltrust.Evidence, time.Time) {
		c, ev := v.claimed()
		return c, ev, v.Now
	}())
	verdict := verdictOf(t, a, err)
	if row := anmltrust.Row(verdict); row != v.Requirement && !remembered[v.Requirement] {
		return false
	}
	if a == nil {
		return v.Tier == anmltrust.Unlisted && v.Scope == 0 && verdict.Code == v.Reason
	}
	return a.Tier == v.Tier && a.Scope == v.Scope && a.Reason == v.Reason
}

// remembered are the rows that depend on more than a claim and evidence, which is all that Decide knows:
// on what was found out before, or on rules.
var remembered = map[string]bool{"B2": true, "C1a": true, "E1": true, "E6": true, "L2": true, "M0": true}

// TestVectors decides the published cases: by the claim and the evidence alone.
func TestVectors(t *testing.T) {
	rows := map[string]bool{}
	granted := 0
	file := vectors.Open[vector](t, "decisions.json", anmltrust.Draft)
	for i, v := range file.Cases {
		if *vectors.Update {
			c, ev := v.claimed()
			a, err := anmltrust.Decide(c, ev, v.Now)
			if v.Tier, v.Scope, v.Reason = anmltrust.Unlisted, 0, verdictOf(t, a, err).Code; a != nil {
				v.Tier, v.Scope = a.Tier, a.Scope
			}
			file.Cases[i] = v
		}
		rows[v.Requirement] = true
		if v.Tier != anmltrust.Unlisted {
			granted++
		}
		t.Run(v.Name, func(t *testing.T) {
			if !v.agrees(t) {
				c, ev := v.claimed()
				a, err := anmltrust.Decide(c, ev, v.Now)
				t.Errorf("want tier %d %s, got\n%s", v.Tier, v.Reason, verdictOf(t, a, err))
			}
		})
	}
	if *vectors.Update {
		if err := file.Write("decisions.json"); err != nil {
			t.Fatal(err)
		}
	}
	if len(rows) < 40 || granted < 10 {
		t.Errorf("%d rows, %d granted", len(rows), granted)
	}
}
