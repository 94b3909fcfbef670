package agent

import (
	"context"
	"crypto/rand"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/internal/coded"
	"github.com/lookleap/lookleap/internal/filestore"
	"github.com/lookleap/lookleap/internal/flight"
	"github.com/lookleap/lookleap/internal/strictjson"
)

// Context holds what services told the agent, as far and as long as they permit (sections
// 14.1, 14.2 and 14.4). It belongs to one session. What may outlive the session is in
// the user's [Store]. The agent never discloses it by itself.
//
// It also keeps salted hashes of everything that each service told in the session:
// a value from one service is disclosed to another one only if the user agrees.
type Context struct {
	session *Session

	mu      sync.RWMutex
	informs *informs
	index   *index    // of everything that services told
	latest  time.Time // that the clock ever showed
	deleted []deletion
	unsaved []deletion // those that the store did not take yet

	refusing flight.Turns[struct{}] // to read or change the store's refused domains
	refused  map[string]bool
}

// Inform is a piece of information that a service told. Its texts are untrusted.
type Inform struct {
	Text            string               `json:"text"`
	Serving         string               `json:"serving"` // serving domain, which told it
	Host            string               `json:"host"`    // that served the document
	Owner           string               `json:"owner"`   // domain whose assertion it is: the serving domain, or a site that authorized it
	Site            string               `json:"site"`    // domain that it speaks for, which is its owner
	Document        string               `json:"document"`
	Scope           string               `json:"scope,omitempty"`
	Priority        anml.Priority        `json:"priority"`
	Confidentiality anml.Confidentiality `json:"confidentiality"`
	Usage           anml.Usage           `json:"usage"` // the strictest usage that covers it
	Received        time.Time            `json:"received"`
	Expires         time.Time            `json:"expires,omitzero"` // zero: at the end of the session, or never if it may be stored
	Stale           bool                 `json:"-"`                // past its lifetime, and kept because it may be stored
}

// The keys of a context in the user's store.
const (
	keyInform  = "inform/"
	keySalt    = "context/salt"
	keyDeleted = "deleted/"
	keyRefused = "refused/"
)

// informSize is the mean size of informs for which a session keeps Limits.Informs of
// them. If they are longer, it keeps fewer.
const informSize = 1280

func newContext(s *Session) (*Context, error) {
	c := &Context{session: s, informs: newInforms(), refused: make(map[string]bool)}
	ctx := context.Background()
	salt, err := c.salt(ctx)
	if err != nil {
		return nil, storeFailed(err)
	}
	c.index = newIndex(salt, s.agent.options.Limits.Told)
	if err := c.refresh(ctx); err != nil {
		return nil, err
	}
	if err := c.load(ctx); err != nil {
		return nil, storeFailed(err)
	}
	return c, nil
}

// salt returns the user's salt. It is stored, so that hashes of deleted values can be
// compared in later sessions. Sessions that begin concurrently agree on one.
func (c *Context) salt(ctx context.Context) (salt [16]byte, err error) {
	store := c.session.store
	err = lookleap.UpdateRecord(ctx, store, keySalt, time.Time{}, func(known []byte) ([]byte, error) {
		if known == nil {
			_, _ = rand.Read(salt[:]) // it cannot fail
			return salt[:], nil
		}
		if copy(salt[:], known) != len(salt) || len(known) != len(salt) {
			return nil, filestore.ErrDamaged
		}
		return nil, nil
	})
	return salt, err
}

// load reads the stored informs, and deletes those that have expired.
func (c *Context) load(ctx context.Context) error {
	now := c.now()
	var list []*Inform
	for r, err := range records(ctx, c.session.store, keyInform) {
		if err != nil {
			return err
		}
		i := storedInform(r)
		if i == nil || !i.lasting() || i.over(now) || c.isDeleted(i) {
			if err := c.session.store.Delete(ctx, r.key); err != nil {
				return err
			}
			continue
		}
		list = append(list, i)
	}
	slices.SortStableFunc(list, func(a, b *Inform) int { return a.Received.Compare(b.Received) })
	for _, i := range list {
		c.informs.add(i)
	}
	c.recordInforms(list)
	return c.store(ctx, nil, c.trim())
}

// storedInform returns the inform of a record, nil if it is damaged.
func storedInform(r record) *Inform {
	i := new(Inform)
	if strictjson.Decode(r.data, i) != nil || i.key() != r.key {
		return nil
	}
	return i
}

// now returns the time of the host's clock, but never an earlier time than before:
// expired informs stay expired if the clock is set back.
func (c *Context) now() time.Time {
	now := c.session.now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if now.Before(c.latest) {
		return c.latest
	}
	c.latest = now
	return now
}

func (i *Inform) source() source {
	return source{serving: i.Serving, host: i.Host, site: i.Site, confidentiality: i.Confidentiality, inform: true}
}

// key returns the store's key for an inform. A service that tells a text again replaces it.
func (i *Inform) key() string {
	id := lookleap.Digest([]byte(strings.Join([]string{i.Serving, i.Host, i.Owner, i.Site, i.Confidentiality.String(),
		i.Scope, i.Text}, "\x00")))
	return keyInform + strings.TrimPrefix(id, "sha256:")
}

// size returns the size of an inform for the limits: that of its texts.
func (i *Inform) size() int { return len(i.Text) + len(i.Scope) + len(i.Site) }

// over reports whether an inform must be discarded. One from the future is discarded,
// since its age is not known.
func (i *Inform) over(now time.Time) bool {
	return i.Usage < anml.UsageStore && (i.past(now) || now.Before(i.Received))
}

func (i *Inform) past(now time.Time) bool { return !i.Expires.IsZero() && !now.Before(i.Expires) }

// lasting reports whether an inform may outlive the session.
func (i *Inform) lasting() bool {
	return i.Usage >= anml.UsageStore || i.Usage == anml.UsageCache && !i.Expires.IsZero()
}

// unmade reports whether the context is nil or the zero value.
func (c *Context) unmade() bool { return c == nil || c.index == nil }

// Informs yields the informs that a domain or its subdomains told, or that were told in
// their name; "" means all. They come in the order in which they were received, without
// expired ones. Informs that a server may not tell for a site are not among them (sections
// 8.2 and 12.1): [Page.Explain] says why, and their values still count as told by the server.
func (c *Context) Informs(domain string) iter.Seq[Inform] {
	return func(yield func(Inform) bool) {
		name, err := hostKey(domain)
		if c.unmade() || domain != "" && err != nil {
			return
		}
		now := c.now()
		c.mu.RLock()
		all := slices.Clone(c.informs.all)
		c.mu.RUnlock()
		for _, i := range all {
			if i.over(now) || domain != "" && !i.source().tells(name) {
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

// receive records a page, and keeps its informs as their usage permits. Those that are not used,
// such as those of a site that is not verified, are not kept: only where their values came from is
// remembered. It stops when ctx ends.
func (c *Context) receive(ctx context.Context, p *Page) error {
	now := c.now()
	informs := make(map[anml.Node]*Inform)
	var used []*Inform
	for site := range p.doc.Containers() {
		for n := range site.Knowledge().Informs() {
			if err := ctx.Err(); err != nil {
				return err
			}
			i, isUsed := c.session.inform(p, site, n, now)
			informs[n.Node] = i
			if isUsed {
				used = append(used, i)
			}
		}
	}
	if err := c.recordPage(ctx, p, informs); err != nil {
		return err
	}
	c.mu.Lock()
	gone := c.drop(func(i *Inform) bool { return i.over(now) })
	c.mu.Unlock()
	var lasting []*Inform
	for _, i := range used {
		gone = append(gone, c.take(i, now)...)
		if i.lasting() {
			lasting = append(lasting, i)
		}
	}
	return storeFailed(c.store(ctx, lasting, gone))
}

// take keeps one inform if it may be kept, and returns the store's keys of those that it
// replaces: the same inform with its earlier usage, and those beyond the limits.
func (c *Context) take(i *Inform, now time.Time) (gone []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.outdated(i) {
		return nil
	}
	if known := c.informs.get(i); known != nil {
		gone = c.dropOne(known, gone)
	}
	if i.Usage == anml.UsageNone || i.over(now) {
		return gone
	}
	c.informs.add(i)
	return append(gone, c.trim()...)
}

// inform returns an inform of a page, and whether it is used as content of its owner. If not,
// it only counts as told.
func (s *Session) inform(p *Page, site anml.Site, n anml.Inform, now time.Time) (i *Inform, used bool) {
	i = &Inform{
		Text: n.Text(), Serving: p.server.Domain, Host: p.server.Host, Owner: p.server.Domain, Document: p.location(),
		Scope: n.Scope(), Priority: n.Priority(), Confidentiality: n.Confidentiality(),
		Usage: p.usage(site, anmltrust.Knowledge, n.Node, now), Received: p.opened.received,
	}
	party, a := p.ownerOfInform(site, n, now)
	i.Site = party.Domain
	if a == anmltrust.OfSite {
		i.Owner = party.Domain
	}
	if life, limited := p.lifetimeOf(n); limited && life > 0 {
		i.Expires = p.opened.base.Add(life)
	}
	return i, a != anmltrust.Dropped
}

// trim drops informs until the rest is within the limits, and returns the store's keys
// of those dropped. The index still knows where they came from.
func (c *Context) trim() (gone []string) {
	limit := c.session.agent.options.Limits.Informs
	for len(c.informs.all) > 0 && (len(c.informs.all) > limit || c.informs.bytes > limit*informSize) {
		gone = c.dropOne(c.informs.oldest(), gone)
	}
	return gone
}

// drop drops informs, and returns the store's keys of them.
func (c *Context) drop(which func(*Inform) bool) (gone []string) {
	for _, k := range slices.Clone(c.informs.all) {
		if which(k) {
			gone = c.dropOne(k, gone)
		}
	}
	return gone
}

// dropOne drops one inform, and adds its key to others if it may be in the store.
func (c *Context) dropOne(i *Inform, gone []string) []string {
	c.informs.remove(i)
	if i.lasting() {
		gone = append(gone, i.key())
	}
	return gone
}

// store writes and deletes records. It does not write informs that were dropped before,
// and deletes those that are dropped meanwhile.
func (c *Context) store(ctx context.Context, lasting []*Inform, gone []string) error {
	store := c.session.store
	var failed error
	for _, key := range gone {
		failed = errors.Join(failed, store.Delete(ctx, key))
	}
	if failed != nil {
		return failed
	}
	for _, i := range lasting {
		if !c.keeps(i) {
			continue
		}
		key := i.key()
		if err := putJSON(ctx, store, key, i); err != nil {
			return err
		}
		if !c.keeps(i) {
			if err := store.Delete(ctx, key); err != nil {
				return err
			}
		}
	}
	return nil
}

// keeps reports whether an inform is still kept.
func (c *Context) keeps(i *Inform) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.informs.get(i) == i
}

// close deletes everything that ends with the session, and the expired records of the
// store.
func (c *Context) close() error {
	now := c.now()
	c.mu.Lock()
	gone := c.drop(func(i *Inform) bool { return i.over(now) })
	c.informs = newInforms()
	c.mu.Unlock()
	ctx := context.Background()
	return storeFailed(errors.Join(c.save(ctx), c.store(ctx, nil, gone)))
}

// informs are the informs that a session keeps, in order of arrival.
type informs struct {
	all   []*Inform
	known map[string]*Inform // by key
	sizes map[string]int     // by serving domain
	bytes int
}

func newInforms() *informs {
	return &informs{known: make(map[string]*Inform), sizes: make(map[string]int)}
}

// get returns the inform with the key of i, or nil.
func (s *informs) get(i *Inform) *Inform { return s.known[i.key()] }

// add appends an inform. The caller has removed any with the same key.
func (s *informs) add(i *Inform) {
	s.all, s.known[i.key()] = append(s.all, i), i
	s.sizes[i.Serving] += i.size()
	s.bytes += i.size()
}

func (s *informs) remove(k *Inform) {
	at := slices.Index(s.all, k)
	s.all = slices.Delete(s.all, at, at+1)
	delete(s.known, k.key())
	s.sizes[k.Serving] -= k.size()
	s.bytes -= k.size()
}

// oldest returns the oldest inform of the service that told most. So a service that tells a lot
// does not displace what others told.
func (s *informs) oldest() *Inform {
	most := s.all[0].Serving
	for domain, size := range s.sizes {
		if size > s.sizes[most] || size == s.sizes[most] && domain < most {
			most = domain
		}
	}
	return s.all[slices.IndexFunc(s.all, func(k *Inform) bool { return k.Serving == most })]
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
	if !i.Usage.Allows(use) || use == anml.UsageTrain && !s.user.Policy.now().training || i.over(now) && use > anml.UsageNone {
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
	i := Inform{Usage: p.usage(site, section, element, now)}
	if p.opened.lifetime > 0 {
		i.Expires = p.opened.base.Add(p.opened.lifetime)
	}
	return p.session.Allowed(i, use, now)
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
