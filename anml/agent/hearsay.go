package agent

import (
	"context"
	"hash/maphash"
	"iter"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
)

// hearsay finds the services that told a value in anything but informs: in bodies, titles,
// messages, answers, options, descriptions, results in any format, and in informs that do not fit
// the index. It keeps texts only until they are hashed. That happens when a value is first compared
// that may go to another service.
//
// Each service has its own set and at most a quarter of the memory, so a service that tells a lot
// does not affect the others.
type hearsay struct {
	seed maphash.Seed
	room int // bytes of all sets

	hashing sync.Mutex // held while waiting texts are hashed
	lock    sync.Mutex // of waiting and sizes, held only briefly
	waiting map[speaker][]heardText
	sizes   map[speaker]int // bytes of waiting texts
	queued  int             // bytes of all waiting texts

	mu   sync.RWMutex
	sets map[speaker]*rowSet
}

// speaker is a service that told something, with everything that rules depend on.
type speaker struct {
	serving         string
	confidentiality anml.Confidentiality
}

// heardText is a document or other text that is not hashed yet.
type heardText struct {
	texts iter.Seq[string]
	size  int
}

const (
	// heardWaiting is how many bytes of a service's texts may be queued, and heardWaitingAll how
	// many of all services: their documents stay in memory.
	heardWaiting    = 1 << 20
	heardWaitingAll = 16 << 20
	// quotedLen is how many equal characters in a row cannot be a coincidence.
	quotedLen = 24
)

func newHearsay(room int) *hearsay {
	return &hearsay{
		seed: maphash.MakeSeed(), room: room, waiting: make(map[speaker][]heardText), sizes: make(map[speaker]int),
		sets: make(map[speaker]*rowSet),
	}
}

// hear records texts of a speaker, of about size bytes. It returns an error if the speaker told
// more than can be recorded, or if ctx ended. In both cases the texts must not be used.
func (h *hearsay) hear(ctx context.Context, from speaker, size int, texts iter.Seq[string]) error {
	if err := h.full(from); err != nil {
		return err
	}
	return h.queue(ctx, from, heardText{texts, size})
}

// full returns an error if a speaker, or all together, told more than can be recorded: its values
// could no longer be recognised.
func (h *hearsay) full(from speaker) error {
	h.mu.RLock()
	defer h.mu.RUnlock()
	all, ofOne := 0, 0
	for s, set := range h.sets {
		all += set.bytes
		if s.serving == from.serving {
			ofOne += set.bytes
		}
	}
	if all < h.room && ofOne < h.room/4 {
		return nil
	}
	return &lookleap.Error{Code: lookleap.CodeLimit, Subject: from.serving,
		Message: "services told more than can be kept apart from one another",
		Fix:     "begin a new session to read on, or raise Limits.Told"}
}

// queue queues texts of a speaker, and hashes its texts if too many are queued.
func (h *hearsay) queue(ctx context.Context, from speaker, heard heardText) error {
	h.lock.Lock()
	h.wait(from, heard)
	tooMany := h.sizes[from] > heardWaiting || h.queued > heardWaitingAll
	h.lock.Unlock()
	if !tooMany {
		return nil
	}
	return h.settle(ctx, func(s speaker) bool { return s == from })
}

// wait queues a text. The caller holds the lock.
func (h *hearsay) wait(from speaker, heard heardText) {
	h.waiting[from] = append(h.waiting[from], heard)
	h.sizes[from] += heard.size
	h.queued += heard.size
}

// next removes one queued text of the selected speakers.
func (h *hearsay) next(which func(speaker) bool) (from speaker, heard heardText, ok bool) {
	h.lock.Lock()
	defer h.lock.Unlock()
	for from, list := range h.waiting {
		if !which(from) {
			continue
		}
		heard = list[0]
		h.waiting[from], h.sizes[from] = list[1:], h.sizes[from]-heard.size
		h.queued -= heard.size
		if len(list) == 1 {
			delete(h.waiting, from)
			delete(h.sizes, from)
		}
		return from, heard, true
	}
	return speaker{}, heardText{}, false
}

// settle hashes the queued texts of the selected speakers, until ctx ends.
func (h *hearsay) settle(ctx context.Context, which func(speaker) bool) error {
	h.hashing.Lock()
	defer h.hashing.Unlock() // comparisons wait meanwhile
	for {
		from, heard, ok := h.next(which)
		if !ok {
			return nil
		}
		h.mu.Lock()
		set := h.sets[from]
		if set == nil {
			set = &rowSet{}
			h.sets[from] = set
		}
		h.mu.Unlock()
		for text := range heard.texts {
			if err := ctx.Err(); err != nil {
				h.lock.Lock()
				h.wait(from, heard) // a text that is learned twice changes nothing
				h.lock.Unlock()
				return err
			}
			h.learn(set, text)
		}
	}
}

// learn adds all readings of a text to a set.
func (h *hearsay) learn(set *rowSet, text string) {
	for reading := range readingsTold(text) {
		f := fold(reading)
		h.learnFolded(set, &f)
	}
}

// learnFolded adds a text in pieces, so that comparisons never wait long.
func (h *hearsay) learnFolded(set *rowSet, f *folded) {
	if h.wholeCounts(f) {
		h.mu.Lock()
		set.add(h.hash(hashWhole, f.runes))
		h.mu.Unlock()
	}
	for i := 0; i+rowLen <= len(f.runes); i += indexPiece {
		h.mu.Lock()
		for j := i; j < min(i+indexPiece, len(f.runes)-rowLen+1); j++ {
			set.add(h.hash(hashRow, f.runes[j:j+rowLen]))
		}
		h.mu.Unlock()
	}
}

// wholeCounts reports whether a whole element or attribute shows where an equal value came from. It
// needs six characters, or four with a digit that are not a year. Shorter ones are in every document.
func (h *hearsay) wholeCounts(f *folded) bool {
	n := len(f.runes)
	if n < 4 || !f.hasDigit(f.whole()) {
		return n >= rowLen
	}
	text := string(f.runes)
	return n > 4 || !strings.HasPrefix(text, "19") && !strings.HasPrefix(text, "20")
}

func (h *hearsay) hash(kind uint64, runes []rune) uint64 {
	var block [1 + 4*rowLen]byte
	b := append(block[:0], byte(kind))
	for _, r := range runes {
		b = utf8.AppendRune(b, r)
	}
	return maphash.Bytes(h.seed, b)
}

// others reports whether another service told anything.
func (h *hearsay) others(own string) bool {
	h.lock.Lock()
	for from := range h.waiting {
		if from.serving != own {
			h.lock.Unlock()
			return true
		}
	}
	h.lock.Unlock()
	h.hashing.Lock() // what is being hashed waits no more, and is in no set yet
	defer h.hashing.Unlock()
	h.mu.RLock()
	defer h.mu.RUnlock()
	for from := range h.sets {
		if from.serving != own {
			return true
		}
	}
	return false
}

// find returns the speakers, except one service, that told a value or a token of it.
func (h *hearsay) find(own string, f *folded, tokens *tokenRows) (found []speaker) {
	other := func(s speaker) bool { return s.serving != own }
	_ = h.settle(context.Background(), other) // what waits is bounded, and has to be known
	h.mu.RLock()
	defer h.mu.RUnlock()
	var rows []uint64
	for from, set := range h.sets {
		if !other(from) {
			continue
		}
		if set.has(h.hash(hashWhole, f.runes)) {
			found = append(found, from)
			continue
		}
		if rows == nil {
			for i := 0; i+rowLen <= len(f.runes); i++ {
				rows = append(rows, h.hash(hashRow, f.runes[i:i+rowLen]))
			}
		}
		if tokens.toldBy(func(i int) bool { return set.has(rows[i]) }) {
			found = append(found, from)
		}
	}
	return found
}

// rowSet is a set of hashes. It takes about five bytes for each, and is wrong about one in many
// millions: a false match would refuse a value for no reason. It stores half of each hash, in
// tables that are each four times as large as the one before, up to a limit.
type rowSet struct {
	tables []rowTable
	rows   int
	bytes  int // of the tables
}

// rowTable is a hash table. The upper half of a hash selects its place, the lower half is stored,
// and 0 marks a free place.
type rowTable struct {
	marks []uint32
	left  int // hashes that still fit
}

// Places in the first table, and in the largest ones.
const (
	firstRowTable   = 4 << 10
	largestRowTable = 4 << 20
)

func (s *rowSet) add(hash uint64) {
	if s.has(hash) {
		return
	}
	last := len(s.tables) - 1
	if last < 0 || s.tables[last].left == 0 {
		size := firstRowTable
		if last >= 0 {
			size = min(4*len(s.tables[last].marks), largestRowTable)
		}
		s.bytes += 4 * size
		s.tables = append(s.tables, rowTable{make([]uint32, size), size / 4 * 3})
		last++
	}
	t := &s.tables[last]
	place, mark := t.find(hash)
	t.marks[place] = mark
	t.left--
	s.rows++
}

func (s *rowSet) has(hash uint64) bool {
	for i := range s.tables {
		if place, _ := s.tables[i].find(hash); s.tables[i].marks[place] != 0 {
			return true
		}
	}
	return false
}

// find returns the place of a hash, or the free place for it.
func (t *rowTable) find(hash uint64) (place int, mark uint32) {
	mark = max(1, uint32(hash))
	last := len(t.marks) - 1 // the number of places is a power of two
	for place = int(hash>>32) & last; t.marks[place] != 0 && t.marks[place] != mark; {
		place = (place + 1) & last
	}
	return place, mark
}

// tokenRows says which rows of six characters must have been told for a token of a value to be
// told.
type tokenRows struct {
	begins  []int32 // for each place, where the shortest token that ends there begins, or -1
	phrases []int32 // the same without single words that have no digit
	skip    []bool  // rows that the user supplied a token of
	digits  []int32 // before each place
	words   []int32 // that begin before each place
}

func (x *taintIndex) tokenRows(f *folded) *tokenRows {
	n := len(f.runes)
	t := &tokenRows{make([]int32, n+1), make([]int32, n+1), make([]bool, n), make([]int32, n+1), make([]int32, n+1)}
	for _, word := range f.words {
		t.words[word.from+1]++
	}
	for i, r := range f.runes {
		t.words[i+1] += t.words[i]
		t.digits[i+1] = t.digits[i]
		if unicode.IsDigit(r) {
			t.digits[i+1]++
		}
	}
	for i := range t.begins {
		t.begins[i], t.phrases[i] = -1, -1
	}
	x.tokens(f, func(s span) {
		t.token(s)
		if x.isOwn(f, s) {
			for i := s.from; i+rowLen <= s.to; i++ {
				t.skip[i] = true
			}
		}
	})
	for _, row := range f.numbered() {
		for i := range row {
			for j := i; j >= 0; j-- { // the shortest one that is long enough
				if s := (span{row[j].from, row[i].to}); s.len() >= gluedLen {
					t.token(s)
					break
				}
			}
		}
	}
	return t
}

func (t *tokenRows) token(s span) {
	t.begins[s.to] = max(t.begins[s.to], int32(s.from))
	if t.digits[s.to] > t.digits[s.from] || t.words[s.to]-t.words[s.from] > 1 {
		t.phrases[s.to] = max(t.phrases[s.to], int32(s.from))
	}
}

// complete reports whether the rows from one place to another contain a token.
func (t *tokenRows) complete(begin, end int) bool {
	return int32(begin) <= t.begins[end] || t.glued(begin, end)
}

// glued reports whether the part has enough characters and digits to count without being a token.
func (t *tokenRows) glued(begin, end int) bool {
	return end-begin >= gluedLen && t.digits[end]-t.digits[begin] >= gluedNums
}

// toldBy reports whether a service told a token that is more than a common word, or enough
// characters in a row to be a quotation. Told reports whether it told a row.
func (t *tokenRows) toldBy(told func(row int) bool) bool {
	begin := -1
	for i := 0; i+rowLen <= len(t.skip); i++ {
		end := i + rowLen
		switch {
		case t.skip[i] || !told(i):
			begin = -1
			continue
		case begin < 0:
			begin = i
		}
		if int32(begin) <= t.phrases[end] || t.glued(begin, end) || end-begin >= quotedLen {
			return true
		}
	}
	return false
}
