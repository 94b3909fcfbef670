// Package adaptertest is the scene and the common cases of the tests of the adapters for agent
// frameworks below contrib: a session on an internet in the process, at the step before a purchase.
package adaptertest

import (
	"fmt"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anml/agent"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/lookleaptest"
	"github.com/lookleap/lookleap/lookleaptest/booking"
)

// User is the id of the user of a [Scene].
const User = "kim"

// Scene is a booking service and the page on which its user can reserve a trip.
type Scene struct {
	Service *booking.Service
	Net     *lookleaptest.Internet
	Host    *lookleap.Host // with a prompter that suspends
	Page    *agent.Page
}

// NewScene returns a scene.
func NewScene(t testing.TB) *Scene {
	t.Helper()
	net := lookleaptest.NewInternet()
	t.Cleanup(func() { net.Close() })
	s := &Scene{Service: booking.New(net.Clock().Now), Net: net, Host: net.Host()}
	net.Site("ferries.example").Handle("*", s.Service)
	s.Host.Prompter, s.Host.Plans = lookleap.SuspendingPrompter{}, lookleap.NewMemoryStore()
	s.Page = s.Open(t, "https://ferries.example")
	r, err := s.Page.Do(t.Context(), agent.Call{Action: "search", Args: map[string]string{"from": "harbour", "to": "island"}})
	if err != nil {
		t.Fatal(err)
	}
	s.Page = r.Page
	return s
}

// Open returns the page of a site, in the session of the scene if there is one.
func (s *Scene) Open(t testing.TB, site string) *agent.Page {
	t.Helper()
	session := s.Page.Session()
	if session == nil {
		var err error
		if session, err = agent.New(s.Host, agent.Options{}).NewSession(agent.User{ID: User}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = session.Close() })
	}
	page, err := session.Discover(t.Context(), site)
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// Serve opens an ANML document with these sections, served by the site, which the other sites have
// authorized to speak for them.
func (s *Scene) Serve(t testing.TB, site, sections string, others ...string) *agent.Page {
	t.Helper()
	now := s.Net.Clock().Now().UTC()
	for _, other := range others {
		s.Net.Name("_anml." + other).TXT("v=anml1;manifest=https://" + other + "/.well-known/anml-trust")
		s.Net.Site(other).File("/.well-known/anml-trust", anmltrust.ManifestMediaType, fmt.Sprintf(
			`{"version":"1.0","site":%q,"issued":%q,"expires":%q,"authorized-domains":[{"domain":%q,"tier":2,"scope":["interact","knowledge"]}]}`,
			other, now.Add(-time.Hour).Format(time.RFC3339), now.Add(time.Hour).Format(time.RFC3339), site))
	}
	s.Net.Site(site).File("/anml", anml.MediaTypeXML, `<anml xmlns="`+anml.Namespace+`" version="1.0" role="service">`+sections+`</anml>`)
	page, err := s.Page.Session().Open(t.Context(), "https://"+site+"/anml")
	if err != nil {
		t.Fatal(err)
	}
	return page
}
