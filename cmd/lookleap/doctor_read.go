package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/agentstxt"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/fetch"
)

// get reads a path of the site. For a status that says that nothing is there it returns nil and no
// error.
func (p *patient) get(ctx context.Context, path, accept string) (*fetch.Response, error) {
	return p.read(ctx, p.url.Origin()+path, accept)
}

// read reads a document that the site publishes or points to. Its errors are faults whose fix is
// about the cause.
func (p *patient) read(ctx context.Context, url, accept string) (*fetch.Response, error) {
	u, err := domain.Parse(url)
	if err != nil {
		return nil, fault{lookleap.CodeBadURL, url + " is not a URL that agents follow: " + err.Error(), "write an https URL of a public host"}
	}
	var elsewhere domain.URL
	resp, err := fetch.Do(ctx, p.host, &fetch.Request{
		URL: u, Header: http.Header{"Accept": {accept}}, ReadBody: func(int) bool { return true },
		Redirect: func(hop fetch.Hop) error {
			if !hop.SameOrigin() {
				elsewhere = hop.To
				return fetch.SameOrigin(hop)
			}
			return nil
		},
	})
	path := strings.TrimPrefix(url, p.url.Origin())
	switch {
	case !elsewhere.IsZero():
		return nil, leaves(u, elsewhere, path)
	case err != nil:
		if fix := adviceConnection(err); fix != "" {
			return nil, fault{lookleap.CodeOf(err), refuse(err).Message, fix}
		}
		return nil, err
	case resp.Status == http.StatusNotFound || resp.Status == http.StatusGone:
		return nil, nil
	}
	if no := unusable(resp, path); no != nil {
		return nil, no
	}
	return resp, nil
}

// fault is something wrong at the site, and what its publisher does about it.
type fault struct {
	code     lookleap.Code
	text, do string
}

func (f fault) Error() string             { return f.text }
func (f fault) ReasonCode() lookleap.Code { return f.code }

// fixOf returns the fix of a fault, or another one for other errors.
func fixFor(err error, other string) string {
	var f fault
	if errors.As(err, &f) {
		return f.do
	}
	return other
}

// login is how pages for a login are named.
var login = regexp.MustCompile(`(?i)(^|[/._?=-])(log-?in|sign-?in|sso|saml|oauth2?|auth|accounts?|session)([/._?&=-]|$)`)

// leaves says where a document was redirected that agents read at its own origin only.
func leaves(from, to domain.URL, path string) fault {
	f := fault{code: lookleap.CodeRedirectCrossOrigin, text: path + " redirects to " + to.WithoutQuery() + ", and agents read it at its own origin only"}
	bare := func(host string) string { return strings.TrimPrefix(host, "www.") }
	switch {
	case bare(from.Host()) == bare(to.Host()) && from.Host() != to.Host():
		f.do = "answer at https://" + from.Host() + path + " itself, or publish everything at " + to.Origin() + " and examine that"
	case login.MatchString(to.String()):
		f.text = path + " redirects to a login at " + to.WithoutQuery()
		f.do = "let everyone read " + path + " without a login"
	default:
		f.do = "answer at " + from.Origin() + path + " itself"
	}
	return f
}

// wall matches what the services that keep bots away answer.
var wall = regexp.MustCompile(`(?i)just a moment|attention required|checking your browser|enable javascript and cookies|verify you are (a )?human|captcha|_incapsula_|ddos-guard|px-captcha|datadome|request unsuccessful|access denied.{0,200}reference`)

// unusable says why an answer is no document, nil if it may be one.
func unusable(resp *fetch.Response, path string) error {
	html := strings.HasPrefix(resp.MediaType, "text/html") || resp.MediaType == "application/xhtml+xml"
	status := fmt.Sprintf("%s answers with status %d", path, resp.Status)
	code := agentstxt.CodeStatus
	switch {
	case resp.Header.Get("Cf-Mitigated") != "" || html && wall.Match(resp.Body) || resp.Header.Get("X-Datadome") != "" && resp.Status == http.StatusForbidden:
		return fault{lookleap.CodeForbidden, status + ": a bot wall answers in the place of the site",
			"make an exception for GET " + path + " in the bot protection: agents cannot solve its puzzles"}
	case resp.Status == http.StatusUnauthorized || resp.Status == http.StatusProxyAuthRequired:
		return fault{code, status + ": it demands a login", "let everyone read " + path + " without a login"}
	case resp.Status == http.StatusForbidden:
		return fault{code, status + ": the server forbids it", "allow GET " + path + " in the rules of the server and of the firewall before it, and make the file readable for the server"}
	case resp.Status == http.StatusTooManyRequests:
		return fault{code, status + ": it limits requests", "raise the limit for " + path + ", which agents ask for at each visit"}
	case resp.Status >= 500:
		return fault{code, status + ": the server fails, and agents must not read that as absent", "look into the log of the server for " + path + "; if there is no such document, answer 404"}
	case resp.Status == http.StatusNotAcceptable || resp.Status == http.StatusUnsupportedMediaType:
		return fault{code, status + ": it does not have the form that was asked for", "answer GET " + path + " whatever the Accept header says"}
	case !resp.OK():
		return fault{code, status, "answer 200 with the document, or 404 if there is none"}
	case html && strings.Contains(strings.ToLower(string(resp.Body)), `type="password"`):
		return fault{lookleap.CodeSoft404, path + " answers with a page for a login", "let everyone read " + path + " without a login"}
	case html:
		return fault{lookleap.CodeSoft404, path + " answers 200 with a web page, as for every path", "answer 404 for paths that do not exist, and send the document itself if there is one"}
	}
	return nil
}
