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
	order   []string
	zones   map[string]*Zone
	world   *world
	faults  map[string]Fault
	journal []Entry
}

// Entry is one query that reached the server.
type Entry struct {
	Time   time.Time
	Name   string // in lower case, with the final dot
	Type   uint16
	DO, CD bool
}

// Fault is what goes wrong with the queries for one name.
type Fault struct {
	Type  uint16        // only queries of this type; 0: all
	Rcode int           // answer with this code and nothing else, such as dns.RcodeServerFailure
	Drop  bool          // never answer
	Delay time.Duration // wait first
	Hook  func(query, reply *dns.Msg) *dns.Msg
}

// world is the immutable state of all zones between two changes.
type world struct {
	zones map[string]*data
}

// NewServer builds, delegates and signs the zones at the time that now tells. Without a root
// zone among them an unsigned one is added. A nil now is time.Now.
func NewServer(now func() time.Time, zones ...*Zone) *Server {
	if now == nil {
		now = time.Now
	}
	s := &Server{now: now, zones: map[string]*Zone{}, faults: map[string]Fault{}}
	if !slices.ContainsFunc(zones, func(z *Zone) bool { return z.origin == "." }) {
		s.put(New("."))
	}
	s.Put(zones...)
	return s
}

// Put adds zones, each in place of the one with the same name, and signs everything again at
// the present time. Keys stay.
func (s *Server) Put(zones ...*Zone) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, z := range zones {
		s.put(z)
	}
	s.world = s.build()
}

func (s *Server) put(z *Zone) {
	if s.zones[z.origin] == nil {
		s.order = append(s.order, z.origin)
	}
	s.zones[z.origin] = z
}

// build makes the served form of every zone: data first, then delegations, then signatures.
func (s *Server) build() *world {
	w := &world{zones: map[string]*data{}}
	for _, origin := range s.order {
		w.zones[origin] = newData(s.zones[origin])
	}
	for _, origin := range s.order {
		if origin == "." {
			continue
		}
		child, parent := w.zones[origin], w.zoneOf(origin, dns.TypeDS)
		if parent == nil {
			continue
		}
		parent.insert(&dns.NS{Hdr: dns.RR_Header{Name: origin, Rrtype: dns.TypeNS, Class: dns.ClassINET, Ttl: 3600}, Ns: "ns.invalid."})
		if parent.zone.signing != nil {
			for _, ds := range child.zone.delegation() {
				parent.insert(ds)
			}
		}
	}
	for _, origin := range s.order {
		w.zones[origin].sign(s.now())
	}
	return w
}

// Fail makes queries for a name go wrong until [Server.Heal] is called.
func (s *Server) Fail(name string, f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults[dns.CanonicalName(name)] = f
}

// Heal ends what [Server.Fail] began.
func (s *Server) Heal(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.faults, dns.CanonicalName(name))
}

// Journal returns the queries seen so far, oldest first.
func (s *Server) Journal() []Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.journal)
}

// ClearJournal forgets the queries seen so far.
func (s *Server) ClearJournal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.journal = nil
}

// Handle answers a query as a recursive resolver with CD set would: the records asked for with
// every alias on the way, RRSIGs and denial records when the query sets DO, a DS from the
// parent's side. It never validates and never sets AD.
func (s *Server) Handle(query *dns.Msg) *dns.Msg {
	m := new(dns.Msg).SetReply(query)
	m.RecursionAvailable = true
	m.CheckingDisabled = query.CheckingDisabled
	if len(query.Question) != 1 || query.Opcode != dns.OpcodeQuery {
		m.Rcode = dns.RcodeFormatError
		return m
	}
	q := query.Question[0]
	do := false
	if opt := query.IsEdns0(); opt != nil {
		do = opt.Do()
		m.SetEdns0(1232, do)
	}
	w, fault, failed := s.record(q, do, query.CheckingDisabled)
	if failed {
		if fault.Delay > 0 {
			time.Sleep(fault.Delay)
		}
		if fault.Drop {
			return nil
		}
		if fault.Rcode != 0 {
			m.Rcode = fault.Rcode
			return m
		}
	}
	if q.Qclass != dns.ClassINET {
		m.Rcode = dns.RcodeRefused
		return m
	}
	r := w.resolve(q.Name, q.Qtype, do)
	m.Rcode, m.Answer, m.Ns = r.rcode, r.answer, r.authority
	if failed && fault.Hook != nil {
		return fault.Hook(query, m)
	}
	return m
}

func (s *Server) record(q dns.Question, do, cd bool) (*world, Fault, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := dns.CanonicalName(q.Name)
	s.journal = append(s.journal, Entry{Time: s.now(), Name: name, Type: q.Qtype, DO: do, CD: cd})
	f, ok := s.faults[name]
	if ok && f.Type != 0 && f.Type != q.Qtype {
		ok = false
	}
	return s.world, f, ok
}
