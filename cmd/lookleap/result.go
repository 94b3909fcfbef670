package main

import (
	"errors"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
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
