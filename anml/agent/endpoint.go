package agent

import (
	"errors"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
)

// reach says how far an action's endpoint is from the document that names it
// (sections 13.4 and 13.11).
type reach string

const (
	atOrigin reach = "same-origin"
	atDomain reach = "same-domain"  // another origin of the document's registrable domain
	atOwner  reach = "owner-domain" // of the verified site whose action it is
	atOther  reach = "other-domain" // of somebody who was not verified
)

// endpoint is where an action would be sent.
type endpoint struct {
	url   domain.URL
	reach reach
	plain bool // http: for what only reads, carries nothing of the user's, and is acknowledged (section 13.12)
}

// endpointRules are those of every URL that an action may be sent to.
var endpointRules = domain.Rules{Schemes: []string{"https", "http"}}

// usualPorts are those that are sent to, beside the document's own.
var usualPorts = map[string]uint16{"https": 443, "http": 80}

// resolveEndpoint judges an endpoint against the final https URL of its document: a
// public name, a usual port, and no other scheme than https but http. Site is the verified owner's domain, "" when
// that is the serving domain. It says nothing about consent.
func resolveEndpoint(document domain.URL, ref, site string) (endpoint, error) {
	refuse := func(code lookleap.Code, reason string, err error) (endpoint, error) {
		return endpoint{}, &lookleap.Error{Code: code, Subject: shown(document), Message: reason, Err: err}
	}
	u, err := endpointRules.Resolve(document, ref)
	if err != nil {
		code := lookleap.CodeBadURL
		var bad *domain.Error
		if errors.As(err, &bad) {
			code = lookleap.Code(bad.Code)
		}
		return refuse(code, "the action's endpoint is refused", err)
	}
	switch {
	case u.Origin() == document.Origin():
		return endpoint{u, atOrigin, false}, nil
	case u.Port() != usualPorts[u.Scheme()]:
		return refuse(lookleap.CodeBlockedPort, "the action's endpoint is at a port that is not sent to", nil)
	}
	return endpoint{u, reachOf(document.Host(), u.Host(), site), u.Scheme() == "http"}, nil
}

// reachOf compares hosts of two origins.
func reachOf(document, host, site string) reach {
	theirs, ok := domain.Registrable(host)
	ours, also := domain.Registrable(document)
	switch {
	case host == document, ok && also && theirs == ours:
		return atDomain
	case site != "" && (host == site || strings.HasSuffix(host, "."+site)):
		return atOwner
	}
	return atOther
}
