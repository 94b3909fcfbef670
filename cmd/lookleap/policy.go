package main

import (
	"context"
	"errors"
	"flag"
	"fmt"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/agentstxt"
	"github.com/lookleap/lookleap/contrib/policy"
	"github.com/lookleap/lookleap/internal/plaintext"
)

func policyCommand() command {
	return command{
		name:    "policy",
		args:    "FILE [URL…]",
		summary: "what an organisation's policy says, and whether it allows a skill",
		about: `Reads a policy file with the files that it extends, and explains it in sentences.
Each URL is tested against it, by the URL alone: the skill is not loaded. A file
with a fault is refused, with the place and how to fix it.

value: {
  "name", "files":  of the policy; of each file its name and sentences
  "url":            as given; of a URL
}`,
		examples: []string{
			"lookleap policy agents.json",
			"lookleap policy agents.json https://example.com/skills/refund/",
		},
		build: func(*flag.FlagSet) action {
			return func(ctx context.Context, s *session, args []string) error {
				if len(args) == 0 {
					return usagef("name a policy file")
				}
				if err := withoutStdin(args); err != nil {
					return err
				}
				var rules *policy.Policy
				err := s.judge(ctx, args[0], func(context.Context) result {
					var err error
					if rules, err = policy.Load(args[0]); err != nil {
						return refusePolicy(err)
					}
					return explainPolicy(rules)
				})
				for _, url := range args[1:] {
					err = errors.Join(err, s.judge(ctx, url, func(context.Context) result {
						if err := rules.Check(url); err != nil {
							return refuseSkill(err)
						}
						return accept(map[string]string{"url": url}, row{"policy", "allows it"})
					}))
				}
				return err
			}
		},
	}
}

// refusePolicy is the result of a policy that cannot be read, with the place of the fault.
func refusePolicy(err error) result {
	var e *lookleap.Error
	if !errors.As(err, &e) {
		return refuse(err)
	}
	r := refuseAt(lookleap.Finding{Severity: lookleap.SeverityError, Code: e.Code, Message: e.Message, Fix: e.Fix, Position: e.Position})
	if e.Err != nil {
		r.Message = fmt.Sprintf("%s: %v", e.Message, e.Err)
		r.Findings[0].Message = r.Message
	}
	return r
}

func explainPolicy(p *policy.Policy) result {
	type value struct {
		Name  string               `json:"name"`
		Files []policy.Explanation `json:"files"`
	}
	r := accept(value{p.Name(), p.Explain()}, row{"policy", plaintext.Quote(p.Name(), 200)})
	for _, file := range p.Explain() {
		for _, sentence := range file.Sentences {
			r.rows = append(r.rows, row{plaintext.Quote(file.Name, 14), sentence})
		}
	}
	return r
}

// webToken is the product token under which --web reads robots.txt.
const webToken = "lookleap"

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
			token = webToken
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
