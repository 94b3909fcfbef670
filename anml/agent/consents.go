package agent

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/internal/flight"
	"github.com/lookleap/lookleap/internal/strictjson"
)

// Consent is an explicit consent of the user that lasts, or that is for one future transfer. It
// covers one value for one recipient.
type Consent struct {
	ID        string    `json:"id"` // plan and item that the user agreed to
	Field     string    `json:"field"`
	Serving   string    `json:"serving"`   // serving domain of the document
	Owner     string    `json:"owner"`     // domain whose ask it was
	Recipient string    `json:"recipient"` // host that receives the value
	From      []string  `json:"from,omitempty"`
	Granted   time.Time `json:"granted"`
	Until     time.Time `json:"until"`
	Once      bool      `json:"once,omitempty"` // used up by the first disclosure
}

// consent is a [Consent] with a digest of what it covers.
type consent struct {
	Consent
	Digest string `json:"digest"` // of what the user was shown, see cover
	record []byte // as it was read
}

// cover is what one consent is about. Identical requests have equal digests.
type cover struct {
	Kind                                   disclosureKind
	Serving, Owner, Endpoint, Field, Value string
	Purposes, From                         []string
}

func (e exchange) cover(t *disclosure) cover {
	return cover{t.Kind, e.Serving, e.Asker, e.Endpoint, t.subject(), t.Value, t.Purposes, t.From}
}

func (c cover) digest() string { return digestOf(c) }

func (c cover) consent(id string, granted, until time.Time) consent {
	return consent{Consent: Consent{
		ID: id, Field: c.Field, Serving: c.Serving, Owner: c.Owner, Recipient: c.Endpoint, From: c.From, Granted: granted, Until: until,
	}, Digest: c.digest()}
}

// consents are the lasting consents of the user, and the fields that were once asked for with a
// sensitive purpose. They are in the user's store.
type consents struct {
	store   lookleap.Store
	clock   *flight.Clock
	mu      sync.Mutex
	steps   uint64            // of the clock, at which consents were last found doubtful
	tainted map[string]string // fields that were told for a sensitive purpose, by their keys, with its category
}

// The keys of consents in the user's store.
const (
	keyConsent   = "consent/"
	keyTransfer  = "transfer/"
	keySensitive = "sensitive/"
)

// refresh reads which fields were sent for a sensitive purpose, also in other sessions of the user.
func (c *consents) refresh(ctx context.Context) error {
	for r, err := range records(ctx, c.store, keySensitive) {
		if err != nil {
			return storeFailed(err)
		}
		if field, bad := url.PathUnescape(strings.TrimPrefix(r.key, keySensitive)); bad == nil && c.sensitive(field) == "" {
			c.mu.Lock()
			c.tainted[fieldKey(field)] = string(r.data)
			c.mu.Unlock()
		}
	}
	return nil
}

// find returns the consent in force for what is covered, or nil. Rule limits the age of consents.
func (c *consents) find(ctx context.Context, prefix string, is cover, rule anml.Rule) (*consent, error) {
	now := c.clock.Now()
	if err := c.doubt(ctx); err != nil {
		return nil, err
	}
	key := prefix + consentKey(is.Field, is.Owner, is.Endpoint)
	data, err := c.store.Get(ctx, key)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, storeFailed(err)
	}
	var held consent
	if strictjson.Decode(data, &held) != nil || !now.Before(held.Until) {
		return nil, storeFailed(c.store.Delete(ctx, key))
	}
	switch {
	case held.Digest != is.digest() || held.Granted.After(now.Add(flight.CorrectionTolerance)):
		return nil, nil
	case rule.Limited && now.Sub(held.Granted) >= rule.ValidFor:
		return nil, nil
	}
	held.record = data
	return &held, nil
}

func (c *consents) remember(ctx context.Context, prefix string, given consent) error {
	if err := c.doubt(ctx); err != nil {
		return err
	}
	return storeFailed(putJSON(ctx, c.store, prefix+consentKey(given.Field, given.Owner, given.Recipient), given))
}

// useUp uses up a consent for one transfer. It returns false if another process just used it: the
// record that both read is replaced once. What replaces it is a consent that has ended.
func (c *consents) useUp(ctx context.Context, held *consent) (bool, error) {
	err := c.store.Put(ctx, keyTransfer+consentKey(held.Field, held.Owner, held.Recipient), held.record, []byte("{}"), held.Until)
	if errors.Is(err, lookleap.ErrConflict) {
		return false, nil
	}
	return err == nil, storeFailed(err)
}

// sensitive returns the category for which a field was once sent, or "". The category stays with
// the field, whatever the next purpose is and however the field is spelled.
func (c *consents) sensitive(field string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.tainted) == 0 {
		return ""
	}
	return c.tainted[fieldKey(field)]
}

// mark records that a field was sent for a purpose of a sensitive category.
func (c *consents) mark(ctx context.Context, field, category string) error {
	if c.sensitive(field) != "" {
		return nil
	}
	if err := put(ctx, c.store, keySensitive+url.PathEscape(field), []byte(category)); err != nil {
		return storeFailed(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tainted[fieldKey(field)] = category
	return nil
}

// forget withdraws all consents that involve a domain or a name below it, and returns their number
// (section 14.2).
func (c *consents) forget(ctx context.Context, domain string) (int, error) {
	return c.withdraw(ctx, func(held Consent) bool {
		return under(domain, held.Serving, held.Owner, held.Recipient) || under(domain, held.From...)
	})
}

// doubt withdraws all consents if the clock was set back since they were given. Otherwise expired
// consents would be valid again, and others for longer than the user agreed to. A small correction
// of the clock does not count.
func (c *consents) doubt(ctx context.Context) error {
	steps := c.clock.Steps()
	c.mu.Lock()
	before := c.steps
	c.mu.Unlock()
	if steps == before {
		return nil
	}
	if _, err := c.withdraw(ctx, func(Consent) bool { return true }); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.steps = max(c.steps, steps)
	return nil
}

func (c *consents) withdraw(ctx context.Context, which func(Consent) bool) (n int, err error) {
	err = c.each(ctx, func(key string, held Consent) error {
		if !which(held) {
			return nil
		}
		n++
		return storeFailed(c.store.Delete(ctx, key))
	})
	return n, err
}

// each visits all stored consents. It deletes those that cannot be read.
func (c *consents) each(ctx context.Context, visit func(key string, held Consent) error) error {
	for _, prefix := range []string{keyConsent, keyTransfer} {
		for r, err := range records(ctx, c.store, prefix) {
			if err != nil {
				return storeFailed(err)
			}
			var held consent
			if strictjson.Decode(r.data, &held) != nil {
				err = storeFailed(c.store.Delete(ctx, r.key))
			} else {
				err = visit(r.key, held.Consent)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// consentKey returns the part of a store key that names the field and the parties of a consent.
func consentKey(field, owner, recipient string) string {
	return url.PathEscape(owner) + "/" + url.PathEscape(recipient) + "/" + url.PathEscape(field)
}

// Consents returns the lasting consents of the user that are still valid, in the order in which
// they were granted.
func (s *Session) Consents(ctx context.Context) ([]Consent, error) {
	if err := s.ready(); err != nil {
		return nil, err
	}
	var all []Consent
	now := s.consents.clock.Now()
	if err := s.consents.doubt(ctx); err != nil {
		return nil, err
	}
	err := s.consents.each(ctx, func(_ string, held Consent) error {
		if now.Before(held.Until) {
			all = append(all, held)
		}
		return nil
	})
	slices.SortFunc(all, func(a, b Consent) int { return cmp.Or(a.Granted.Compare(b.Granted), strings.Compare(a.ID, b.ID)) })
	return all, err
}

// Withdraw withdraws a consent by its ID and reports whether it existed. It takes effect at once,
// also for calls that are prepared and not yet sent.
func (s *Session) Withdraw(ctx context.Context, id string) (bool, error) {
	if err := s.ready(); err != nil {
		return false, err
	}
	n, err := s.consents.withdraw(ctx, func(held Consent) bool { return held.ID == id })
	return n > 0, err
}
