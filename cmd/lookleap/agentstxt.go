package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/agentstxt"
	"github.com/lookleap/lookleap/internal/filestore"
	"github.com/lookleap/lookleap/internal/plaintext"
)

func agentstxtCommand(flags *flag.FlagSet) action {
	var paths repeated
	options := policyFlags(flags)
	flags.Var(&paths, "path", "decide about this `PATH`; may be repeated")
	var write bool
	flags.BoolVar(&write, "write", false, "with sign: put the signed file in the place of the old one")
	return func(ctx context.Context, s *session, args []string) error {
		if len(args) == 0 {
			return usagef("give at least one file or URL, or - for standard input")
		}
		if args[0] == "sign" {
			return signPolicies(ctx, s, args[1:], write)
		}
		return s.each(ctx, args, func(ctx context.Context, arg string) result {
			return judgePolicy(ctx, s, arg, options(), paths)
		})
	}
}

// policyFlags adds the flags by which a command reads the policies of sites. The result
// returns their options once the flags are parsed.
func policyFlags(flags *flag.FlagSet) func() agentstxt.Options {
	var o agentstxt.Options
	var web, ignore bool
	var token string
	flags.BoolVar(&web, "web", false, "the preset for the web as it is: ignore files of other formats and obey robots.txt")
	flags.StringVar(&token, "robots", "", "obey robots.txt too, as the program with this `TOKEN`")
	flags.BoolVar(&ignore, "foreign-ignore", false, "treat files of other formats with this name as no policy")
	flags.BoolVar(&o.Strict, "strict", false, "restrict also where an answer is probably no policy")
	return func() agentstxt.Options {
		if token == "" && web {
			token = agentToken
		}
		if token != "" {
			o.Robots.Tokens = []string{token}
		}
		if web || ignore {
			o.Foreign = agentstxt.ForeignIgnore
		}
		return o
	}
}

// agentToken is the product token under which robots.txt is read, as an agent does.
const agentToken = "lookleap"

// judgePolicy judges an input as what it looks like: a URL or a file.
func judgePolicy(ctx context.Context, s *session, arg string, o agentstxt.Options, paths []string) result {
	if scheme, _, ok := strings.Cut(strings.ToLower(arg), "://"); ok && (scheme == "https" || scheme == "http") {
		client := agentstxt.NewClient(s.host, o)
		policy, err := client.Policy(ctx, arg)
		if err != nil {
			return refuse(err)
		}
		r := showPolicy(policy.Report(paths...), policy.Err())
		if len(o.Robots.Tokens) == 0 || !r.OK {
			return r
		}
		robots, err := client.Robots(ctx, arg)
		if err != nil {
			return refuse(err)
		}
		return showRobots(r, robots, paths)
	}
	return s.content(func(content []byte) result {
		policy := agentstxt.Judge(agentstxt.Response{Status: 200, ContentType: "text/plain", Body: content}, o)
		r := showPolicy(policy.Report(paths...), policy.Err())
		_, err := agentstxt.Sign(content)
		for i := range r.Findings {
			if r.Findings[i].Code == agentstxt.CodeHashMissing && arg != "-" && err == nil {
				r.Findings[i].Fix = "lookleap agentstxt sign " + plaintext.Line(arg) + " --write"
			}
		}
		return r
	})(ctx, arg)
}

func showPolicy(report agentstxt.Report, err error) result {
	r := accept(report)
	var bad *lookleap.Error
	if errors.As(err, &bad) {
		shown := *bad
		shown.Subject = "" // it is the input
		var status *lookleap.ResponseError
		if errors.Is(err, agentstxt.ErrMalformed) || errors.As(err, &status) && status.Err == nil {
			shown.Err = nil // the message says it
		}
		if hash := new(agentstxt.HashMismatch); errors.As(err, &hash) && hash.Hint != "" {
			shown.Fix += "; hint: " + hash.Hint
		}
		if bad.Code == agentstxt.CodeForeignFormat {
			shown.Fix = "add --web to ignore such files and obey robots.txt"
		}
		r = refuse(&shown)
	} else if err != nil {
		r = refuse(err)
	}
	r.OK, r.Code, r.Value = report.State != agentstxt.Restricted, report.Reason, report
	r.rows = []row{{"state", report.State.String()}, {"directives", fmt.Sprint(len(report.Directives))}}
	if report.Integrity != "" {
		r.rows = append(r.rows, row{"integrity", report.Integrity})
	}
	for _, d := range report.Decisions {
		r.rows = append(r.rows, row{plaintext.Quote(d.Path, 60), d.String()})
	}
	return r.with(report.Findings...)
}

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

// signPolicies changes a file only where it can be signed, and then as a whole. In a pipeline the
// signed file alone is printed.
func signPolicies(ctx context.Context, s *session, files []string, write bool) error {
	if slices.Equal(files, []string{"-"}) && !s.options.json && !isTerminal(s.stdout) {
		s.printer = filterPrinter{s.stdout, newPrinter(s.stderr, false, s.options.noColor)}
	}
	if len(files) == 0 {
		return usagef("give at least one file, or - for standard input")
	}
	return s.each(ctx, files, func(ctx context.Context, name string) result {
		return s.content(func(content []byte) result {
			signed, err := agentstxt.Sign(content)
			if err != nil {
				return refuse(err)
			}
			if write && name != "-" {
				info, err := os.Stat(name)
				if err == nil {
					err = filestore.WriteWhole(name, signed, info.Mode().Perm(), true)
				}
				if err != nil {
					return refuse(ioError{err})
				}
			}
			r := accept(map[string]string{"file": string(signed)}, linesOf(string(signed))...)
			r.product = signed
			return r
		})(ctx, name)
	})
}
