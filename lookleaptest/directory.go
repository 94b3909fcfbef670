package lookleaptest

import (
	"fmt"
	"maps"
	"slices"
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
	zones map[string]*zone.Zone // without the records of names; while the root is unsigned, it has all names
	stale bool
	built time.Time
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
		m = &Name{in: d, name: name, ttl: 5 * time.Minute}
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
	if !d.zones["."].Signed() {
		d.zones["."], d.stale = zone.New(".").Sign(zone.Signing{}), true
	}
}

// sign signs a zone and those above it.
func (d *directory) sign(name string, how zone.Signing) {
	d.signRoot()
	for above := parent(name); above != "."; above = parent(above) {
		if z := d.zones[above]; z == nil || !z.Signed() {
			d.zones[above] = zone.New(above).Sign(zone.Signing{})
		}
	}
	d.zones[name], d.stale = zone.New(name).Sign(how), true
}

// cover makes an unsigned zone for the last two labels of a name, unless there is one.
func (d *directory) cover(name string) {
	below := ""
	for parent(name) != "." {
		below, name = name, parent(name)
	}
	if below != "" && d.zones[name] == nil {
		d.zones[name], d.stale = zone.New(name).Sign(zone.Signing{}), true
	}
	if below != "" && d.zones[below] == nil {
		d.zones[below], d.stale = zone.New(below), true
	}
}

// Handle answers one query from the zones, or as the name says (zone.Handler).
func (d *directory) Handle(query *dns.Msg) *dns.Msg {
	var edits []zone.Edit
	for _, q := range query.Question {
		entry := &Query{Name: plainName(q.Name), Type: lookleap.RRType(q.Qtype)}
		d.internet.journal.update(func() { d.internet.journal.queries = append(d.internet.journal.queries, entry) })
		d.mu.Lock()
		if m := d.names[dns.CanonicalName(q.Name)]; m != nil {
			edits = append(edits, m.rebind, m.fault)
		}
		d.mu.Unlock()
	}
	d.mu.Lock()
	d.build()
	d.mu.Unlock()
	reply := d.server.Handle(query)
	for _, edit := range edits {
		if edit != nil && reply != nil {
			reply = edit(query, reply)
		}
	}
	return reply
}

// build serves the zones with the records of the names in them, each in the closest zone around it.
func (d *directory) build() {
	if d.zones["."].Signed() {
		for name := range d.names {
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
		origin := m.name
		for full[origin] == nil {
			origin = parent(origin)
		}
		m.addTo(full[origin])
	}
	d.server.Put(slices.Collect(maps.Values(full))...)
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
