package lookleaptest

import (
	"fmt"
	"net/netip"
	"sync"
	"time"

	"github.com/miekg/dns"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/test/zone"
)

// directory is everything that the DNS knows. The zones are built when the first query after
// a change comes.
type directory struct {
	internet *Internet
	server   *zone.Server

	mu    sync.Mutex
	names map[string]*Name
	zones map[string]*zone.Zone // without the records of names
	// signed has each zone but the root, and whether it is signed; nil: nothing is, and the root has all names.
	signed map[string]bool
	stale  bool
	built  time.Time
}

// resign is how far the clock may move before the zones are signed again, as their operators would
// do.
const resign = 24 * time.Hour

func newDirectory(n *Internet) *directory {
	return &directory{
		internet: n, server: zone.NewServer(n.clock.Now),
		names: map[string]*Name{},
		zones: map[string]*zone.Zone{".": zone.New(".")},
	}
}

func (d *directory) name(name string) *Name {
	if _, ok := dns.IsDomainName(name); !ok {
		panic(fmt.Sprintf("lookleaptest: %q is no DNS name", name))
	}
	name = dns.CanonicalName(name)
	d.mu.Lock()
	defer d.mu.Unlock()
	m := d.names[name]
	if m == nil {
		m = &Name{in: d, name: name, ttl: defaultTTL}
		d.names[name] = m
	}
	return m
}

// anchor returns the DS records of the root.
func (d *directory) anchor() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.signRoot()
	return d.zones["."].Anchor()
}

// signRoot makes the root signed, and from then on the top-level domains too, so that they prove for the
// other zones whether these are signed. The caller holds d.mu, as for each method that follows.
func (d *directory) signRoot() {
	if d.signed == nil {
		d.signed, d.stale = map[string]bool{}, true
		d.zones["."] = zone.New(".").Sign(zone.Signing{})
	}
}

// sign signs a zone and those above it.
func (d *directory) sign(name string, how zone.Signing) {
	d.signRoot()
	for above := parent(name); above != "."; above = parent(above) {
		if !d.signed[above] {
			d.put(above, true, zone.Signing{})
		}
	}
	d.put(name, true, how)
}

func (d *directory) put(origin string, sign bool, how zone.Signing) {
	z := zone.New(origin)
	if sign {
		z.Sign(how)
	}
	d.zones[origin], d.signed[origin], d.stale = z, sign, true
}

// cover makes an unsigned zone for the last two labels of a name, unless there is one.
func (d *directory) cover(name string) {
	below := ""
	for parent(name) != "." {
		below, name = name, parent(name)
	}
	if _, ok := d.signed[name]; !ok && below != "" {
		d.put(name, true, zone.Signing{})
	}
	if _, ok := d.signed[below]; !ok && below != "" {
		d.put(below, false, zone.Signing{})
	}
}

// Handle answers one query from the zones, or from a script (zone.Handler).
func (d *directory) Handle(query *dns.Msg) *dns.Msg {
	for _, q := range query.Question {
		opt := query.IsEdns0()
		d.internet.journal.query(Query{
			Time: d.internet.clock.Now(), Name: plainName(q.Name), Type: lookleap.RRType(q.Qtype),
			do: opt != nil && opt.Do(), cd: query.CheckingDisabled,
		})
	}
	d.mu.Lock()
	d.build()
	d.mu.Unlock()
	if d.internet.clock.Sleep(d.internet.ctx, d.delay(query)) != nil {
		return nil
	}
	reply := d.server.Handle(query)
	if reply == nil || len(query.Question) != 1 || reply.Rcode == dns.RcodeServerFailure || reply.Rcode == dns.RcodeRefused {
		return reply
	}
	q := query.Question[0]
	addrs, scripted := d.next(dns.CanonicalName(q.Name), q.Qtype)
	if !scripted {
		return reply
	}
	reply.Rcode, reply.Answer, reply.Ns = dns.RcodeSuccess, nil, nil
	for _, addr := range addrs {
		hdr := dns.RR_Header{Name: q.Name, Rrtype: q.Qtype, Class: dns.ClassINET}
		switch {
		case q.Qtype == dns.TypeA && addr.Is4():
			reply.Answer = append(reply.Answer, &dns.A{Hdr: hdr, A: addr.AsSlice()})
		case q.Qtype == dns.TypeAAAA && addr.Is6():
			reply.Answer = append(reply.Answer, &dns.AAAA{Hdr: hdr, AAAA: addr.AsSlice()})
		}
	}
	return reply
}

// delay is the longest one of the names that are asked for.
func (d *directory) delay(query *dns.Msg) (longest time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, q := range query.Question {
		if m := d.names[dns.CanonicalName(q.Name)]; m != nil {
			longest = max(longest, m.delay)
		}
	}
	return longest
}

// next returns the answer of a script to the next address query.
func (d *directory) next(name string, rrtype uint16) (addrs []netip.Addr, scripted bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	m := d.names[name]
	if m == nil || m.rebind == nil || rrtype != dns.TypeA && rrtype != dns.TypeAAAA {
		return nil, false
	}
	at := min(m.asked[rrtype], len(m.rebind)-1)
	m.asked[rrtype]++
	return m.rebind[at], true
}

// build serves the zones with the records of the names in them, each in the closest zone around it.
func (d *directory) build() {
	for name := range d.names {
		if d.signed != nil {
			d.cover(name)
		}
	}
	now := d.internet.clock.Now()
	if moved := now.Sub(d.built).Abs(); !d.stale && !d.built.IsZero() && moved < resign {
		return
	}
	d.stale, d.built = false, now
	full := map[string]*zone.Zone{}
	for origin, z := range d.zones {
		clone := *z
		full[origin] = &clone
	}
	for _, m := range d.names {
		m.addTo(full[d.zoneOf(m.name)])
	}
	var zones []*zone.Zone
	for _, z := range full {
		zones = append(zones, z)
	}
	d.server.Put(zones...)
}

func (d *directory) zoneOf(name string) string {
	for ; d.zones[name] == nil; name = parent(name) {
	}
	return name
}

func parent(name string) string {
	if at, last := dns.NextLabel(name, 0); !last {
		return name[at:]
	}
	return "."
}

// scripted is the DNSSEC state of the closest name at or above that has one.
func (d *directory) scripted(name string) (state lookleap.DNSSEC, bogusAt string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for name = dns.CanonicalName(name); ; name = parent(name) {
		if m := d.names[name]; m != nil && m.bogus {
			return lookleap.Indeterminate, m.name
		} else if m != nil && m.state != nil {
			return *m.state, ""
		}
		if name == "." {
			return lookleap.Indeterminate, ""
		}
	}
}
