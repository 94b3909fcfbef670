package anmltrust_test

import (
	"encoding/json"
	"flag"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/internal/vectors"
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
	if a == nil {
		return v.Tier == anmltrust.Unlisted && v.Scope == 0 && verdict.Code == v.Reason
	}
	return a.Tier == v.Tier && a.Scope == v.Scope && a.Reason == v.Reason
}

// drawn collects vectors while TestProcedure runs.
var drawn = map[string]vector{}

// draw keeps the decision of a row's test, if it can be told without what is ours alone.
func draw(t *testing.T, a *anmltrust.Authorization, verdict *lookleap.Verdict) {
	var kept struct {
		Claim    anmltrust.Claim
		Evidence anmltrust.Evidence
	}
	if err := json.Unmarshal(verdict.Record, &kept); err != nil {
		t.Fatal(err)
	}
	row := anmltrust.Row(verdict)
	v := vector{Requirement: row, URL: kept.Claim.URL, Site: kept.Claim.Site, Now: verdict.CheckedAt.UTC().Truncate(time.Second), Reason: verdict.Code}
	if a != nil {
		v.Tier, v.Scope = a.Tier, a.Scope
	}
	if d := kept.Evidence.DNS; d != nil {
		v.DNS = &vectorDNS{d.Outcome, d.Texts, int(d.TTL / time.Second), d.DNSSEC}
	}
	size, plain := 0, true
	for _, x := range kept.Evidence.Exchanges {
		v.Exchanges = append(v.Exchanges, vectorExchange{x.Mechanism, x.URL, x.Status, x.MediaType, string(x.Body), x.Failure})
		size += len(x.Body)
		plain = plain && utf8.Valid(x.Body) // a vector holds text
	}
	v.Name = strings.ToLower(row) + "-" + path.Base(t.Name())
	if plain && size < 2000 && row != "" && v.agrees(t) {
		drawn[v.Name] = v
	}
}

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if *vectors.Update && code == 0 {
		cases := make([]vector, 0, len(drawn))
		for _, v := range drawn {
			cases = append(cases, v)
		}
		slices.SortFunc(cases, func(a, b vector) int { return strings.Compare(a.Name, b.Name) })
		seen := map[string]bool{}
		cases = slices.DeleteFunc(cases, func(v vector) bool { // many tests begin with the same grant
			v.Name = ""
			text, _ := json.Marshal(v)
			again := seen[string(text)]
			seen[string(text)] = true
			return again
		})
		file := vectors.File[vector]{Draft: anmltrust.Draft, Input: "a claim, what the DNS and the web said, and a time", Cases: cases}
		if err := file.Write("decisions.json"); err != nil {
			panic(err)
		}
	}
	os.Exit(code)
}

// TestVectors decides the published cases: by the claim and the evidence alone.
func TestVectors(t *testing.T) {
	rows := map[string]bool{}
	granted := 0
	for _, v := range vectors.Read[vector](t, "decisions.json", anmltrust.Draft) {
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
	if len(rows) < 40 || granted < 10 {
		t.Errorf("%d rows, %d granted", len(rows), granted)
	}
}
