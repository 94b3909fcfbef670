package agent

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/filestore"
	"github.com/lookleap/lookleap/internal/plugin"
	"github.com/lookleap/lookleap/internal/strictjson"
)

// hostKey returns the form in which hosts and domains are compared: A-labels in lower
// case, without port and final dot. It accepts a name, a name with a port, and the
// https URL of a page.
func hostKey(name string) (string, error) {
	s, err := serverOf(name)
	return s.Host, err
}

// registrable returns the registrable domain of a host, or the host itself.
func registrable(host string) string {
	if d, ok := domain.Registrable(host); ok {
		return d
	}
	return host
}

func serverOf(name string) (anmltrust.Server, error) {
	url := name
	if !strings.Contains(name, "://") {
		url = "https://" + name
	}
	s, err := anmltrust.ServerOf(url)
	if s.Host == "" {
		return s, &lookleap.Error{Code: lookleap.CodeOf(err), Message: quote(name) + " is not a domain", Err: err}
	}
	return s, nil // a host without a registrable domain is its own domain
}

// under reports whether one of the hosts is the domain or a subdomain of it.
func under(name string, hosts ...string) bool {
	for _, h := range hosts {
		if h == name || strings.HasSuffix(h, "."+name) {
			return true
		}
	}
	return false
}

// Forgotten counts what was deleted of a domain's context.
type Forgotten struct {
	Informs  int `json:"informs"`
	Values   int `json:"values"`   // of the profile, see [Forgetter]
	Pages    int `json:"pages"`    // cached documents
	Consents int `json:"consents"` // that were in force
}

// Forgetter is a [Profile] that also stores values which services told. Forget deletes
// the values that came from a domain or its subdomains, and returns their number. The
// agent does not disclose values that stay, if they name their provenance or are
// spelled as the domain told them.
type Forgetter interface {
	Forget(ctx context.Context, domain string) (int, error)
}

// deletion records the deletion of a domain's context in the store: its time, and salted
// hashes of the deleted values, to recognise values that the host still has.
type deletion struct {
	Domain string    `json:"domain"`
	Time   time.Time `json:"time"`
	Hashes []byte    `json:"hashes,omitempty"` // 16 bytes each, see [hashed]
	id     string
}

// Forget deletes the context of a domain, on the user's instruction (section 14.2):
// everything that the domain, its subdomains, or another server in its name told, its
// personas and cached documents, and the consents that concern it. From then on these
// values are not disclosed to any service, including the domain itself: in this session,
// in later ones, and by calls that are prepared but not sent. What the domain tells
// afterwards is new. The ledger stays, since it holds no values.
//
// If it returns an error, it has deleted as much as possible.
func (s *Session) Forget(ctx context.Context, host string) (Forgotten, error) {
	if err := s.ready(); err != nil {
		return Forgotten{}, err
	}
	name, err := hostKey(host)
	if err != nil {
		return Forgotten{}, err
	}
	f, err := s.context.forget(ctx, name)
	f.Pages = s.pages.forget(func(_ string, p *Page) bool { // that it or a subdomain served, or is a party of
		return under(name, p.server.Domain, p.server.Host) ||
			slices.ContainsFunc(p.parties, func(party Party) bool { return under(name, party.Domain) })
	})
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

// forget deletes what a domain told. It stores the deletion before carrying it out, so
// that a crash in between loses nothing.
func (c *Context) forget(ctx context.Context, name string) (f Forgotten, err error) {
	stored, err := c.storedOf(ctx, name)
	d := deletion{Domain: name, Time: c.now(), id: keyDeleted + name + "/" + rand.Text()}
	gone := make(map[string]bool)
	c.recordInforms(stored) // by other sessions too
	for _, i := range stored {
		gone[i.key()] = true
	}
	c.lockHashed()
	c.drop(func(i *Inform) bool {
		if !i.source().tells(name) {
			return false
		}
		gone[i.key()] = true
		if i.Received.After(d.Time) { // the clock was set back
			d.Time = i.Received
		}
		return true
	})
	f.Informs = len(gone)
	for _, h := range c.index.delete(func(s source) bool { return s.inform && s.tells(name) }) {
		d.Hashes = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(d.Hashes, h.hash), h.begin)
	}
	c.deleted = append(c.deleted, d)
	c.unsaved = append(c.unsaved, d)
	c.mu.Unlock()
	return f, storeFailed(errors.Join(err, c.save(ctx), c.store(ctx, nil, slices.Collect(maps.Keys(gone)))))
}

// lockHashed locks the context when everything that services told is hashed.
func (c *Context) lockHashed() {
	_ = c.index.hashWaiting(context.Background(), 0)
	c.mu.Lock()
	_ = c.index.hashWaiting(context.Background(), 0) // what came meanwhile
}

// save stores the deletions that are not stored yet.
func (c *Context) save(ctx context.Context) (err error) {
	c.mu.Lock()
	unsaved := c.unsaved
	c.unsaved = nil
	c.mu.Unlock()
	for _, d := range unsaved {
		failed := putJSON(ctx, c.session.store, d.id, d)
		if failed != nil { // the next call tries again
			c.mu.Lock()
			c.unsaved = append(c.unsaved, d)
			c.mu.Unlock()
		}
		err = errors.Join(err, failed)
	}
	return err
}

// storedOf returns the informs of a domain in the store. It skips damaged records.
func (c *Context) storedOf(ctx context.Context, name string) (list []*Inform, err error) {
	for r, failed := range records(ctx, c.session.store, keyInform) {
		if i := storedInform(r); failed == nil && i != nil && i.source().tells(name) {
			list = append(list, i)
		}
		err = errors.Join(err, failed)
	}
	return list, err
}

// outdated reports whether an inform was being received when its domain's context was
// deleted.
func (c *Context) outdated(i *Inform) bool {
	return slices.ContainsFunc(c.deleted, func(d deletion) bool {
		return i.source().tells(d.Domain) && i.Received.Before(d.Time)
	})
}

// isDeleted reports whether an inform came before its domain's context was deleted.
func (c *Context) isDeleted(i *Inform) bool {
	return slices.ContainsFunc(c.deleted, func(d deletion) bool {
		return i.source().tells(d.Domain) && !i.Received.After(d.Time)
	})
}

// refresh applies what other sessions of the user, in any process, have deleted and
// refused since the last call. It runs before a plan that waited for the user is sent.
func (c *Context) refresh(ctx context.Context) error {
	deleted, err := c.newDeletions(ctx)
	if err != nil {
		return storeFailed(err)
	}
	var again []*Inform
	if len(deleted) == 0 {
		return c.refreshRefused(ctx)
	}
	c.lockHashed()
	for _, d := range deleted {
		if c.knows(d.id) { // a concurrent refresh applied it
			continue
		}
		c.index.delete(func(s source) bool { return s.inform && s.tells(d.Domain) })
		c.drop(func(i *Inform) bool { return i.source().tells(d.Domain) && !i.Received.After(d.Time) })
		var list []hashed
		for h := range slices.Chunk(d.Hashes, 16) {
			list = append(list, hashed{binary.LittleEndian.Uint64(h), binary.LittleEndian.Uint64(h[8:])})
		}
		c.index.restore(d.Domain, list)
		for _, i := range c.informs.all { // told again since
			if i.source().tells(d.Domain) {
				again = append(again, i)
			}
		}
		c.deleted = append(c.deleted, d)
	}
	c.mu.Unlock()
	c.recordInforms(again)
	return c.refreshRefused(ctx)
}

func (c *Context) knows(id string) bool {
	return slices.ContainsFunc(c.deleted, func(d deletion) bool { return d.id == id })
}

// newDeletions returns the deletions in the store that are not applied yet.
func (c *Context) newDeletions(ctx context.Context) (list []deletion, err error) {
	store := c.session.store
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
		if err := strictjson.Decode(data, &d); err != nil {
			return nil, err
		}
		if !strings.HasPrefix(key, keyDeleted+d.Domain+"/") || d.Domain == "" || d.Time.IsZero() || len(d.Hashes)%16 != 0 {
			return nil, filestore.ErrDamaged
		}
		list = append(list, d)
	}
	return list, nil
}
