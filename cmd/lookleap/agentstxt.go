package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/agentstxt"
	"github.com/lookleap/lookleap/internal/plaintext"
)

func agentstxtCommand() command {
	return command{
		name:    "agentstxt",
		args:    "FILE|URL|-… [--path P]…",
		summary: "what a policy for automated clients says, and what it decides",
		about: `Judges agents.txt files, or the policies of the origins of https URLs, and
decides about paths. A policy that restricts its whole origin is refused; one
that is valid or absent is accepted, whatever it decides.

  lookleap agentstxt sign FILE… [--write]   sets the hash line of each file
  lookleap agentstxt sign - > agents.txt    makes a file of standard input

value: {
  "state":      valid, absent or restricted
  "reason":     why
  "directives": [{"path", "action", "params": [{"key", "value"}], "line"}]
  "meta":       what the "# key: value" comments say
  "decisions":  [{"path", "allowed", "reason", "line", "rule", "limit"}]
  "integrity":  the digest of the directives
  "error":      what is malformed
}
of sign: {"file": the signed file}`,
		examples: []string{
			"lookleap agentstxt agents.txt --path /admin --path /status",
			"lookleap --json agentstxt https://example.com/ --path /",
			"lookleap agentstxt sign agents.txt --write",
			"printf '/ ALLOW\\n' | lookleap agentstxt sign -",
		},
		build: func(flags *flag.FlagSet) action {
			var paths repeated
			options := policyFlags(flags)
			flags.Var(&paths, "path", "decide about this `PATH`; may be repeated")
			var write bool
			flags.BoolVar(&write, "write", false, "with sign: put the signed file in the place of the old one")
			return func(ctx context.Context, s *session, args []string) error {
				if len(args) > 0 && args[0] == "sign" {
					if slices.Equal(args[1:], []string{"-"}) && !s.options.json && !isTerminal(s.stdout) {
						s.printer = filterPrinter{s.stdout, newPrinter(s.stderr, false, s.options.noColor)}
					}
					return s.files(ctx, args[1:], func(_ context.Context, name string, content []byte) result {
						return signPolicy(name, content, write && name != "-")
					})
				}
				return judgePolicies(ctx, s, args, options(), paths)
			}
		},
	}
}

// judgePolicies judges each input as what it looks like: an https URL or a file.
func judgePolicies(ctx context.Context, s *session, args []string, o agentstxt.Options, paths []string) error {
	if len(args) == 0 {
		return usagef("give at least one file or URL, or - for standard input")
	}
	for _, arg := range args {
		var err error
		if scheme, _, ok := strings.Cut(arg, "://"); ok && (strings.EqualFold(scheme, "https") || strings.EqualFold(scheme, "http")) {
			err = s.judge(ctx, arg, func(ctx context.Context) result { return fetchPolicy(ctx, s, arg, o, paths) })
		} else {
			err = s.files(ctx, []string{arg}, func(_ context.Context, name string, content []byte) result {
				return parsePolicy(name, content, o, paths)
			})
		}
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
	}
	return nil
}

func fetchPolicy(ctx context.Context, s *session, url string, o agentstxt.Options, paths []string) result {
	host, err := s.Host()
	if err != nil {
		return refuse(err)
	}
	client := agentstxt.NewClient(host, o)
	policy, err := client.Policy(ctx, url)
	if err != nil {
		return refuse(err)
	}
	r := showPolicy(policy.Report(paths...), policy.Err())
	if len(o.Robots.Tokens) == 0 || !r.OK {
		return r
	}
	robots, err := client.Robots(ctx, url)
	if err != nil {
		return refuse(err)
	}
	return showRobots(r, robots, paths)
}

func parsePolicy(name string, content []byte, o agentstxt.Options, paths []string) result {
	policy := agentstxt.Judge(agentstxt.Response{Status: 200, ContentType: "text/plain", Body: content}, o)
	r := showPolicy(policy.Report(paths...), policy.Err())
	_, err := agentstxt.Sign(content)
	for i := range r.Findings {
		if r.Findings[i].Code == agentstxt.CodeHashMissing && name != "-" && err == nil {
			r.Findings[i].Fix = "lookleap agentstxt sign " + plaintext.Line(name) + " --write"
		}
	}
	return r
}

func showPolicy(report agentstxt.Report, err error) result {
	r := result{OK: report.State != agentstxt.Restricted, Code: report.Reason, Message: accepted, Value: report}
	if err != nil {
		r.Message = err.Error()
	}
	var bad *lookleap.Error
	var status *lookleap.ResponseError
	switch {
	case !errors.As(err, &bad):
	case errors.As(err, &status) && status.Err == nil: // the message names the status
		r.Message = bad.Message
	case errors.Is(err, agentstxt.ErrUnavailable):
		r.Message = bad.Message + ": " + bad.Err.Error()
	case errors.Is(err, agentstxt.ErrMalformed):
		r.Message = bad.Message
		fix := bad.Fix
		if hash := new(agentstxt.HashMismatch); errors.As(err, &hash) && hash.Hint != "" {
			fix += "; hint: " + hash.Hint
		}
		if bad.Code == agentstxt.CodeForeignFormat {
			fix = "add --web to ignore such files and obey robots.txt"
		}
		r.Findings = append(r.Findings, lookleap.Finding{Code: bad.Code, Message: bad.Message, Fix: fix, Position: bad.Position})
	}
	r.rows = []row{{"state", report.State.String()}, {"directives", fmt.Sprint(len(report.Directives))}}
	if report.Integrity != "" {
		r.rows = append(r.rows, row{"integrity", report.Integrity})
	}
	for _, d := range report.Decisions {
		r.rows = append(r.rows, row{plaintext.Quote(d.Path, 60), d.String()})
	}
	return r.with(report.Findings...)
}

// showRobots adds what robots.txt says to what the policy says.
func showRobots(r result, robots *agentstxt.RobotsFile, paths []string) result {
	r.rows = append(r.rows, row{"robots.txt", plaintext.Plural(robots.Len(), "rule", "rules")})
	if err := robots.Err(); err != nil {
		r.rows = append(r.rows, row{"robots.txt", plaintext.Line(err.Error())})
	}
	if delay := robots.CrawlDelay(); delay > 0 {
		r.rows = append(r.rows, row{"crawl delay", delay.String()})
	}
	if usage := robots.Usage("/"); !usage.IsZero() {
		r.rows = append(r.rows, row{"usage", usage.String()})
	}
	for _, path := range paths {
		r.rows = append(r.rows, row{"robots.txt", robots.Decide(path).String()})
	}
	return r.with(robots.Findings()...)
}

type signedValue struct {
	File string `json:"file"`
}

// signPolicy changes the file only where it can be signed, and then as a whole.
func signPolicy(name string, content []byte, write bool) result {
	signed, err := agentstxt.Sign(content)
	if err != nil {
		return showPolicyError(err)
	}
	if write {
		if err := replaceFile(name, signed); err != nil {
			return refuse(coded{lookleap.CodeIO, err})
		}
	}
	r := accept(signedValue{string(signed)})
	r.product = signed
	for line := range strings.Lines(string(signed)) {
		r.rows = append(r.rows, row{"", plaintext.Line(strings.TrimRight(line, "\r\n"))})
	}
	return r
}

func showPolicyError(err error) result {
	var bad *lookleap.Error
	if !errors.As(err, &bad) {
		return refuse(err)
	}
	return refuseAt(lookleap.Finding{Code: bad.Code, Message: bad.Message, Fix: bad.Fix, Position: bad.Position})
}

// replaceFile puts new content in the place of a file, all of it or none.
func replaceFile(name string, content []byte) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".lookleap-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails once it was renamed
	_, err = f.Write(content)
	if err = errors.Join(err, f.Chmod(info.Mode().Perm()), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}
