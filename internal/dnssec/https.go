package dnssec

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime"
	"net/http"
	"time"

	"github.com/miekg/dns"
)

// httpsTransport asks over HTTPS (RFC 8484), by POST so that no cache on the way answers.
type httpsTransport struct {
	url       string
	roundTrip func(*http.Request) (*http.Response, error)
}

const (
	httpsTimeout   = 5 * time.Second
	dnsMessageType = "application/dns-message"
)

func (t *httpsTransport) String() string { return t.url }
func (t *httpsTransport) close() error   { return nil }

func (t *httpsTransport) exchange(ctx context.Context, query *dns.Msg, b *budget) (*dns.Msg, error) {
	if err := b.query(); err != nil {
		return nil, err
	}
	waiting, cancel := context.WithTimeout(ctx, httpsTimeout)
	defer cancel()
	query = query.Copy()
	query.Id = 0 // RFC 8484 section 4.1
	wire, err := query.Pack()
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(waiting, http.MethodPost, t.url, bytes.NewReader(wire))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", dnsMessageType)
	request.Header.Set("Accept", dnsMessageType)
	response, err := t.roundTrip(request)
	if err != nil {
		return nil, waitError(waiting, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, &ServerError{Reason: fmt.Sprintf("the server answers with HTTP status %d", response.StatusCode)}
	}
	if mediaType, _, err := mime.ParseMediaType(response.Header.Get("Content-Type")); err != nil || mediaType != dnsMessageType {
		return nil, &ServerError{Reason: "the server's answer is no DNS message"}
	}
	raw, err := io.ReadAll(io.LimitReader(response.Body, dns.MaxMsgSize+1))
	if err != nil {
		return nil, waitError(waiting, err)
	}
	if len(raw) > dns.MaxMsgSize {
		return nil, &ServerError{Reason: "the server's answer is longer than a DNS message can be"}
	}
	return readReply(query, raw)
}
