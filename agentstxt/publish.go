package agentstxt

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/internal/serve"
)

// Format returns a policy file (sections 3, 6 and 7): the metadata as comments in the
// order of their keys, the hash line, and the directives in their order. All lines end
// with LF. The file parses to the same directives and metadata; if that is impossible,
// Format returns an error. It ignores the Line of directives.
func Format(directives []Directive, meta map[string]string) ([]byte, error) {
	var file bytes.Buffer
	for _, key := range slices.Sorted(maps.Keys(meta)) {
		line := fmt.Sprintf("# %s: %s", key, meta[key])
		if k, v, ok := metaComment([]byte(line)); !ok || k != key || v != meta[key] || bytes.ContainsAny([]byte(line), "\r\n\x00") {
			return nil, malformed(codeBadDirective, lookleap.Position{}, fmt.Sprintf("%s: %s cannot be written as metadata",
				plaintext.Quote(key, maxQuoted), plaintext.Quote(meta[key], maxQuoted)),
				"use a lower-case key of letters, digits and - _ . and a value of one short line")
		}
		file.WriteString(line + "\n")
	}
	for i, d := range directives {
		line := d.String()
		if bad := cannotWrite(d, line); bad != nil {
			return nil, malformed(codeBadDirective, lookleap.Position{},
				fmt.Sprintf("directive %d, %s: %s", i+1, plaintext.Quote(line, maxQuoted), bad.message), bad.fix)
		}
		file.WriteString(line + "\n")
	}
	return Sign(file.Bytes())
}

// cannotWrite returns why the line of a directive would not be read as that directive.
func cannotWrite(d Directive, line string) *syntaxError {
	if !strings.HasPrefix(d.Path, "/") {
		return syntax(0, `the path does not begin with "/"`, "write the whole path")
	}
	read, bad := parseDirective(line, Limits{}.withDefaults().Params, nil)
	switch {
	case bad != nil:
		return bad
	case read.Path != d.Path, read.Action != d.Action, !slices.Equal(read.Params, d.Params):
		return syntax(0, "the directive would be read as another one", "percent-encode blanks")
	case !utf8.ValidString(line):
		return syntax(0, "the directive is not UTF-8", "percent-encode the path")
	}
	return nil
}

// Sign returns a file with the right hash line: it replaces the hash line, or adds one
// before the first directive, and changes nothing else. For a file that is malformed for
// another reason it returns a [*lookleap.Error] of class [ErrMalformed] with the position
// in the input.
//
// The hash is not a signature: it shows that the file is complete, and not who wrote it.
func Sign(file []byte) ([]byte, error) {
	sum := digester{hash: sha256.New(), data: file}
	at, end := -1, -1 // where the hash line goes, and what it replaces
	l := newLines(file)
	last := l.rest
	for l.next() {
		kind := kindOf(l.text)
		last = l.rest
		switch {
		case kind == blankLine, kind == commentLine:
		case at < 0 && kind == starLine:
			at, end = l.at, l.rest
		case at < 0:
			at, end = l.at, l.at
			sum.add(l.at, l.end)
		default:
			sum.add(l.at, l.end)
		}
	}
	lineEnd := "\n"
	if n := bytes.IndexByte(file, '\n'); n > 0 && file[n-1] == '\r' {
		lineEnd = "\r\n"
	}
	before := ""
	if at < 0 {
		at, end = last, last
		if last > 0 && file[last-1] != '\n' && !bytes.Equal(file, byteOrderMark) {
			before = lineEnd
		}
	}
	digest := sum.sum()
	out := slices.Concat(file[:at], []byte(before+"*"+hex.EncodeToString(digest[:])+lineEnd), file[end:])
	if _, err := Parse(out, Options{}); err != nil {
		var bad *lookleap.Error
		if at == end && errors.As(err, &bad) && bad.Position.Offset > at {
			bad.Position.Line--
			bad.Position.Offset -= len(out) - len(file)
		}
		return nil, err
	}
	return out, nil
}

// Lint returns all errors of a file that a publisher is about to serve, and what the
// publisher should check. The content type is the one that the server will declare; ""
// means that it is unknown. A file is ready to be served if no finding has
// [lookleap.SeverityError].
func Lint(file []byte, contentType string, options Options) []lookleap.Finding {
	limits := options.Limits.withDefaults()
	var findings []lookleap.Finding
	s := scan{limits: limits, fail: func(bad *lookleap.Error) bool {
		findings = append(findings, finding(bad))
		return len(findings) < limits.Findings
	}}
	s.run(file)
	if contentType != "" {
		strict := options
		strict.Strict = true
		var bad *lookleap.Error
		served := Judge(Response{Status: 200, ContentType: contentType, Body: signedEmpty}, strict)
		if errors.As(served.Err(), &bad) {
			findings = append(findings, finding(bad))
		}
	}
	if p, err := Parse(file, options); err == nil {
		findings = append(findings, p.Findings()...)
	}
	return findings
}

// finding returns an error about a file as a finding.
func finding(e *lookleap.Error) lookleap.Finding {
	return lookleap.Finding{
		Severity: lookleap.SeverityError, Code: e.Code, Requirement: "AGT-8-01",
		Message: e.Message, Fix: e.Fix, Position: e.Position,
	}
}

// signedEmpty is a valid file, so that only the media type is checked.
var signedEmpty = []byte("*e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")

// NewHandler returns a handler that serves a policy. Mount it at /agents.txt; it
// answers 404 at any other path. It returns the error of [Parse] for a file that
// clients would treat as malformed (section 8).
//
// It answers GET and HEAD with the whole file as UTF-8 text/plain, which clients may
// cache for an hour.
func NewHandler(file []byte) (http.Handler, error) {
	if _, err := Parse(file, Options{}); err != nil {
		return nil, err
	}
	return serve.Documents{policyPath: serve.New(file, "text/plain; charset=utf-8")}, nil
}
