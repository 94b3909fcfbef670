package agent

import (
	"cmp"
	"context"
	"encoding/json"
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
)

// Consent is an explicit consent that the user gave for longer than once, or for
// one transfer that is still to come. It is about one value for one recipient.
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

// consent is a [Consent] with what it was given for.
type consent struct {
	Consent
	Digest string `json:"digest"` // of what the user was shown, see cover
}

// cover is what one consent is about. An identical request has an equal digest.
type cover struct {
	Kind                                   tellKind
	Serving, Owner, Endpoint, Field, Value string
	Purposes, From                         []string
}

// cover is what a tell to whoever asks is.
func (e exchange) cover(asker string, t *tell) cover {
	return cover{t.Kind, e.Serving, asker, e.Endpoint, t.subject(), t.Value, t.Purposes, t.From}
}

func (c cover) digest() string {
	data, err := json.Marshal(c)
	if err != nil { // a cover holds texts alone
		panic(err)
	}
	return lookleap.Digest(data)
}

// consent is one that the user gave to what is covered.
func (c cover) consent(id string, granted, until time.Time) consent {
	return consent{Consent: Consent{
		ID: id, Field: c.Field, Serving: c.Serving, Owner: c.Owner, Recipient: c.Endpoint, From: c.From, Granted: granted, Until: until,
	}, Digest: c.digest()}
}

// consents is what the user agreed to for longer than once, and which fields
// were once asked for a sensitive purpose. It lasts as long as the user's Store;
// without one, as long as the session.
type consents struct {
	store   Store
	lasting bool          // the store is the user's
	clock   *flight.Clock // see [Session.consentClock]
	mu      sync.Mutex
	given   bool              // something was put into it in this session
	steps   uint64            // of the clock, at which consents were last found doubtful
	tainted map[string]string // fields that were told for a sensitive purpose, by their keys, with its category
}

// The keys of consents in the user's store.
const (
	keyConsent   = "consent/"
	keyTransfer  = "transfer/"
	keySpent     = "spent/" // ids of consents for once that were used, with the time of their end
	keySensitive = "sensitive/"
)

func newConsents(s *Session) (*consents, error) {
	c := &consents{store: s.store(), lasting: s.keeps(), clock: s.consentClock, tainted: make(map[string]string)}
	if !c.lasting {
		c.store = NewMemoryStore()
		return c, nil
	}
	if err := c.refresh(context.Background()); err != nil {
		return nil, err
	}
	return c, nil
}

// refresh takes up which fields were told for a sensitive purpose, in other
// sessions of the user too.
func (c *consents) refresh(ctx context.Context) error {
	keys, err := c.store.Keys(ctx, keySensitive)
	if err != nil {
		return storeFailed(err)
	}
	for _, key := range keys {
		field, bad := url.PathUnescape(strings.TrimPrefix(key, keySensitive))
		if bad != nil || c.sensitive(field) != "" {
			continue
		}
		category, err := c.store.Get(ctx, key)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return storeFailed(err)
		}
		c.mu.Lock()
		c.tainted[fieldKey(field)] = string(category)
		c.mu.Unlock()
	}
	return nil
}

func storeFailed(err error) error {
	return &lookleap.Error{Code: lookleap.CodeIO, Message: "what is remembered of the user's consents could not be read or written", Err: err}
}

// find gives the consent in force for something, or nil. Validity is the
// document's limit on the age of consents.
func (c *consents) find(ctx context.Context, prefix string, is cover, rule anml.Rule) (*consent, error) {
	now := c.clock.Now()
	c.mu.Lock()
	none := !c.lasting && !c.given
	c.mu.Unlock()
	if none {
		return nil, nil
	}
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
	if json.Unmarshal(data, &held) != nil || !now.Before(held.Until) {
		return nil, deleteFrom(ctx, c.store, key)
	}
	switch {
	case held.Digest != is.digest() || held.Granted.After(now.Add(flight.CorrectionTolerance)):
		return nil, nil
	case rule.Limited && now.Sub(held.Granted) >= rule.ValidFor:
		return nil, nil
	}
	if held.Once {
		switch _, err := c.store.Get(ctx, spentKey(held.ID)); {
		case err == nil:
			return nil, nil
		case !errors.Is(err, fs.ErrNotExist):
			return nil, storeFailed(err)
		}
	}
	return &held, nil
}

func spentKey(id string) string { return keySpent + url.PathEscape(id) }

func deleteFrom(ctx context.Context, s Store, key string) error {
	if err := s.Delete(ctx, key); err != nil {
		return storeFailed(err)
	}
	return nil
}

// remember keeps a consent.
func (c *consents) remember(ctx context.Context, prefix string, given consent) error {
	data, err := json.Marshal(given)
	if err != nil {
		return err
	}
	if err := c.doubt(ctx); err != nil {
		return err
	}
	c.mu.Lock()
	c.given = true
	c.mu.Unlock()
	if err := c.store.Put(ctx, prefix+consentKey(given.Field, given.Owner, given.Recipient), data); err != nil {
		return storeFailed(err)
	}
	return nil
}

// spend uses up a consent for once; false when somebody else just did, in whichever
// process. What says so stays until the consent would have ended anyway: who read
// it before it was deleted must not use it after.
func (c *consents) spend(ctx context.Context, held *consent, now time.Time) (bool, error) {
	until, err := held.Until.UTC().MarshalText()
	if err == nil {
		err = c.store.Create(ctx, spentKey(held.ID), until)
	}
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, storeFailed(err)
	}
	if err := c.sweep(ctx, now.Add(-transferFor)); err != nil {
		return false, err
	}
	return true, deleteFrom(ctx, c.store, keyTransfer+consentKey(held.Field, held.Owner, held.Recipient))
}

// sweep deletes what says that a consent was used which ended before a time.
func (c *consents) sweep(ctx context.Context, before time.Time) error {
	keys, err := c.store.Keys(ctx, keySpent)
	if err != nil {
		return storeFailed(err)
	}
	for _, key := range keys {
		data, err := c.store.Get(ctx, key)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var until time.Time
		if err != nil || until.UnmarshalText(data) != nil || !until.Before(before) {
			continue
		}
		if err := deleteFrom(ctx, c.store, key); err != nil {
			return err
		}
	}
	return nil
}

// sensitive is the category for which a field was once told, "" for none: the
// category sticks to the user's data, whatever the next purpose says and however
// the field is spelled.
func (c *consents) sensitive(field string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.tainted) == 0 {
		return ""
	}
	return c.tainted[fieldKey(field)]
}

// mark remembers that a field was told for a purpose of a sensitive category.
func (c *consents) mark(ctx context.Context, field, category string) error {
	if c.sensitive(field) != "" {
		return nil
	}
	if err := c.store.Put(ctx, keySensitive+url.PathEscape(field), []byte(category)); err != nil {
		return storeFailed(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tainted[fieldKey(field)] = category
	return nil
}

// forget withdraws all consents that a domain, or a name below it, is part of,
// and tells how many there were (section 14.2).
func (c *consents) forget(ctx context.Context, domain string) (int, error) {
	return c.withdraw(ctx, func(held Consent) bool {
		return under(domain, held.Serving, held.Owner, held.Recipient) || under(domain, held.From...)
	})
}

// doubt withdraws all consents if the clock stepped back since they were given:
// those that had ended would be in force again, and the others for longer than
// the user agreed to. A small correction of the clock is no step.
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
		return deleteFrom(ctx, c.store, key)
	})
	return n, err
}

// each visits all that is remembered; what cannot be read is withdrawn.
func (c *consents) each(ctx context.Context, visit func(key string, held Consent) error) error {
	for _, prefix := range []string{keyConsent, keyTransfer} {
		keys, err := c.store.Keys(ctx, prefix)
		if err != nil {
			return storeFailed(err)
		}
		slices.Sort(keys)
		for _, key := range keys {
			data, err := c.store.Get(ctx, key)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return storeFailed(err)
			}
			var held consent
			if json.Unmarshal(data, &held) != nil {
				err = deleteFrom(ctx, c.store, key)
			} else {
				err = visit(key, held.Consent)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// consentKey names what a consent is bound to.
func consentKey(field, owner, recipient string) string {
	return url.PathEscape(owner) + "/" + url.PathEscape(recipient) + "/" + url.PathEscape(field)
}

// Consents lists what the user agreed to for longer than once and what is still
// in force, in the order in which it was granted.
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

// Withdraw takes back a consent by its id, and reports whether it was there. It
// holds at once, also for calls that are prepared and not yet sent.
func (s *Session) Withdraw(ctx context.Context, id string) (bool, error) {
	if err := s.ready(); err != nil {
		return false, err
	}
	n, err := s.consents.withdraw(ctx, func(held Consent) bool { return held.ID == id })
	return n > 0, err
}
