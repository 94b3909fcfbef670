package agent

import (
	"iter"
	"slices"

	"github.com/lookleap/lookleap/anml"
)

// taintIndex finds the texts that contain a value. It stores no text, only a salted hash of each
// row of six characters. Its size is limited for each service separately; [hearsay] has what does
// not fit.
type taintIndex struct {
	salt    [16]byte
	keyed   sipHash           // with the salt
	heads   map[uint64]uint32 // hash: where its origins begin in links, 1 for the first; 0 if it has no origin
	links   []link
	origins []origin
	ids     map[origin]uint32 // of origins, without those that delete marked
	own     map[uint64]bool   // hashes of what the user supplied
	room    int               // links of one service that fit, and a quarter of all
	used    map[string]int    // links of each service
}

// link is one origin of a hash, and the place of the next one.
type link struct{ origin, next uint32 }

// origin is where texts came from, with everything that rules depend on.
type origin struct {
	serving, host, site string
	confidentiality     anml.Confidentiality
	deleted             bool
}

// tells reports whether an origin's texts count as told by a domain: by its serving domain, its
// host or the site that it claims to speak for.
func (o origin) tells(domain string) bool { return under(domain, o.serving, o.host, o.site) }

const (
	rowLen    = 6    // characters of a token, at least
	gluedLen  = 8    // characters that count without being all of a token,
	gluedNums = 6    // if so many of them are digits
	maxOwn    = 4096 // hashes of what the user supplied

	maxOrigins = 4096 // that are told apart by their hosts and sites
)

func newTaintIndex(salt [16]byte, room int) *taintIndex {
	return &taintIndex{salt: salt, keyed: newSipHash(salt), heads: make(map[uint64]uint32), ids: make(map[origin]uint32),
		own: make(map[uint64]bool), room: room, used: make(map[string]int)}
}

// Kinds of hash, so that a row of six never equals a whole text of six.
const (
	hashRow uint64 = iota
	hashWhole
	hashOwn
	hashText
	hashOwnText
)

// hash returns the salted hash of some runes, of one kind.
func (x *taintIndex) hash(kind uint64, runes []rune) uint64 {
	h := x.keyed
	if kind != hashRow {
		h.write(kind) // which is no three characters
	}
	for ; len(runes) >= 3; runes = runes[3:] {
		h.write(uint64(runes[0]) | uint64(runes[1])<<21 | uint64(runes[2])<<42)
	}
	if len(runes) > 0 {
		var last uint64
		for i, r := range runes {
			last |= uint64(r) << (21 * i)
		}
		h.write(last)
	}
	return h.sum()
}

// origin returns the number of an origin. Beyond maxOrigins, origins of the same service and
// confidentiality share one number.
func (x *taintIndex) origin(o origin) uint32 {
	key := o
	id, ok := x.ids[key]
	if !ok && len(x.origins) >= maxOrigins {
		key.host, key.site = key.serving, key.serving
		id, ok = x.ids[key]
	}
	if !ok {
		id = uint32(len(x.origins))
		x.origins = append(x.origins, key)
		x.ids[key] = id
	}
	return id
}

// add records all readings of a text of an origin.
func (x *taintIndex) add(from origin, text string) {
	if x.knows(from, text) {
		return
	}
	for reading := range readingsTold(text) {
		f := fold(reading)
		x.addHashes(from, slices.Collect(x.hashes(&f))...)
	}
	x.addHashes(from, x.keyed.text(hashText, text))
}

// knows reports whether an origin told exactly this text before, and all of its readings were
// recorded.
func (x *taintIndex) knows(from origin, text string) bool {
	return x.has(x.keyed.text(hashText, text), x.origin(from))
}

// addHashes records some hashes of a text of an origin.
func (x *taintIndex) addHashes(from origin, hashes ...uint64) {
	id := x.origin(from)
	for _, hash := range hashes {
		x.link(hash, id)
	}
}

// hashes yields the hashes of a text: of the whole text, and of its rows. It yields nothing for a
// text without letters and digits.
func (x *taintIndex) hashes(f *folded) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		if len(f.runes) == 0 || !yield(x.hash(hashWhole, f.runes)) {
			return
		}
		for i := 0; i+rowLen <= len(f.runes); i++ {
			if !yield(x.hash(hashRow, f.runes[i:i+rowLen])) {
				return
			}
		}
	}
}

// fits reports whether a text of a service fits. Its size is in bytes.
func (x *taintIndex) fits(serving string, size int) bool {
	return x.used[serving]+size < x.room && len(x.links)+size < 4*x.room
}

// has reports whether a hash has an origin.
func (x *taintIndex) has(hash uint64, id uint32) bool {
	for at := x.heads[hash]; at != 0; at = x.links[at-1].next {
		if x.links[at-1].origin == id {
			return true
		}
	}
	return false
}

// link adds an origin to a hash.
func (x *taintIndex) link(hash uint64, id uint32) {
	if x.has(hash, id) {
		return
	}
	if !x.origins[id].deleted {
		x.used[x.origins[id].serving]++
	}
	x.links = append(x.links, link{id, x.heads[hash]})
	x.heads[hash] = uint32(len(x.links))
}

// supply records a value and its tokens as the user's own.
func (x *taintIndex) supply(value string) {
	own := func(hash uint64) {
		if len(x.own) < maxOwn {
			x.own[hash] = true
		}
	}
	f := fold(value)
	if len(f.runes) == 0 {
		own(x.keyed.text(hashOwnText, value))
		return
	}
	x.tokens(&f, func(s span) { own(x.hash(hashOwn, f.runes[s.from:s.to])) })
}

// isSupplied reports whether the user supplied a value, in any spelling. One without letters and
// digits has no other spelling: it can be another value in an encoding.
func (x *taintIndex) isSupplied(f *folded, value string) bool {
	if len(f.runes) == 0 {
		return x.own[x.keyed.text(hashOwnText, value)]
	}
	return x.isOwn(f, f.whole())
}

// tokens visits the tokens of a text: its words, its chunks, its rows of words with digits, and the
// whole text.
func (x *taintIndex) tokens(f *folded, visit func(span)) {
	for _, list := range [...][]span{f.words, f.chunks} {
		for _, s := range list {
			if s.len() >= rowLen {
				visit(s)
			}
		}
	}
	for _, row := range f.numbered() {
		if s := (span{row[0].from, row[len(row)-1].to}); s.len() >= rowLen {
			visit(s)
		}
	}
	visit(f.whole())
}

// find returns the numbers of the origins that told a value or a token of it. A deleted origin is
// included only if no other one told the same.
func (x *taintIndex) find(f *folded, tokens *tokenRows) (found map[uint32]bool) {
	if len(x.origins) == 0 {
		return nil
	}
	found = make(map[uint32]bool)
	x.hits(x.hash(hashWhole, f.runes), found, func(uint32) bool { return true })
	if len(f.runes) >= rowLen {
		x.findRows(f, tokens, found)
	}
	return found
}

// hits adds the origins of a hash that pass a test. Deleted ones are added only if no other origin
// passes.
func (x *taintIndex) hits(hash uint64, found map[uint32]bool, pass func(id uint32) bool) {
	live, deleted := false, false
	for at := x.heads[hash]; at != 0; at = x.links[at-1].next {
		id := x.links[at-1].origin
		switch {
		case !pass(id):
		case x.origins[id].deleted:
			deleted = true
		default:
			live = true
			found[id] = true
		}
	}
	if live || !deleted {
		return
	}
	for at := x.heads[hash]; at != 0; at = x.links[at-1].next {
		if id := x.links[at-1].origin; pass(id) { // no other one passes
			found[id] = true
		}
	}
}

// findRows visits the rows of six characters of a value. For each origin it tracks the longest part
// that the origin told without a gap. If that part contains a whole token, the origin told the
// token.
func (x *taintIndex) findRows(f *folded, t *tokenRows, found map[uint32]bool) {
	// The run of an origin is what it told without a gap up to a row.
	type run struct{ begin, last int32 }
	runs := make([]run, len(x.origins))
	for id := range runs {
		runs[id].last = -2
	}
	for i := 0; i+rowLen <= len(f.runes); i++ {
		if t.skip[i] {
			continue
		}
		end := i + rowLen
		x.hits(x.hash(hashRow, f.runes[i:end]), found, func(id uint32) bool {
			r := &runs[id]
			if r.last < int32(i)-1 {
				r.begin = int32(i)
			}
			r.last = int32(i)
			return t.complete(int(r.begin), end)
		})
	}
}

func (x *taintIndex) isOwn(f *folded, s span) bool {
	return len(x.own) > 0 && x.own[x.hash(hashOwn, f.runes[s.from:s.to])]
}

// delete marks origins as deleted and returns the hashes of what they told. From then on no service
// counts as having told these texts, until one tells them again.
func (x *taintIndex) delete(which func(origin) bool) (hashes []uint64) {
	gone := make(map[uint32]bool)
	for id := range x.origins {
		o := &x.origins[id]
		if o.deleted || !which(*o) {
			continue
		}
		gone[uint32(id)] = true
		delete(x.ids, *o)
		o.deleted = true
	}
	if len(gone) == 0 {
		return nil
	}
	for hash, head := range x.heads {
		for at := head; at != 0; at = x.links[at-1].next {
			if gone[x.links[at-1].origin] {
				hashes = append(hashes, hash)
				break
			}
		}
	}
	return hashes
}

// deleted adds the hashes of context that was deleted earlier.
func (x *taintIndex) deleted(domain string, hashes []uint64) {
	x.addHashes(origin{serving: domain, host: domain, site: domain, deleted: true}, hashes...)
}
