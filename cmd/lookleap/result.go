package main

import (
	"crypto/tls"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/contrib/hostflags"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/internal/filestore"
	"github.com/lookleap/lookleap/internal/netguard"
)

// result is what became of one input. It is one line with --json, where all
// members are always there.
type result struct {
	Input    string             `json:"input"`    // as it was given
	OK       bool               `json:"ok"`       // whether it was accepted
	Code     lookleap.Code      `json:"code"`     // the reason, from the shared table
	Message  string             `json:"message"`  // one sentence
	Findings []lookleap.Finding `json:"findings"` // what was noticed, with place and fix
	Value    any                `json:"value"`    // what the input is; the command's help lists the members
	Verdict  *lookleap.Verdict  `json:"verdict"`  // the whole story, where there was a decision

	rows    []row       // Value for people
	changed bool        // refused because it is not as it was locked
	change  *dvs.Change // how, for the summary
	claims  []claim     // to speak for sites, for the page
	cause   error       // why the input was refused, if it was an error
	base    string      // directory of the files that findings are about; "": the input says where they are
	product []byte      // what a filter prints in the place of the result
}

// row is one line of a result for people.
type row struct{ label, text string }

// accepted is the message of a result that has nothing better to say.
const accepted = "accepted"

// accept is the result of an input that is fine: its value for programs, and
// the same as rows for people.
func accept(value any, rows ...row) result {
	return result{OK: true, Code: lookleap.CodeOK, Message: accepted, Value: value, rows: rows}
}

// refuse is the result of an input that failed with this error. What the error
// carries is shown: its reason code, its verdict, its finding.
func refuse(err error) result {
	r := result{Code: lookleap.CodeOf(err), cause: err}
	message, fix, _ := strings.Cut(err.Error(), " ("+string(r.Code)+")") // which is shown next to it
	r.Message = message
	if fix = strings.TrimPrefix(fix, "; "); fix != "" {
		r = r.with(lookleap.Finding{Severity: lookleap.SeverityError, Code: r.Code, Message: message, Fix: fix})
	}
	var no *lookleap.VerifyError
	if errors.As(err, &no) && no.Verdict != nil {
		r.Message, r.Verdict, r.Findings = no.Verdict.Summary, no.Verdict, no.Verdict.Findings
	}
	return r
}

// refuseAt is the result of an input with a fault at a known place.
func refuseAt(f lookleap.Finding) result {
	return result{Code: f.Code, Message: f.Message, Findings: []lookleap.Finding{f}}
}

// with adds findings that leave the result as it is.
func (r result) with(findings ...lookleap.Finding) result {
	r.Findings = append(r.Findings, findings...)
	return r
}

// developed is a finding of each result of the development mode, so that no one takes it for a result
// about the site of that name.
var developed = lookleap.Finding{Severity: lookleap.SeverityInfo, Code: lookleap.CodeDevelopment,
	Message: "made in development mode: nothing of the connection was checked"}

// coded adds a reason code to an error.
type coded struct {
	code lookleap.Code
	error
}

// ReasonCode returns the code, for [lookleap.CodeOf].
func (c coded) ReasonCode() lookleap.Code { return c.code }

// Unwrap returns the error.
func (c coded) Unwrap() error { return c.error }

// advise adds what a person at this machine can do about a refused input. The library does not know
// the flags, so its own fixes do not name them.
func (s *session) advise(r *result) {
	if r.OK {
		return
	}
	if fix := s.fixOf(r); fix != "" {
		if i := slices.IndexFunc(r.Findings, func(f lookleap.Finding) bool { return f.Message == r.Message }); i >= 0 {
			r.Findings[i].Fix = fix
		} else {
			r.Findings = slices.Insert(r.Findings, 0, lookleap.Finding{Code: r.Code, Message: r.Message, Fix: fix})
		}
	}
	// People typed localhost, an address or http. The name of the development mode means nothing to them.
	r.Message = s.options.Shown(r.Message)
	for i := range r.Findings {
		r.Findings[i].Message = s.options.Shown(r.Findings[i].Message)
	}
	for i := range r.rows {
		r.rows[i].text = s.options.Shown(r.rows[i].text)
	}
}

// devCodes are the refusals of URLs that the development mode accepts.
var devCodes = []lookleap.Code{lookleap.Code(domain.CodeNotHTTPS), lookleap.Code(domain.CodeIPHost), lookleap.Code(domain.CodeSpecialHost)}

// fixOf returns the fix of a fault in the URL or the network, "" for other faults.
func (s *session) fixOf(r *result) string {
	const ownServer = "if this is a server of your own, add --dev"
	if !s.options.Dev && slices.Contains(devCodes, r.Code) && hostflags.NeedsDev(r.Input) {
		if strings.HasPrefix(r.Input, "http://") {
			return "write https:// in place of http://; " + ownServer
		}
		return ownServer
	}
	if fix := s.adviceNetwork(r.cause); fix != "" {
		return fix
	}
	if unreachableDNS(r.cause) {
		return "check the network of this machine, or ask another DNS server with --dns ADDRESS:53"
	}
	if r.Code == lookleap.CodeIO {
		return adviceFile(r)
	}
	if _, err := strconv.ParseUint(r.Input, 10, 16); err == nil && r.Code == lookleap.Code(domain.CodeNotHTTPS) {
		if s.options.Dev {
			return "write localhost:" + r.Input
		}
		return "write localhost:" + r.Input + ", and add --dev"
	}
	return adviceConnection(r.cause)
}

// adviceNetwork returns the fix of a network that needs a flag: one with a proxy, or with addresses
// of a VPN in fake-IP mode.
func (s *session) adviceNetwork(err error) string {
	if err == nil {
		return ""
	}
	switch text := err.Error(); {
	case strings.Contains(text, netguard.FakeIP.String()):
		return "turn the fake-IP mode of the VPN or proxy off for this program, or add --allow " + netguard.FakeIP.String() + "=*"
	case strings.Contains(text, "HTTPS_PROXY is set") || strings.Contains(text, "https_proxy is set"):
		return "add --proxy env; if the proxy filters by name, add --proxy-by-name too"
	}
	return ""
}

// adviceFile returns the fix of a file that could not be read, "" if nothing is known.
func adviceFile(r *result) string {
	info, err := os.Stat(r.Input)
	switch {
	case errors.Is(r.cause, fs.ErrNotExist) && siteURL(r.Input) != r.Input && strings.Contains(r.Input, "."):
		return "check the path; if this is a site, write " + siteURL(r.Input)
	case errors.Is(r.cause, fs.ErrNotExist):
		return "check the path"
	case errors.Is(r.cause, fs.ErrPermission):
		return "make the file readable"
	case errors.Is(r.cause, filestore.ErrNotRegular), err == nil && info.IsDir():
		return "name a file"
	}
	return ""
}

// adviceConnection returns the fix of a connection that failed, "" if err is about something else.
func adviceConnection(err error) string {
	var failed *fetch.Error
	if !errors.As(err, &failed) || failed.Status != 0 {
		return ""
	}
	var noTLS tls.RecordHeaderError
	if errors.As(err, &noTLS) {
		return "serve https on this port; if this is a server of your own that speaks http, add --dev"
	}
	return connectionFixes[failed.Code]
}

var connectionFixes = map[lookleap.Code]string{
	lookleap.CodeConnRefused:    "start the server, and let it listen on this port",
	lookleap.CodeConnReset:      "find out why the server, or a firewall before it, ends connections",
	lookleap.CodeTimeout:        "find out why the server, or a firewall before it, does not answer",
	lookleap.CodeTLS:            "let the server send a certificate for this name, with the whole chain, that has not expired",
	lookleap.CodeTLSTooOld:      "switch on TLS 1.2 or 1.3",
	lookleap.CodeTruncated:      "let the server send complete responses",
	lookleap.CodeBlockedAddress: "publish public addresses in DNS; for a machine of your own use --dev or --allow-private",
	lookleap.CodeBlockedPort:    "serve the site on port 443; for a machine of your own use --dev or --allow-private",
}
