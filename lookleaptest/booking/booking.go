// Package booking is a small booking service that uses ANML, for tests and demonstrations
// of agents: search, select, pay, confirm. It is an [http.Handler], written with the
// builders of package anml, and responds in XML or JSON, as the client accepts.
//
//	ferries := booking.New(net.Clock().Now)
//	net.Site("ferries.example").Handle("*", ferries)
//
// Its resources are:
//
//	GET    /.well-known/anml      what the service offers
//	GET    /trips?from=&to=&page= a page of trips
//	POST   /bookings              reserve seats: a booking with a token of its own
//	POST   /bookings/{token}/pay  who travels: the answers to the asks
//	POST   /bookings/{token}/confirm
//	DELETE /bookings/{token}      cancel; may be repeated
//
// It does what the draft demands of services: it responds 409 with the new state if a trip
// is sold out, and 422 with their names to invalid values. It asks again for a consent that
// is too old.
package booking

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lookleap/lookleap/anml"
)

// consentLife is how long the service accepts a consent to the use of an e-mail address.
const consentLife = time.Hour

// pageSize is the number of trips on a page.
const pageSize = 3

// Service is one booking service. Its methods may be called at any time, also
// while it serves.
type Service struct {
	now func() time.Time
	mux *http.ServeMux

	mu       sync.Mutex
	trips    []*trip
	bookings map[string]*Booking
}

// trip is something to book.
type trip struct {
	id, from, to string
	departs      time.Time
	price        string // decimal
	seats        int    // free
}

// Booking is one reservation, and what its traveller disclosed.
type Booking struct {
	Token  string
	State  string            // reserved, paid, confirmed or cancelled
	Told   map[string]string // answers, by field
	Denied map[string]string // reasons of refusals, by field
	Number string            // once confirmed

	trip  *trip
	seats int
}

// New returns a service with seven trips from the harbour to the island. Now is its clock.
func New(now func() time.Time) *Service {
	s := &Service{now: now, mux: http.NewServeMux(), bookings: map[string]*Booking{}}
	first := now().UTC().Truncate(24 * time.Hour).Add(32 * time.Hour)
	for i := range 7 {
		s.trips = append(s.trips, &trip{
			id: fmt.Sprintf("t%d", i+1), from: "harbour", to: "island",
			departs: first.Add(time.Duration(i) * 2 * time.Hour), price: fmt.Sprintf("%d.50", 12+i), seats: 4,
		})
	}
	for pattern, respond := range map[string]http.HandlerFunc{
		"GET /.well-known/anml": func(w http.ResponseWriter, r *http.Request) {
			write(w, r, http.StatusOK, homeDocument())
		},
		"GET /trips":                     s.search,
		"POST /bookings":                 s.reserve,
		"POST /bookings/{token}/pay":     s.pay,
		"POST /bookings/{token}/confirm": s.confirm,
		"DELETE /bookings/{token}":       s.cancel,
	} {
		s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			s.mu.Lock()
			defer s.mu.Unlock()
			respond(w, r)
		})
	}
	return s
}

// SellOut takes the free seats of a trip.
func (s *Service) SellOut(trip string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trip(trip).seats = 0
}

// Bookings returns the reservations, sorted by token.
func (s *Service) Bookings() []Booking {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []Booking
	for _, b := range s.bookings {
		c := *b
		c.Told, c.Denied = maps.Clone(b.Told), maps.Clone(b.Denied)
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b Booking) int { return cmp.Compare(a.Token, b.Token) })
	return all
}

// trip returns a trip, or an empty one if it does not exist.
func (s *Service) trip(id string) *trip {
	if i := slices.IndexFunc(s.trips, func(t *trip) bool { return t.id == id }); i >= 0 {
		return s.trips[i]
	}
	return &trip{}
}

func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

func (s *Service) search(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	page, err := strconv.Atoi(cmp.Or(q.Get("page"), "1"))
	if err != nil || page < 1 {
		problem(w, r, http.StatusBadRequest, anml.Problem{Title: "No such page"})
		return
	}
	var found []*trip
	for _, t := range s.trips {
		if t.from == q.Get("from") && t.to == q.Get("to") && t.seats > 0 {
			found = append(found, t)
		}
	}
	write(w, r, http.StatusOK, tripsDocument(q, found, page))
}

func (s *Service) reserve(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		problem(w, r, http.StatusBadRequest, anml.Problem{Title: "The form cannot be read"})
		return
	}
	seats, err := strconv.Atoi(r.PostForm.Get("seats"))
	if err != nil || seats < 1 || seats > 4 {
		problem(w, r, http.StatusUnprocessableEntity, anml.Problem{
			Title: "The number of seats is wrong", Detail: "One to four seats can be booked at once.",
			Extensions: []anml.Extension{{Name: "field", Value: "seats"}},
		})
		return
	}
	t := s.trip(r.PostForm.Get("trip"))
	if t.seats < seats {
		write(w, r, http.StatusConflict, soldOutDocument(t.id, s.trips))
		return
	}
	t.seats -= seats
	b := &Booking{Token: strings.ToLower(rand.Text()), trip: t, seats: seats, State: "reserved"}
	s.bookings[b.Token] = b
	write(w, r, http.StatusOK, payDocument(b, ""))
}

// booking finds the booking of a request in one of these states, and answers the
// request when there is none.
func (s *Service) booking(w http.ResponseWriter, r *http.Request, states ...string) *Booking {
	b := s.bookings[r.PathValue("token")]
	switch {
	case b == nil || b.State == "cancelled":
		problem(w, r, http.StatusGone, anml.Problem{Title: "There is no such booking"})
		return nil
	case !slices.Contains(states, b.State):
		write(w, r, http.StatusConflict, stateDocument(b))
		return nil
	}
	return b
}

func (s *Service) pay(w http.ResponseWriter, r *http.Request) {
	said, err := read(r, s.now())
	if err != nil {
		problem(w, r, http.StatusBadRequest, anml.Problem{Title: "The answer is no agent response", Detail: err.Error()})
		return
	}
	b := s.booking(w, r, "reserved")
	switch {
	case b == nil:
	case said.missing != "":
		problem(w, r, http.StatusUnprocessableEntity, anml.Problem{
			Title: "Something is missing", Extensions: []anml.Extension{{Name: "field", Value: said.missing}},
		})
	case said.stale:
		write(w, r, http.StatusConflict, payDocument(b, "The consent to your e-mail address is too old: please ask again."))
	default:
		b.State, b.Told, b.Denied = "paid", said.told, said.denied
		write(w, r, http.StatusOK, confirmDocument(b))
	}
}

func (s *Service) confirm(w http.ResponseWriter, r *http.Request) {
	b := s.booking(w, r, "paid", "confirmed") // confirming is idempotent
	if b == nil {
		return
	}
	b.State, b.Number = "confirmed", "B-"+strings.ToUpper(b.Token[:6])
	write(w, r, http.StatusOK, doneDocument(b))
}

func (s *Service) cancel(w http.ResponseWriter, r *http.Request) {
	if b := s.bookings[r.PathValue("token")]; b != nil && b.State != "cancelled" {
		b.trip.seats += b.seats
		b.State, b.Told, b.Denied = "cancelled", nil, nil
	}
	d := anml.NewService("Cancelled")
	d.Status("cancelled", anml.ResultSuccess, "The seats were given back.")
	write(w, r, http.StatusOK, d)
}
