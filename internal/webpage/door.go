package webpage

import (
	"cmp"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// The bounds of a Door.
const (
	LinkLifetime    = 15 * time.Minute // of an unused one-time link
	SessionLifetime = 24 * time.Hour
	maxLinks        = 16
	maxSessions     = 16
	maxForm         = 1 << 20 // bytes of a posted form
)

// Door is an [http.Handler] that admits the browser of one user to a handler.
type Door struct {
	base *url.URL // where the pages are, as a browser sees it; nil: on the loopback interface
	path string   // random
	now  func() time.Time
	next http.Handler

	mu       sync.Mutex
	links    map[[32]byte]time.Time // when they expire, by the hash of their token
	sessions map[[32]byte]*session  // by the hash of the cookie
}

type session struct {
	key     []byte // of form tokens
	expires time.Time
}

// NewDoor returns a Door to next, which sees paths without the random one. The
// base is the URL under which browsers reach the Door, or "" for the loopback
// interface alone.
func NewDoor(base string, now func() time.Time, next http.Handler) (*Door, error) {
	d := &Door{
		path: rand.Text(), now: now, next: next,
		links: make(map[[32]byte]time.Time), sessions: make(map[[32]byte]*session),
	}
	if base == "" {
		return d, nil
	}
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil || strings.ContainsAny(base, "?#") {
		return nil, fmt.Errorf("the base URL must be an http or https URL without a user name, query or fragment")
	}
	if u.Scheme == "http" && !isLoopbackName(u.Hostname()) {
		return nil, fmt.Errorf("the base URL must be https, unless it is on the loopback interface")
	}
	u.Path = strings.TrimSuffix(u.Path, "/")
	d.base = u
	return d, nil
}

// Link returns a URL that opens one session, once, within [LinkLifetime]. The
// address is that of the server, such as http://127.0.0.1:7777; it is not used if
// the Door has a base.
func (d *Door) Link(address string) string {
	token := rand.Text()
	d.mu.Lock()
	defer d.mu.Unlock()
	makeRoom(d.links, maxLinks, func(t time.Time) time.Time { return t })
	d.links[sha256.Sum256([]byte(token))] = d.now().Add(LinkLifetime)
	base := strings.TrimSuffix(address, "/")
	if d.base != nil {
		base = d.base.String()
	}
	return base + "/" + d.path + "/open?token=" + token
}

// ServeHTTP answers a request.
func (d *Door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	Protect(w.Header(), "")
	if fault := d.misdirected(r); fault != "" {
		http.Error(w, fault, http.StatusMisdirectedRequest)
		return
	}
	path, rest, ok := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if !ok || subtle.ConstantTimeCompare([]byte(path), []byte(d.path)) != 1 {
		http.Error(w, "There is no page here. Open the link that the program printed.", http.StatusNotFound)
		return
	}
	if rest == "open" {
		d.open(w, r)
		return
	}
	if fault := d.foreign(r); fault != "" {
		http.Error(w, fault, http.StatusForbidden)
		return
	}
	s := d.session(r)
	if s == nil {
		Message(w, http.StatusUnauthorized, "No session",
			"This browser has no session here, or the program was started again. Open the link that the program prints; each link works once.")
		return
	}
	r = r.WithContext(contextWith(r.Context(), s))
	r.URL = &url.URL{Path: "/" + rest, RawQuery: r.URL.RawQuery}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	d.next.ServeHTTP(w, r)
}

// open exchanges the token of a one-time link for a session.
func (d *Door) open(w http.ResponseWriter, r *http.Request) {
	fetched := func(name, want string) bool { return cmp.Or(r.Header.Get(name), want) == want }
	switch {
	case r.Method != http.MethodGet:
		w.Header().Set("Allow", "GET")
		http.Error(w, "A link is opened with GET.", http.StatusMethodNotAllowed)
		return
	case !fetched("Sec-Fetch-Mode", "navigate"), !fetched("Sec-Fetch-Dest", "document"), r.Header.Get("Sec-Purpose") != "":
		// A frame, an image or a prefetch must not use the link up.
		http.Error(w, "A link is opened in a tab of its own.", http.StatusForbidden)
		return
	}
	cookie := rand.Text() + rand.Text()
	if !d.admit(r.URL.Query().Get("token"), cookie) {
		Message(w, http.StatusForbidden, "The link does not work",
			"It was used before, has expired, or belongs to an earlier start of the program. Open the link that the program printed last.")
		return
	}
	c := &http.Cookie{
		Name: d.cookieName(r), Value: cookie, Path: d.mounted() + "/" + d.path + "/", MaxAge: int(SessionLifetime / time.Second),
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: d.secure(r),
	}
	http.SetCookie(w, c)
	// The page navigates by itself, so that the browser sends a SameSite=Strict cookie
	// although the link may have been opened from another site, such as a mail reader.
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.Header().Set("Refresh", "0; url=./")
	Message(w, http.StatusOK, "Opened", "This browser has a session now. The page opens by itself.", Anchor{"./", "Open the page"})
}

// admit uses a token up and starts a session.
func (d *Door) admit(token, cookie string) bool {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	now := d.now()
	d.mu.Lock()
	defer d.mu.Unlock()
	hash := sha256.Sum256([]byte(token))
	expires := d.links[hash] // the zero time, which has passed, if there is no such link
	delete(d.links, hash)
	if !now.Before(expires) {
		return false
	}
	makeRoom(d.sessions, maxSessions, func(s *session) time.Time { return s.expires })
	d.sessions[sha256.Sum256([]byte(cookie))] = &session{key, now.Add(SessionLifetime)}
	return true
}

// session returns the session of a request, or nil. Looking a hash up says nothing
// about the cookie that it is the hash of, so no comparison has to take constant time.
func (d *Door) session(r *http.Request) *session {
	c, err := r.Cookie(d.cookieName(r))
	if err != nil {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.sessions[sha256.Sum256([]byte(c.Value))]
	if s == nil || !d.now().Before(s.expires) {
		return nil
	}
	return s
}

// makeRoom removes the entry that expires first from a full map.
func makeRoom[V any](m map[[32]byte]V, most int, expires func(V) time.Time) {
	if len(m) < most {
		return
	}
	delete(m, slices.MinFunc(slices.Collect(maps.Keys(m)), func(a, b [32]byte) int {
		return expires(m[a]).Compare(expires(m[b]))
	}))
}

func (d *Door) secure(r *http.Request) bool {
	return r.TLS != nil || d.base != nil && d.base.Scheme == "https"
}

// cookieName returns a name whose prefix, over TLS, keeps servers without TLS on the same
// host from setting the cookie.
func (d *Door) cookieName(r *http.Request) string {
	if d.secure(r) {
		return "__Secure-lookleap"
	}
	return "lookleap"
}

// mounted returns the path below which the Door is mounted.
func (d *Door) mounted() string {
	if d.base == nil {
		return ""
	}
	return d.base.EscapedPath()
}

// FormToken returns the token of a form of the request's session that is about these
// texts.
func FormToken(r *http.Request, about ...string) string {
	s := sessionOf(r)
	if s == nil {
		return ""
	}
	mac := hmac.New(sha256.New, s.key)
	for _, text := range about {
		fmt.Fprintf(mac, "%d:%s", len(text), text)
	}
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// FormTokenValid reports whether a token is that of the session's form about these texts.
func FormTokenValid(r *http.Request, token string, about ...string) bool {
	want := FormToken(r, about...)
	return want != "" && subtle.ConstantTimeCompare([]byte(token), []byte(want)) == 1
}
