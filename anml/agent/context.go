package agent

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io/fs"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anmltrust"
)

// Context is what services told the agent, as far as they let it be kept and for
// as long (sections 14.1, 14.2 and 14.4). It belongs to one session. What may
// outlive the session lies in the user's [Store]; nothing in it is ever told to
// anybody by itself.
//
// Beside what may be kept it remembers, by salted hashes, what each service ever
// told in the session: a value that came from one service reaches no other one
// unless the user says so.
type Context struct {
	session *Session

	mu      sync.RWMutex
	informs []*Inform      // in the order in which they came
	octets  map[string]int // of informs, by serving domain
	index   *taintIndex
	latest  time.Time // that the clock ever showed
	deleted []deletion
	unsaved []deletion // those that the store did not take yet
	refused refusals
}

// Inform is a piece of information that a service told. Its texts are the
// service's and untrusted.
type Inform struct {
	Text            string               `json:"text"`
	Serving         string               `json:"serving"` // serving domain: who told it
	Host            string               `json:"host"`    // that delivered the document
	Owner           string               `json:"owner"`   // domain that it is an assertion of: the serving domain, or a site that lets it speak
	Site            string               `json:"site"`    // domain that it claims to be an assertion of, verified or not
	Document        string               `json:"document"`
	Scope           string               `json:"scope,omitempty"`
	Priority        anml.Priority        `json:"priority"`
	Confidentiality anml.Confidentiality `json:"confidentiality"`
	Usage           anml.Usage           `json:"usage"` // in force: of everything that covers it, and what the service may permit
	Received        time.Time            `json:"received"`
	Expires         time.Time            `json:"expires,omitzero"` // zero: with the session, or never if it may be stored
	Stale           bool                 `json:"-"`                // beyond its lifetime, and kept because it may be stored
}

// The keys of a context in the user's store.
const (
	keyInform  = "inform/"
	keySalt    = "context/salt"
	keyDeleted = "deleted/"
	keyRefused = "refused/"
)

// informSize is about what the texts of an inform may have, where a session keeps
// as many as its limit says. The others leave first where there are longer ones.
const informSize = 1280

func newContext(s *Session) (*Context, error) {
	c := &Context{session: s, octets: make(map[string]int), refused: refusals{known: make(map[string]int)}}
	ctx := context.Background()
	salt, err := c.salt(ctx)
	if err != nil {
		return nil, contextFailed(err)
	}
	c.index = newTaintIndex(salt, s.agent.options.Limits.Informs*informSize)
	if err := c.refresh(ctx); err != nil {
		return nil, err
	}
	if err := c.load(ctx); err != nil {
		return nil, contextFailed(err)
	}
	return c, nil
}

func contextFailed(err error) error {
	if err == nil {
		return nil
	}
	return &Error{Code: lookleap.CodeIO, Reason: "what services told could not be read or written", Err: err}
}

// salt is the user's own, so that hashes of deleted values can be compared later.
// Sessions that begin at the same moment agree on one.
func (c *Context) salt(ctx context.Context) (salt [16]byte, err error) {
	store := c.session.store()
	known, err := store.Get(ctx, keySalt)
	if errors.Is(err, fs.ErrNotExist) {
		known = make([]byte, len(salt))
		if _, err = rand.Read(known); err == nil {
			err = store.Create(ctx, keySalt, known)
		}
		if errors.Is(err, fs.ErrExist) {
			known, err = store.Get(ctx, keySalt)
		}
	}
	if err == nil && len(known) != len(salt) {
		err = errRecord
	}
	copy(salt[:], known)
	return salt, err
}

// load takes up what the store keeps, and purges what has expired.
func (c *Context) load(ctx context.Context) error {
	store := c.session.store()
	keys, err := store.Keys(ctx, keyInform)
	if err != nil {
		return err
	}
	now := c.now()
	for _, key := range keys {
		data, err := store.Get(ctx, key)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		i := new(Inform)
		if json.Unmarshal(data, i) != nil || i.key() != key || !i.lasting() || i.over(now) || c.isDeleted(i) {
			if err := store.Delete(ctx, key); err != nil {
				return err
			}
			continue
		}
		c.informs = append(c.informs, i)
	}
	slices.SortStableFunc(c.informs, func(a, b *Inform) int { return a.Received.Compare(b.Received) })
	for _, i := range c.informs {
		c.octets[i.Serving] += i.size()
		c.index.add(i.origin(), i.Text)
	}
	return c.store(ctx, nil, c.trim())
}

// now is the time by the host's clock, but never earlier than it once was: what
// has expired stays so when the clock is set back.
func (c *Context) now() time.Time {
	now := c.session.agent.host.Time()
	c.mu.Lock()
	defer c.mu.Unlock()
	if now.Before(c.latest) {
		return c.latest
	}
	c.latest = now
	return now
}

// origin is who told an inform, for the question of where a value came from.
func (i *Inform) origin() origin {
	return origin{serving: i.Serving, host: i.Host, site: i.Site, confidentiality: i.Confidentiality}
}

// key is where the store keeps an inform: one place for each text of a service.
func (i *Inform) key() string {
	id := lookleap.Digest([]byte(strings.Join([]string{i.Serving, i.Host, i.Owner, i.Site, i.Confidentiality.String(), i.Scope, i.Text}, "\x00")))
	return keyInform + strings.TrimPrefix(id, "sha256:")
}

// size is what an inform counts for among the limits: its texts.
func (i *Inform) size() int { return len(i.Text) + len(i.Scope) + len(i.Site) }

// over reports whether an inform has to be discarded. How long one from the
// future was kept is not known, so that is too long.
func (i *Inform) over(now time.Time) bool {
	return i.Usage < anml.UsageStore && (i.past(now) || now.Before(i.Received))
}

func (i *Inform) past(now time.Time) bool { return !i.Expires.IsZero() && !now.Before(i.Expires) }

// lasting reports whether an inform may outlive the session.
func (i *Inform) lasting() bool {
	return i.Usage >= anml.UsageStore || i.Usage == anml.UsageCache && !i.Expires.IsZero()
}

// Informs yields what is kept of what a domain told, or of what was told in its
// name, the names below it included; "" is everything. It is in the order
// in which it came. What has expired is not among it.
func (c *Context) Informs(domain string) iter.Seq[Inform] {
	return func(yield func(Inform) bool) {
		name, err := hostKey(domain)
		if domain != "" && err != nil {
			return
		}
		now := c.now()
		c.mu.RLock()
		all := slices.Clone(c.informs)
		c.mu.RUnlock()
		for _, i := range all {
			if i.over(now) || domain != "" && !i.origin().tells(name) {
				continue
			}
			shown := *i
			shown.Stale = i.past(now)
			if !yield(shown) {
				return
			}
		}
	}
}

// Training yields what may train a model: informs whose usage is train, while the
// user agrees to training ([Policy.TrainingConsent]), and nothing else ever.
func (c *Context) Training() iter.Seq[Inform] {
	return func(yield func(Inform) bool) {
		for i := range c.Informs("") {
			if c.session.permits(i.Usage, anml.UsageTrain) && !yield(i) {
				return
			}
		}
	}
}

// receive takes up the informs of a page, as their usage allows.
func (c *Context) receive(ctx context.Context, p *Page) error {
	now := c.now()
	var lasting []*Inform
	var gone []string
	c.mu.Lock()
	gone = c.sweep(now)
	for site := range p.doc.Containers() {
		for n := range site.Knowledge().Informs() {
			i := c.session.inform(p, site, n, now)
			if c.outdated(i) {
				c.index.addDeleted(i.Serving, i.Text)
				continue
			}
			c.index.add(i.origin(), i.Text)
			gone = append(gone, c.replaced(i)...)
			if i.Usage == anml.UsageNone || i.over(now) {
				continue
			}
			gone = append(gone, c.keep(i)...)
			if i.lasting() {
				lasting = append(lasting, i)
			}
		}
	}
	c.mu.Unlock()
	if !c.session.keeps() {
		return nil
	}
	return contextFailed(c.store(ctx, lasting, gone))
}

// inform reads an inform of a page.
func (s *Session) inform(p *Page, site anml.Site, n anml.Inform, now time.Time) *Inform {
	i := &Inform{
		Text: n.Text(), Serving: p.server.Domain, Host: p.server.Host, Owner: p.server.Domain, Document: p.location(),
		Scope: n.Scope(), Priority: n.Priority(), Confidentiality: n.Confidentiality(),
		Usage: p.usageOfInform(site, n, now), Received: p.opened.received,
	}
	party, a := p.ownerOfInform(site, n, now)
	if i.Site = party.Domain; a == anmltrust.OfSite {
		i.Owner = party.Domain
	}
	if life, limited := p.lifetimeOf(n); limited && life > 0 {
		i.Expires = p.opened.base.Add(life)
	}
	return i
}

// replaced lets go of the inform that said the same before, and gives its key: what
// it may be used for now is what the service says now.
func (c *Context) replaced(i *Inform) []string {
	key := i.key()
	return c.drop(func(known *Inform) bool {
		return known.Serving == i.Serving && known.Text == i.Text && known.key() == key
	})
}

// keep takes up one inform, and gives the keys of those that leave for it.
func (c *Context) keep(i *Inform) (gone []string) {
	c.informs = append(c.informs, i)
	c.octets[i.Serving] += i.size()
	return c.trim()
}

// trim lets informs go until the rest is within the limits, and gives their keys.
func (c *Context) trim() (gone []string) {
	limit := c.session.agent.options.Limits.Informs
	for len(c.informs) > 0 && (len(c.informs) > limit || c.total() > limit*informSize) {
		gone = append(gone, c.evict())
	}
	return gone
}

func (c *Context) total() (n int) {
	for _, octets := range c.octets {
		n += octets
	}
	return n
}

// evict lets the oldest inform go of whoever told most, so that nobody who talks
// much displaces what others told. Where it came from stays known.
func (c *Context) evict() (key string) {
	most := ""
	for domain, octets := range c.octets {
		if most == "" || octets > c.octets[most] || octets == c.octets[most] && domain < most {
			most = domain
		}
	}
	at := slices.IndexFunc(c.informs, func(i *Inform) bool { return i.Serving == most })
	victim := c.informs[at]
	c.drop(func(i *Inform) bool { return i == victim })
	return victim.key()
}

// sweep lets go of what has expired, and gives the keys.
func (c *Context) sweep(now time.Time) []string {
	return c.drop(func(i *Inform) bool { return i.over(now) })
}

// drop lets informs go, and gives the keys of those that may lie in the store.
func (c *Context) drop(which func(*Inform) bool) (keys []string) {
	c.informs = slices.DeleteFunc(c.informs, func(i *Inform) bool {
		if !which(i) {
			return false
		}
		if i.lasting() {
			keys = append(keys, i.key())
		}
		if c.octets[i.Serving] -= i.size(); c.octets[i.Serving] <= 0 {
			delete(c.octets, i.Serving)
		}
		return true
	})
	return keys
}

// store writes and deletes records. What was let go while it was written is
// deleted again.
func (c *Context) store(ctx context.Context, lasting []*Inform, gone []string) error {
	store := c.session.store()
	var failed error
	for _, key := range gone {
		failed = errors.Join(failed, store.Delete(ctx, key))
	}
	if failed != nil {
		return failed
	}
	for _, i := range lasting {
		data, err := json.Marshal(i)
		if err == nil {
			err = store.Put(ctx, i.key(), data)
		}
		if err != nil {
			return err
		}
		c.mu.RLock()
		known := slices.Contains(c.informs, i)
		c.mu.RUnlock()
		if !known {
			if err := store.Delete(ctx, i.key()); err != nil {
				return err
			}
		}
	}
	return nil
}

// close forgets everything that lasts as long as the session, and purges what has
// expired from the store.
func (c *Context) close() error {
	now := c.now()
	c.mu.Lock()
	gone := c.sweep(now)
	c.informs, c.octets = nil, make(map[string]int)
	c.mu.Unlock()
	ctx := context.Background()
	return contextFailed(errors.Join(c.save(ctx), c.store(ctx, nil, gone)))
}
