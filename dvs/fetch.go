package dvs

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/internal/flight"
)

// defaultFresh is how long a copy without freshness information is used (DVS-3.1-56).
const defaultFresh = time.Hour

// document is one file as it was fetched, or the reason why it was not.
type document struct {
	evidence Evidence // without what the bytes say
	body     []byte
	final    domain.URL // that answered, after redirects
	cause    error
	known    fetch.Validator // to ask whether it changed
	public   bool            // the response is the same for all clients
}

// fileRequest is one file to fetch.
type fileRequest struct {
	url      domain.URL
	limit    int
	redirect func(domain.URL) error // judges a redirect before it is followed

	revalidate bool // ask the server, whatever other processes have shared

	// stream reads the body as it arrives; nil: the document keeps it.
	stream func(*fetch.Response, io.Reader) error
}

// fetchOnce returns a fresh file from memory or from another process, or fetches it once for all
// callers that wait. It returns an error only if the caller's context ends.
func (l *Loader) fetchOnce(ctx context.Context, r fileRequest) (*document, error) {
	key := r.url.String()
	return l.files.Get(ctx, key, func(ctx context.Context) (flight.Loaded[*document], error) {
		held, _ := l.files.Peek(key)
		if held.Value == nil && !r.revalidate {
			if doc := l.recall(ctx, r.url, r.limit); doc != nil {
				until := l.host.Time().Add(sharedFor)
				if doc.evidence.Fresh.Before(until) {
					until = doc.evidence.Fresh
				}
				return flight.Loaded[*document]{Value: doc, Until: until}, nil
			}
		}
		doc, err := l.fetch(ctx, r, held.Value)
		if err != nil {
			return flight.Loaded[*document]{}, err
		}
		l.share(ctx, r.url, doc)
		got := flight.Loaded[*document]{Value: doc}
		if doc.evidence.Status == http.StatusOK && doc.evidence.Failure == "" {
			got.Until = doc.evidence.Fresh
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
	if held != nil {
		held.known.Ask(header)
	}
	resp, err := fetch.Do(ctx, l.fetcher, &fetch.Request{
		URL: r.url, Header: header, Rules: l.roots.Rules().urls(), TrustEvidence: true, Stream: r.stream,
		Limits: fetch.Limits{Body: r.limit, Time: l.limits.Time, Hops: l.limits.Redirects},
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
	case resp.Status != http.StatusNotModified || held == nil || held.known == (fetch.Validator{}):
		return doc, nil
	case held.known.Confirms(resp):
		return held.confirmedBy(doc), nil
	}
	return l.fetch(ctx, r, nil) // it is about something else than the copy
}

// lookUpHost looks up a host before it is contacted. A bogus answer ends the exchange
// (DVS-5.3-02); other failures are left to the exchange.
func (l *Loader) lookUpHost(ctx context.Context, doc *document, host string) error {
	if slices.ContainsFunc(doc.evidence.Names, func(n NameState) bool { return n.Name == host }) {
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
	doc.evidence.Names = append(doc.evidence.Names, state)
	if bogus != nil {
		doc.recordFailure(bogus)
	}
	return bogus
}

// recordFailure records why there is no answer.
func (d *document) recordFailure(err error) {
	d.cause = err
	d.evidence.Failure, d.evidence.Detail = lookleap.CodeOf(err), err.Error()
	var byGuard *lookleap.VerifyError
	if errors.Is(err, lookleap.ErrDenied) && errors.As(err, &byGuard) && byGuard.Verdict != nil {
		d.evidence.Failure, d.evidence.Detail = CodeBlockedByPolicy, byGuard.Verdict.Subject+": "+byGuard.Verdict.Summary
	}
}

// recordResponse records a complete exchange.
func (d *document) recordResponse(resp *fetch.Response, kept time.Duration) {
	e := &d.evidence
	for _, h := range resp.Hops {
		e.Hops = append(e.Hops, h.To.String())
	}
	e.Status, e.Type, e.Charset = resp.Status, resp.MediaType, resp.Params["charset"]
	if _, _, err := fetch.ParseMediaType(resp.Header); err != nil && resp.Header.Get("Content-Type") != "" {
		e.Type = "malformed"
	}
	if resp.Conn.Reported() {
		e.Address, e.TLS = resp.Conn.Address.String(), tls.VersionName(resp.Conn.TLS)
	}
	e.Received = resp.Received
	e.Fresh = resp.Freshness.Until(0, kept, defaultFresh)
	if resp.Freshness.NoStore {
		e.Fresh = resp.Received
	}
	d.final, d.body = resp.URL, resp.Body
	e.Digest = DigestOf(resp.Body)
	d.public, d.known = !resp.Freshness.OneUser, resp.Validator()
}

// confirmedBy returns the held copy, confirmed by a 304 answer.
func (d *document) confirmedBy(confirmed *document) *document {
	copied := *d
	copied.evidence.Received, copied.evidence.Fresh = confirmed.evidence.Received, confirmed.evidence.Fresh
	copied.public = copied.public && confirmed.public
	copied.evidence.Names, copied.evidence.Address, copied.evidence.TLS = confirmed.evidence.Names, confirmed.evidence.Address, confirmed.evidence.TLS
	return &copied
}
