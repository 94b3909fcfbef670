package agent

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"math/bits"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/lookleap/lookleap"
)

// index finds the services that a value comes from. It stores no text: only salted hashes of the
// texts that services sent, and of their tokens. The salt is the user's, so that a later session
// recognises what was deleted.
//
// Texts wait in the index until a value is first compared with them. Most sessions read one
// service, and never hash anything.
type index struct {
	salt [16]byte
	room int // bytes that the hashes may take, a quarter of them for one service

	hashing sync.Mutex // held while waiting texts are hashed

	mu       sync.RWMutex
	services map[string]int // domains of the services that the session has read, with their links
	waiting  []delivery
	queued   int      // bytes of the texts that wait
	sources  []source // the first one is the user
	numbers  map[source]uint32
	heads    map[uint64]uint32 // hash: where its links begin, 1 for the first one
	links    []link
	lengths  map[uint64]uint64 // hash of the begin of a token: a bit for each length of such tokens
	deleted  bool              // something was deleted
}

// link is one source of a whole text or token.
type link struct {
	hashed
	source uint32
	next   uint32 // link of the same hash, 0 for none
}

// hashed are the salted hashes of a whole text or token: of all of it, and of its begin, with its
// length in the last bits. The second one is 0 for a whole text.
type hashed struct{ hash, begin uint64 }

const (
	wholeLen     = 4         // characters of a whole text, at least: shorter ones are in every document
	beginLen     = tokenLen  // bytes of a token by which it is found
	lengthBits   = 63        // of a begin
	mostToken    = 6 + 63    // bytes of a token that are compared
	linkSize     = 96        // bytes that a link takes with its entries in the maps, about
	maxWaiting   = 2 << 20   // bytes of texts that wait: their documents stay in memory
	deliverySize = 1 << 10   // bytes of a delivery besides its texts, about
	maxSupplied  = 4096      // hashes of what the user supplied
	maxSources   = 256       // that are told apart by their hosts and sites
	theUser      = uint32(0) // number of the user in sources
)

func newIndex(salt [16]byte, room int) *index {
	return &index{salt: salt, room: room, services: make(map[string]int), sources: []source{{}}, numbers: map[source]uint32{{}: theUser},
		heads: make(map[uint64]uint32), lengths: make(map[uint64]uint64)}
}

// full returns an error if a service, or all together, sent more than the index holds: what it
// sends could no longer be recognised.
func (x *index) full(service string) error {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if x.services[service]*linkSize < x.room/4 && len(x.links)*linkSize < x.room {
		return nil
	}
	return &lookleap.Error{Code: lookleap.CodeLimit, Subject: service,
		Message: "services told more than can be kept apart from one another",
		Fix:     "begin a new session to read on, or raise Limits.Told"}
}

func (x *index) add(d delivery) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.services[d.service] += 0 // which is read from now on
	x.waiting = append(x.waiting, d)
	x.queued += d.size + deliverySize
}

// hashWaiting hashes the texts that wait, until no more than some bytes wait or ctx ends. A
// delivery that is not hashed to its end waits on: hashing a part twice changes nothing.
func (x *index) hashWaiting(ctx context.Context, most int) error {
	x.hashing.Lock()
	defer x.hashing.Unlock()
	for {
		x.mu.RLock()
		list, queued := x.waiting, x.queued
		x.mu.RUnlock()
		if queued <= most {
			return nil
		}
		for from, text := range list[0].all() {
			if err := ctx.Err(); err != nil {
				return err
			}
			x.learn(from, text)
		}
		x.mu.Lock()
		x.queued -= list[0].size + deliverySize
		x.waiting = slices.Delete(x.waiting, 0, 1)
		x.mu.Unlock()
	}
}

func (x *index) learn(from source, text string) {
	for _, reading := range readings(text) {
		list := x.hashes(reading)
		x.mu.Lock()
		x.link(from, list)
		x.mu.Unlock()
	}
}

// hashes returns the hashes of a text: of the whole text, and of its tokens.
func (x *index) hashes(text string) (list []hashed) {
	f := fold(text)
	if f.text == "" {
		return nil
	}
	list = append(list, hashed{x.hash(hashWhole, f.text), 0})
	for _, t := range f.tokens {
		token := f.text[t.from:min(t.to, t.from+mostToken)]
		begin := x.hash(hashBegin, token[:beginLen])&^lengthBits | uint64(len(token)-beginLen)
		list = append(list, hashed{x.hash(hashToken, token), begin})
	}
	return list
}

// The kinds of hashes.
const (
	hashWhole byte = iota
	hashToken
	hashBegin
)

// hash returns the salted hash of a folded text. It is SHA-256 and no faster hash, since that of a
// deleted text is stored, and the hashes of package hash/maphash differ from process to process.
func (x *index) hash(kind byte, text string) uint64 {
	var block [128]byte
	b := append(append(append(block[:0], x.salt[:]...), kind), text...)
	sum := sha256.Sum256(b)
	return binary.LittleEndian.Uint64(sum[:8])
}

// link adds a source to some hashes. The caller holds mu.
func (x *index) link(from source, list []hashed) {
	n := x.number(from)
	for _, h := range list {
		if x.has(h.hash, n) || n == theUser && x.services[""] >= maxSupplied {
			continue
		}
		if !from.deleted {
			x.services[from.serving]++
		}
		x.links = append(x.links, link{h, n, x.heads[h.hash]})
		x.heads[h.hash] = uint32(len(x.links))
		if h.begin != 0 {
			x.lengths[h.begin&^lengthBits] |= 1 << (h.begin & lengthBits)
		}
	}
}

// number returns the number of a source. Beyond maxSources, those of the same service and
// confidentiality share one.
func (x *index) number(s source) uint32 {
	n, ok := x.numbers[s]
	if !ok && len(x.sources) >= maxSources {
		s.host, s.site = s.serving, s.serving
		n, ok = x.numbers[s]
	}
	if !ok {
		n = uint32(len(x.sources))
		x.sources = append(x.sources, s)
		x.numbers[s] = n
	}
	return n
}

func (x *index) has(hash uint64, n uint32) bool {
	for at := x.heads[hash]; at != 0; at = x.links[at-1].next {
		if x.links[at-1].source == n {
			return true
		}
	}
	return false
}

// supply records a value and its tokens as the user's own.
func (x *index) supply(value string) {
	list := x.hashes(value)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.link(source{}, list)
}

// others returns the services that the session has read, except one, in alphabetical order.
func (x *index) others(own string) []string {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return slices.DeleteFunc(slices.Sorted(maps.Keys(x.services)), func(name string) bool { return name == own || name == "" })
}

// match returns the sources of a value, except a service's own, and whether the user supplied the
// value: then there are no sources.
func (x *index) match(own, value string) (found []source, supplied bool) {
	if !x.prepare(own) {
		return nil, x.supplied(value)
	}
	for i, reading := range readings(value) {
		switch supplied := x.supplied(reading); {
		case supplied && i == 0:
			return nil, true
		case !supplied:
			x.find(own, fold(reading).text, func(_ span, from []source) { found = merged(found, from) })
		}
	}
	return found, false
}

// matchJoined returns the sources of what texts of one call contain only together, for each text.
func (x *index) matchJoined(own string, texts []string) map[string][]source {
	if len(texts) < 2 || !x.prepare(own) {
		return nil
	}
	found := make(map[string][]source)
	for _, j := range joinTexts(texts) {
		x.find(own, j.text, func(part span, from []source) {
			for _, text := range j.touched(part) {
				found[text] = merged(found[text], from)
			}
		})
	}
	return found
}

// prepare hashes what has to be known to compare values that go to a service. It returns false if
// there is nothing to compare them with.
func (x *index) prepare(own string) bool {
	x.mu.RLock()
	deleted := x.deleted
	x.mu.RUnlock()
	if !deleted && len(x.others(own)) == 0 {
		return false
	}
	_ = x.hashWaiting(context.Background(), 0) // what waits is bounded, and has to be known
	return true
}

// supplied reports whether the user supplied a value.
func (x *index) supplied(value string) bool {
	text := fold(value).text
	x.mu.RLock()
	defer x.mu.RUnlock()
	return text != "" && x.has(x.hash(hashWhole, text), theUser)
}

// find calls visit for each part of a folded text that sources other than a service sent: the whole
// text, and each token in it.
func (x *index) find(own, text string, visit func(part span, from []source)) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	look := func(kind byte, part span) {
		if from := x.sourcesOf(own, x.hash(kind, text[part.from:part.to])); from != nil {
			visit(part, from)
		}
	}
	if utf8.RuneCountInString(text) >= wholeLen {
		look(hashWhole, span{0, len(text)})
	}
	for i := 0; i+beginLen <= len(text); i++ {
		lengths := x.lengths[x.hash(hashBegin, text[i:i+beginLen])&^lengthBits]
		for ; lengths != 0; lengths &= lengths - 1 {
			if end := i + beginLen + bits.TrailingZeros64(lengths); end <= len(text) {
				look(hashToken, span{i, end})
			}
		}
	}
}

// sourcesOf returns the sources of a hash, except a service's own. There are none if the user is
// one of them. Deleted ones count only if no other source has told the same.
func (x *index) sourcesOf(own string, hash uint64) []source {
	var live, deleted []source
	isOwn := false
	for at := x.heads[hash]; at != 0; at = x.links[at-1].next {
		s := x.sources[x.links[at-1].source]
		switch {
		case x.links[at-1].source == theUser:
			return nil
		case s.deleted:
			deleted = append(deleted, s)
		case s.serving == own:
			isOwn = true
		default:
			live = append(live, s)
		}
	}
	if live != nil || isOwn {
		return live
	}
	return deleted
}

// delete marks sources as deleted, and returns the hashes of what they told. From then on no
// service counts as having told these texts, until one tells them again.
func (x *index) delete(which func(source) bool) (list []hashed) {
	x.mu.Lock()
	defer x.mu.Unlock()
	gone := make(map[uint32]bool)
	for n := range x.sources {
		s := &x.sources[n]
		if uint32(n) == theUser || s.deleted || !which(*s) {
			continue
		}
		gone[uint32(n)] = true
		delete(x.numbers, *s)
		s.deleted = true
	}
	x.deleted = x.deleted || len(gone) > 0
	for _, l := range x.links {
		if gone[l.source] {
			list = append(list, l.hashed)
		}
	}
	return list
}

// restore adds the hashes of what a domain told and the user had deleted.
func (x *index) restore(domain string, list []hashed) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.deleted = true
	x.link(source{serving: domain, host: domain, site: domain, inform: true, deleted: true}, list)
}
