package agent

import (
	"container/heap"
	"container/list"
	"iter"
)

// informs are the informs that a session keeps, in the order in which they came. It
// finds the one with an id, and the oldest of the service that told most, without
// looking at the others.
type informs struct {
	all      list.List // of *keptInform
	known    map[informID]*keptInform
	byDomain map[string]*teller // by serving domain
	most     tellers
	octets   int
}

// keptInform is one of them, with its places.
type keptInform struct {
	*Inform
	stored     bool // a record of it is in the store, or on its way there
	teller     *teller
	all, ofOne *list.Element
}

// teller is a service that told some of them.
type teller struct {
	domain string
	octets int
	told   list.List // of *keptInform, the oldest first
	place  int       // in the heap
}

// tellers is a heap: the one that told most is first.
type tellers []*teller

func (h tellers) Len() int { return len(h) }
func (h tellers) Less(i, j int) bool {
	return h[i].octets > h[j].octets || h[i].octets == h[j].octets && h[i].domain < h[j].domain
}
func (h tellers) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].place, h[j].place = i, j
}
func (h *tellers) Push(x any) {
	t := x.(*teller)
	t.place = len(*h)
	*h = append(*h, t)
}
func (h *tellers) Pop() any {
	last := len(*h) - 1
	t := (*h)[last]
	*h = (*h)[:last]
	return t
}

func newInforms() *informs {
	return &informs{known: make(map[informID]*keptInform), byDomain: make(map[string]*teller)}
}

func (s *informs) len() int { return s.all.Len() }

// get returns the inform with the id of i, or nil.
func (s *informs) get(i *Inform) *keptInform { return s.known[i.id()] }

// add appends an inform. There is none with its id.
func (s *informs) add(i *Inform) *keptInform {
	t := s.byDomain[i.Serving]
	if t == nil {
		t = &teller{domain: i.Serving}
		s.byDomain[i.Serving] = t
		heap.Push(&s.most, t)
	}
	k := &keptInform{Inform: i, teller: t}
	k.all, k.ofOne = s.all.PushBack(k), t.told.PushBack(k)
	s.known[i.id()] = k
	s.count(t, i.size())
	return k
}

// remove takes an inform out.
func (s *informs) remove(k *keptInform) {
	s.all.Remove(k.all)
	k.teller.told.Remove(k.ofOne)
	delete(s.known, k.id())
	s.count(k.teller, -k.size())
	if k.teller.told.Len() == 0 {
		heap.Remove(&s.most, k.teller.place)
		delete(s.byDomain, k.teller.domain)
	}
}

func (s *informs) count(t *teller, octets int) {
	s.octets += octets
	t.octets += octets
	heap.Fix(&s.most, t.place)
}

// oldest is the oldest inform of the service that told most, so that a service
// which talks much does not displace what others told.
func (s *informs) oldest() *keptInform {
	return s.most[0].told.Front().Value.(*keptInform)
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
