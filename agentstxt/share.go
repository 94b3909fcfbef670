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

// record is what processes tell one another about a file of an origin: what the server
// answered, or that the file was malformed. Attempts without an answer are not
// shared, since they may be about the process that made them.
type record struct {
	Fresh       time.Time       `json:"fresh"` // until when the server need not be asked again
	Status      int             `json:"status"`
	URL         string          `json:"url"` // after redirects
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

func (s *siteFiles[T]) shared() *shared.Cache[record] {
	return shared.New[record](s.client.host, shared.Options{Prefix: s.kind.prefix, Skew: sharedFor})
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
func (s *siteFiles[T]) recall(ctx context.Context, o origin, before *knownFile[T]) (e *knownFile[T], usable bool) {
	now := s.client.host.Time()
	keep := func() (*knownFile[T], bool) {
		if before == nil || !now.Before(before.fresh) {
			return before, false
		}
		kept := *before
		s.setRecheck(&kept)
		return &kept, now.Before(kept.recheck)
	}
	r, err := s.recorded(ctx, o)
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
	case !s.isNews(r, before):
		return keep()
	}
	e = s.adopt(r)
	return e, now.Before(e.recheck) && now.Before(r.Value.Fresh)
}

// isNews reports whether a record tells more than memory does. A malformed file
// counts unless memory comes from an exchange that began after it was seen.
func (s *siteFiles[T]) isNews(r *sharedRecord, e *knownFile[T]) bool {
	if e == nil || e.failures > 0 && !e.stale {
		return true
	}
	asked, checked := e.asked, e.checked
	if e.stale {
		asked, checked = e.good.asked, e.good.checked
	}
	if r.Value.Malformed != "" && s.kind.malformed(e.value) == nil {
		return s.shared().Ends(r, asked)
	}
	return r.Found.After(checked)
}

// recorded returns what other processes know: the malformed file, unless a whole
// one was asked for after it was seen.
func (s *siteFiles[T]) recorded(ctx context.Context, o origin) (*sharedRecord, error) {
	cache := s.shared()
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
func (s *siteFiles[T]) adopt(found *sharedRecord) *knownFile[T] {
	r := &found.Value
	e := &knownFile[T]{asked: found.Asked, checked: found.Found, fresh: fetch.Earlier(r.Fresh, found.Found.Add(maxFresh)),
		evidence: lookleap.Evidence{URL: r.URL, Status: r.Status, MediaType: r.ContentType}}
	if r.Malformed != "" {
		e.value = s.kind.restrict(malformed(r.Malformed, r.Position, r.Message, r.Fix))
		return s.setRecheck(e)
	}
	response := Response{Status: r.Status, ContentType: r.ContentType, Body: r.Body, Insecure: r.Insecure}
	j := s.kind.judge(s.client, &readResult{response: response})
	e.value = j.value
	if j.whole {
		e.good = &goodCopy[T]{value: j.value, response: response, url: r.URL, validator: r.Validator, asked: found.Asked, checked: found.Found}
	}
	return s.setRecheck(e)
}

// share tells other processes. If one of them saw a malformed file after this one
// asked, share returns that file.
func (s *siteFiles[T]) share(ctx context.Context, o origin, e *knownFile[T], result *readResult) (instead *knownFile[T]) {
	cache := s.shared()
	found := sharedRecord{Asked: e.asked, Found: e.checked, Value: record{Fresh: e.fresh}}
	r := &found.Value
	bad := s.kind.malformed(e.value)
	switch {
	case bad != nil:
		r.Malformed, r.Position, r.Message, r.Fix = bad.Code, bad.Position, bad.Message, bad.Fix
		cache.Delete(ctx, o.name)
		cache.PutNewest(ctx, tombstoneKey(o), found, e.checked.Add(tombstoneFor))
		return nil
	case e.stale, e.failures > 0, result.err != nil:
		return nil // it says nothing new about the origin
	case e.private:
		cache.Delete(ctx, o.name)
	default:
		response, url, expires := result.response, e.evidence.URL, e.fresh
		if e.good != nil {
			response, url, expires = e.good.response, e.good.url, e.checked.Add(staleFor)
			r.Validator = e.good.validator
		}
		r.Status, r.ContentType, r.Insecure, r.URL = response.Status, response.ContentType, response.Insecure, url
		if response.Status == http.StatusOK && e.good != nil {
			r.Body = response.Body
		}
		if !cache.Put(ctx, o.name, found, expires) {
			cache.Delete(ctx, o.name)
		}
	}
	// Another process may have seen a malformed file since the exchange began.
	if other, err := cache.Get(context.WithoutCancel(ctx), tombstoneKey(o)); err == nil && other.Value.Malformed != "" && s.isNews(other, e) {
		return s.adopt(other)
	}
	return nil
}
