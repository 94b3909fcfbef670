package zone

import (
	"slices"
	"sync"
	"time"

	"github.com/miekg/dns"
)

// Handler answers one query. A nil reply means that none is ever sent.
type Handler interface {
	Handle(query *dns.Msg) *dns.Msg
}

// HandlerFunc is a function used as a [Handler].
type HandlerFunc func(query *dns.Msg) *dns.Msg

// Handle calls the function.
func (f HandlerFunc) Handle(query *dns.Msg) *dns.Msg { return f(query) }

// Server answers from all its zones at once. It is safe for concurrent use.
type Server struct {
	now func() time.Time

	mu      sync.Mutex
	zones   map[string]*Zone
	world   world
	queries int
}

// NewServer builds, delegates and signs the zones at the time that now tells. Without a root
// zone among them an unsigned one is added. A nil now is time.Now.
func NewServer(now func() time.Time, zones ...*Zone) *Server {
	if now == nil {
		now = time.Now
	}
	s := &Server{now: now, zones: map[string]*Zone{}}
	s.Put(slices.Concat([]*Zone{New(".")}, zones)...)
	return s
}

// Put adds zones, each in place of the one with the same name, and signs everything again at
// the present time. Keys stay. Data come first, then delegations, then signatures.
func (s *Server) Put(zones ...*Zone) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, z := range zones {
		s.zones[z.origin] = z
	}
	s.world = world{}
	for origin, z := range s.zones {
		s.world[origin] = newData(z)
	}
	for origin, z := range s.zones {
		if origin == "." {
			continue
		}
		parent := s.world.zoneOf(origin, dns.TypeDS)
		parent.insertNS(origin)
		if parent.zone.signing == nil || z.signing == nil {
			continue
		}
		set := z.digests()
		if z.signing.DS != nil {
			set = z.signing.DS(set)
		}
		for _, ds := range set {
			parent.insert(ds)
		}
	}
	for _, d := range s.world {
		d.sign(s.now())
	}
}

// Queries returns how many queries reached the server.
func (s *Server) Queries() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.queries
}

// Handle answers a query as a recursive resolver with CD set would: the records asked for with
// every alias on the way, RRSIGs and denial records when the query sets DO, a DS from the
// parent's side. It never validates and never sets AD.
func (s *Server) Handle(query *dns.Msg) *dns.Msg {
	s.mu.Lock()
	world := s.world
	s.queries++
	s.mu.Unlock()
	m := new(dns.Msg).SetReply(query)
	m.RecursionAvailable, m.CheckingDisabled = true, query.CheckingDisabled
	do := false
	if opt := query.IsEdns0(); opt != nil {
		do = opt.Do()
		m.SetEdns0(1232, do)
	}
	switch {
	case len(query.Question) != 1 || query.Opcode != dns.OpcodeQuery:
		m.Rcode = dns.RcodeFormatError
	case query.Question[0].Qclass != dns.ClassINET:
		m.Rcode = dns.RcodeRefused
	default:
		r := world.resolve(query.Question[0].Name, query.Question[0].Qtype, do)
		m.Rcode, m.Answer, m.Ns = r.rcode, r.answer, r.authority
	}
	return m
}
