package agent

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
)

// NoticeKind says what a [Notice] is about, so that a host can choose how to
// show it.
type NoticeKind string

// The kinds of notice, with the section that demands each.
const (
	NoticeNewerVersion  NoticeKind = "newer-version"    // 8.1: the document is of a newer version
	NoticeUnsupported   NoticeKind = "unsupported"      // 8.1: no version of it is understood, so nothing is executed
	NoticeInvalid       NoticeKind = "invalid-document" // 11.4: the document could not be read
	NoticeMalformed     NoticeKind = "malformed"        // 11.4: a part that the interaction needs is malformed
	NoticeUnreachable   NoticeKind = "unreachable"      // 11.4: the service could not be reached
	NoticeAuthRequired  NoticeKind = "auth-required"    // 11.3: 401
	NoticeServerError   NoticeKind = "server-error"     // 11.3: 500 and its like
	NoticeUnavailable   NoticeKind = "unavailable"      // 11.3: 503
	NoticeInjection     NoticeKind = "injection"        // 13.3: a persona was discarded
	NoticeImpersonation NoticeKind = "impersonation"    // 13.6: the origin may pretend to be another
	NoticeInsecure      NoticeKind = "insecure"         // 13.6: certificate errors, plain http
	NoticeSecurity      NoticeKind = "security"         // 12.8: a verification ended in a security finding
	NoticeMoved         NoticeKind = "moved"            // 6.5.1: the document of an origin is another domain's
)

// Notice is something that the user should know. Its words are ours; nothing
// remote stands in it except what is quoted in Remote.
type Notice struct {
	Time   time.Time             `json:"time"`
	Kind   NoticeKind            `json:"kind"`
	Code   lookleap.Code         `json:"code"`
	Origin string                `json:"origin"` // who it is about
	Text   string                `json:"text"`   // one sentence
	Remote []lookleap.RemoteText `json:"remote,omitempty"`
}

// notifyTime is how long a call of Notify is waited for.
const notifyTime = 2 * time.Second

// maxNotices bounds what a session remembers of its notices.
const maxNotices = 1000

type notices struct {
	session *Session
	mu      sync.Mutex
	list    []Notice
	said    *simplelru.LRU[string, bool] // what is told once; the keys that were met last
}

func newNotices(s *Session) *notices {
	n := &notices{session: s}
	n.said, _ = simplelru.NewLRU[string, bool](maxNotices, nil) // fails for sizes below 1 only
	return n
}

// tell records a notice and hands it to the host. A panic of the host's function
// is dropped: telling must not change what happens.
func (n *notices) tell(ctx context.Context, x Notice) {
	if x.Time.IsZero() {
		x.Time = n.session.now()
	}
	n.mu.Lock()
	if len(n.list) < maxNotices {
		n.list = append(n.list, x)
	}
	n.mu.Unlock()
	if f := n.session.user.Notify; f != nil {
		_ = do(context.WithoutCancel(ctx), n.session.agent.plugins.notify, func(context.Context) error { f(ctx, x); return nil })
	}
}

// tellOnce tells a notice once under a key, as long as the key is among those that
// were met last.
func (n *notices) tellOnce(ctx context.Context, key string, x Notice) {
	n.mu.Lock()
	said, _ := n.said.Get(key)
	if !said {
		n.said.Add(key, true)
	}
	n.mu.Unlock()
	if !said {
		n.tell(ctx, x)
	}
}

// failures are the kinds of notice that tell of a failed retrieval.
var failures = [...]NoticeKind{NoticeUnreachable, NoticeInsecure, NoticeAuthRequired, NoticeServerError, NoticeUnavailable}

// tellFailure tells of a retrieval that failed for a reason which the user should
// know: once, until the URL was reached again (sections 11.3, 11.4 and 13.6).
func (s *Session) tellFailure(ctx context.Context, u domain.URL, e *lookleap.Error) {
	kind, text := failureNotice(e)
	if kind == "" {
		return
	}
	s.notices.tellOnce(ctx, string(kind)+" "+u.String(), Notice{Kind: kind, Code: e.Code, Origin: u.Origin(), Text: text})
}

func failureNotice(e *lookleap.Error) (NoticeKind, string) {
	switch e.Code {
	case lookleap.CodeTLS, lookleap.CodeTLSTooOld:
		return NoticeInsecure, "The service's certificate or encryption could not be verified, so nothing of it was read."
	case lookleap.CodeTimeout, lookleap.CodeUnreachable, lookleap.CodeConnRefused, lookleap.CodeConnReset,
		lookleap.CodeTruncated, lookleap.CodeTooSlow, lookleap.CodeDNSError, lookleap.CodeNoAddress:
		return NoticeUnreachable, "The service could not be reached."
	}
	status := responseBehind(e).Status
	switch {
	case status == http.StatusUnauthorized:
		return NoticeAuthRequired, "The service wants to know who asks before it answers."
	case status == http.StatusServiceUnavailable:
		return NoticeUnavailable, "The service is not available at the moment."
	case status >= 500:
		return NoticeServerError, "The service failed with an error of its own."
	}
	return "", ""
}

// reached lets failures at a URL be told again.
func (n *notices) reached(u domain.URL) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, kind := range failures {
		n.said.Remove(string(kind) + " " + u.String())
	}
}

// Notices lists what the user was told in this session, in order.
func (s *Session) Notices() []Notice {
	if s.ready() != nil {
		return nil
	}
	s.notices.mu.Lock()
	defer s.notices.mu.Unlock()
	return append([]Notice(nil), s.notices.list...)
}
