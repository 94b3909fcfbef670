package main

import (
	"context"
	"flag"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/internal/textdiff"
)

func codeCommand() command {
	return command{
		name:    "code",
		words:   codeWords(),
		args:    "[CODE…]",
		summary: "what reason codes mean",
		about: `Explains reason codes. Without arguments it lists the whole table, which is the
same for all commands and for the library.

value: {"code": the code, "title": what it says, one sentence}`,
		examples: []string{
			"lookleap code",
			"lookleap code blocked-address truncated",
			"lookleap --json code ok",
		},
		build: func(*flag.FlagSet) action {
			return func(ctx context.Context, s *session, args []string) error {
				if len(args) == 0 {
					args = knownCodes()
				}
				return s.each(ctx, args, explainCode)
			}
		},
	}
}

func knownCodes() (codes []string) {
	for code := range lookleap.Codes() {
		codes = append(codes, string(code))
	}
	return codes
}

type codeValue struct {
	Code  lookleap.Code `json:"code"`
	Title string        `json:"title"`
}

func explainCode(_ context.Context, word string) result {
	code := lookleap.Code(word)
	if !code.Known() {
		fix := "lookleap code lists all codes"
		if near := textdiff.Nearest(word, knownCodes()); near != "" {
			fix = "did you mean " + near + "?"
		}
		return refuseAt(lookleap.Finding{Code: lookleap.CodeUsage,
			Message: "no check ends with the code " + plaintext.Quote(word, 80), Fix: fix})
	}
	r := accept(codeValue{code, code.Title()})
	r.Message = code.Title()
	return r
}

// codeWords returns all reason codes as words.
func codeWords() (words []string) {
	for c := range lookleap.Codes() {
		words = append(words, string(c))
	}
	return words
}
