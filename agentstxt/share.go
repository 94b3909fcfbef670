package agentstxt

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/fetch"
)

// sharedFor is how long a process trusts its memory before it looks into the
// shared cache again.
const sharedFor = time.Minute

// record is what processes tell one another about an origin: what the server
// answered, or that its file was malformed. Attempts that gave no answer are not
// shared, since they may be about the process that made them.
type record struct {
	Asked       time.Time       `json:"asked"`   // when the exchange began that found this out
	Checked     time.Time       `json:"checked"` // when the server last said so
	Fresh       time.Time       `json:"fresh"`   // until when it need not be asked again
	Status      int             `json:"status"`
	ContentType string          `json:"contentType"`
	Insecure    bool            `json:"insecure,omitempty"`
	Body        []byte          `json:"body,omitempty"`
	Validator   fetch.Validator `json:"validator"`
	Malformed   lookleap.Code   `json:"malformed,omitempty"` // then there is no body
	Message     string          `json:"message,omitempty"`
}

func shareKey(o origin) string { return "agentstxt/2/" + o.name }

// A malformed file has a record under a key of its own, which nothing but such
// records is written to. So a process that read a whole file before cannot
// overwrite it, whichever of the two writes last: the malformed file stands until
// the server is asked again after it was seen.
func tombstoneKey(o origin) string { return "agentstxt/2/malformed/" + o.name }

// tombstoneFor is how long a malformed file is remembered: longer than any record
// of a whole file that was read before it.
const tombstoneFor = staleFor + sharedFor

// recall brings memory up to what other processes know. usable says that the
// server need not be asked.
func (c *Client) recall(ctx context.Context, o origin, before *held) (h *held, usable bool) {
	if c.host.Cache == nil {
		return before, false
	}
	now := c.host.Time()
	keep := func() (*held, bool) {
		if before == nil || !now.Before(before.fresh) {
			return before, false
		}
		kept := *before
		c.holdUntil(&kept)
		return &kept, now.Before(kept.until)
	}
	r, err := c.recorded(ctx, o)
	switch {
	case errors.Is(err, fs.ErrNotExist) && before != nil && before.good != nil && !before.local:
		withdrawn := *before // somebody took it back
		withdrawn.good = nil
		return &withdrawn, false
	case errors.Is(err, fs.ErrNotExist):
		return keep()
	case err != nil:
		c.reportCache(ctx, o, err)
		if before != nil && before.failures > 0 {
			return keep()
		}
		return before, false
	case !before.olderThan(r):
		return keep()
	}
	h = c.adopt(r)
	if before == nil {
		before = &held{}
	}
	c.number(before, h)
	return h, now.Before(h.until) && now.Before(r.Fresh)
}

// olderThan reports whether a record tells more than memory does. A malformed
// file counts unless memory comes from an exchange that began after it was seen.
func (h *held) olderThan(r *record) bool {
	if h == nil || h.failures > 0 && !h.standing {
		return true
	}
	asked, checked := h.asked, h.checked
	if h.standing {
		asked, checked = h.good.asked, h.good.checked
	}
	if r.Malformed != "" && !isMalformed(h.policy) {
		return !asked.After(r.Checked)
	}
	return r.Checked.After(checked)
}

// recorded returns what other processes know: the malformed file, unless a whole
// one was asked for after it was seen.
func (c *Client) recorded(ctx context.Context, o origin) (*record, error) {
	ctx, cancel := context.WithTimeout(ctx, c.limits.Timeout)
	defer cancel()
	whole, err := c.recordAt(ctx, shareKey(o))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	malformed, malformedErr := c.recordAt(ctx, tombstoneKey(o))
	switch {
	case malformedErr == nil && malformed.Malformed != "" && (whole == nil || !whole.Asked.After(malformed.Checked)):
		return malformed, nil
	case malformedErr != nil && !errors.Is(malformedErr, fs.ErrNotExist):
		return nil, malformedErr
	}
	return whole, err
}

func (c *Client) recordAt(ctx context.Context, key string) (*record, error) {
	value, expires, err := c.host.SharedCache().Get(ctx, key)
	if err != nil {
		return nil, err
	}
	var r record
	if err := json.Unmarshal(value, &r); err != nil {
		return nil, err
	}
	if !c.host.Time().Before(expires) || r.Checked.After(c.host.Time().Add(sharedFor)) {
		return nil, fs.ErrNotExist
	}
	return &r, nil
}

// adopt judges a record of another process by this one's options.
func (c *Client) adopt(r *record) *held {
	h := &held{asked: r.Asked, checked: r.Checked, fresh: earlier(r.Fresh, r.Checked.Add(mostFresh)), evidence: lookleap.Evidence{Status: r.Status, MediaType: r.ContentType}}
	if r.Malformed != "" {
		h.policy = restricted(&MalformedError{Code: r.Malformed, Message: r.Message})
		return c.holdUntil(h)
	}
	h.policy = c.options.Judge(Response{Status: r.Status, ContentType: r.ContentType, Body: r.Body, Insecure: r.Insecure})
	if h.policy.state == Valid {
		h.good = &goodCopy{policy: h.policy, contentType: r.ContentType, insecure: r.Insecure, validator: r.Validator, asked: r.Asked, checked: r.Checked}
	}
	return c.holdUntil(h)
}

// share tells other processes. If one of them saw a malformed file after this one
// asked, that stands, and comes back.
func (c *Client) share(ctx context.Context, o origin, h *held, out *outcome) (instead *held) {
	if c.host.Cache == nil {
		return nil
	}
	// The callers may have left; what was found out is told all the same.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.limits.Timeout)
	defer cancel()
	r := &record{Asked: h.asked, Checked: h.checked, Fresh: h.fresh}
	key, expires := shareKey(o), h.fresh
	switch {
	case isMalformed(h.policy):
		r.Malformed, r.Message = h.policy.reason, h.policy.err.Error()
		key, expires = tombstoneKey(o), h.checked.Add(tombstoneFor)
		c.withdraw(ctx, o)
	case h.standing || h.failures > 0:
		return nil // it is no news about the origin
	case h.local:
		c.withdraw(ctx, o)
		return c.overruled(ctx, o, h)
	default:
		r.Status, r.ContentType, r.Insecure = out.answer.Status, out.answer.ContentType, out.answer.Insecure
		if good := h.good; good != nil {
			r.Status, r.ContentType, r.Insecure = http.StatusOK, good.contentType, good.insecure
			r.Body, r.Validator = []byte(good.policy.text[:good.policy.size]), good.validator
			expires = h.checked.Add(staleFor)
		}
	}
	value, err := json.Marshal(r)
	if err == nil {
		err = c.host.SharedCache().Put(ctx, key, value, expires)
	}
	if err != nil {
		c.reportCache(ctx, o, err)
		c.withdraw(ctx, o)
	}
	if r.Malformed != "" {
		return nil
	}
	return c.overruled(ctx, o, h)
}

// overruled returns the malformed file that another process saw after the
// exchange of h began, if there is one.
func (c *Client) overruled(ctx context.Context, o origin, h *held) *held {
	if r, err := c.recordAt(ctx, tombstoneKey(o)); err == nil && r.Malformed != "" && h.olderThan(r) {
		return c.adopt(r)
	}
	return nil
}

// withdraw removes what other processes may have been told.
func (c *Client) withdraw(ctx context.Context, o origin) {
	if err := c.host.SharedCache().Delete(ctx, shareKey(o)); err != nil {
		c.reportCache(ctx, o, err)
	}
}

func (c *Client) reportCache(ctx context.Context, o origin, err error) {
	c.host.Report(ctx, lookleap.Event{Kind: lookleap.EventFinding, Code: lookleap.CodeIO, Subject: o.name + policyPath, Err: err})
}
