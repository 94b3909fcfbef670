package anmltrust

import (
	"errors"
	"net/url"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
)

// Server is who delivered a document: taken from its final URL alone, never from
// a certificate (section 3).
type Server struct {
	Host   string `json:"host"`   // A-labels, lower case, no port, no final dot
	Domain string `json:"domain"` // registrable domain by the Public Suffix List, private section included; the host itself where there is none
}

// ServerOf gives the server of a document's final https URL. An error is an
// [*lookleap.Error]: insecure-transport for another scheme, serving-host-invalid for a
// host that can be no party to a delegation (an IP address, a single label, a
// public suffix). The Server is set in the latter case too where the host is a
// name, since such a host may still speak for itself.
func ServerOf(documentURL string) (Server, error) {
	rules := domain.Rules{Schemes: []string{"https", "http"}}
	u, err := rules.Parse(documentURL)
	var bad *domain.Error
	if errors.As(err, &bad) && bad.Code == domain.CodeTrailingDot {
		if parsed, perr := url.Parse(documentURL); perr == nil {
			host := strings.TrimSuffix(parsed.Hostname(), ".")
			if port := parsed.Port(); port != "" {
				host += ":" + port
			}
			parsed.Host = host
			u, err = rules.Parse(parsed.String())
		}
	}
	if errors.As(err, &bad) && bad.Code == domain.CodeNotHTTPS || err == nil && u.Scheme() != "https" {
		return Server{}, refuse(lookleap.CodeInsecureTransport, lookleap.Position{}, "serve the document over https", "the document did not come over https")
	}
	if err != nil {
		return Server{}, refuse(CodeServingHostInvalid, lookleap.Position{}, "", "the document's URL names no usable host: %v", err)
	}
	s := Server{Host: u.Host(), Domain: u.Host()}
	registrable, ok := domain.Registrable(s.Host)
	if !ok {
		return s, refuse(CodeServingHostInvalid, lookleap.Position{}, "", "%s has no registrable domain", s.Host)
	}
	s.Domain = registrable
	return s, nil
}

var (
	errPublicSuffix = errors.New("it is a public suffix")
	errNameTooLong  = errors.New("it is too long to carry an _anml record")
)

// maxSite leaves room for "_anml." in a name of 253 octets.
const maxSite = 253 - len(recordPrefix)

const recordPrefix = "_anml."

// NormalizeSite gives a site's domain in the form that is compared: A-labels, in
// lower case, without a final dot. Anything but a plain domain name is an error.
func NormalizeSite(name string) (string, error) {
	host, err := domain.ParseHost(strings.TrimSuffix(name, "."))
	if err != nil {
		return "", refuse(CodeSiteDomainInvalid, lookleap.Position{}, "", "%v", err)
	}
	if len(host) > maxSite {
		return "", errNameTooLong
	}
	return host, nil
}

// isSelf reports whether a server is the site itself (rows B1 and B2 to B6).
type kinship uint8

const (
	third kinship = iota
	self          // row B1
	below         // the site is the serving domain, the host another one below it
)

func kin(s Server, site string) kinship {
	switch {
	case site == s.Host, site == s.Domain && s.Host == "www."+site:
		return self
	case site == s.Domain:
		return below
	}
	return third
}
