package dvs

import (
	"bytes"
	"context"
	"net/http"

	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/internal/shared"
)

// sharedFor is how long a process uses a copy of another one before it looks again.
const sharedFor = shared.LookAgain

// sharedCopy is what processes tell one another through [lookleap.Host.Cache]:
// what a server answered for a SKILL.md, never a decision. Each process judges it
// by its own roots.
type sharedCopy struct {
	Evidence  Evidence        `json:"evidence"`
	Body      content         `json:"body"`
	Validator fetch.Validator `json:"validator"`
}

func (s *sharedCopy) contents() []*content { return []*content{&s.Body} }

// MarshalBinary keeps the body as it is, behind a line of JSON.
func (s sharedCopy) MarshalBinary() ([]byte, error)       { return encodeContents(&s) }
func (s *sharedCopy) UnmarshalBinary(stored []byte) error { return decodeContents(stored, s) }

func (l *Loader) sharing() *shared.Cache[sharedCopy] {
	return shared.New[sharedCopy](l.host, shared.Options{Prefix: "dvs/2/", Skew: sharedFor})
}

// recall returns the fresh copy that another process has shared, or nil if there
// is no usable one.
func (l *Loader) recall(ctx context.Context, u domain.URL, limit int) *document {
	cache := l.sharing()
	entry, err := cache.Get(ctx, u.String())
	if err != nil {
		return nil
	}
	stored, now := &entry.Value, l.host.Time()
	e := &stored.Evidence
	if stored.Body.Size > limit || e.Digest != DigestOf(stored.Body.Bytes) || e.Status != http.StatusOK || e.Failure != "" || len(e.Hops) > l.limits.Redirects || !e.Received.Equal(entry.Found) {
		cache.Report(ctx, u.String(), shared.ErrForged)
		return nil
	}
	if most := e.Received.Add(l.limits.Kept); most.Before(e.Fresh) {
		e.Fresh = most
	}
	if !now.Before(e.Fresh) {
		return nil
	}
	doc := &document{evidence: *e, body: bytes.Clone(stored.Body.Bytes), final: u, known: stored.Validator, public: true}
	if n := len(e.Hops); n > 0 {
		if doc.final, err = l.roots.Rules().urls().Parse(e.Hops[n-1]); err != nil {
			return nil
		}
	}
	return doc
}

// share tells other processes what a server answered, and takes back what they
// were told before if it is no longer for all.
func (l *Loader) share(ctx context.Context, u domain.URL, doc *document) {
	if doc.evidence.Failure != "" {
		return
	}
	cache, e := l.sharing(), &doc.evidence
	if doc.public && e.Status == http.StatusOK && l.host.Time().Before(e.Fresh) {
		cache.Put(ctx, u.String(), shared.Entry[sharedCopy]{Asked: e.Received, Found: e.Received, Value: sharedCopy{*e, content{doc.body, len(doc.body)}, doc.known}}, e.Fresh)
	} else {
		cache.Delete(ctx, u.String())
	}
}
