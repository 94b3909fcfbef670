package main

import (
	"bytes"
	"context"
	"flag"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/aiuri"
	"github.com/lookleap/lookleap/internal/plaintext"
)

func jwsCommand() command {
	return command{
		name:    "jws",
		args:    "FILE|URL|-… --jwks FILE [--payload FILE] [--endpoint URI] [--audience NAME] [--request DIGEST] [--scopes SCOPES] [--bound] [--rs256]",
		summary: "whether a result was signed by one of these keys",
		about: `Verifies compact JWS (RFC 7515), embedded or, with --payload, detached, as a result
of an AI endpoint. Nothing of a result that does not verify is shown. Claims that
the result makes are held to the flags of their names; iss to --endpoint. One that
no flag confirms refuses it. With --bound the result must also prove that it answers
--request of --endpoint, and recently.

value: {"keyId", "algorithm", "digest": of the signed bytes, "bytes": how many}`,
		examples: []string{
			"lookleap jws receipt.jws --jwks keys.json",
			"lookleap jws receipt.jws --jwks keys.json --payload receipt.json",
			"lookleap jws receipt.jws --jwks keys.json --endpoint ai://bank.example/payments",
		},
		build: func(flags *flag.FlagSet) action {
			var jwks, payload string
			var x aiuri.Expectation
			flags.StringVar(&jwks, "jwks", "", "the keys, a JWK Set in this `FILE`")
			flags.StringVar(&payload, "payload", "", "the bytes in this `FILE` that a detached signature covers")
			flags.TextVar(&x.Endpoint, "endpoint", aiuri.URI{}, "the ai: `URI` that the claim iss must name")
			flags.StringVar(&x.Audience, "audience", "", "the caller whose `NAME` the claim aud must hold")
			flags.StringVar(&x.Request, "request", "", "the `DIGEST` that the claim req must have, sha256:…")
			flags.Func("scopes", "the `SCOPES`, with spaces between, among which the claim scope must stay", func(text string) error {
				x.Scopes = strings.Fields(text)
				return nil
			})
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
				return s.files(ctx, args, func(_ context.Context, _ string, content []byte) result {
					token := string(bytes.TrimRight(content, "\r\n"))
					verified, err := aiuri.VerifyResult(aiuri.SignedResult{JWS: token, Body: body}, keys, s.options.Now(), x)
					r := showJWS(verified, err).with(keys.Findings()...)
					if body == nil && r.Code == aiuri.CodeRejectedSignature && strings.Contains(token, "..") {
						return r.with(lookleap.Finding{Severity: lookleap.SeverityWarning, Code: r.Code,
							Message: "the signature is detached from what it covers", Fix: "name that with --payload"})
					}
					return r
				})
			}
		},
	}
}

type jwsValue struct {
	KeyID     string `json:"keyId"`
	Algorithm string `json:"algorithm"`
	Digest    string `json:"digest"`
	Bytes     int    `json:"bytes"`
}

func showJWS(verified *aiuri.Verified, err error) result {
	if err != nil {
		return refuse(err)
	}
	value := jwsValue{KeyID: verified.KeyID, Algorithm: verified.Algorithm, Digest: lookleap.Digest(verified.Payload),
		Bytes: len(verified.Payload)}
	r := accept(value, row{"key", plaintext.Quote(value.KeyID, 100)}, row{"algorithm", value.Algorithm}, row{"digest", value.Digest})
	r.Verdict = verified.Verdict
	return r
}
