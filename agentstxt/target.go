package agentstxt

import (
	"net/http"
	"net/url"
	"strings"
)

// target is what a request asks for.
type target struct {
	origin   origin
	path     string // as it is sent, without the query
	query    string
	hasQuery bool // a "?" is sent, possibly with an empty query
	reads    bool // the method is GET or HEAD
}

func newTarget(o origin, u *url.URL, reads bool) target {
	return target{origin: o, path: u.EscapedPath(), query: u.RawQuery, hasQuery: u.RawQuery != "" || u.ForceQuery, reads: reads}
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
	if scheme, host, t, ok := splitURL(rawURL); ok {
		var err error
		t.origin, err = c.originAt(scheme, host)
		return t, err
	}
	u, err := url.Parse(rawURL)
	if err != nil {
		return target{path: rawURL}, badURL(err)
	}
	o, err := c.originOf(u)
	return newTarget(o, u, true), err
}

// splitURL splits a URL of the most frequent form, for which [url.Parse] would allocate: a
// lower-case host without user information and port, and a path in which nothing is
// encoded. It is not ok for any other URL.
func splitURL(rawURL string) (scheme, host string, t target, ok bool) {
	scheme, rest, _ := strings.Cut(rawURL, "://")
	if scheme != "https" && scheme != "http" {
		return "", "", t, false
	}
	end := 0
	for end < len(rest) && isPlainHostByte(rest[end]) {
		end++
	}
	host, rest = rest[:end], rest[end:]
	end = 0
	for end < len(rest) && isPlainPathByte(rest[end]) {
		end++
	}
	t = target{path: rest[:end], reads: true}
	if rest = rest[end:]; rest != "" {
		if rest[0] != '?' {
			return "", "", t, false
		}
		t.query, t.hasQuery = rest[1:], true
	}
	for i := range len(t.query) {
		if b := t.query[i]; b < ' ' || b == 0x7f || b == '#' {
			return "", "", t, false
		}
	}
	return scheme, host, t, host != "" && (t.path == "" || t.path[0] == '/')
}

func isPlainHostByte(b byte) bool {
	return 'a' <= b && b <= 'z' || isDigit(b) || b == '-' || b == '.'
}

func isPlainPathByte(b byte) bool {
	return isAlnum(b) || strings.IndexByte("/-._~$&+,;=:@", b) >= 0
}

// isReading reports whether requests with a method only read.
func isReading(method string) bool {
	return method == "" || method == http.MethodGet || method == http.MethodHead
}
