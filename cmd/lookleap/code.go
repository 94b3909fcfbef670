package main

import (
	"context"
	"flag"
	"maps"
	"runtime/debug"
	"slices"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/agentstxt"
	"github.com/lookleap/lookleap/aiuri"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/internal/textdiff"
	"github.com/lookleap/lookleap/wellknown"
)

func codeCommand() command {
	return command{
		name:    "code",
		words:   knownCodes(),
		args:    "[CODE…]",
		summary: "what reason codes mean",
		about: `Explains reason codes. Without arguments it lists the whole table, which is the
same for all commands and for the library.

value: {"code": the code, "title": what it says, one sentence}`,
		examples: `lookleap code
lookleap code blocked-address truncated
lookleap --json code ok`,
		build: func(*flag.FlagSet) action {
			return func(ctx context.Context, s *session, args []string) error {
				if len(args) == 0 {
					args = knownCodes()
				}
				return s.words(ctx, args, explainCode)
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

func explainCode(_ context.Context, word string) result {
	code := lookleap.Code(word)
	if !code.Known() {
		fix := "lookleap code lists all codes"
		if near := textdiff.Nearest(word, knownCodes()); near != "" {
			fix = "did you mean " + near + "?"
		}
		return refuse(&lookleap.Error{Code: lookleap.CodeUsage,
			Message: "no check ends with the code " + plaintext.Quote(word, 80), Fix: fix})
	}
	r := accept(map[string]string{"code": word, "title": code.Title()})
	r.Message = code.Title()
	return r
}

func versionCommand() command {
	return command{
		name:    "version",
		summary: "which build this is, and which revision of each document it implements",
		about: `Prints the version of the module, the commit that it was built from if that is known,
the version of Go, and the revision of each document.

value: {"version", "commit", "go", "publicSuffixList", "documents": {PACKAGE: REVISION}}`,
		examples: `lookleap version
lookleap version --json`,
		build: func(*flag.FlagSet) action {
			return func(ctx context.Context, s *session, args []string) error {
				if len(args) > 0 {
					return usagef("version takes no arguments")
				}
				return s.judge(ctx, "lookleap", version)
			}
		},
	}
}

type versionValue struct {
	Version          string            `json:"version"`
	Commit           string            `json:"commit"`
	Go               string            `json:"go"`
	PublicSuffixList string            `json:"publicSuffixList"`
	Documents        map[string]string `json:"documents"`
}

// buildVersion returns the version of the module that this program was built from.
func buildVersion() string {
	if build, ok := debug.ReadBuildInfo(); ok && build.Main.Version != "" {
		return build.Main.Version
	}
	return "(devel)"
}

func version(context.Context, string) result {
	value := versionValue{Version: buildVersion(), PublicSuffixList: lookleap.PublicSuffixVersion(), Documents: map[string]string{
		"agentstxt": agentstxt.Draft, "aiuri": aiuri.Draft, "anml": anml.Draft, "anmltrust": anmltrust.Draft, "dvs": dvs.Draft, "wellknown": wellknown.Spec,
	}}
	if build, ok := debug.ReadBuildInfo(); ok {
		value.Go = build.GoVersion
		for _, setting := range build.Settings {
			if setting.Key == "vcs.revision" {
				value.Commit = setting.Value
			}
		}
	}
	r := accept(value, row{"version", value.Version}, row{"commit", value.Commit}, row{"go", value.Go}, row{"public suffix list", value.PublicSuffixList})
	for _, name := range slices.Sorted(maps.Keys(value.Documents)) {
		r.row(name, value.Documents[name])
	}
	return r
}
