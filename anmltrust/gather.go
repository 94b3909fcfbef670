package anmltrust

import (
	"cmp"
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
	"github.com/lookleap/lookleap/internal/flight"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// gathering is one verification while its evidence grows.
type gathering struct {
	subject
	v             *Verifier
	q             question
	ev            Evidence
	recalled      *recalled
	exchangesLeft int
	began         uint64 // the count of withdrawals at the beginning
	steps         uint64 // of the clock, at the beginning
}

func (v *Verifier) begin(q question) *gathering {
	return &gathering{v: v, q: q, ev: Evidence{Policy: v.rules, Fresh: q.mode == fresh}, exchangesLeft: maxExchanges,
		began: v.memory.withdrawals.now(), steps: v.clock.Steps()}
}

// missing is the piece of evidence that a decision lacks: the record, or the exchange with a source.
type missing struct {
	mechanism Mechanism // "": the record
	uri       string
	only      bool // no other source of its kind is advertised
}

// gather adds one piece of evidence. An error means that gathering stops. Every
// failure of a site is evidence.
func (g *gathering) gather(ctx context.Context, m *missing) (err error) {
	if m.mechanism == "" {
		g.ev.DNS, err = g.lookup(ctx)
		return err
	}
	var x *Exchange
	if m.mechanism == Query || g.q.mode != normal { // what began earlier is no refresh
		x, err = g.ask(ctx, m)
	} else {
		key := reading{manifestKey{g.site, m.uri}, g.q.in, g.q.budget}
		x, err = g.v.readings.Do(ctx, key, func(ctx context.Context) (*Exchange, error) { return g.ask(ctx, m) })
	}
	if err == nil {
		g.ev.Exchanges = append(g.ev.Exchanges, *x)
	}
	return err
}

// reading is a manifest that is being read.
type reading struct {
	manifestKey
	in     *Interaction
	budget Budget
}

// ask asks a source, unless what is remembered says enough.
func (g *gathering) ask(ctx context.Context, m *missing) (*Exchange, error) {
	if x := g.remembered(ctx, m); x != nil {
		return x, nil
	}
	x := &Exchange{Mechanism: m.mechanism, URL: m.uri}
	if m.mechanism == Query {
		return x, g.query(ctx, x)
	}
	return x, g.manifest(ctx, x, m.only)
}

// lookup is part C: what the DNS says about the site, or said a while ago.
func (g *gathering) lookup(ctx context.Context) (*DNSEvidence, error) {
	if g.q.mode == fresh { // what began earlier is not fresh
		if d := g.knownFailure(); d != nil {
			return d, nil
		}
		return g.askDNS(ctx, g.v.host.LookupFresh)
	}
	if d := g.knownRecord(); d != nil {
		return d, nil
	}
	return g.v.lookups.Do(ctx, g.site, func(ctx context.Context) (*DNSEvidence, error) {
		if d := cmp.Or(g.knownRecord(), g.knownFailure()); d != nil {
			return d, nil
		}
		return g.askDNS(ctx, g.v.host.Lookup)
	})
}

// askDNS asks for the site's record and remembers what it learns.
func (g *gathering) askDNS(
	caller context.Context, ask func(context.Context, string, lookleap.RRType) (*lookleap.DNSAnswer, error),
) (*DNSEvidence, error) {
	v, m := g.v, g.v.memory
	ctx, cancel := context.WithTimeout(caller, exchangeTime)
	defer cancel()
	d := &DNSEvidence{Name: recordPrefix + g.site}
	answer, err := ask(ctx, d.Name, lookleap.TypeTXT)
	if caller.Err() != nil {
		return nil, caller.Err()
	}
	if errors.Is(err, lookleap.ErrClosed) || errors.Is(err, context.Canceled) {
		return nil, err
	}
	d.At, d.err = v.clock.Now(), err
	memo, kept := m.failures, dnsBackoff
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
		memo, kept = m.records, d.ttl()
	}
	if g.steps == v.clock.Steps() { // else the time of the answer is not known
		memo.Put(g.site, flight.Loaded[*DNSEvidence]{Value: d, Until: d.At.Add(kept)})
		m.changesOf(g.site).Add(1)
	}
	return d, nil
}

// knownFailure returns the failure for which the site is not asked again yet, or nil.
func (g *gathering) knownFailure() *DNSEvidence {
	d, ok := g.v.memory.failures.Fresh(g.site)
	if !ok {
		return nil
	}
	known := *d
	known.Held = true
	return &known
}

// knownRecord returns the record from memory, or nil.
func (g *gathering) knownRecord() *DNSEvidence {
	d, ok := g.v.memory.records.Fresh(g.site)
	if !ok {
		return nil
	}
	known := *d
	known.remembered = true
	return &known
}

// remembered returns an exchange that does not take place (rows M0, M1 and Q0), or nil.
func (g *gathering) remembered(ctx context.Context, m *missing) *Exchange {
	now := g.v.clock.Now()
	held := func(h hold) *Exchange {
		b, ok := g.v.memory.holds.Fresh(h)
		if !ok && h.scope == backoffEndpoint {
			b, ok = g.v.sharedBackoff(ctx, m.mechanism, m.uri)
		}
		if !ok {
			return nil
		}
		return &Exchange{Mechanism: m.mechanism, URL: m.uri, At: now, Held: b.code, Transient: b.temporary, remembered: true}
	}
	if m.mechanism == ManifestSource {
		ofManifest := hold{scope: backoffManifest, uri: m.uri}
		ofManifest.site = g.site
		if x := held(ofManifest); x != nil {
			return x
		}
		if x := g.lastManifest(m.uri); x != nil && g.q.mode == normal && now.Before(x.freshUntil(x.manifest, g.ev.DNS.ttl())) {
			return x
		}
	}
	return held(hold{scope: backoffEndpoint, uri: m.uri})
}

// lastManifest returns the manifest that was read last, which may be outdated, or nil.
func (g *gathering) lastManifest(uri string) *Exchange {
	key := manifestKey{g.site, uri}
	if in := g.q.in; in != nil {
		in.mu.Lock()
		x := in.manifests[key]
		in.mu.Unlock()
		if x != nil && !g.v.clock.Now().Before(x.At) {
			return x
		}
	}
	m := g.v.memory
	last, _ := m.manifests.Peek(key)
	if x := last.Value; x != nil && !m.withdrawals.since(x.began, unsignedManifests(g.site)) {
		return x
	}
	return nil
}

// query asks an endpoint about the serving domain (part Q).
func (g *gathering) query(ctx context.Context, x *Exchange) error {
	header := http.Header{"Accept": {"application/json"}}
	if g.q.mode == fresh {
		header.Set("Cache-Control", "no-cache")
	}
	u, err := domain.Parse(queryURL(x.URL, g.server.Domain))
	var resp *fetch.Response
	if err == nil {
		resp, err = g.exchange(ctx, u, header, MaxQueryResponse)
	}
	return x.end(ctx, resp, err, g.v.clock.Now())
}

// manifest asks for a manifest, redirects included (part M). It must not be older
// than the newest one that was accepted in its place: for the site where it
// advertises one manifest, for the URI where it advertises several.
func (g *gathering) manifest(ctx context.Context, x *Exchange, only bool) error {
	place := manifestKey{g.site, x.URL}
	if only {
		place.uri = ""
	}
	x.Newest, _ = g.v.memory.newest.Get(place)
	header := http.Header{"Accept": {ManifestMediaType + ", application/json;q=0.5"}}
	before := g.lastManifest(x.URL)
	switch {
	case g.q.mode == fresh:
		header.Set("Cache-Control", "no-cache")
		before = nil
	case before != nil && before.validator != (fetch.Validator{}) && g.v.clock.Now().Before(before.manifest.Expires):
		before.validator.Ask(header)
	default:
		before = nil
	}
	u, err := domain.Parse(x.URL)
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
		return stop
	}
	if confirmed {
		x.Validated, x.Local = true, x.Local || before.Local
		x.manifest, x.MediaType, x.Digest, x.validator = before.manifest, before.MediaType, before.Digest, before.validator
	}
	g.rememberManifest(x)
	return nil
}

// rememberManifest remembers a manifest that is valid for the site.
func (g *gathering) rememberManifest(x *Exchange) {
	m, key := g.v.memory, manifestKey{g.site, x.URL}
	j := x.judgeManifest(g.ev.Policy, g.subject, g.v.clock.Now(), g.ev.DNS.ttl(), false)
	if !j.validManifest {
		if j.code == CodeManifestExpired {
			m.manifests.Invalidate(key)
		}
		return
	}
	x.Body, x.began = nil, g.began // the index has what matters
	for _, k := range []manifestKey{key, {site: key.site}} {
		if last, _ := m.newest.Get(k); last.Before(x.manifest.Issued) {
			m.newest.Add(k, x.manifest.Issued)
		}
	}
	kept := *x
	switch {
	case g.steps != g.v.clock.Steps():
	case !x.NoStore:
		m.manifests.Put(key, flight.Loaded[*Exchange]{Value: &kept, Until: x.manifest.Expires})
	default:
		m.manifests.Invalidate(key)
		if in := g.q.in; in != nil {
			in.mu.Lock()
			defer in.mu.Unlock()
			if len(in.manifests) < maxInteractionManifests {
				in.manifests[key] = &kept
			}
		}
	}
}

// maxManifestHops is how many redirects lead to a manifest at most.
const maxManifestHops = 2

// follow reads a manifest and judges every hop on the way: its host, and that
// its certificate is valid for the site itself.
func (g *gathering) follow(ctx context.Context, u domain.URL, header http.Header) (*fetch.Response, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, exchangeTime, errSlow)
	defer cancel()
	var hops fetch.Freshness // the strictest of the redirects
	for hop := 0; ; hop++ {
		resp, err := g.exchange(ctx, u, header, maxManifestSize)
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
		Limits:   fetch.Limits{Body: size, Time: exchangeTime},
	})
}

// end fills in how an exchange ended: with what matters of a response, or with a
// failure of the site, which is evidence. The error is one that stops the gathering.
func (x *Exchange) end(ctx context.Context, resp *fetch.Response, err error, now time.Time) error {
	x.At = now
	if err != nil {
		return x.fail(ctx, err)
	}
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
	if resp.Freshness.Stated {
		x.Fresh = resp.Freshness.Until(0, maxGrant, 0)
	}
	if x.Mechanism == ManifestSource { // section 12.4 says how long the answer of a query is kept
		x.NoStore = resp.Freshness.NoStore || resp.Freshness.NoCache ||
			resp.Freshness.Stated && !x.Fresh.After(resp.Freshness.Received) // stale on arrival
		x.validator, x.Local = resp.Validator(), resp.Freshness.OneUser
	}
	return nil
}

func (x *Exchange) fail(ctx context.Context, err error) error {
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
		x.Failure = cmp.Or(failureOf[lookleap.CodeOf(err)], FailedOther)
	}
	return nil
}

var failureOf = map[lookleap.Code]Failure{
	lookleap.CodeTLS: FailedTLS, lookleap.CodeTLSTooOld: FailedTLS, lookleap.CodeNoConnection: FailedTLS, lookleap.CodeClientCert: FailedTLS,
	lookleap.CodeDNSError: FailedTransient, lookleap.CodeNoAddress: FailedTransient, // no connection was possible
	lookleap.CodeTooLarge: FailedAnswer, lookleap.CodeHeaderTooLarge: FailedAnswer, lookleap.CodeEncoding: FailedAnswer,
	lookleap.CodeBadStatus: FailedAnswer, lookleap.CodeMediaType: FailedAnswer, lookleap.CodeCharset: FailedAnswer,
}
