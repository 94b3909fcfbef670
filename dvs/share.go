package dvs

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"net/http"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/fetch"
)

// sharedFor is how long a process uses a copy of another one before it looks
// again.
const sharedFor = time.Minute

// sharedCopy is what processes tell one another through [lookleap.Host.Cache]:
// what a server answered for a SKILL.md, never a decision. Each judges it by its
// own roots.
type sharedCopy struct {
	Evidence  Evidence        `json:"evidence"`
	Body      content         `json:"body"`
	Validator fetch.Validator `json:"validator"`
}

func (s *sharedCopy) contents() []*content { return []*content{&s.Body} }

func shareKey(u domain.URL) string { return "dvs/1/" + u.String() }

// recall gives the fresh copy that another process has shared, nil if there is
// none. Whatever is odd about it makes it none.
func (l *Loader) recall(ctx context.Context, u domain.URL) *document {
	if l.host.Cache == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, l.limits.Time)
	defer cancel()
	value, expires, err := l.host.SharedCache().Get(ctx, shareKey(u))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var shared sharedCopy
	if err == nil {
		err = decodeContents(value, &shared)
	}
	now, e := l.host.Time(), &shared.Evidence
	if err == nil && (shared.Body.Size > l.limits.Skill || e.Digest != DigestOf(shared.Body.Bytes) || e.Status != http.StatusOK || e.Failure != "" || len(e.Hops) > l.limits.Redirects || e.Received.After(now.Add(sharedFor))) {
		err = errors.New("the shared copy is damaged")
	}
	if err != nil {
		l.host.Report(ctx, lookleap.Event{Kind: lookleap.EventFinding, Code: lookleap.CodeIO, Subject: domain.Redact(u.String()), Err: err})
		return nil
	}
	if most := e.Received.Add(l.limits.Kept); most.Before(e.Fresh) {
		e.Fresh = most
	}
	if !now.Before(e.Fresh) || !now.Before(expires) {
		return nil
	}
	doc := &document{evidence: *e, body: bytes.Clone(shared.Body.Bytes), final: u, known: shared.Validator, public: true}
	if n := len(e.Hops); n > 0 {
		if doc.final, err = l.rules().urls().Parse(e.Hops[n-1]); err != nil {
			return nil
		}
	}
	return doc
}

// share tells other processes what a server answered, and takes back what they
// were told before if it is no longer for all.
func (l *Loader) share(ctx context.Context, u domain.URL, doc *document) {
	if l.host.Cache == nil || doc.evidence.Failure != "" {
		return
	}
	// Those who asked may have left; what was found out is told all the same.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.limits.Time)
	defer cancel()
	var err error
	if doc.public && doc.evidence.Status == http.StatusOK && l.host.Time().Before(doc.evidence.Fresh) {
		var value []byte
		if value, err = encodeContents(&sharedCopy{doc.evidence, newContent(doc.body), doc.known}); err == nil {
			err = l.host.SharedCache().Put(ctx, shareKey(u), value, doc.evidence.Fresh)
		}
	} else if err = l.host.SharedCache().Delete(ctx, shareKey(u)); errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err != nil {
		l.host.Report(ctx, lookleap.Event{Kind: lookleap.EventFinding, Code: lookleap.CodeIO, Subject: domain.Redact(u.String()), Err: err})
	}
}
