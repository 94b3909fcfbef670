package main

import (
	"context"
	"errors"
	"flag"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/plaintext"
)

func codeCommand() command {
	return command{
		name:    "code",
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
					for code := range lookleap.Codes() {
						args = append(args, string(code))
					}
				}
				return s.each(ctx, args, explainCode)
			}
		},
	}
}

type codeValue struct {
	Code  lookleap.Code `json:"code"`
	Title string        `json:"title"`
}

func explainCode(_ context.Context, word string) result {
	code := lookleap.Code(word)
	if !code.Known() {
		return refuse(coded{lookleap.CodeUsage, errors.New("no check ends with the code " + plaintext.Quote(word, 80))})
	}
	r := accept(codeValue{code, code.Title()})
	r.Message = code.Title()
	return r
}
