package booking

import (
	"net/url"
	"strconv"
	"time"

	"github.com/lookleap/lookleap/anml"
)

// Every page shows the same four steps; which one is current is its context.
func service(title, step string) *anml.Builder {
	b := anml.NewService(title)
	b.Lang("en")
	b.Context(step)
	status := anml.StepCompleted // of the steps before the current one
	at := func(id string) anml.StepStatus {
		if id == step {
			status = anml.StepPending
			return anml.StepCurrent
		}
		return status
	}
	b.Step("search", "Search", at("search")).Action("search").Next("select")
	b.Step("select", "Select a trip", at("select")).Next("pay").Required()
	b.Step("pay", "Say who travels", at("pay")).Next("confirm").Required()
	b.Step("confirm", "Confirm", at("confirm")).Required()
	search := b.Action("search", "GET", "/trips").Description("find trips")
	for _, end := range []string{"from", "to"} {
		search.Param(end, anml.TypeEnum).Required().Option("harbour", "Harbour").Option("island", "Island")
	}
	return b
}

func homeDocument() *anml.Builder {
	b := service("Harbour Ferries", "search")
	b.TTL(10 * time.Minute)
	b.DisplayName("Harbour Ferries")
	b.Inform("Trips are sold until five minutes before they leave.").
		Confidentiality(anml.Public).Usage(anml.UsageCache).TTL(5 * time.Minute)
	b.Persona().Tone("friendly").Prefer("ferry").Avoid("boat")
	b.Body().Text("Ferries between the harbour and the island, every two hours.")
	return b
}

func tripsDocument(q url.Values, found []*trip, page int) *anml.Builder {
	b := service("Trips", "select")
	b.TTL(time.Minute)
	reservable(b)
	from := min((page-1)*pageSize, len(found))
	to := min(from+pageSize, len(found))
	data := b.Body().Data("trips", "Trips")
	for _, t := range found[from:to] {
		item(data, t)
	}
	var next, prev string
	if to < len(found) {
		next = trips(q, page+1)
	}
	if page > 1 {
		prev = trips(q, page-1)
	}
	b.Body().Nav(next, prev, len(found))
	return b
}

// reservable adds the action that reserves. It permits nine seats, of which the
// service takes four: what only a service can know comes back as a 422.
func reservable(b *anml.Builder) {
	reserve := b.Action("reserve", "POST", "/bookings").Confirm(true).Description("reserve seats on a trip")
	reserve.Param("trip", anml.TypeString).Required().Pattern("t[0-9]{1,3}")
	reserve.Param("seats", anml.TypeNumber).Required().Min("1").Max("9")
}

func trips(q url.Values, page int) string {
	return "/trips?" + url.Values{"from": q["from"], "to": q["to"], "page": {strconv.Itoa(page)}}.Encode()
}

func item(data *anml.DataBuilder, t *trip) {
	i := data.Item(t.id)
	i.Field("departs", anml.TypeDateTime, t.departs)
	i.Field("price", anml.TypeString, t.price)
	i.Field("seats", anml.TypeNumber, t.seats)
}

// payDocument asks who travels. Each booking has an endpoint of its own, which
// an agent cannot guess and need not load again.
func payDocument(b *Booking, again string) *anml.Builder {
	d := service("Who travels?", "pay")
	d.Rule("fn", anml.ExplicitConsent)
	d.Rule("email", anml.ExplicitConsent).ValidFor(consentLife)
	d.Rule("tel", anml.ExplicitConsent)
	d.Action("pay", "POST", "/bookings/"+b.Token+"/pay").Confirm(true).Description("pay for the seats")
	d.Action("cancel", "DELETE", "/bookings/"+b.Token).Confirm(false).Idempotent(true).Description("give the seats back")
	if again != "" {
		d.Status("consent", anml.ResultError, again)
	}
	d.Ask("fn", "pay", "to print it on the ticket").Required()
	d.Ask("email", "pay", "to send the ticket").Required()
	d.Ask("tel", "pay", "to call you when the trip is cancelled")
	item(d.Body().Data("trips", "Your trip"), b.trip)
	return d
}

func confirmDocument(b *Booking) *anml.Builder {
	d := service("Confirm", "confirm")
	d.Status("paid", anml.ResultPartial, "Confirm to get the ticket.")
	d.Action("confirm", "POST", "/bookings/"+b.Token+"/confirm").
		Confirm(true).Idempotent(true).Description("confirm the booking")
	d.Action("cancel", "DELETE", "/bookings/"+b.Token).Confirm(false).Idempotent(true).Description("give the seats back")
	item(d.Body().Data("trips", "Your trip"), b.trip)
	return d
}

func doneDocument(b *Booking) *anml.Builder {
	d := service("Booked", "confirm")
	d.Status("booked", anml.ResultSuccess, "The trip is booked.")
	d.Inform("Booking number " + b.Number).Confidentiality(anml.Private).Usage(anml.UsageStore)
	item(d.Body().Data("trips", "Your trip"), b.trip)
	return d
}

func stateDocument(b *Booking) *anml.Builder {
	switch b.State {
	case "reserved":
		return payDocument(b, "No traveller was named yet.")
	case "paid":
		return confirmDocument(b)
	}
	return doneDocument(b)
}

func soldOutDocument(trip string, all []*trip) *anml.Builder {
	d := service("Sold out", "select")
	d.Status("sold-out", anml.ResultError, "Not enough seats are left on "+trip+".")
	reservable(d)
	data := d.Body().Data("trips", "Trips that are left")
	for _, t := range all {
		if t.seats > 0 {
			item(data, t)
		}
	}
	return d
}
