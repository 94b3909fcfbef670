package main

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
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
	"github.com/lookleap/lookleap/internal/htmlreport"
	"github.com/lookleap/lookleap/internal/netguard"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// result is what became of one input: one line with --json, where all members are always there.
type result struct {
	Input    string             `json:"input"`    // as it was given
	OK       bool               `json:"ok"`       // whether it was accepted
	Code     lookleap.Code      `json:"code"`     // the reason, from the shared table
	Message  string             `json:"message"`  // one sentence
	Findings []lookleap.Finding `json:"findings"` // what was noticed, with place and fix
	Value    any                `json:"value"`    // what the input is; the command's help lists the members
	Verdict  *lookleap.Verdict  `json:"verdict"`  // the whole story, where there was a decision

	rows    []row              // Value for people
	changed bool               // refused because it is not as it was locked
	change  *dvs.Change        // how, for the summary
	checks  []htmlreport.Check // for the page
	picture *htmlreport.Picture
	cause   error  // why the input was refused, if it was an error
	base    string // directory of the files that findings are about; "": the input says where they are
	product []byte // what a filter prints in the place of the result
}

// row is one line of a result for people. Printers make it harmless.
type row struct{ label, text string }

func (r *result) row(label, text string) { r.rows = append(r.rows, row{label, text}) }

func linesOf(text string) (rows []row) {
	for line := range strings.Lines(text) {
		rows = append(rows, row{"", strings.TrimRight(line, "\r\n")})
	}
	return rows
}

const accepted = "accepted"

// accept is the result of an input that is fine: its value for programs, and as rows for people.
func accept(value any, rows ...row) result {
	return result{OK: true, Code: lookleap.CodeOK, Message: accepted, Value: value, rows: rows}
}

// refuse is the result of an error: it shows its reason code, its verdict, its place and fix.
func refuse(err error) result {
	r := result{Code: lookleap.CodeOf(err), cause: err}
	var no *lookleap.VerifyError
	if errors.As(err, &no) && no.Verdict != nil {
		r.Message, r.Verdict, r.Findings = no.Verdict.Summary, no.Verdict, no.Verdict.Findings
		return r
	}
	f := lookleap.Finding{Code: r.Code}
	var bad *lookleap.Error
	var url *domain.Error
	switch {
	case errors.As(err, &bad) && bad.Code == r.Code:
		// The place is shown next to the message, and the subject is the input.
		f.Position, f.Fix = bad.Position, bad.Fix
		err = &lookleap.Error{Code: bad.Code, Message: bad.Message, Err: bad.Err}
	case errors.As(err, &url) && lookleap.Code(url.Code) == r.Code:
		f.Position, f.Fix = lookleap.Position{Line: 1, Column: url.Offset + 1, Offset: url.Offset}, url.Fix
		r.Message = url.Message
		if url.Part != "" {
			r.Message += ", in " + plaintext.Quote(url.Part, 80)
		}
	}
	if r.Message == "" {
		message, fix, _ := strings.Cut(err.Error(), " ("+string(r.Code)+")") // which is shown next to it
		r.Message, f.Fix = message, cmp.Or(f.Fix, strings.TrimPrefix(fix, "; "))
	}
	f.Message = r.Message
	if bad != nil || f.Fix != "" || f.Line > 0 {
		r = r.with(f)
	}
	return r
}

// fault returns an error with a reason code and, if the fix is not "", what to do.
func fault(code lookleap.Code, message, fix string) *lookleap.Error {
	return &lookleap.Error{Code: code, Message: message, Fix: fix}
}

// refuseCause is [refuse] for a verdict whose cause says more: a place and a fix.
func refuseCause(err error) result {
	r := refuse(err)
	if cause := (*lookleap.Error)(nil); r.Verdict != nil && errors.As(err, &cause) {
		shown := *cause
		if lookleap.CodeOf(shown.Err) == lookleap.CodeOK { // such as a document that is present
			shown.Err = nil
		} else {
			shown.Err = errors.New(refuse(shown.Err).Message)
		}
		verdict := r.Verdict
		r = refuse(&shown)
		r.Verdict = verdict
	}
	return r
}

type ioError struct{ error }

func (ioError) ReasonCode() lookleap.Code { return lookleap.CodeIO }
func (e ioError) Unwrap() error           { return e.error }

// with adds findings that leave the result as it is.
func (r result) with(findings ...lookleap.Finding) result {
	r.Findings = append(r.Findings, findings...)
	return r
}

func warning(code lookleap.Code, message, fix string) lookleap.Finding {
	return lookleap.Finding{Severity: lookleap.SeverityWarning, Code: code, Message: message, Fix: fix}
}

// developed is a finding of each result of the development mode, which is not about the named site.
var developed = lookleap.Finding{Severity: lookleap.SeverityInfo, Code: lookleap.CodeDevelopment,
	Message: "made in development mode: nothing of the connection was checked"}

// advise adds what a person at this machine can do. The library's own fixes do not name flags.
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

var devCodes = []lookleap.Code{lookleap.Code(domain.CodeNotHTTPS), lookleap.Code(domain.CodeIPHost),
	lookleap.Code(domain.CodeSpecialHost)}

// fixOf returns the fix of a fault in the URL or the network, "" for other faults.
func (s *session) fixOf(r *result) string {
	const ownServer = "if this is a server of your own, add --dev"
	text := fmt.Sprint(r.cause)
	port, err := strconv.ParseUint(r.Input, 10, 16)
	switch {
	case !s.options.Dev && slices.Contains(devCodes, r.Code) && hostflags.NeedsDev(r.Input):
		if strings.HasPrefix(r.Input, "http://") {
			return "write https:// in place of http://; " + ownServer
		}
		return ownServer
	case strings.Contains(text, netguard.FakeIP.String()):
		return "turn the fake-IP mode of the VPN or proxy off for this program, or add --allow " + netguard.FakeIP.String() +
			"=*"
	case strings.Contains(text, "HTTPS_PROXY is set") || strings.Contains(text, "https_proxy is set"):
		return "add --proxy env; if the proxy filters by name, add --proxy-by-name too"
	case unreachableDNS(r.cause):
		return "check the network of this machine, or ask another DNS server with --dns ADDRESS:53"
	case r.Code == lookleap.CodeIO:
		return adviceFile(r)
	case err == nil && r.Code == lookleap.Code(domain.CodeNotHTTPS) && s.options.Dev:
		return fmt.Sprint("write localhost:", port)
	case err == nil && r.Code == lookleap.Code(domain.CodeNotHTTPS):
		return fmt.Sprintf("write localhost:%d, and add --dev", port)
	}
	return adviceConnection(r.cause)
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
	lookleap.CodeConnRefused: "start the server, and let it listen on this port",
	lookleap.CodeConnReset:   "find out why the server, or a firewall before it, ends connections",
	lookleap.CodeTimeout:     "find out why the server, or a firewall before it, does not answer",
	lookleap.CodeTLS: "let the server send a certificate for this name, with the whole chain, " +
		"that has not expired",
	lookleap.CodeTLSTooOld:      "switch on TLS 1.2 or 1.3",
	lookleap.CodeTruncated:      "let the server send complete responses",
	lookleap.CodeBlockedAddress: "publish public addresses in DNS; for a machine of your own use --dev or --allow-private",
	lookleap.CodeBlockedPort:    "serve the site on port 443; for a machine of your own use --dev or --allow-private",
}
