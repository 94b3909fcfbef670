package aiuri

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"strconv"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/internal/strictjson"
)

// ProvenanceHeader carries the signature of a result through a gateway. The
// draft names no header; this one is ours.
const ProvenanceHeader = "AIIP-Provenance"

// joseType is the media type of a body that is itself a compact JWS.
const joseType = "application/jose"

// Call is one invocation of an endpoint, completely prepared.
type Call struct {
	URI       URI // without fragment
	Method    string
	Body      []byte
	MediaType string   // of the body
	Scopes    []string // asked for, and no more
	Token     string   // bearer token for these scopes; "": none
	MTLS      bool     // a client certificate has to be shown
	Targets   []Target // where a native connection is made (see OrderTargets); nil: at the URI's authority

	// Nonce is new for each call and is part of its RequestDigest, so that the result
	// of an earlier call does not pass for this one's. A native transport carries it to
	// the endpoint; "": there is none.
	Nonce string
	// User is a mark of the user for this endpoint, and no identity: only the host can
	// tell who is meant. It is part of the RequestDigest if there is a Nonce.
	User string
	To   Destination // where the call goes; zero in Authorize, before the endpoint is known
}

// Invoker performs a call and gives its result as it came. The draft defines no
// wire format for AIIP, so that native transports are plugged in here. An Invoker
// authenticates the endpoint before it sends anything; what it gives is verified
// by whoever called it. It is called from several goroutines at once.
type Invoker interface {
	Invoke(ctx context.Context, call *Call) (SignedResult, error)
}

// gatewayInvoker calls through an HTTPS gateway (section 3.2).
type gatewayInvoker struct {
	host    *lookleap.Host
	mapping Mapping
}

// GatewayInvoker calls endpoints through the gateway at a base. The connection is
// TLS 1.3 to a server that was authenticated, redirects are not followed, and
// nothing is sent otherwise.
func GatewayInvoker(host *lookleap.Host, base string) (Invoker, error) {
	if host == nil {
		return nil, errNoHost("an invoker")
	}
	m, err := NewMapping(base)
	if err != nil {
		return nil, err
	}
	return &gatewayInvoker{host, m}, nil
}

func (g *gatewayInvoker) Invoke(ctx context.Context, c *Call) (SignedResult, error) {
	if c == nil {
		return SignedResult{}, fail(lookleap.CodeUsage, "there is no call to make", "")
	}
	text, err := g.mapping.URL(c.URI)
	if err != nil {
		return SignedResult{}, err
	}
	url, err := domain.Parse(text)
	if err != nil {
		return SignedResult{}, &Error{Code: CodeAmbiguous, Subject: c.URI.Redacted(), Reason: "the URI makes no canonical https URL at the gateway", Err: err}
	}
	header := http.Header{"Accept": {"application/jose, */*;q=0.5"}}
	if c.Body != nil && c.MediaType != "" {
		header.Set("Content-Type", c.MediaType)
	}
	c.putBinding(header)
	if c.Token != "" {
		header.Set("Authorization", "Bearer "+c.Token)
	}
	resp, err := fetch.Do(ctx, g.host, &fetch.Request{
		Method: c.Method, URL: url, Header: header, Body: c.Body, Limits: fetch.Limits{Body: MaxResult},
		TrustEvidence: true, MinTLS: tls.VersionTLS13, ClientCertificate: c.MTLS,
		ReadBody: func(status int) bool { return status/100 == 2 || status >= 400 }, // problem details too
	})
	if err != nil {
		if fetch.Cancelled(err) {
			return SignedResult{}, err
		}
		return SignedResult{}, &Error{Code: lookleap.CodeOf(err), Subject: c.URI.Redacted(), Reason: "the gateway could not be used", Err: hideURL(err)}
	}
	if !resp.OK() {
		return SignedResult{}, &Error{Code: CodeEndpointFailed, Subject: c.URI.Redacted(), Reason: gatewayReason(resp)}
	}
	return resultOf(resp), nil
}

// gatewayReason tells how a gateway refused: its status and, where its problem
// details name one, the title of a code of ours. None of its own words.
func gatewayReason(resp *fetch.Response) string {
	reason := "the gateway answered " + strconv.Itoa(resp.Status)
	if resp.MediaType != "application/problem+json" {
		return reason
	}
	problem, err := strictjson.Parse(resp.Body, strictjson.Limits{Size: 4 << 10})
	if err != nil {
		return reason
	}
	if member, ok := problem.Member("code"); ok {
		if name, _ := text(member); lookleap.Code(name).Known() {
			reason += ": " + lookleap.Code(name).Title()
		}
	}
	return reason
}

// hideURL keeps what errors.Is finds of an exchange and drops its URL, which
// holds the path of the ai: URI (section 6).
func hideURL(err error) error { return hidden{err} }

type hidden struct{ err error }

func (h hidden) Error() string             { return string(lookleap.CodeOf(h.err)) }
func (h hidden) Is(target error) bool      { return errors.Is(h.err, target) }
func (h hidden) ReasonCode() lookleap.Code { return lookleap.CodeOf(h.err) }

// resultOf finds the signature: in its header, or as the body. Several headers
// are none.
func resultOf(resp *fetch.Response) SignedResult {
	switch signatures := resp.Header.Values(ProvenanceHeader); {
	case len(signatures) == 1:
		return SignedResult{JWS: signatures[0], Body: nonNil(resp.Body), MediaType: resp.MediaType}
	case len(signatures) == 0 && resp.MediaType == joseType:
		return SignedResult{JWS: string(resp.Body)}
	}
	return SignedResult{Body: nonNil(resp.Body), MediaType: resp.MediaType}
}

func nonNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}
