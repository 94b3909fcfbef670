package adapter_test

import (
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml/agent"
	"github.com/lookleap/lookleap/contrib/internal/adapter"
	"github.com/lookleap/lookleap/lookleaptest"
	"github.com/lookleap/lookleap/lookleaptest/booking"
)

func TestOpen(t *testing.T) {
	net := lookleaptest.NewInternet()
	t.Cleanup(net.Close)
	net.Site("ferries.example").Handle("*", booking.New(net.Clock().Now))
	net.Site("other.example")
	host := net.Host()
	page, err := adapter.Open(t.Context(), host, "https://ferries.example", map[string]string{"email": "kim@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	r, err := page.Do(t.Context(), agent.Call{Action: "search", Args: map[string]string{"from": "harbour", "to": "island"}})
	if err != nil || len(r.Page.Tools()) == 0 || r.Page.Session() != page.Session() {
		t.Errorf("%+v, %v", r, err)
	}
	if page, err := adapter.Open(t.Context(), host, "https://other.example", nil); page != nil || lookleap.CodeOf(err) != agent.CodeNoANML {
		t.Errorf("%v, %v", page, err)
	}
}
