// Package adaptertest is the scene of the tests of the adapters for agent frameworks below
// contrib: a session on an internet in the process, at the step before a purchase.
package adaptertest

import (
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml/agent"
	"github.com/lookleap/lookleap/lookleaptest"
	"github.com/lookleap/lookleap/lookleaptest/booking"
)

// Ferries returns a booking service and the page on which a user can reserve a trip. The
// prompter asks that user.
func Ferries(t testing.TB, prompter lookleap.ConsentPrompter) (*booking.Service, *agent.Page) {
	t.Helper()
	net := lookleaptest.NewInternet()
	t.Cleanup(func() { net.Close() })
	service := booking.New(net.Clock().Now)
	net.Site("ferries.example").Handle("*", service)
	host := net.Host()
	host.Prompter = prompter
	session, err := agent.New(host, agent.Options{}).NewSession(agent.User{ID: "kim"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	page, err := session.Discover(t.Context(), "https://ferries.example")
	if err != nil {
		t.Fatal(err)
	}
	r, err := page.Do(t.Context(), agent.Call{Action: "search", Args: map[string]string{"from": "harbour", "to": "island"}})
	if err != nil {
		t.Fatal(err)
	}
	return service, r.Page
}
