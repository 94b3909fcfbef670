package agent

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/internal/plugin"
	"github.com/lookleap/lookleap/internal/zero"
)

// hostKey is the one form in which hosts and domains are compared: A-labels in
// lower case, without port and final dot. It takes what people write: a name, a
// name with a port, or the https URL of a page.
func hostKey(name string) (string, error) {
	s, err := serverOf(name)
	return s.Host, err
}

// domainKey is the serving domain that a host belongs to, by the very code that
// says who serves a document.
func domainKey(name string) (string, error) {
	s, err := serverOf(name)
	return s.Domain, err
}

func serverOf(name string) (anmltrust.Server, error) {
	url := name
	if !strings.Contains(name, "://") {
		url = "https://" + name
	}
	s, err := anmltrust.ServerOf(url)
	if s.Host == "" {
		return s, fmt.Errorf("anml/agent: %q is no domain: %w", name, err)
	}
	return s, nil // a host without a registrable domain stands for itself
}

// under reports whether one of the hosts is the domain or lies below it.
func under(domain string, hosts ...string) bool {
	for _, h := range hosts {
		if h == domain || strings.HasSuffix(h, "."+domain) {
			return true
		}
	}
	return false
}

// Forgotten counts what was deleted of a domain's context.
type Forgotten struct {
	Informs  int `json:"informs"`
	Values   int `json:"values"` // of the profile, see [Forgetter]
	Personas int `json:"personas"`
	Pages    int `json:"pages"`    // documents kept for use again
	Consents int `json:"consents"` // that were in force
}

// Forgetter is a [Profile] that keeps values which services told. Forget deletes
// those that came from a domain or a name below it, and gives their number. Values
// that stay are still told to nobody, as long as they name their provenance or
// are spelled as the domain told them.
type Forgetter interface {
	Forget(ctx context.Context, domain string) (int, error)
}

// deletion is one deletion of a domain's context, as the store keeps it: when it
// was, and salted hashes of what was deleted, so that values which the host still
// has can be told.
type deletion struct {
	Domain string    `json:"domain"`
	Time   time.Time `json:"time"`
	Hashes []byte    `json:"hashes,omitempty"` // 8 octets each
	id     string
}

// Forget deletes the context of a domain, on the user's instruction (section
// 14.2): everything that it, a host below it, or another server in its name has
// told, its personas and cached documents, and the consents that concern it. From
// then on none of it is told to anybody, the domain itself included, in this
// session, in later ones, and in calls that are prepared and not yet sent. What
// the domain tells afterwards is new. The ledger stays: it holds no values.
//
// With an error, as much was deleted as could be.
func (s *Session) Forget(ctx context.Context, domain string) (Forgotten, error) {
	if err := s.ready(); err != nil {
		return Forgotten{}, err
	}
	name, err := hostKey(domain)
	if err != nil {
		return Forgotten{}, err
	}
	f, err := s.context.forget(ctx, name)
	f.Pages, f.Personas = s.pages.forgetDomain(name)
	consents, cerr := s.consents.forget(ctx, name)
	values, verr := s.forgetValues(ctx, name)
	f.Consents, f.Values = consents, values
	return f, errors.Join(err, cerr, verr)
}

func (s *Session) forgetValues(ctx context.Context, name string) (int, error) {
	profile, ok := s.user.Profile.(Forgetter)
	if !ok {
		return 0, nil
	}
	return plugin.Await(ctx, s.agent.plugins.profile, func(ctx context.Context) (int, error) { return profile.Forget(ctx, name) })
}

// Delete is [Session.Forget].
func (c *Context) Delete(ctx context.Context, domain string) (Forgotten, error) {
	return zero.Or(c).session.Forget(ctx, domain)
}

// forget deletes what a domain told. The deletion is on record before anything of
// it is carried out, so that a crash in between changes nothing.
func (c *Context) forget(ctx context.Context, name string) (f Forgotten, err error) {
	stored, err := c.storedOf(ctx, name)
	d := deletion{Domain: name, Time: c.now(), id: keyDeleted + name + "/" + rand.Text()}
	gone := make(map[string]bool)
	c.mu.Lock()
	for _, i := range stored { // by other sessions too
		c.index.add(i.origin(), i.Text)
		gone[i.key()] = true
	}
	c.drop(func(i *Inform) bool {
		if !i.origin().tells(name) {
			return false
		}
		gone[i.key()] = true
		if i.Received.After(d.Time) { // the clock was set back
			d.Time = i.Received
		}
		return true
	})
	f.Informs = len(gone)
	hashes := c.index.delete(func(o origin) bool { return o.tells(name) })
	for _, hash := range hashes {
		d.Hashes = binary.LittleEndian.AppendUint64(d.Hashes, hash)
	}
	c.deleted = append(c.deleted, d)
	c.unsaved = append(c.unsaved, d)
	c.mu.Unlock()
	return f, contextFailed(errors.Join(err, c.save(ctx), c.store(ctx, nil, slices.Collect(maps.Keys(gone)))))
}

// save puts deletions on record that are not yet.
func (c *Context) save(ctx context.Context) (err error) {
	c.mu.Lock()
	unsaved := c.unsaved
	c.unsaved = nil
	c.mu.Unlock()
	for _, d := range unsaved {
		data, failed := json.Marshal(d)
		if failed == nil {
			failed = c.session.store().Put(ctx, d.id, data)
		}
		if failed != nil { // whoever tries next may have more luck
			c.mu.Lock()
			c.unsaved = append(c.unsaved, d)
			c.mu.Unlock()
		}
		err = errors.Join(err, failed)
	}
	return err
}

// storedOf reads the informs of a domain from the store. What is damaged there
// counts as nobody's.
func (c *Context) storedOf(ctx context.Context, name string) (list []*Inform, err error) {
	store := c.session.store()
	keys, err := store.Keys(ctx, keyInform)
	for _, key := range keys {
		data, failed := store.Get(ctx, key)
		if failed != nil && !errors.Is(failed, fs.ErrNotExist) {
			err = errors.Join(err, failed)
		}
		i := new(Inform)
		if failed == nil && json.Unmarshal(data, i) == nil && i.key() == key && i.origin().tells(name) {
			list = append(list, i)
		}
	}
	return list, err
}

// outdated reports whether an inform was on its way when its domain's context was
// deleted.
func (c *Context) outdated(i *Inform) bool {
	return slices.ContainsFunc(c.deleted, func(d deletion) bool {
		return i.origin().tells(d.Domain) && i.Received.Before(d.Time)
	})
}

// isDeleted reports whether an inform came before its domain's context was deleted.
func (c *Context) isDeleted(i *Inform) bool {
	return slices.ContainsFunc(c.deleted, func(d deletion) bool {
		return i.origin().tells(d.Domain) && !i.Received.After(d.Time)
	})
}

// refresh takes up what other sessions of the user, in other processes too, have
// deleted and refused since. A plan that waited for its user's word is sent only
// after it.
func (c *Context) refresh(ctx context.Context) error {
	deleted, err := c.newDeletions(ctx)
	if err != nil {
		return contextFailed(err)
	}
	c.mu.Lock()
	for _, d := range deleted {
		if c.knows(d.id) { // by somebody who did the same meanwhile
			continue
		}
		c.index.delete(func(o origin) bool { return o.tells(d.Domain) })
		c.drop(func(i *Inform) bool { return i.origin().tells(d.Domain) && !i.Received.After(d.Time) })
		hashes := make([]uint64, len(d.Hashes)/8)
		for i := range hashes {
			hashes[i] = binary.LittleEndian.Uint64(d.Hashes[8*i:])
		}
		c.index.deleted(d.Domain, hashes)
		for i := range c.informs.each() { // told again since
			if i.origin().tells(d.Domain) {
				c.index.add(i.origin(), i.Text)
			}
		}
		c.deleted = append(c.deleted, d)
	}
	c.mu.Unlock()
	return c.refreshRefused(ctx)
}

func (c *Context) knows(id string) bool {
	return slices.ContainsFunc(c.deleted, func(d deletion) bool { return d.id == id })
}

// newDeletions reads the deletions of the store that are not known yet.
func (c *Context) newDeletions(ctx context.Context) (list []deletion, err error) {
	store := c.session.store()
	keys, err := store.Keys(ctx, keyDeleted)
	if err != nil {
		return nil, err
	}
	for _, key := range keys {
		c.mu.RLock()
		known := c.knows(key)
		c.mu.RUnlock()
		if known {
			continue
		}
		data, err := store.Get(ctx, key)
		if err != nil {
			return nil, err
		}
		d := deletion{id: key}
		if err := json.Unmarshal(data, &d); err != nil {
			return nil, err
		}
		if !strings.HasPrefix(key, keyDeleted+d.Domain+"/") || d.Domain == "" || d.Time.IsZero() || len(d.Hashes)%8 != 0 {
			return nil, errRecord
		}
		list = append(list, d)
	}
	return list, nil
}

// forgetDomain forgets the kept pages that a domain has a part in, and tells how
// many they were and how many personas they had.
func (p *pages) forgetDomain(name string) (pages, personas int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.leaveBehind()
	for _, url := range p.kept.Keys() {
		k, ok := p.kept.Peek(url)
		if !ok || !k.page.concerns(name) {
			continue
		}
		p.kept.Remove(url)
		pages++
		for site := range k.page.doc.Containers() {
			if site.Persona().Exists() {
				personas++
			}
		}
	}
	return pages, personas
}

// concerns reports whether a domain, or a name below it, served the page or is
// spoken for in it.
func (p *Page) concerns(name string) bool {
	if under(name, p.server.Domain, p.server.Host) {
		return true
	}
	return slices.ContainsFunc(p.parties, func(party Party) bool { return under(name, party.Domain) })
}
