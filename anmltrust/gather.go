package anmltrust

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/fetch"
)

// gathering is the evidence of one verification while it grows.
type gathering struct {
	v     *Verifier
	q     question
	sub   subject
	ev    *Evidence
	mem   *memory
	left  int    // exchanges
	drops uint64 // of the site, when this began: a grant that was withdrawn meanwhile is not kept
	steps uint64 // of the clock, when this began
}

// readKey is a manifest that is being read.
type readKey struct {
	sourceKey
	in     *Interaction
	budget Budget
}

// gather adds one piece of evidence. An error means that gathering stops; every
// failure of a site is evidence.
func (g *gathering) gather(ctx context.Context, n *need) error {
	if n.dns {
		d, err := g.v.lookup(ctx, g.sub.site, g.q.mode == fresh)
		if err != nil {
			return err
		}
		g.ev.DNS = d
		return nil
	}
	var x *Exchange
	var err error
	if n.mechanism == Query {
		x, err = g.query(ctx, n.uri)
	} else {
		x, err = g.manifest(ctx, n)
	}
	if err != nil {
		return err
	}
	g.ev.Exchanges = append(g.ev.Exchanges, *x)
	return nil
}

// lookup is part C: what the DNS says of a site, or said a while ago.
func (v *Verifier) lookup(ctx context.Context, site string, anew bool) (*DNSEvidence, error) {
	if anew { // nobody else's question is new enough
		if d := v.heldDNS(site); d != nil {
			return d, nil
		}
		return v.resolve(ctx, site, v.host.LookupFresh)
	}
	if d := v.knownDNS(site); d != nil {
		return d, nil
	}
	return v.looks.Do(ctx, site, func(ctx context.Context) (*DNSEvidence, error) {
		if d := v.knownDNS(site); d != nil {
			return d, nil
		}
		return v.resolve(ctx, site, v.host.Lookup)
	})
}

func (v *Verifier) knownDNS(site string) *DNSEvidence {
	if d, ok := v.store.dns.Get(site); ok && v.clock.Now().Before(d.until) {
		return d.evidence
	}
	return v.heldDNS(site)
}

func (v *Verifier) heldDNS(site string) *DNSEvidence {
	if d, ok := v.store.dnsHolds.Get(site); ok && v.clock.Now().Before(d.until) {
		held := *d.evidence
		held.Held = true
		return &held
	}
	return nil
}

// lookupFunc is [lookleap.Host.Lookup], or LookupFresh.
type lookupFunc func(context.Context, string, lookleap.RRType) (*lookleap.DNSAnswer, error)

// resolve asks the Host's Resolver and remembers the answer, whichever of the
// four it is.
func (v *Verifier) resolve(caller context.Context, site string, lookup lookupFunc) (*DNSEvidence, error) {
	ctx, cancel := context.WithTimeout(caller, v.limits.Exchange)
	defer cancel()
	steps := v.clock.Steps()
	name := recordPrefix + site
	answer, err := lookup(ctx, name, lookleap.TypeTXT)
	if caller.Err() != nil {
		return nil, caller.Err()
	}
	if errors.Is(err, lookleap.ErrClosed) || errors.Is(err, context.Canceled) {
		return nil, err
	}
	now := v.clock.Now()
	d := &DNSEvidence{Name: name, At: now, err: err}
	switch {
	case errors.Is(err, lookleap.ErrBogus):
		d.Outcome, d.Cause = DNSBogus, err.Error()
	case err != nil:
		d.Outcome, d.Cause = DNSError, err.Error()
	default:
		d.TTL, d.DNSSEC, d.Outcome = answer.TTL, answer.DNSSEC, DNSAbsent
		for _, r := range answer.Records {
			d.Outcome = DNSAnswer
			d.Texts = append(d.Texts, r.Text)
		}
	}
	switch {
	case steps != v.clock.Steps(): // it may have been asked long ago, by this clock
	case err != nil:
		v.store.dnsHolds.Add(site, keptDNS{d, now.Add(dnsBackoff)})
	default:
		v.store.dns.Add(site, keptDNS{d, now.Add(d.ttl())})
		v.store.age(site).changes.Add(1)
	}
	return d, nil
}

// held is an exchange that does not take place.
func (g *gathering) held(m Mechanism, uri string, h keptHold) *Exchange {
	return &Exchange{Mechanism: m, URL: uri, At: g.v.clock.Now(), Held: h.code, Transient: h.transient, kept: true}
}

// query asks an endpoint about the serving domain (part Q).
func (g *gathering) query(ctx context.Context, uri string) (*Exchange, error) {
	if h, ok := g.v.store.hold(holdKey{kind: holdEndpoint, uri: uri}, g.v.clock.Now()); ok {
		return g.held(Query, uri, h), nil
	}
	x := &Exchange{Mechanism: Query, URL: uri}
	header := http.Header{"Accept": {"application/json"}}
	if g.q.mode == fresh {
		header.Set("Cache-Control", "no-cache")
	}
	u, err := domain.Parse(queryURL(uri, g.sub.server.Domain))
	if err != nil {
		x.fail(g.v.clock.Now(), err)
		return x, nil
	}
	resp, err := g.exchange(ctx, u, header, MaxQueryResponse)
	if err != nil {
		if stop := stopping(ctx, err); stop != nil {
			return nil, stop
		}
		x.fail(g.v.clock.Now(), err)
		return x, nil
	}
	x.take(resp, g.v.clock.Now())
	return x, nil
}

// manifest reads a manifest, from memory where that is fresh enough (part M).
func (g *gathering) manifest(ctx context.Context, n *need) (*Exchange, error) {
	key := sourceKey{g.sub.site, n.uri}
	if x := g.knownManifest(key); x != nil {
		return x, nil
	}
	if g.q.mode != normal { // a reading that others began is not new enough
		return g.read(ctx, key, n.alone)
	}
	shared, err := g.v.reads.Do(ctx, readKey{key, g.q.in, g.q.budget}, func(ctx context.Context) (*Exchange, error) {
		if x := g.knownManifest(key); x != nil {
			return x, nil
		}
		return g.read(ctx, key, n.alone)
	})
	if err != nil {
		return nil, err
	}
	x := *shared
	return &x, nil
}

// knownManifest is rows M0 and M1.
func (g *gathering) knownManifest(key sourceKey) *Exchange {
	now := g.v.clock.Now()
	if h, ok := g.v.store.hold(holdKey{kind: holdManifest, pair: pairKey{site: key.site}, uri: key.uri}, now); ok {
		return g.held(ManifestSource, key.uri, h)
	}
	if m := g.keptManifest(key); m != nil && g.q.mode == normal {
		x := m.exchange
		if now.Before(x.freshUntil(x.manifest, g.ev.DNS.ttl())) {
			x.kept = true
			return &x
		}
	}
	if h, ok := g.v.store.hold(holdKey{kind: holdEndpoint, uri: key.uri}, now); ok {
		return g.held(ManifestSource, key.uri, h)
	}
	return nil
}

func (g *gathering) keptManifest(key sourceKey) *keptManifest {
	if m := g.q.in.manifest(key); m != nil && !g.v.clock.Now().Before(m.exchange.At) {
		return m
	}
	m, _ := g.v.store.manifests.Get(key)
	return m
}

// newest is when the newest manifest was issued that was accepted in this place:
// for the site where it advertises one, for the URI where it advertises several.
func (g *gathering) newest(key sourceKey, alone bool) time.Time {
	if alone {
		key.uri = ""
	}
	t, _ := g.v.store.newest.Get(key)
	return t
}

// read asks for the manifest, redirects included.
func (g *gathering) read(ctx context.Context, key sourceKey, alone bool) (*Exchange, error) {
	x := &Exchange{Mechanism: ManifestSource, URL: key.uri, Newest: g.newest(key, alone)}
	header := http.Header{"Accept": {ManifestMediaType + ", application/json;q=0.5"}}
	before := g.keptManifest(key)
	if before != nil && !g.v.clock.Now().Before(before.exchange.manifest.Expires) {
		g.v.store.manifests.Remove(key)
		before = nil
	}
	switch {
	case g.q.mode == fresh:
		header.Set("Cache-Control", "no-cache")
		before = nil
	case before != nil && before.exchange.validator != (fetch.Validator{}):
		before.exchange.validator.Ask(header)
	default:
		before = nil
	}
	u, err := domain.Parse(key.uri)
	if err != nil {
		x.fail(g.v.clock.Now(), err)
		return x, nil
	}
	resp, err := g.follow(ctx, u, header)
	confirmed := err == nil && before != nil && before.exchange.validator.Confirms(resp)
	if err == nil && resp.Status == http.StatusNotModified && before != nil && !confirmed { // it is about something else
		header.Del("If-None-Match")
		header.Del("If-Modified-Since")
		resp, err = g.follow(ctx, u, header)
	}
	if err != nil {
		if stop := stopping(ctx, err); stop != nil {
			return nil, stop
		}
		x.fail(g.v.clock.Now(), err)
		return x, nil
	}
	x.take(resp, g.v.clock.Now())
	if confirmed {
		x.Validated, x.manifest, x.MediaType, x.Digest = true, before.exchange.manifest, before.exchange.MediaType, before.exchange.Digest
		x.validator, x.Local = before.exchange.validator, x.Local || before.exchange.Local
	}
	g.keepManifest(x, key)
	return x, nil
}

// keepManifest remembers a manifest that is valid, and nothing else.
func (g *gathering) keepManifest(x *Exchange, key sourceKey) {
	j := x.judgeManifest(g.ev.Policy, g.sub, g.v.clock.Now(), g.ev.DNS.ttl(), false)
	if j.state != granted && j.row[0] != 'L' {
		if j.code == CodeManifestExpired {
			g.v.store.manifests.Remove(key)
		}
		return
	}
	x.Body = nil // the index has what matters
	issued := x.manifest.Issued
	for _, k := range []sourceKey{key, {site: key.site}} {
		if last, ok := g.v.store.newest.Get(k); !ok || last.Before(issued) {
			g.v.store.newest.Add(k, issued)
		}
	}
	switch {
	case g.steps != g.v.clock.Steps():
		return
	case x.NoStore:
		g.v.store.manifests.Remove(key)
		g.q.in.keepManifest(key, &keptManifest{*x})
		return
	}
	g.v.store.manifests.Add(key, &keptManifest{*x})
}

// maxManifestHops is how many redirects lead to a manifest at most.
const maxManifestHops = 2

// follow reads a manifest and judges every hop on the way: its host, and that
// its certificate is valid for the site itself.
func (g *gathering) follow(ctx context.Context, u domain.URL, header http.Header) (*fetch.Response, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, g.v.limits.Exchange, errSlow)
	defer cancel()
	limit := g.ev.Policy.manifestLimits().withDefaults().Size
	var hops fetch.Freshness // the strictest of the redirects
	for hop := 0; ; hop++ {
		resp, err := g.exchange(ctx, u, header, limit)
		if err != nil {
			if errors.Is(context.Cause(ctx), errSlow) {
				err = errSlow
			}
			return nil, err
		}
		if !resp.Conn.ValidFor(g.sub.site) {
			return nil, errNotTheSites
		}
		switch resp.Status {
		case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		default:
			resp.Freshness = resp.Freshness.Strictest(hops)
			return resp, nil
		}
		hops = resp.Freshness.Strictest(hops)
		to, err := fetch.Location(u, resp.Header, uriRules)
		if err != nil || hop == maxManifestHops || !isManifestHost(g.sub.site, to.Host()) {
			return nil, errRedirect
		}
		u = to
	}
}

var (
	errSlow        = errors.New("no complete answer came in time")
	errNotTheSites = errors.New("the certificate is not valid for the site")
	errRedirect    = errors.New("the redirect leads where a manifest may not")
)

// exchange performs one exchange, and counts it.
func (g *gathering) exchange(ctx context.Context, u domain.URL, header http.Header, size int) (*fetch.Response, error) {
	if g.left--; g.left < 0 {
		return nil, errExchanges
	}
	if g.q.budget != nil && !g.q.budget.Take() {
		return nil, errBudget
	}
	return fetch.Do(ctx, g.v.host, &fetch.Request{
		URL: u, Header: header, TrustEvidence: true,
		ReadBody: func(status int) bool { return status == http.StatusOK },
		Limits:   fetch.Limits{Body: size, Time: g.v.limits.Exchange},
	})
}

// stopping tells the ends of a gathering from failures of a site.
func stopping(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, errBudget), errors.Is(err, errExchanges), errors.Is(err, lookleap.ErrClosed):
		return err
	case fetch.Cancelled(err):
		return err
	}
	return nil
}

// fail says how an exchange ended without an answer.
func (x *Exchange) fail(now time.Time, err error) {
	x.At, x.err, x.Cause = now, err, clip(err.Error())
	var e *fetch.Error
	if errors.As(err, &e) {
		x.Status = e.Status
	}
	switch code := lookleap.CodeOf(err); {
	case errors.Is(err, errRedirect):
		x.Failure = FailedRedirect
	case errors.Is(err, errNotTheSites):
		x.Failure = FailedTLS
	case errors.Is(err, errSlow), fetch.Transient(err):
		x.Failure = FailedTransient
	case errors.Is(err, lookleap.ErrDenied):
		x.Failure = FailedOther
	default:
		x.Failure = failureOf(code)
	}
}

func failureOf(code lookleap.Code) Failure {
	switch code {
	case lookleap.CodeTLS, lookleap.CodeTLSTooOld, lookleap.CodeNoConnection, lookleap.CodeClientCert:
		return FailedTLS
	case lookleap.CodeDNSError, lookleap.CodeNoAddress: // there is no connection to be had
		return FailedTransient
	case lookleap.CodeTooLarge, lookleap.CodeHeaderTooLarge, lookleap.CodeEncoding, lookleap.CodeBadStatus, lookleap.CodeMediaType, lookleap.CodeCharset:
		return FailedAnswer
	}
	return FailedOther
}

func clip(s string) string {
	const most = 300
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}

// take copies what matters of an answer.
func (x *Exchange) take(resp *fetch.Response, now time.Time) {
	x.At, x.Status, x.MediaType, x.Body = now, resp.Status, resp.MediaType, resp.Body
	if charset, ok := resp.Params["charset"]; ok && !strings.EqualFold(charset, "utf-8") && !strings.EqualFold(charset, "us-ascii") {
		x.MediaType += "; charset=" + quote(charset) // other readers would read another text
	}
	if final := resp.URL.String(); final != x.URL {
		x.Final = final
	}
	if len(resp.Body) > 0 {
		sum := sha256.Sum256(resp.Body)
		x.Digest = "sha256:" + hex.EncodeToString(sum[:])
	}
	x.RetryAfter, _ = fetch.ParseRetryAfter(resp.Header, now, fetch.MinRetryAfter, maxRetryAfter)
	x.NoStore = resp.Freshness.NoStore || resp.Freshness.NoCache
	if resp.Freshness.Stated {
		x.Fresh = resp.Freshness.Until(0, maxGrant, 0)
		x.NoStore = x.NoStore || !x.Fresh.After(resp.Freshness.Received) // stale on arrival
	}
	if x.Mechanism == ManifestSource {
		x.validator, x.Local = resp.Validator(), resp.Freshness.OneUser
	} else {
		x.NoStore = false // section 12.4 says how long an answer is kept
	}
}
