package agent

import (
	"container/heap"
	"container/list"
	"iter"
	"time"

	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/internal/coded"
	"github.com/lookleap/lookleap/internal/zero"
)

// informs are the informs that a session keeps, in order of arrival. It finds the inform with an
// ID, and the oldest one of the service that told most, without a search.
type informs struct {
	all      list.List // of *keptInform
	known    map[informID]*keptInform
	byDomain map[string]*serviceInforms // by serving domain
	most     informHeap
	bytes    int
}

// keptInform is an inform with its places in the lists.
type keptInform struct {
	*Inform
	stored     bool // a record of it is in the store, or on its way there
	of         *serviceInforms
	all, ofOne *list.Element
}

// serviceInforms are the informs of one service.
type serviceInforms struct {
	domain string
	bytes  int
	all    list.List // of *keptInform, the oldest first
	place  int       // in the heap
}

// informHeap is a heap: the service that told most is first.
type informHeap []*serviceInforms

func (h informHeap) Len() int { return len(h) }
func (h informHeap) Less(i, j int) bool {
	return h[i].bytes > h[j].bytes || h[i].bytes == h[j].bytes && h[i].domain < h[j].domain
}
func (h informHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].place, h[j].place = i, j
}
func (h *informHeap) Push(x any) {
	t := x.(*serviceInforms)
	t.place = len(*h)
	*h = append(*h, t)
}
func (h *informHeap) Pop() any {
	last := len(*h) - 1
	t := (*h)[last]
	*h = (*h)[:last]
	return t
}

func newInforms() *informs {
	return &informs{known: make(map[informID]*keptInform), byDomain: make(map[string]*serviceInforms)}
}

func (s *informs) len() int { return s.all.Len() }

// get returns the inform with the id of i, or nil.
func (s *informs) get(i *Inform) *keptInform { return s.known[i.id()] }

// add appends an inform. The caller has removed any with the same ID.
func (s *informs) add(i *Inform) *keptInform {
	t := s.byDomain[i.Serving]
	if t == nil {
		t = &serviceInforms{domain: i.Serving}
		s.byDomain[i.Serving] = t
		heap.Push(&s.most, t)
	}
	k := &keptInform{Inform: i, of: t}
	k.all, k.ofOne = s.all.PushBack(k), t.all.PushBack(k)
	s.known[i.id()] = k
	s.count(t, i.size())
	return k
}

// remove removes an inform.
func (s *informs) remove(k *keptInform) {
	s.all.Remove(k.all)
	k.of.all.Remove(k.ofOne)
	delete(s.known, k.id())
	s.count(k.of, -k.size())
	if k.of.all.Len() == 0 {
		heap.Remove(&s.most, k.of.place)
		delete(s.byDomain, k.of.domain)
	}
}

func (s *informs) count(t *serviceInforms, bytes int) {
	s.bytes += bytes
	t.bytes += bytes
	heap.Fix(&s.most, t.place)
}

// oldest returns the oldest inform of the service that told most. So a service that tells a lot
// does not displace what others told.
func (s *informs) oldest() *keptInform {
	return s.most[0].all.Front().Value.(*keptInform)
}

// each yields the informs in their order. The one that is yielded may be removed.
func (s *informs) each() iter.Seq[*keptInform] {
	return func(yield func(*keptInform) bool) {
		for e := s.all.Front(); e != nil; {
			next := e.Next()
			if !yield(e.Value.(*keptInform)) {
				return
			}
			e = next
		}
	}
}

// ErrUsage is the error for a use of content that its usage does not permit (section 16.5).
var ErrUsage = coded.New("denied", "anml/agent: the usage of the content does not permit that")

// Allowed reports whether what was told may be used in some way at a time: nil or [ErrUsage].
// UsageDisplay means showing it later in the session, UsageCache keeping it until it expires,
// UsageStore keeping it without limit, and UsageTrain training a model with it, which needs the
// user's consent too. Reading and showing it at once is always allowed. This check cannot be turned
// off.
func (s *Session) Allowed(i Inform, use anml.Usage, now time.Time) error {
	if err := s.ready(); err != nil {
		return err
	}
	if !s.permits(i.Usage, use) || i.over(now) && use > anml.UsageNone {
		return ErrUsage
	}
	if use == anml.UsageCache && i.Expires.IsZero() && i.Usage < anml.UsageStore {
		return ErrUsage // kept for no time at all
	}
	return nil
}

// Allowed reports whether an element of the document may be used in some way: nil or [ErrUsage].
// See [Session.Allowed] for the uses. The element must belong to a section of the site.
func (p *Page) Allowed(site anml.Site, section anmltrust.Section, element anml.Node, use anml.Usage) error {
	if err := p.ready(); err != nil {
		return err
	}
	now := p.session.now()
	i := Inform{Usage: p.EffectiveUsage(site, section, element)}
	if p.opened.lifetime > 0 {
		i.Expires = p.opened.base.Add(p.opened.lifetime)
	}
	return p.session.Allowed(i, use, now)
}

// EffectiveUsage returns what may be done with an element of a section of a site: the lowest usage
// of everything that covers it. It is at most display if the owner is not verified, and only
// showing at once if the response must not be stored (sections 8.1.1, 14.4 and 16.5).
func (p *Page) EffectiveUsage(site anml.Site, section anmltrust.Section, element anml.Node) anml.Usage {
	p = zero.Or(p)
	return p.effectiveUsage(site, section, element, p.session.now())
}

func (p *Page) effectiveUsage(site anml.Site, section anmltrust.Section, element anml.Node, now time.Time) anml.Usage {
	if p.opened.noStore {
		return anml.UsageNone
	}
	return p.usage(site, section, element, now)
}

// permits reports whether a usage allows a use. Training needs the user's consent too.
func (s *Session) permits(usage, use anml.Usage) bool {
	return usage.Allows(use) && (use != anml.UsageTrain || s.user.Policy.TrainingConsent())
}

// lifetimeOf returns how long an inform may be used, from its document's time on: the shortest of
// its own lifetime, the document's and that of HTTP (section 8.7.1).
func (p *Page) lifetimeOf(n anml.Inform) (life time.Duration, limited bool) {
	life, limited = n.TTL()
	if p.opened.limited && (!limited || p.opened.lifetime < life) {
		return p.opened.lifetime, true
	}
	return life, limited
}
