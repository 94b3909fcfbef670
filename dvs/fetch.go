package dvs

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/internal/flight"
	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/internal/shared"
)

// defaultFresh is how long a copy without freshness information is used (DVS-3.1-56).
const defaultFresh = time.Hour

// document is one file as it was fetched, or the reason why it was not. It is what a suspended plan
// keeps, and what processes tell one another through [lookleap.Host.Cache]: never a decision. Each
// process judges it by its own roots.
type document struct {
	Evidence  Evidence        `json:"evidence"` // without what the bytes say
	Body      content         `json:"body"`
	Validator fetch.Validator `json:"validator"` // to ask whether it changed

	// Members are the other files of a skill of a repository.
	Members []member `json:"members,omitempty"`

	final  domain.URL // that answered, after redirects
	cause  error
	public bool // the response is the same for all clients
}

type member struct {
	Path       string  `json:"path"`
	Content    content `json:"content"`
	Executable bool    `json:"executable,omitempty"`
}

func (d *document) contents() []*content {
	all := []*content{&d.Body}
	for i := range d.Members {
		all = append(all, &d.Members[i].Content)
	}
	return all
}

// MarshalBinary keeps the body as it is, behind a line of JSON.
func (d document) MarshalBinary() ([]byte, error)       { return encodeContents(&d) }
func (d *document) UnmarshalBinary(stored []byte) error { return decodeContents(stored, d) }

// hops returns the redirects that led to the file; none before it was asked for.
func (d *document) hops() []string {
	if d == nil {
		return nil
	}
	return d.Evidence.Hops
}

// digest returns the digest of the file, zero before it was asked for.
func (d *document) digest() Digest {
	if d == nil {
		return Digest{}
	}
	return d.Evidence.Digest
}

type fileRequest struct {
	url      domain.URL
	limit    int
	redirect func(domain.URL) error // judges a redirect before it is followed

	latest bool // ask the server, whatever other processes have shared

	header http.Header   // besides what every request has
	time   time.Duration // for the exchange; 0: Limits.Time

	// stream reads the body as it arrives; nil: the document keeps it.
	stream func(*fetch.Response, io.Reader) error
}

// get fetches the file of a skill. A response that is not a skill is a document too: the verdict about
// it says why.
func (l *Loader) get(ctx context.Context, at *located) (*document, error) {
	if at.packed != nil {
		return at.packed.document(ctx, l.limits)
	}
	limit := l.limits.Skill
	if at.skill.artifact == SkillArchive {
		limit = l.limits.Archive
	}
	doc, err := l.fetchOnce(ctx, fileRequest{url: at.skill.served, limit: limit, latest: at.latest,
		redirect: func(to domain.URL) error { return l.checkHop(at.root, at.Claim, to) }})
	if at.Level == registered {
		l.files.Invalidate(at.skill.served.String()) // it keeps no body
	}
	if err != nil {
		return nil, &lookleap.Error{Code: lookleap.CodeOf(err), Subject: domain.Redact(at.skill.String()), Message: "the skill was not loaded", Err: err}
	}
	return doc, nil
}

// fetchOnce returns a fresh file from memory or from another process, or fetches it once for all
// callers that wait. It returns an error only if the caller's context ends.
func (l *Loader) fetchOnce(ctx context.Context, r fileRequest) (*document, error) {
	key := r.url.String()
	return l.files.Get(ctx, key, func(ctx context.Context) (flight.Loaded[*document], error) {
		held, _ := l.files.Peek(key)
		cache := shared.New[document](l.host, shared.Options{Prefix: "dvs/2/", Skew: sharedFor})
		if held.Value == nil && !r.latest {
			if doc := l.recall(ctx, cache, r.url, r.limit); doc != nil {
				until := l.host.Time().Add(sharedFor)
				if doc.Evidence.Fresh.Before(until) {
					until = doc.Evidence.Fresh
				}
				return flight.Loaded[*document]{Value: doc, Until: until}, nil
			}
		}
		doc, err := l.fetch(ctx, r, held.Value)
		if err != nil {
			return flight.Loaded[*document]{}, err
		}
		if doc.Evidence.Failure == "" {
			l.share(ctx, cache, r.url, doc)
		}
		got := flight.Loaded[*document]{Value: doc}
		if doc.Evidence.Status == http.StatusOK && doc.Evidence.Failure == "" {
			got.Until = doc.Evidence.Fresh
		}
		return got, nil
	})
}

// fetch performs the exchange. If a copy is held, it sends a conditional request.
func (l *Loader) fetch(ctx context.Context, r fileRequest, held *document) (*document, error) {
	doc := &document{final: r.url}
	if err := l.lookUpHost(ctx, doc, r.url.Host()); err != nil {
		return doc, nil
	}
	header := http.Header{"Accept": {"text/markdown, text/plain;q=0.9, */*;q=0.1"}}
	maps.Copy(header, r.header)
	if held != nil {
		held.Validator.Ask(header)
	}
	resp, err := fetch.Do(ctx, l.fetcher, &fetch.Request{
		URL: r.url, Header: header, Rules: l.roots.Rules().urls(), TrustEvidence: true, Stream: r.stream,
		Limits: fetch.Limits{Body: r.limit, Time: cmp.Or(r.time, l.limits.Time), Hops: maxRedirects},
		Redirect: func(h fetch.Hop) error {
			if err := r.redirect(h.To); err != nil {
				return err
			}
			return l.lookUpHost(ctx, doc, h.To.Host())
		},
		ReadBody: func(status int) bool { return status == http.StatusOK },
	})
	if fetch.Cancelled(err) {
		return nil, err
	}
	if err != nil {
		doc.recordFailure(err)
		return doc, nil
	}
	doc.recordResponse(resp, l.limits.Kept)
	switch {
	case resp.Status != http.StatusNotModified || held == nil || held.Validator == (fetch.Validator{}):
		return doc, nil
	case held.Validator.Confirms(resp):
		return held.confirmedBy(doc), nil
	}
	return l.fetch(ctx, r, nil) // it is about something else than the copy
}

// lookUpHost looks up a host before it is contacted. A bogus answer ends the exchange
// (DVS-5.3-02); other failures are left to the exchange.
func (l *Loader) lookUpHost(ctx context.Context, doc *document, host string) error {
	if slices.ContainsFunc(doc.Evidence.Names, func(n NameState) bool { return n.Name == host }) {
		return nil
	}
	state := NameState{Name: host, DNSSEC: lookleap.Secure}
	var bogus error
	for _, t := range []lookleap.RRType{lookleap.TypeA, lookleap.TypeAAAA} {
		answer, err := l.host.Lookup(ctx, host, t)
		switch {
		case errors.Is(err, lookleap.ErrBogus):
			state.Bogus, bogus = true, err
		case err != nil:
			state.DNSSEC = lookleap.Indeterminate
		default:
			state.DNSSEC = min(state.DNSSEC, answer.DNSSEC)
			if state.TTL == 0 || answer.TTL < state.TTL {
				state.TTL = answer.TTL
			}
		}
	}
	doc.Evidence.Names = append(doc.Evidence.Names, state)
	if bogus != nil {
		doc.recordFailure(bogus)
	}
	return bogus
}

func (d *document) recordFailure(err error) {
	d.cause = err
	d.Evidence.Failure, d.Evidence.Detail = lookleap.CodeOf(err), err.Error()
	var byGuard *lookleap.VerifyError
	if errors.Is(err, lookleap.ErrDenied) && errors.As(err, &byGuard) && byGuard.Verdict != nil {
		d.Evidence.Failure, d.Evidence.Detail = CodeBlockedByPolicy, byGuard.Verdict.Subject+": "+byGuard.Verdict.Summary
	}
}

// recordResponse records a complete exchange.
func (d *document) recordResponse(resp *fetch.Response, kept time.Duration) {
	e := &d.Evidence
	for _, h := range resp.Hops {
		e.Hops = append(e.Hops, h.To.String())
	}
	e.Status, e.Type, e.Charset = resp.Status, resp.MediaType, resp.Params["charset"]
	if e.Type == "" && resp.Header.Get("Content-Type") != "" {
		e.Type = "malformed"
	}
	conn := resp.Conn.Evidence()
	e.Address, e.TLS, e.Route = conn.Address, conn.TLS, conn.Route
	e.Received = resp.Received
	e.Fresh = resp.Freshness.Until(0, kept, defaultFresh)
	if resp.Freshness.NoStore {
		e.Fresh = resp.Received
	}
	d.final, d.Body = resp.URL, content{resp.Body, len(resp.Body)}
	e.Digest = DigestOf(resp.Body)
	d.public, d.Validator = !resp.Freshness.OneUser, resp.Validator()
}

// confirmedBy returns the held copy, confirmed by a 304 answer.
func (d *document) confirmedBy(confirmed *document) *document {
	copied, now := *d, confirmed.Evidence
	copied.public = copied.public && confirmed.public
	e := &copied.Evidence
	e.Received, e.Fresh = now.Received, now.Fresh
	e.Names, e.Address, e.TLS, e.Route = now.Names, now.Address, now.TLS, now.Route
	return &copied
}

// isGeneric reports whether a media type says nothing about the content.
func isGeneric(mediaType string) bool {
	return mediaType == "" || mediaType == "application/octet-stream" || mediaType == "binary/octet-stream"
}

// judgeMedia checks the media type of a Markdown file. It should be text/markdown, but code hosts
// send text/plain (DVS-4.2-03 to DVS-4.2-06). A generic or missing type is accepted if the URL that
// responded ends in .md and lies under a registered root, or if the user agreed to this skill.
func judgeMedia(answered string, e Evidence, claim Claim) lookleap.Check {
	mediaType, charset := e.Type, e.Charset
	named, _, _ := strings.Cut(answered, "?")
	confirmed := claim.Source.Registered() || claim.Source == SkillOnly
	shown := lookleap.Evidence{MediaType: mediaType}
	if charset != "" && !strings.EqualFold(charset, "utf-8") {
		return failed(lookleap.CodeNotUTF8, fmt.Sprintf("the declared character set is %s and has to be UTF-8",
			plaintext.Quote(charset, 40)), shown)
	}
	is := plaintext.Quote(mediaType, 80)
	switch {
	case mediaType == "text/markdown":
		return passed("the media type is text/markdown", shown)
	case claim.Strict:
	case mediaType == "text/plain" || mediaType == "text/x-markdown":
		return noted(lookleap.CodeMediaType, fmt.Sprintf("the media type is %s and should be text/markdown", is), shown)
	case isGeneric(mediaType) && (confirmed && strings.HasSuffix(named, ".md") || claim.Profile == Lenient):
		return noted(lookleap.CodeMediaType, fmt.Sprintf("the media type is %s and should be text/markdown", is), shown)
	}
	message := fmt.Sprintf("the media type is %s and has to be text/markdown", is)
	if !claim.Strict && isGeneric(mediaType) {
		message += "; the profile Lenient accepts it"
	}
	return failed(lookleap.CodeMediaType, message, shown)
}

// judgeArchiveMedia checks the media type of an archive. The bytes decide about the format, so only
// a page in its place is refused, and under Strict what is not a type of an archive.
func judgeArchiveMedia(e Evidence, claim Claim) lookleap.Check {
	shown := lookleap.Evidence{MediaType: e.Type}
	switch is := plaintext.Quote(e.Type, 80); {
	case e.Type == TarGzip.MediaType() || e.Type == Zip.MediaType():
		return passed("the media type is that of an archive", shown)
	case isHTML(e.Type), claim.Strict:
		return failed(lookleap.CodeMediaType, "the media type is "+is+" and has to be application/gzip or application/zip", shown)
	default:
		return noted(lookleap.CodeMediaType, "the media type is "+is+" and should be application/gzip or application/zip", shown)
	}
}

// sharedFor is how long a process uses a copy of another one before it looks again.
const sharedFor = shared.LookAgain

// recall returns the fresh copy that another process has shared, or nil if there is no usable one.
func (l *Loader) recall(ctx context.Context, cache *shared.Cache[document], u domain.URL, limit int) *document {
	entry, err := cache.Get(ctx, u.String())
	if err != nil {
		return nil
	}
	doc, now := &entry.Value, l.host.Time()
	e := &doc.Evidence
	if doc.Body.Size > limit || e.Digest != DigestOf(doc.Body.Bytes) || e.Status != http.StatusOK ||
		e.Failure != "" || len(e.Hops) > maxRedirects || !e.Received.Equal(entry.Found) {
		cache.Report(ctx, u.String(), shared.ErrForged)
		return nil
	}
	if most := e.Received.Add(l.limits.Kept); most.Before(e.Fresh) {
		e.Fresh = most
	}
	if !now.Before(e.Fresh) {
		return nil
	}
	doc.Body.Bytes, doc.final, doc.public = bytes.Clone(doc.Body.Bytes), u, true
	if n := len(e.Hops); n > 0 {
		if doc.final, err = l.roots.Rules().urls().Parse(e.Hops[n-1]); err != nil {
			return nil
		}
	}
	return doc
}

// share tells other processes what a server answered, and takes back what they
// were told before if it is no longer for all.
func (l *Loader) share(ctx context.Context, cache *shared.Cache[document], u domain.URL, doc *document) {
	e := &doc.Evidence
	if doc.public && e.Status == http.StatusOK && l.host.Time().Before(e.Fresh) {
		cache.Put(ctx, u.String(), shared.Entry[document]{Asked: e.Received, Found: e.Received,
			Value: *doc}, e.Fresh)
	} else {
		cache.Delete(ctx, u.String())
	}
}
