package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/aiuri"
	"github.com/lookleap/lookleap/anml/agent"
	"github.com/lookleap/lookleap/contrib/receipt"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/internal/strictjson"
)

func aiuriCommand(flags *flag.FlagSet) action {
	var base string
	flags.StringVar(&base, "gateway", "", "map to the gateway at this https `BASE`")
	return func(ctx context.Context, s *session, args []string) error {
		var mapping *aiuri.Mapping
		if base != "" {
			m, err := aiuri.NewMapping(base)
			if err != nil {
				return usagef("--gateway: %v", err)
			}
			mapping = &m
		}
		return s.words(ctx, args, func(_ context.Context, text string) result { return judgeAIURI(text, mapping) })
	}
}

type aiuriValue struct {
	Normal    string `json:"normal"`
	Authority string `json:"authority"`
	Host      string `json:"host"`
	Port      string `json:"port"`
	Path      string `json:"path"`
	Query     string `json:"query"`
	Fragment  string `json:"fragment"`
	Redacted  string `json:"redacted"`
	Gateway   string `json:"gateway"`
}

func judgeAIURI(text string, mapping *aiuri.Mapping) result {
	u, err := aiuri.Parse(text)
	if err != nil {
		r := refuse(err)
		for i := range r.Findings { // a URI is one line
			r.Findings[i].Line, r.Findings[i].Column = 1, r.Findings[i].Offset+1
		}
		return r
	}
	n := u.Normalize()
	value := aiuriValue{Normal: n.String(), Authority: n.Authority(), Host: n.Host(), Port: n.Port(), Path: n.Path(),
		Redacted: n.Redacted()}
	value.Query, _ = n.Query()
	value.Fragment, _ = n.Fragment()
	r := accept(nil, row{"normal form", value.Normal}, row{"authority", cmp.Or(value.Authority, "none")},
		row{"path", cmp.Or(value.Path, "none")})
	if mapping != nil {
		if value.Gateway, err = mapping.URL(u); err != nil {
			return refuse(err)
		}
		r.row("at gateway", value.Gateway)
	}
	r.Value = value
	return r
}

func aiipCommand(flags *flag.FlagSet) action {
	var o aiuri.DiscovererOptions
	flags.BoolVar(&o.DNS, "bootstrap", false, "look into the DNS too")
	return func(ctx context.Context, s *session, args []string) error {
		discoverer := aiuri.NewDiscoverer(s.host, o)
		return s.words(ctx, args, func(ctx context.Context, page string) result {
			return discoverAIIP(ctx, discoverer, page)
		})
	}
}

type aiipValue struct {
	Endpoint   string              `json:"endpoint"`
	Source     string              `json:"source"`
	Candidates []map[string]string `json:"candidates"`
	Confirmed  bool                `json:"confirmed"`
	Document   string              `json:"document"`
	JWKS       string              `json:"jwks"`
	Scopes     []string            `json:"scopes"`
}

func discoverAIIP(ctx context.Context, discoverer *aiuri.Discoverer, page string) result {
	if _, err := domain.Parse(page); err != nil {
		return refuse(err)
	}
	found, err := discoverer.Discover(ctx, page)
	if err != nil {
		return refuseCause(err)
	}
	value := aiipValue{
		Endpoint: found.Endpoint.String(), Source: fmt.Sprint(found.Source), Candidates: []map[string]string{},
		Confirmed: found.Confirmed, Document: found.DocumentOrigin, Scopes: []string{},
	}
	for _, c := range found.Candidates {
		value.Candidates = append(value.Candidates,
			map[string]string{"source": fmt.Sprint(c.Source), "endpoint": c.Endpoint.String()})
	}
	if found.Document != nil {
		value.JWKS = found.Document.JWKS
		value.Scopes = append(value.Scopes, found.Document.Scopes...)
	}
	r := accept(value, row{"endpoint", value.Endpoint}, row{"source", value.Source},
		row{"confirmed", fmt.Sprint(value.Confirmed)}, row{"keys", cmp.Or(value.JWKS, "none")})
	r.Verdict = found.Verdict
	return r.with(aiuri.Lint(found)...)
}

func jwsCommand(flags *flag.FlagSet) action {
	var jwks, payload string
	var x aiuri.Expectation
	flags.StringVar(&jwks, "jwks", "", "the keys, a JWK Set in this `FILE`")
	flags.StringVar(&payload, "payload", "", "the bytes in this `FILE` that a detached signature covers")
	flags.TextVar(&x.Endpoint, "endpoint", aiuri.URI{}, "the ai: `URI` that the claim iss must name")
	flags.StringVar(&x.Audience, "audience", "", "the caller whose `NAME` the claim aud must hold")
	flags.StringVar(&x.Request, "request", "", "the `DIGEST` that the claim req must have, sha256:…")
	setScopes := func(text string) error {
		x.Scopes = strings.Fields(text)
		return nil
	}
	flags.Func("scopes", "the `SCOPES`, with spaces between, among which the claim scope must stay", setScopes)
	flags.BoolVar(&x.RequireBinding, "bound", false, "refuse a result that does not prove what it answers")
	flags.BoolVar(&x.AllowRS256, "rs256", false, "accept RS256 too")
	return func(ctx context.Context, s *session, args []string) error {
		_, keys, err := readKeys(jwks)
		if err != nil {
			return err
		}
		var body []byte
		if payload != "" {
			if body, err = readFile(payload); err != nil {
				return usagef("--payload: %v", err)
			}
		}
		return s.files(ctx, args, func(content []byte) result {
			token := string(bytes.TrimRight(content, "\r\n"))
			verified, err := aiuri.VerifyResult(aiuri.SignedResult{JWS: token, Body: body}, keys, s.options.Now(), x)
			if err == nil {
				value := jwsValue{verified.KeyID, verified.Algorithm, lookleap.Digest(verified.Payload), len(verified.Payload)}
				r := accept(value, row{"key", plaintext.Quote(value.KeyID, 100)}, row{"algorithm", value.Algorithm},
					row{"digest", value.Digest})
				r.Verdict = verified.Verdict
				return r.with(keys.Findings()...)
			}
			r := refuse(err).with(keys.Findings()...)
			if body == nil && r.Code == aiuri.CodeRejectedSignature && strings.Contains(token, "..") {
				r = r.with(lookleap.Finding{Severity: lookleap.SeverityWarning, Code: r.Code,
					Message: "the signature is detached from what it covers", Fix: "name that with --payload"})
			}
			return r
		})
	}
}

type jwsValue struct {
	KeyID     string `json:"keyId"`
	Algorithm string `json:"algorithm"`
	Digest    string `json:"digest"`
	Bytes     int    `json:"bytes"`
}

func receiptCommand(flags *flag.FlagSet) action {
	var jwks string
	from, to := heads(flags)
	flags.StringVar(&jwks, "jwks", "", "the keys, a JWK Set in this `FILE`")
	return func(ctx context.Context, s *session, args []string) error {
		files, err := verifyArgs(args)
		if err != nil {
			return err
		}
		_, keys, err := readKeys(jwks)
		if err != nil {
			return err
		}
		return s.files(ctx, files, func(content []byte) result {
			return showReceipts(content, keys, *from, *to)
		})
	}
}

func ledgerCommand(flags *flag.FlagSet) action {
	from, to := heads(flags)
	return func(ctx context.Context, s *session, args []string) error {
		files, err := verifyArgs(args)
		if err != nil {
			return err
		}
		return s.files(ctx, files, func(content []byte) result {
			last, err := agent.VerifyLedger(entries(content), agent.Head(*from), agent.Head(*to))
			if err != nil { // of an entry, which the message names
				return refuse(&lookleap.Error{Code: lookleap.CodeOf(err), Err: err})
			}
			return accept(map[string]any{"head": last}, headRow(receipt.Head(last)))
		})
	}
}

func verifyArgs(args []string) ([]string, error) {
	if len(args) == 0 || args[0] != "verify" {
		return nil, usagef("write verify and the files")
	}
	return args[1:], nil
}

func readKeys(file string) (set []byte, keys *aiuri.KeySet, err error) {
	if file == "" {
		return nil, nil, usagef("--jwks is missing")
	}
	if set, err = readFile(file); err == nil {
		keys, err = aiuri.ParseKeySet(set)
	}
	if err != nil {
		return nil, nil, usagef("--jwks: %v", err)
	}
	return set, keys, nil
}

// heads declares the flags about the ends of a chain: NUMBER:DIGEST.
func heads(flags *flag.FlagSet) (from, to *receipt.Head) {
	from, to = new(receipt.Head), new(receipt.Head)
	flags.Func("after", "the file begins after this `HEAD`", headReader(from))
	flags.Func("head", "this `HEAD` is that of an entry of the file", headReader(to))
	return from, to
}

func headReader(h *receipt.Head) func(string) error {
	return func(text string) (err error) {
		number, digest, ok := strings.Cut(text, ":")
		if h.Number, err = strconv.ParseInt(number, 10, 64); err != nil || !ok || h.Number < 1 || digest == "" {
			return errors.New("write NUMBER:DIGEST")
		}
		h.Digest = digest
		return nil
	}
}

func headRow(h receipt.Head) row {
	if h == (receipt.Head{}) {
		return row{"head", ""}
	}
	return row{"head", fmt.Sprintf("%d:%s", h.Number, h.Digest)}
}

func showReceipts(content []byte, keys *aiuri.KeySet, from, to receipt.Head) result {
	r := accept(nil)
	all := []*receipt.Receipt{}
	last, reached := from, to == receipt.Head{} || to == from
	for one, err := range receipt.VerifyAll(lines(content), keys, from) {
		if err != nil {
			r := refuse(err)
			r.Message = fmt.Sprintf("after receipt %d: %s", last.Number, r.Message)
			return r.with(keys.Findings()...)
		}
		all, last = append(all, one), one.Head()
		reached = reached || last == to
		r.row(fmt.Sprint(one.Number), fmt.Sprintf("%s %s %s", one.Time.Format("2006-01-02 15:04:05"), one.Kind, one.Outcome))
	}
	if !reached {
		return refuse(fault(agent.CodeLedgerBroken, "no receipt has the head", "compare the file with a copy of the log"))
	}
	r.Value = map[string]any{"receipts": all, "head": last}
	r.rows = append(r.rows, headRow(receipt.Head(last)))
	return r.with(keys.Findings()...)
}

func lines(content []byte) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for line := range bytes.Lines(content) {
			if line = bytes.TrimRight(line, "\r\n"); len(line) > 0 && !yield(string(line), nil) {
				return
			}
		}
	}
}

func entries(content []byte) iter.Seq2[agent.Entry, error] {
	return func(yield func(agent.Entry, error) bool) {
		for line := range lines(content) {
			var e agent.Entry
			err := strictjson.Decode([]byte(line), &e)
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}
