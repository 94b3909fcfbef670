package agent_test

import (
	"slices"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anml/agent"
	"github.com/lookleap/lookleap/internal/lab"
	"github.com/lookleap/lookleap/internal/lab/labprompt"
	"github.com/lookleap/lookleap/lookleaptest/booking"
)

// TestBooking books a trip from the first page to the ticket, in both
// serializations, and meets what may go wrong on the way.
func TestBooking(t *testing.T) {
	for _, format := range []anml.Format{anml.XML, anml.JSON} {
		t.Run(format.String(), func(t *testing.T) {
			net := lab.ForTest(t)
			service := booking.New(net.Clock().Now)
			net.Site("ferries.example").Handle("*", service)
			host := net.Host()
			host.Prompter = labprompt.New(t, labprompt.Approve())
			session, err := agent.New(host, agent.Options{Format: &format}).NewSession(agent.User{Profile: agent.Fields{
				"fn": {Text: "Ada Example"}, "email": {Text: "ada@example.org"}, "tel": {Text: "+44 20 7946 0000"},
			}})
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			page, err := session.Discover(t.Context(), "https://ferries.example")
			if err != nil {
				t.Fatal(err)
			}
			do := func(want lookleap.Code, action string, args map[string]string) *agent.CallResult {
				t.Helper()
				net.Clock().Advance(10 * time.Second)
				r, err := page.Do(t.Context(), agent.Call{Action: action, Args: args})
				if lookleap.CodeOf(err) != want {
					t.Fatalf("%s: got %v, want %s", action, err, want)
				}
				if r.Page != nil {
					page = r.Page
				}
				return r
			}
			do(lookleap.CodeOK, "search", map[string]string{"from": "harbour", "to": "island"})
			if at := page.Flow("").Current; at != "select" {
				t.Errorf("after searching it is at %q", at)
			}
			trips := page
			if r := do(agent.CodeUnprocessable, "reserve", map[string]string{"trip": "t1", "seats": "9"}); r.Problem == nil && r.Page == nil {
				t.Errorf("nothing says which seats there are: %+v", r)
			}
			page = trips
			service.SellOut("t2")
			if r := do(lookleap.CodeConflict, "reserve", map[string]string{"trip": "t2", "seats": "1"}); r.Page == nil {
				t.Error("a conflict brings no new state")
			}
			page = trips
			do(lookleap.CodeOK, "reserve", map[string]string{"trip": "t1", "seats": "2"})
			do(lookleap.CodeOK, "pay", nil)
			do(lookleap.CodeOK, "confirm", nil)
			booked := service.Bookings()
			if len(booked) != 1 || booked[0].State != "confirmed" || booked[0].Told["email"] != "ada@example.org" {
				t.Fatalf("%+v", booked)
			}
			var told []string
			for e, err := range session.Ledger().Entries(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
				if e.Kind == agent.EntryDisclosed {
					told = append(told, e.Field)
				}
			}
			if !slices.Equal(told, []string{"fn", "email", "tel"}) {
				t.Errorf("the ledger knows of %q", told)
			}
			service.Maintain(time.Hour)
			do(lookleap.CodeUnavailable, "search", map[string]string{"from": "harbour", "to": "island"})
		})
	}
}
