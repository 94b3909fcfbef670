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
	"github.com/lookleap/lookleap/internal/plaintext"
)

// gathering is one verification while its evidence grows.
type gathering struct {
	subject
	v             *Verifier
	q             question
	ev            *Evidence
	recalled      *recalled
	exchangesLeft int
	withdrawals   uint64 // of the site's generation at the beginning: a grant that was withdrawn since is not remembered
	clockSteps    uint64 // at the beginning
}

// missing is the piece of evidence that a decision lacks.
type missing struct {
	dns       bool
	mechanism Mechanism
	uri       string
	only      bool // no other source of its kind is advertised
}

// gather adds one piece of evidence. An error means that gathering stops. Every
// failure of a site is evidence.
func (g *gathering) gather(ctx context.Context, m *missing) error {
	if m.dns {
		d, err := g.lookup(ctx)
		g.ev.DNS = d
		return err
	}
	x, err := (*Exchange)(nil), error(nil)
	if m.mechanism == Query {
		x, err = g.query(ctx, m.uri)
	} else {
		x, err = g.manifest(ctx, manifestKey{g.site, m.uri}, m.only)
	}
	if err == nil {
		g.ev.Exchanges = append(g.ev.Exchanges, *x)
	}
	return err
}

// lookup is part C: what the DNS says about the site, or said a while ago. A
// fresh lookup is not shared with callers whose lookup began earlier.
func (g *gathering) lookup(ctx context.Context) (*DNSEvidence, error) {
	m, isFresh := g.v.memory, g.q.mode == fresh
	known := func() *DNSEvidence {
		now := g.v.clock.Now()
		if d, _ := m.records.Get(g.site); now.Before(d.until) && !isFresh {
			return d.evidence
		}
		if d, _ := m.recordFailures.Get(g.site); now.Before(d.until) {
			held := *d.evidence
			held.Held = true
			return &held
		}
		return nil
	}
	if d := known(); d != nil {
		return d, nil
	}
	if isFresh {
		return g.v.resolve(ctx, g.site, g.v.host.LookupFresh)
	}
	return g.v.lookups.Do(ctx, g.site, func(ctx context.Context) (*DNSEvidence, error) {
		if d := known(); d != nil {
			return d, nil
		}
		return g.v.resolve(ctx, g.site, g.v.host.Lookup)
	})
}

// resolve asks the Host's Resolver and remembers what came of it.
func (v *Verifier) resolve(caller context.Context, site string,
	lookup func(context.Context, string, lookleap.RRType) (*lookleap.DNSAnswer, error)) (*DNSEvidence, error) {
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
	case steps != v.clock.Steps(): // the clock was set back, so the time of the answer is not known
	case err != nil:
		v.memory.recordFailures.Add(site, rememberedRecord{d, now.Add(dnsBackoff)})
	default:
		v.memory.records.Add(site, rememberedRecord{d, now.Add(d.ttl())})
		v.memory.generation(site).changes.Add(1)
	}
	return d, nil
}

// backedOff returns an exchange that does not take place while a backoff is in force, or nil.
func (g *gathering) backedOff(ctx context.Context, k backoffKey, m Mechanism, uri string) *Exchange {
	now := g.v.clock.Now()
	b, ok := g.v.memory.backoff(k, now)
	if !ok && k.scope == backoffEndpoint {
		b, ok = g.v.sharedBackoff(ctx, m, uri)
	}
	if !ok {
		return nil
	}
	return &Exchange{Mechanism: m, URL: uri, At: now, Held: b.code, Transient: b.temporary, remembered: true}
}

// query asks an endpoint about the serving domain (part Q).
func (g *gathering) query(ctx context.Context, uri string) (*Exchange, error) {
	if x := g.backedOff(ctx, backoffKey{scope: backoffEndpoint, uri: uri}, Query, uri); x != nil {
		return x, nil
	}
	x := &Exchange{Mechanism: Query, URL: uri}
	header := http.Header{"Accept": {"application/json"}}
	if g.q.mode == fresh {
		header.Set("Cache-Control", "no-cache")
	}
	u, err := domain.Parse(queryURL(uri, g.server.Domain))
	var resp *fetch.Response
	if err == nil {
		resp, err = g.exchange(ctx, u, header, MaxQueryResponse)
	}
	return x, x.end(ctx, resp, err, g.v.clock.Now())
}

// readingKey is a manifest that is being read.
type readingKey struct {
	manifestKey
	in     *Interaction
	budget Budget
}

// manifest reads a manifest, from memory where that is fresh enough (part M). A
// refresh shares no reading that began earlier.
func (g *gathering) manifest(ctx context.Context, key manifestKey, only bool) (*Exchange, error) {
	if x := g.knownManifest(ctx, key); x != nil {
		return x, nil
	}
	if g.q.mode != normal {
		return g.read(ctx, key, only)
	}
	shared, err := g.v.readings.Do(ctx, readingKey{key, g.q.in, g.q.budget}, func(ctx context.Context) (*Exchange, error) {
		if x := g.knownManifest(ctx, key); x != nil {
			return x, nil
		}
		return g.read(ctx, key, only)
	})
	if err != nil {
		return nil, err
	}
	x := *shared
	return &x, nil
}

// knownManifest is rows M0 and M1.
func (g *gathering) knownManifest(ctx context.Context, key manifestKey) *Exchange {
	if x := g.backedOff(ctx, backoffKey{scope: backoffManifest, pair: pair{site: key.site}, uri: key.uri},
		ManifestSource, key.uri); x != nil {
		return x
	}
	if known := g.rememberedManifest(key); known != nil && g.q.mode == normal &&
		g.v.clock.Now().Before(known.freshUntil(known.manifest, g.ev.DNS.ttl())) {
		return known
	}
	return g.backedOff(ctx, backoffKey{scope: backoffEndpoint, uri: key.uri}, ManifestSource, key.uri)
}

func (g *gathering) rememberedManifest(key manifestKey) *Exchange {
	if in := g.q.in; in != nil {
		in.mu.Lock()
		x := in.manifests[key]
		in.mu.Unlock()
		if x != nil && !g.v.clock.Now().Before(x.At) {
			return x
		}
	}
	x, _ := g.v.memory.manifests.get(key)
	return x
}

// read asks for the manifest, redirects included. A manifest must not be older
// than the newest one that was accepted in its place: for the site where it
// advertises one manifest, for the URI where it advertises several.
func (g *gathering) read(ctx context.Context, key manifestKey, only bool) (*Exchange, error) {
	m := g.v.memory
	x := &Exchange{Mechanism: ManifestSource, URL: key.uri}
	place := key
	if only {
		place.uri = ""
	}
	x.Newest, _ = m.newestManifests.Get(place)
	header := http.Header{"Accept": {ManifestMediaType + ", application/json;q=0.5"}}
	before := g.rememberedManifest(key)
	switch {
	case g.q.mode == fresh:
		header.Set("Cache-Control", "no-cache")
		before = nil
	case before != nil && before.validator != (fetch.Validator{}) && g.v.clock.Now().Before(before.manifest.Expires):
		before.validator.Ask(header)
	default:
		before = nil
	}
	u, err := domain.Parse(key.uri)
	var resp *fetch.Response
	if err == nil {
		resp, err = g.follow(ctx, u, header)
	}
	confirmed := err == nil && before != nil && before.validator.Confirms(resp)
	if err == nil && resp.Status == http.StatusNotModified && before != nil && !confirmed { // the 304 is about another version
		header.Del("If-None-Match")
		header.Del("If-Modified-Since")
		resp, err = g.follow(ctx, u, header)
	}
	if stop := x.end(ctx, resp, err, g.v.clock.Now()); err != nil {
		return x, stop
	}
	if confirmed {
		x.Validated = true
		x.manifest = before.manifest
		x.MediaType = before.MediaType
		x.Digest = before.Digest
		x.validator, x.Local = before.validator, x.Local || before.Local
	}
	g.rememberManifest(x, key)
	return x, nil
}

// rememberManifest remembers a manifest that is valid for the site.
func (g *gathering) rememberManifest(x *Exchange, key manifestKey) {
	m := g.v.memory
	j := x.judgeManifest(g.ev.Policy, g.subject, g.v.clock.Now(), g.ev.DNS.ttl(), false)
	if !j.validManifest {
		if j.code == CodeManifestExpired {
			m.manifests.remove(key)
		}
		return
	}
	x.Body = nil // the index has what matters
	for _, k := range []manifestKey{key, {site: key.site}} {
		if last, _ := m.newestManifests.Get(k); last.Before(x.manifest.Issued) {
			m.newestManifests.Add(k, x.manifest.Issued)
		}
	}
	remembered := *x
	switch {
	case g.clockSteps != g.v.clock.Steps():
	case !x.NoStore:
		m.manifests.change(key, func(*Exchange) *Exchange { return &remembered })
	default:
		m.manifests.remove(key)
		if in := g.q.in; in != nil {
			in.mu.Lock()
			defer in.mu.Unlock()
			if len(in.manifests) < maxInteractionManifests {
				in.manifests[key] = &remembered
			}
		}
	}
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
		if !resp.Conn.ValidFor(g.site) {
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
		if err != nil || hop == maxManifestHops || !isManifestHost(g.site, to.Host()) {
			return nil, errRedirect
		}
		u = to
	}
}

var (
	errSlow        = errors.New("no complete response came in time")
	errNotTheSites = errors.New("the certificate is not valid for the site")
	errRedirect    = errors.New("the redirect leads where a manifest may not")
)

// exchange performs one exchange, and counts it.
func (g *gathering) exchange(ctx context.Context, u domain.URL, header http.Header, size int) (*fetch.Response, error) {
	g.exchangesLeft--
	if g.exchangesLeft < 0 {
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

// end fills in how an exchange ended: with what matters of a response, or with a
// failure of the site, which is evidence. The error is one that stops the gathering.
func (x *Exchange) end(ctx context.Context, resp *fetch.Response, err error, now time.Time) error {
	x.At = now
	if err == nil {
		x.Status, x.MediaType, x.Body = resp.Status, resp.MediaType, resp.Body
		if charset, ok := resp.Params["charset"]; ok && !strings.EqualFold(charset, "utf-8") && !strings.EqualFold(charset, "us-ascii") {
			x.MediaType += "; charset=" + plaintext.Quote(charset, maxQuoted) // readers that know the charset would read another text
		}
		if final := resp.URL.String(); final != x.URL {
			x.Final = final
		}
		if len(resp.Body) > 0 {
			sum := sha256.Sum256(resp.Body)
			x.Digest = "sha256:" + hex.EncodeToString(sum[:])
		}
		x.RetryAfter, _ = fetch.ParseRetryAfter(resp.Header, x.At, fetch.MinRetryAfter, maxRetryAfter)
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
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(err, errBudget) || errors.Is(err, errExchanges) || errors.Is(err, lookleap.ErrClosed) || fetch.Cancelled(err) {
		return err
	}
	x.err, x.Cause = err, plaintext.Clip(err.Error(), 300)
	var e *fetch.Error
	if errors.As(err, &e) {
		x.Status = e.Status
	}
	switch {
	case errors.Is(err, errRedirect):
		x.Failure = FailedRedirect
	case errors.Is(err, errNotTheSites):
		x.Failure = FailedTLS
	case errors.Is(err, errSlow), fetch.Transient(err):
		x.Failure = FailedTransient
	case errors.Is(err, lookleap.ErrDenied):
		x.Failure = FailedOther
	default:
		x.Failure = failureOf(lookleap.CodeOf(err))
	}
	return nil
}

func failureOf(code lookleap.Code) Failure {
	switch code {
	case lookleap.CodeTLS, lookleap.CodeTLSTooOld, lookleap.CodeNoConnection, lookleap.CodeClientCert:
		return FailedTLS
	case lookleap.CodeDNSError, lookleap.CodeNoAddress: // no connection was possible
		return FailedTransient
	case lookleap.CodeTooLarge, lookleap.CodeHeaderTooLarge, lookleap.CodeEncoding, lookleap.CodeBadStatus,
		lookleap.CodeMediaType, lookleap.CodeCharset:
		return FailedAnswer
	}
	return FailedOther
}
