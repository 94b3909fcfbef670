package agentstxt

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/internal/shared"
)

// sharedFor is how long a process uses what it knows before it reads the shared
// cache again.
const sharedFor = shared.LookAgain

// record is what processes tell one another about an origin: what the server
// answered, or that its file was malformed. Attempts without an answer are not
// shared, since they may be about the process that made them.
type record struct {
	Fresh       time.Time       `json:"fresh"` // until when the server need not be asked again
	Status      int             `json:"status"`
	ContentType string          `json:"contentType"`
	Insecure    bool            `json:"insecure,omitempty"`
	Body        []byte          `json:"body,omitempty"`
	Validator   fetch.Validator `json:"validator"`
	Malformed   lookleap.Code   `json:"malformed,omitempty"` // the code of a malformed file, which has no body here

	// Of a malformed file:
	Position lookleap.Position `json:"position,omitzero"`
	Message  string            `json:"message,omitempty"`
	Fix      string            `json:"fix,omitempty"`
}

// sharedRecord is a record with the times at which it was asked for and found.
type sharedRecord = shared.Entry[record]

const sharePrefix = "agentstxt/3/"

func (c *Client) sharing() *shared.Cache[record] {
	return shared.New[record](c.host, shared.Options{Prefix: sharePrefix, Skew: sharedFor})
}

// tombstoneKey is where a malformed file of an origin is recorded: a process that
// read a whole file before cannot overwrite it. The malformed file stands until
// the server is asked again after it was seen.
func tombstoneKey(o origin) string { return "malformed/" + o.name }

// tombstoneFor is how long a malformed file is recorded: longer than any record
// of a whole file that was read before it.
const tombstoneFor = staleFor + sharedFor

// recall returns what the shared cache knows, if that is newer than before. usable
// reports whether the server need not be asked.
func (c *Client) recall(ctx context.Context, o origin, before *cachedPolicy) (entry *cachedPolicy, usable bool) {
	now := c.host.Time()
	keep := func() (*cachedPolicy, bool) {
		if before == nil || !now.Before(before.fresh) {
			return before, false
		}
		kept := *before
		c.setRecheck(&kept)
		return &kept, now.Before(kept.recheck)
	}
	r, err := c.recorded(ctx, o)
	switch {
	case errors.Is(err, fs.ErrNotExist) && before != nil && before.good != nil && !before.private:
		withdrawn := *before // another process deleted the copy
		withdrawn.good = nil
		return &withdrawn, false
	case errors.Is(err, fs.ErrNotExist):
		return keep()
	case err != nil:
		if before != nil && before.failures > 0 {
			return keep()
		}
		return before, false
	case !c.isNews(r, before):
		return keep()
	}
	entry = c.adopt(r)
	return entry, now.Before(entry.recheck) && now.Before(r.Value.Fresh)
}

// isNews reports whether a record tells more than memory does. A malformed file
// counts unless memory comes from an exchange that began after it was seen.
func (c *Client) isNews(r *sharedRecord, entry *cachedPolicy) bool {
	if entry == nil || entry.failures > 0 && !entry.stale {
		return true
	}
	asked, checked := entry.asked, entry.checked
	if entry.stale {
		asked, checked = entry.good.asked, entry.good.checked
	}
	if r.Value.Malformed != "" && !isMalformed(entry.policy) {
		return c.sharing().Ends(r, asked)
	}
	return r.Found.After(checked)
}

// recorded returns what other processes know: the malformed file, unless a whole
// one was asked for after it was seen.
func (c *Client) recorded(ctx context.Context, o origin) (*sharedRecord, error) {
	cache := c.sharing()
	whole, err := cache.Get(ctx, o.name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	malformed, malformedErr := cache.Get(ctx, tombstoneKey(o))
	switch {
	case malformedErr == nil && malformed.Value.Malformed != "" && (whole == nil || cache.Ends(malformed, whole.Asked)):
		return malformed, nil
	case malformedErr != nil && !errors.Is(malformedErr, fs.ErrNotExist):
		return nil, malformedErr
	}
	return whole, err
}

// adopt judges a record of another process by this one's options.
func (c *Client) adopt(e *sharedRecord) *cachedPolicy {
	r := &e.Value
	entry := &cachedPolicy{asked: e.Asked, checked: e.Found, fresh: earlier(r.Fresh, e.Found.Add(maxFresh)),
		evidence: lookleap.Evidence{Status: r.Status, MediaType: r.ContentType}}
	if r.Malformed != "" {
		entry.policy = restricted(malformed(r.Malformed, r.Position, r.Message, r.Fix))
		return c.setRecheck(entry)
	}
	entry.policy = Judge(Response{Status: r.Status, ContentType: r.ContentType, Body: r.Body, Insecure: r.Insecure}, c.options)
	if entry.policy.state == Valid {
		entry.good = &goodCopy{policy: entry.policy, body: r.Body, contentType: r.ContentType, insecure: r.Insecure, validator: r.Validator,
			asked: e.Asked, checked: e.Found}
	}
	return c.setRecheck(entry)
}

// share tells other processes. If one of them saw a malformed file after this one
// asked, share returns that file.
func (c *Client) share(ctx context.Context, o origin, entry *cachedPolicy, result *readResult) (instead *cachedPolicy) {
	cache := c.sharing()
	e := sharedRecord{Asked: entry.asked, Found: entry.checked, Value: record{Fresh: entry.fresh}}
	r := &e.Value
	switch {
	case isMalformed(entry.policy):
		r.Malformed = entry.policy.reason
		if bad := new(lookleap.Error); errors.As(entry.policy.err, &bad) {
			r.Position, r.Message, r.Fix = bad.Position, bad.Message, bad.Fix
		}
		cache.Delete(ctx, o.name)
		cache.PutNewest(ctx, tombstoneKey(o), e, entry.checked.Add(tombstoneFor))
		return nil
	case entry.stale || entry.failures > 0:
		return nil // it says nothing new about the origin
	case entry.private:
		cache.Delete(ctx, o.name)
	default:
		r.Status = result.response.Status
		r.ContentType = result.response.ContentType
		r.Insecure = result.response.Insecure
		expires := entry.fresh
		if good := entry.good; good != nil {
			r.Status, r.ContentType, r.Insecure = http.StatusOK, good.contentType, good.insecure
			r.Body, r.Validator = good.body, good.validator
			expires = entry.checked.Add(staleFor)
		}
		if !cache.Put(ctx, o.name, e, expires) {
			cache.Delete(ctx, o.name)
		}
	}
	// Another process may have seen a malformed file since the exchange began.
	if e, err := cache.Get(context.WithoutCancel(ctx), tombstoneKey(o)); err == nil && e.Value.Malformed != "" && c.isNews(e, entry) {
		return c.adopt(e)
	}
	return nil
}
