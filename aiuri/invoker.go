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

// ProvenanceHeader is the header of a gateway's response with the signature of the result.
// The draft names no header; this one is lookleap's.
const ProvenanceHeader = "AIIP-Provenance"

// joseType is the media type of a body that is a compact JWS.
const joseType = "application/jose"

// Invoker calls endpoints. The draft defines no wire format for AIIP, so a native transport
// is an Invoker of the host. Invoke authenticates the endpoint before it sends anything, and
// returns the result without verifying it: [Client] and [Gateway] do that. Invoke must be
// safe for concurrent use.
type Invoker interface {
	Invoke(ctx context.Context, call *Call) (SignedResult, error)
}

// gatewayInvoker calls endpoints through an HTTPS gateway (section 3.2).
type gatewayInvoker struct {
	host    *lookleap.Host
	mapping Mapping
}

func (g *gatewayInvoker) Invoke(ctx context.Context, c *Call) (SignedResult, error) {
	text, err := g.mapping.URL(c.URI)
	if err != nil {
		return SignedResult{}, err
	}
	url, err := domain.Parse(text)
	if err != nil {
		return SignedResult{}, urlError(CodeAmbiguous, c.URI.Redacted(), "the URI has no canonical https URL at the gateway", err)
	}
	header := http.Header{"Accept": {"application/jose, */*;q=0.5"}}
	if c.Body != nil && c.MediaType != "" {
		header.Set("Content-Type", c.MediaType)
	}
	c.writeBinding(header)
	if c.IdempotencyKey != "" {
		header.Set(lookleap.IdempotencyHeader, c.IdempotencyKey)
	}
	if c.Token != "" {
		header.Set("Authorization", "Bearer "+c.Token)
	}
	resp, err := fetch.Do(ctx, g.host, &fetch.Request{
		Method: c.Method, URL: url, Header: header, Body: c.Body, Limits: fetch.Limits{Body: maxResult},
		TrustEvidence: true, MinTLS: tls.VersionTLS13, ClientCertificate: c.MTLS,
		ReadBody: func(status int) bool { return status/100 == 2 || status >= 400 }, // problem details too
	})
	if err != nil {
		unsent := !fetch.MayHaveArrived(err)
		if !fetch.Cancelled(err) {
			err = failOn(lookleap.CodeOf(err), c.URI.Redacted(), "the call through the gateway failed", "", hidden{err})
		}
		if unsent {
			err = lookleap.NothingSent(err)
		}
		return SignedResult{}, err
	}
	if !resp.OK() {
		return SignedResult{}, failOn(CodeEndpointFailed, c.URI.Redacted(), refusalOf(resp), "", nil)
	}
	return resultOf(resp), nil
}

// refusalOf describes the refusal of a gateway: its status and, if its problem details name a
// code of this module, the title of that code. It contains no text of the gateway.
func refusalOf(resp *fetch.Response) string {
	message := "the gateway returned HTTP status " + strconv.Itoa(resp.Status)
	if resp.MediaType != "application/problem+json" {
		return message
	}
	problem, err := strictjson.Parse(resp.Body, strictjson.Limits{Size: 4 << 10})
	if err != nil {
		return message
	}
	member, _ := problem.Member("code")
	if name, _ := text(member); lookleap.Code(name).Known() {
		message += ": " + lookleap.Code(name).Title()
	}
	return message
}

// hidden hides the URL of an error of an exchange, because it contains the path of the ai: URI
// (section 6). errors.Is still finds what is below.
type hidden struct{ err error }

func (h hidden) Error() string             { return lookleap.CodeOf(h.err).Title() }
func (h hidden) Is(target error) bool      { return errors.Is(h.err, target) }
func (h hidden) ReasonCode() lookleap.Code { return lookleap.CodeOf(h.err) }

// resultOf returns the result with its signature, from the header or the body. Several
// headers count as no signature.
func resultOf(resp *fetch.Response) SignedResult {
	signatures := resp.Header.Values(ProvenanceHeader)
	if len(signatures) == 0 && resp.MediaType == joseType {
		return SignedResult{JWS: string(resp.Body)}
	}
	r := SignedResult{Body: resp.Body, MediaType: resp.MediaType}
	if r.Body == nil {
		r.Body = []byte{}
	}
	if len(signatures) == 1 {
		r.JWS = signatures[0]
	}
	return r
}
