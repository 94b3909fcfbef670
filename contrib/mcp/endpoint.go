package lookleapmcp

import (
	"errors"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// endpoint is the URL of an upstream server, whose user and query may have a key. No text that leaves the
// proxy has them: neither errors, which the model and the record get, nor what is printed. The zero
// endpoint is that of a server without a URL.
type endpoint struct{ secrets []string } // texts, each followed by what replaces it

func endpointOf(upstream mcp.Transport) (e endpoint) {
	var text string
	switch t := upstream.(type) {
	case *mcp.StreamableClientTransport:
		text = t.Endpoint
	case *mcp.SSEClientTransport:
		text = t.Endpoint
	}
	u, err := url.Parse(text)
	switch {
	case text == "":
		return endpoint{}
	case err != nil:
		return endpoint{[]string{text, "(a malformed URL)"}}
	case u.RawQuery == "" && u.User == nil:
		return endpoint{}
	}
	bare := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}
	e.secrets = []string{text, bare.String(), u.String(), bare.String(), u.Redacted(), bare.String()}
	if u.RawQuery != "" {
		e.secrets = append(e.secrets, "?"+u.RawQuery, "")
	}
	const short = 8 // a shorter value is no key, and may be a part of other words
	for member := range strings.SplitSeq(u.RawQuery, "&") {
		_, value, named := strings.Cut(member, "=")
		if !named {
			value = member
		}
		if len(value) < short {
			continue
		}
		e.secrets = append(e.secrets, value, "***")
		if plain, err := url.QueryUnescape(value); err == nil && plain != value {
			e.secrets = append(e.secrets, plain, "***", url.QueryEscape(plain), "***")
		}
	}
	return e
}

// text replaces the endpoint in a text by itself without user and query.
func (e endpoint) text(text string) string {
	if len(e.secrets) == 0 {
		return text
	}
	return strings.NewReplacer(e.secrets...).Replace(text)
}

// quote quotes words of the server, which may repeat the URL.
func (e endpoint) quote(words string, limit int) string { return plaintext.Quote(e.text(words), limit) }

// strip returns an error whose text does not have the secrets of the endpoint.
func (e endpoint) strip(err error) error {
	if err == nil || len(e.secrets) == 0 {
		return err
	}
	return &strippedError{e.text(err.Error()), err}
}

// strippedError has no Unwrap, so that no one prints the error behind it.
type strippedError struct {
	text string
	err  error
}

func (e *strippedError) Error() string { return e.text }

// ReasonCode returns the code of the error behind it.
func (e *strippedError) ReasonCode() lookleap.Code { return lookleap.CodeOf(e.err) }

// Is reports whether the error behind it is target.
func (e *strippedError) Is(target error) bool { return errors.Is(e.err, target) }
