package agentstxt

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"time"

	"github.com/lookleap/lookleap"
)

// sharedFor is how long a process trusts its memory before it looks into the
// shared cache again.
const sharedFor = time.Minute

// record is what processes tell one another about an origin: what the server
// answered, or that its file was malformed. Attempts that gave no answer are not
// shared, since they may be about the process that made them.
type record struct {
	Checked     time.Time     `json:"checked"` // when the server last said so
	Fresh       time.Time     `json:"fresh"`   // until when it need not be asked again
	Status      int           `json:"status"`
	ContentType string        `json:"contentType"`
	Insecure    bool          `json:"insecure,omitempty"`
	Body        []byte        `json:"body,omitempty"`
	Validator   validator     `json:"validator"`
	Malformed   lookleap.Code `json:"malformed,omitempty"` // then there is no body
	Message     string        `json:"message,omitempty"`
}

func shareKey(o origin) string { return "agentstxt/1/" + o.name }

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

// olderThan reports whether a record tells more than memory does. At the same
// time, only that the file is malformed does.
func (h *held) olderThan(r *record) bool {
	if h == nil || h.failures > 0 && !h.standing {
		return true
	}
	checked := h.checked
	if h.standing {
		checked = h.good.checked
	}
	return r.Checked.After(checked) || r.Checked.Equal(checked) && r.Malformed != "" && !isMalformed(h.policy)
}

func (c *Client) recorded(ctx context.Context, o origin) (*record, error) {
	ctx, cancel := context.WithTimeout(ctx, c.limits.Timeout)
	defer cancel()
	value, expires, err := c.host.SharedCache().Get(ctx, shareKey(o))
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
	h := &held{checked: r.Checked, fresh: earlier(r.Fresh, r.Checked.Add(mostFresh)), evidence: lookleap.Evidence{Status: r.Status, MediaType: r.ContentType}}
	if r.Malformed != "" {
		h.policy = restricted(&MalformedError{Code: r.Malformed, Message: r.Message})
		return c.holdUntil(h)
	}
	h.policy = c.options.Judge(Answer{Status: r.Status, ContentType: r.ContentType, Body: r.Body, Insecure: r.Insecure})
	if h.policy.state == Valid {
		h.good = &goodCopy{policy: h.policy, contentType: r.ContentType, insecure: r.Insecure, validator: r.Validator, checked: r.Checked}
	}
	return c.holdUntil(h)
}

// share tells other processes. If one of them saw a malformed file after this one
// asked, that stands, and comes back.
func (c *Client) share(ctx context.Context, o origin, h *held, out *outcome, asked time.Time) (instead *held) {
	if c.host.Cache == nil {
		return nil
	}
	// Those who asked may have left; what was found out is told all the same.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.limits.Timeout)
	defer cancel()
	r := &record{Checked: h.checked, Fresh: h.fresh}
	expires := h.fresh
	switch {
	case isMalformed(h.policy):
		r.Malformed, r.Message = h.policy.reason, h.policy.err.Error()
	case h.standing || h.failures > 0:
		return nil // it is no news about the origin
	case h.local:
		c.withdraw(ctx, o)
		return nil
	default:
		if other, err := c.recorded(ctx, o); err == nil && other.Malformed != "" && other.Checked.After(asked) {
			return c.adopt(other)
		}
		r.Status, r.ContentType, r.Insecure = out.answer.Status, out.answer.ContentType, out.answer.Insecure
		if good := h.good; good != nil {
			r.Status, r.ContentType, r.Insecure = http.StatusOK, good.contentType, good.insecure
			r.Body, r.Validator = []byte(good.policy.text[:good.policy.size]), good.validator
			expires = h.checked.Add(staleFor)
		}
	}
	value, err := json.Marshal(r)
	if err == nil {
		err = c.host.SharedCache().Put(ctx, shareKey(o), value, expires)
	}
	if err != nil {
		c.reportCache(ctx, o, err)
		c.withdraw(ctx, o)
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
