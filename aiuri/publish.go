package aiuri

import (
	"fmt"
	"html"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/serve"
)

// AdvertiseLink returns the value of a Link header (section 3.1), "" for the zero URI.
func AdvertiseLink(endpoint URI) string {
	if endpoint.IsZero() {
		return ""
	}
	return "<" + endpoint.Normalize().String() + `>; rel="` + relation + `"`
}

// LinkElement returns the element for a page's head, "" for the zero URI.
func LinkElement(endpoint URI) string {
	if endpoint.IsZero() {
		return ""
	}
	return `<link rel="` + relation + `" href="` + html.EscapeString(endpoint.Normalize().String()) + `">`
}

// DNSRecords returns the bootstrap records of a domain as lines of a zone file, with absolute
// names. The target is the host that serves the endpoint.
func DNSRecords(domain string, endpoint URI, target string, port uint16, ttl time.Duration) []string {
	domain, target = strings.TrimSuffix(domain, "."), strings.TrimSuffix(target, ".")
	var texts []string // of at most 255 bytes (RFC 1035 section 3.3), without characters that a zone file escapes
	for piece := range slices.Chunk([]byte("endpoint="+endpoint.Normalize().String()), 255) {
		texts = append(texts, `"`+string(piece)+`"`)
	}
	return []string{
		fmt.Sprintf("_aiip._tcp.%s. %d IN SRV 0 0 %d %s.", domain, ttl/time.Second, port, target),
		fmt.Sprintf("_aiip.%s. %d IN TXT %s", domain, ttl/time.Second, strings.Join(texts, " ")),
	}
}

// NewDescriptorHandler returns a handler that serves an origin's document. Mount it at
// /.well-known/aiip. It returns an error for a document that clients would refuse, such
// as one that does not require signed results.
func NewDescriptorHandler(origin string, d *Descriptor, allowedKeyOrigins ...string) (http.Handler, error) {
	text, err := d.MarshalJSON()
	if err != nil {
		return nil, failOn(CodeBadDocument, "", "the document cannot be written", "", err)
	}
	u, err := domain.Parse(origin)
	if err != nil {
		return nil, urlError(lookleap.CodeBadURL, "", "the origin is not an https origin", err)
	}
	read, err := ParseDescriptor(text, u.Origin(), allowedKeyOrigins...)
	switch {
	case err != nil:
		return nil, err
	case len(read.Findings) > 0:
		return nil, fail(read.Findings[0].Code, read.Findings[0].Message, read.Findings[0].Fix)
	}
	return served(text, "application/json"), nil
}

// served returns a document that clients may cache for five minutes.
func served(content []byte, mediaType string) *serve.Document {
	document := serve.New(content, mediaType)
	document.Keep(5 * time.Minute)
	return document
}

const jwksMediaType = "application/jwk-set+json"

// NewKeySetHandler returns a handler that serves a JWK Set made by another program.
// Mount it at the path of the descriptor's jwks URL. It returns an error for a set with
// a private or symmetric key, a key without kid, or a key that no verifier would use.
func NewKeySetHandler(set []byte) (http.Handler, error) {
	parsed, err := ParseKeySet(set)
	if err != nil {
		return nil, err
	}
	if len(parsed.findings) > 0 {
		f := parsed.findings[0]
		return nil, &lookleap.Error{Code: CodeBadKeySet, Position: f.Position, Message: f.Message}
	}
	for _, k := range parsed.keys {
		if !k.hasID || strings.TrimSpace(k.id) == "" {
			return nil, fail(CodeBadKeySet, "a key has no kid", "")
		}
	}
	return served(set, jwksMediaType), nil
}

// Lint returns findings about how an origin advertises its endpoint: those of a discovery,
// and one for each part that is missing. Use a nil discovery if nothing was found.
func Lint(d *Discovery) []lookleap.Finding {
	if d == nil || len(d.Candidates) == 0 {
		return []lookleap.Finding{warning(CodeNoEndpoint, "AIU-3.1-01", "the origin advertises no endpoint", "publish /.well-known/aiip")}
	}
	findings := slices.Clone(d.Findings)
	if !d.Verifiable() {
		findings = append(findings, warning(CodeNoTrustAnchor, "AIU-3.4-10",
			"no document names keys, so no result can be verified", "publish /.well-known/aiip with jwks"))
	}
	return findings
}
