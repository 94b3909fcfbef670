package agentstxt

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/fetch"
)

// origin is the scheme, host and port that one policy is about.
type origin struct {
	name   string     // canonical, for instance https://shop.example:8443
	policy domain.URL // of the file; for http it has the scheme https until it is sent
	plain  bool       // the scheme is http
}

// PolicyURL returns the URL of the policy for a URL: /agents.txt at its origin
// (section 2). The scheme must be https or http.
func PolicyURL(rawURL string) (string, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return "", badURL(err)
	}
	if u.Opaque != "" {
		return "", badURL(errors.New("the URL has no path"))
	}
	o, err := originAt(u.Scheme, u.Host)
	if err != nil {
		return "", err
	}
	return o.name + policyPath, nil
}

// originRules are the rules for URLs that have an origin.
var originRules = domain.Rules{Schemes: []string{"https", "http"}, AllowIP: true, AllowSpecial: true}

// originAt returns the origin of a URL with this scheme and host, and an error if the host is
// ambiguous. The Fetcher decides which hosts may be reached.
func originAt(scheme, host string) (origin, error) {
	base, err := originRules.Parse(scheme + "://" + host + "/")
	if err != nil {
		return origin{}, badURL(err)
	}
	o := origin{name: base.Origin(), plain: base.Scheme() == "http"}
	file := fmt.Sprintf("https://%s:%d%s", base.Host(), base.Port(), policyPath)
	if o.policy, err = originRules.Parse(file); err != nil {
		return origin{}, badURL(err)
	}
	return o, nil
}

// file returns the URL of a file at the root of the origin, with the scheme of o.policy.
func (o origin) file(path string) (domain.URL, error) {
	if path == policyPath {
		return o.policy, nil
	}
	return originRules.Parse(strings.TrimSuffix(o.policy.String(), policyPath) + path)
}

// displayURL returns a URL for messages: a URL of the origin with its own scheme.
func (o origin) displayURL(url string) string {
	root := strings.TrimSuffix(o.policy.String(), policyPath)
	if path, own := strings.CutPrefix(url, root); own && strings.HasPrefix(path, "/") {
		return o.name + path
	}
	return url
}

// badURL returns the error for a URL without an origin.
func badURL(err error) error { return fetch.URLError("", "the URL has no usable origin", err) }

// originKey is what decides the origin of a URL, as it is written.
type originKey struct{ scheme, host string }

// originOf returns the origin of a URL, and an error if it has none.
func (c *Client) originOf(u *url.URL) (origin, error) {
	if u == nil || u.Opaque != "" {
		return origin{}, badURL(errors.New("the URL has no path"))
	}
	return c.cachedOriginAt(u.Scheme, u.Host)
}

// cachedOriginAt is [originAt] with the client's cache. To check a host takes longer than a
// decision by a cached policy.
func (c *Client) cachedOriginAt(scheme, host string) (origin, error) {
	key := originKey{scheme, host}
	if o, ok := c.origins.Get(key); ok {
		return o, nil
	}
	o, err := originAt(scheme, host)
	if err == nil && len(host) <= maxHost {
		c.origins.Add(key, o)
	}
	return o, err
}

// maxHost is the length of the longest host with a port that is cached, in bytes.
const maxHost = 300

// target is what a request asks for.
type target struct {
	origin   origin
	path     string // as it is sent, without the query
	query    string
	hasQuery bool // a "?" is sent, possibly with an empty query
	reads    bool // the method is GET or HEAD
}

func newTarget(o origin, u *url.URL, method string) target {
	return target{
		origin: o, path: u.EscapedPath(), query: u.RawQuery, hasQuery: u.RawQuery != "" || u.ForceQuery,
		reads: method == "" || method == http.MethodGet || method == http.MethodHead,
	}
}

// pathAndQuery returns both as they are sent.
func (t *target) pathAndQuery() string {
	if !t.hasQuery {
		return t.path
	}
	return t.path + "?" + t.query
}

// isFile reports whether the request reads one of the files that always may be read.
func (t *target) isFile() bool {
	return t.reads && (t.path == policyPath || t.path == robotsPathName)
}

// targetOf returns what a GET request for a URL asks for.
func (c *Client) targetOf(rawURL string) (target, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return target{path: rawURL}, badURL(err)
	}
	o, err := c.originOf(u)
	return newTarget(o, u, http.MethodGet), err
}
