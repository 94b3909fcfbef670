package anmltrust_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/lookleaptest"
)

var everySection = append(anmltrust.AllSections.Sections(), anmltrust.State, anmltrust.Status, "nav", "Body", "")

func scopeOf(s ...anmltrust.Section) anmltrust.Scope { return anmltrust.ScopeOf(s...) }

// permitted lists what an authorization of this tier and scope permits.
func permitted(tier anmltrust.Tier, scope anmltrust.Scope) (list []anmltrust.Section) {
	a := &anmltrust.Authorization{Tier: tier, Scope: scope}
	for _, s := range everySection {
		if a.Permits(s, start) {
			list = append(list, s)
		}
	}
	return list
}

func TestPermits(t *testing.T) {
	for _, c := range []struct {
		id, name string
		tier     anmltrust.Tier
		scope    anmltrust.Scope
		want     string
	}{
		{"ANML-12.1-12", "accept-three", anmltrust.Display, scopeOf(anmltrust.Aesthetic, anmltrust.Body, anmltrust.Knowledge), "[aesthetic knowledge body]"},
		{"ANML-12.1-13", "accept-body", anmltrust.Display, scopeOf(anmltrust.Body), "[body]"},
		{"ANML-12.1-13", "reject-empty", anmltrust.Display, 0, "[]"},
		{"ANML-12.1-14", "accept-cut", anmltrust.Display, scopeOf(anmltrust.Body, anmltrust.Persona, anmltrust.Interact, anmltrust.Constraints), "[body]"},
		{"ANML-12.1-16", "accept-two", anmltrust.Full, scopeOf(anmltrust.Persona, anmltrust.Body), "[persona body]"},
		{"ANML-12.1-16", "accept-the-others", anmltrust.Full, scopeOf(anmltrust.Head, anmltrust.Aesthetic, anmltrust.Knowledge, anmltrust.Interact, anmltrust.Constraints, anmltrust.Footer), "[head aesthetic knowledge interact constraints footer]"},
		{"ANML-12.1-16", "reject-empty", anmltrust.Full, 0, "[]"},
		{"ANML-12.1-17", "reject-interact-at-1", anmltrust.Display, scopeOf(anmltrust.Interact), "[]"},
		{"ANML-12.1-17", "accept-body-at-2", anmltrust.Full, scopeOf(anmltrust.Body), "[body]"},
		{"ANML-12.1-18", "accept-body-alone", anmltrust.Display, scopeOf(anmltrust.Head, anmltrust.Footer, anmltrust.Body), "[body]"},
		{"ANML-12.1-12", "reject-the-other-five", anmltrust.Display, anmltrust.AllSections, "[aesthetic knowledge body]"},
		{"ANML-12.1-14", "accept-all-cut", anmltrust.Display, anmltrust.AllSections, "[aesthetic knowledge body]"},
		{"ANML-12.1-17", "reject-all-beyond-1", anmltrust.Display, scopeOf(anmltrust.Head, anmltrust.Persona, anmltrust.Interact, anmltrust.Constraints, anmltrust.Footer), "[]"},
		{"ANML-12.1-17", "reject-all-at-0", anmltrust.Unlisted, anmltrust.AllSections, "[]"},
		{"ANML-12.1-19", "reject-beyond-display", anmltrust.Display, anmltrust.AllSections, "[aesthetic knowledge body]"},
		{"ANML-12.1-19", "reject-unknown-tier", anmltrust.Self + 1, anmltrust.AllSections, "[]"},
		{"ANML-12.8-09", "reject-all-at-1", anmltrust.Display, anmltrust.AllSections, "[aesthetic knowledge body]"},
		{"H08", "accept-body", anmltrust.Display, scopeOf(anmltrust.Persona, anmltrust.Interact, anmltrust.Constraints, anmltrust.Body), "[body]"},
		{"ANML-12.1-19", "reject-tier-0", anmltrust.Unlisted, anmltrust.AllSections, "[]"},
		{"ANML-12.1-19", "accept-self", anmltrust.Self, 0, "[head persona aesthetic knowledge interact constraints body footer state status nav Body ]"},
		{"ANML-12.1-19", "accept-never-state", anmltrust.Full, anmltrust.AllSections, "[head persona aesthetic knowledge interact constraints body footer]"},
	} {
		t.Run(c.id+"/"+c.name, func(t *testing.T) {
			if got := fmt.Sprint(permitted(c.tier, c.scope)); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
	t.Run("ANML-12.1-15/reject-every-scope", func(t *testing.T) {
		for scope := range 256 {
			for _, s := range permitted(anmltrust.Display, anmltrust.Scope(scope)) {
				if s != anmltrust.Aesthetic && s != anmltrust.Knowledge && s != anmltrust.Body {
					t.Fatalf("tier 1 permits %s", s)
				}
			}
		}
	})
	t.Run("ANML-12.1-19/accept-permits-is-scope-and-ceiling", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			tier, scope := anmltrust.Tier(rapid.IntRange(0, 2).Draw(t, "tier")), anmltrust.Scope(rapid.Uint8().Draw(t, "scope"))
			if got := anmltrust.ScopeOf(permitted(tier, scope)...); got != scope&anmltrust.Ceiling(tier) {
				t.Fatalf("%s", got)
			}
		})
	})
	t.Run("ANML-12.1-12/reject-informs", func(t *testing.T) {
		display := &anmltrust.Authorization{Tier: anmltrust.Display, Scope: anmltrust.AllSections}
		for confidentiality, want := range map[string]bool{"": true, "public": true, "restricted": false, "private": false, "Public": false, "x": false} {
			if display.PermitsInform(confidentiality, start) != want {
				t.Errorf("tier 1 and %q: %v", confidentiality, !want)
			}
		}
		if display.PermitsAsk(start) {
			t.Error("tier 1 permits an ask")
		}
		full := &anmltrust.Authorization{Tier: anmltrust.Full, Scope: scopeOf(anmltrust.Knowledge)}
		if !full.PermitsInform("private", start) || !full.PermitsAsk(start) {
			t.Error("tier 2 does not permit its knowledge")
		}
	})
	t.Run("ANML-12.1-01/accept-tiers", func(t *testing.T) {
		var zero anmltrust.Tier
		if zero != anmltrust.Unlisted || fmt.Sprint(zero, anmltrust.Display, anmltrust.Full, anmltrust.Self, anmltrust.Tier(9)) != "unlisted display full self unlisted" {
			t.Error("tiers")
		}
	})
	t.Run("ANML-12.5-28/reject-expired", func(t *testing.T) {
		a := &anmltrust.Authorization{Tier: anmltrust.Full, Scope: anmltrust.AllSections, Expires: start}
		for now, want := range map[time.Time]bool{start.Add(-1): true, start: false} {
			if a.Holds(now) != want || a.Permits(anmltrust.Body, now) != want || a.PermitsInform("", now) != want || a.PermitsAsk(now) != want ||
				(anmltrust.Attribute(a, anmltrust.TrustElement, anmltrust.Body, now) == anmltrust.OfSite) != want || (anmltrust.Confirm(a, nil, anmltrust.Body, now) == nil) != want {
				t.Errorf("at %s it is in force: %v", now, !want)
			}
		}
		var none *anmltrust.Authorization
		if none.Permits(anmltrust.Body, start) || none.PermitsAsk(start) || none.PermitsInform("", start) || none.Holds(start) {
			t.Error("nothing permits something")
		}
	})
}

// TestAttribute is part X of the procedure, by the names of sections.
func TestAttribute(t *testing.T) {
	granted := func(tier anmltrust.Tier, s ...anmltrust.Section) *anmltrust.Authorization {
		return &anmltrust.Authorization{Tier: tier, Scope: scopeOf(s...), Expires: start.Add(time.Hour)}
	}
	const site, server, dropped = anmltrust.OfSite, anmltrust.OfServer, anmltrust.Dropped
	for _, c := range []struct {
		row, name string
		auth      *anmltrust.Authorization
		form      anmltrust.Form
		want      map[anmltrust.Section]anmltrust.Attribution
	}{
		{"ANML-12.1-10", "reject-five", nil, anmltrust.SiteElement, map[anmltrust.Section]anmltrust.Attribution{"persona": dropped, "aesthetic": dropped, "knowledge": dropped, "interact": dropped, "constraints": dropped}},
		{"ANML-12.5-18", "accept-two", granted(anmltrust.Full, "persona", "body"), anmltrust.TrustElement, map[anmltrust.Section]anmltrust.Attribution{"persona": site, "body": site, "head": server}},
		{"ANML-12.5-19", "accept-out-of-scope", granted(anmltrust.Full, "persona"), anmltrust.TrustElement, map[anmltrust.Section]anmltrust.Attribution{"interact": server, "knowledge": server, "constraints": server, "body": server, "state": server}},
		{"ANML-12.5-20", "reject-persona", granted(anmltrust.Full, "body"), anmltrust.TrustElement, map[anmltrust.Section]anmltrust.Attribution{"persona": dropped, "aesthetic": dropped}},
	} {
		t.Run(c.row+"/"+c.name, func(t *testing.T) {
			for section, want := range c.want {
				if got := anmltrust.Attribute(c.auth, c.form, section, start); got != want {
					t.Errorf("%s: %d, want %d", section, got, want)
				}
			}
		})
	}
}

// TestConfirm: what a fresh verification leaves of an action (rows X7, X8, X10).
func TestConfirm(t *testing.T) {
	for _, c := range []struct {
		id, name string
		prepare  func(*world)
		want     error
	}{
		{"ANML-13.4-06", "accept-fresh", func(w *world) { w.query(answer(2, "2026-06-20T00:00:00Z", "interact")) }, nil},
		{"ANML-13.4-08", "reject-revoked", func(w *world) { w.status(404) }, anmltrust.ErrTrustRevoked},
		{"ANML-13.4-08", "reject-unreachable", func(w *world) { w.status(500) }, anmltrust.ErrTrustUnverified},
		{"ANML-13.4-09", "accept-manifest-when-query-fails", func(w *world) { w.setRecord(both).secure().manifest(manifest(listed)).status(503) }, nil},
		{"ANML-13.4-09", "reject-manifest-grants-less", func(w *world) {
			w.setRecord(both).secure().manifest(manifest(entry("shop.example", 1, "interact"))).status(503)
		}, anmltrust.ErrTrustRevoked},
		{"H19", "reject-stale-cache", func(w *world) { w.status(404) }, anmltrust.ErrTrustRevoked},
		{"H19", "reject-offline", queryFault(lookleaptest.Reset()), anmltrust.ErrTrustUnverified},
	} {
		t.Run(c.id+"/"+c.name, func(t *testing.T) {
			w := newWorld(t, queryOnly).secure().query(answer(2, "2026-06-20T00:00:00Z", "interact"))
			w.granted(anmltrust.CodeQueryAuthorized)
			c.prepare(w)
			w.net.Journal().Clear()
			a, err := w.v.VerifyFresh(t.Context(), shopClaim)
			if got := anmltrust.Confirm(a, err, anmltrust.Interact, w.net.Clock().Now()); !errors.Is(got, c.want) || (got == nil) != (c.want == nil) {
				t.Errorf("%v, want %v", got, c.want)
			}
			if n := len(w.net.Journal().Queries("_anml.brand.example")); n == 0 {
				t.Error("the DNS was not asked again")
			}
		})
	}
}
