package agent

import (
	"fmt"
	"strings"

	"github.com/lookleap/lookleap/anmltrust"
)

// hostKey is the one form in which hosts and domains are compared: A-labels in
// lower case, without port and final dot. It takes what people write: a name, a
// name with a port, or the https URL of a page.
func hostKey(name string) (string, error) {
	s, err := serverOf(name)
	return s.Host, err
}

// domainKey is the serving domain that a host belongs to, by the very code that
// says who serves a document.
func domainKey(name string) (string, error) {
	s, err := serverOf(name)
	return s.Domain, err
}

func serverOf(name string) (anmltrust.Server, error) {
	url := name
	if !strings.Contains(name, "://") {
		url = "https://" + name
	}
	s, err := anmltrust.ServerOf(url)
	if s.Host == "" {
		return s, fmt.Errorf("anml/agent: %q is no domain: %w", name, err)
	}
	return s, nil // a host without a registrable domain stands for itself
}

// under reports whether one of the hosts is the domain or lies below it.
func under(domain string, hosts ...string) bool {
	for _, h := range hosts {
		if h == domain || strings.HasSuffix(h, "."+domain) {
			return true
		}
	}
	return false
}
