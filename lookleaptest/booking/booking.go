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
// is sold out, 422 with their names to invalid values, and 429 or 503 with Retry-After to
// too many requests and during maintenance. It asks again for a consent that is too old.
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

// ConsentLife is how long the service accepts a consent to the use of an e-mail address.
const ConsentLife = time.Hour

// PageSize is the number of trips on a page.
const PageSize = 3

// Service is one booking service. Its methods may be called at any time, also
// while it serves.
type Service struct {
	now func() time.Time
	mux *http.ServeMux

	mu       sync.Mutex
	trips    []Trip
	bookings map[string]*Booking
	limit    int           // requests still taken; negative: any number
	wait     time.Duration // what a refused request is told to wait
	down     time.Duration // maintenance for so long; 0: none
}

// Trip is something to book.
type Trip struct {
	ID, From, To string
	Departs      time.Time
	Price        string // decimal
	Seats        int    // free
}

// Booking is one reservation, and what its traveller disclosed.
type Booking struct {
	Token  string
	Trip   string
	Seats  int
	State  string            // reserved, paid, confirmed or cancelled
	Told   map[string]string // answers, by field
	Denied map[string]string // reasons of refusals, by field
	Number string            // once confirmed
}

// New returns a service with seven trips from the harbour to the island. Now is its clock.
func New(now func() time.Time) *Service {
	s := &Service{now: now, mux: http.NewServeMux(), bookings: map[string]*Booking{}, limit: -1}
	first := now().UTC().Truncate(24 * time.Hour).Add(32 * time.Hour)
	for i := range 7 {
		s.trips = append(s.trips, Trip{
			ID: fmt.Sprintf("t%d", i+1), From: "harbour", To: "island",
			Departs: first.Add(time.Duration(i) * 2 * time.Hour), Price: fmt.Sprintf("%d.50", 12+i), Seats: 4,
		})
	}
	s.mux.HandleFunc("GET /.well-known/anml", s.home)
	s.mux.HandleFunc("GET /trips", s.search)
	s.mux.HandleFunc("POST /bookings", s.reserve)
	s.mux.HandleFunc("POST /bookings/{token}/pay", s.pay)
	s.mux.HandleFunc("POST /bookings/{token}/confirm", s.confirm)
	s.mux.HandleFunc("DELETE /bookings/{token}", s.cancel)
	return s
}

// SellOut takes the free seats of a trip.
func (s *Service) SellOut(trip string) { s.change(func() { s.trip(trip).Seats = 0 }) }

// Throttle accepts n more requests and then responds 429 with this Retry-After; 0 sends no
// Retry-After. A negative n accepts all requests again.
func (s *Service) Throttle(n int, wait time.Duration) { s.change(func() { s.limit, s.wait = n, wait }) }

// Maintain responds 503 with this Retry-After; 0 ends the maintenance.
func (s *Service) Maintain(wait time.Duration) { s.change(func() { s.down = wait }) }

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

func (s *Service) change(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// trip returns a trip, or an empty one if it does not exist. The caller holds s.mu.
func (s *Service) trip(id string) *Trip {
	for i := range s.trips {
		if s.trips[i].ID == id {
			return &s.trips[i]
		}
	}
	return &Trip{}
}

func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if wait, code := s.refusing(); code != 0 {
		if wait > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(int(wait/time.Second)))
		}
		problem(w, r, code, anml.Problem{Title: "Not now"})
		return
	}
	s.mux.ServeHTTP(w, r)
}

// refusing says whether the service takes no request now, and with what status.
func (s *Service) refusing() (wait time.Duration, code int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.down > 0:
		return s.down, http.StatusServiceUnavailable
	case s.limit == 0:
		return s.wait, http.StatusTooManyRequests
	case s.limit > 0:
		s.limit--
	}
	return 0, 0
}

func (s *Service) home(w http.ResponseWriter, r *http.Request) {
	write(w, r, http.StatusOK, homeDocument())
}

func (s *Service) search(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	page := 1
	if text := q.Get("page"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			problem(w, r, http.StatusBadRequest, anml.Problem{Title: "No such page"})
			return
		}
		page = n
	}
	s.mu.Lock()
	var found []Trip
	for _, t := range s.trips {
		if t.From == q.Get("from") && t.To == q.Get("to") && t.Seats > 0 {
			found = append(found, t)
		}
	}
	s.mu.Unlock()
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
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.trip(r.PostForm.Get("trip"))
	if t.Seats < seats {
		write(w, r, http.StatusConflict, soldOutDocument(t.ID, s.trips))
		return
	}
	t.Seats -= seats
	b := &Booking{Token: strings.ToLower(rand.Text()), Trip: t.ID, Seats: seats, State: "reserved"}
	s.bookings[b.Token] = b
	write(w, r, http.StatusOK, payDocument(b, *t, ""))
}

// booking finds the booking of a request in one of these states, and answers the
// request when there is none. The lock is held.
func (s *Service) booking(w http.ResponseWriter, r *http.Request, states ...string) *Booking {
	b := s.bookings[r.PathValue("token")]
	switch {
	case b == nil || b.State == "cancelled":
		problem(w, r, http.StatusGone, anml.Problem{Title: "There is no such booking"})
		return nil
	case !slices.Contains(states, b.State):
		write(w, r, http.StatusConflict, stateDocument(b, *s.trip(b.Trip)))
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
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.booking(w, r, "reserved")
	if b == nil {
		return
	}
	if said.missing != "" {
		problem(w, r, http.StatusUnprocessableEntity, anml.Problem{
			Title: "Something is missing", Extensions: []anml.Extension{{Name: "field", Value: said.missing}},
		})
		return
	}
	if said.stale {
		write(w, r, http.StatusConflict, payDocument(b, *s.trip(b.Trip),
			"The consent to your e-mail address is too old: please ask again."))
		return
	}
	b.State, b.Told, b.Denied = "paid", said.told, said.denied
	write(w, r, http.StatusOK, confirmDocument(b, *s.trip(b.Trip)))
}

func (s *Service) confirm(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.booking(w, r, "paid", "confirmed") // confirming is idempotent
	if b == nil {
		return
	}
	if b.State == "paid" {
		b.State, b.Number = "confirmed", "B-"+strings.ToUpper(b.Token[:6])
	}
	write(w, r, http.StatusOK, doneDocument(b, *s.trip(b.Trip)))
}

func (s *Service) cancel(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b := s.bookings[r.PathValue("token")]; b != nil && b.State != "cancelled" {
		s.trip(b.Trip).Seats += b.Seats
		b.State, b.Told, b.Denied = "cancelled", nil, nil
	}
	write(w, r, http.StatusOK, cancelledDocument())
}
