// Agent is a complete assistant: a model that calls tools, skills of verified publishers, the ANML
// actions of a site, a user who consents, a policy file and a ledger of what was disclosed. Without
// flags it needs no network: a scripted model books a ferry on an internet inside the process.
//
//	go run ./examples/agent
//	go run ./examples/agent --browser --policy policy.json --ledger disclosures
//	MODEL_API_KEY=… go run ./examples/agent --model-url https://models.example.com/v1 --model NAME \
//	  --site https://ferries.example.com --root https://ferries.example.com/ --skill URL --profile me.json "book two seats"
//
// Copy the directory to begin an assistant: assistant.go has the loop, chat.go the client for the
// chat completions API, consent.go the dialogues, script.go and demo.go the demo.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml/agent"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/contrib/hostflags"
	"github.com/lookleap/lookleap/contrib/policy"
	"github.com/lookleap/lookleap/dvs"
)

// keyVariable is the environment variable with the key of the model's API.
const keyVariable = "MODEL_API_KEY"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdin, os.Stdout)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "agent:", err)
		os.Exit(1)
	}
}

// settings are the flags.
type settings struct {
	site, modelURL, model, policy, ledger, profile, task string
	skills, roots                                        []string
	browser                                              bool
	network                                              hostflags.Flags
}

func parseFlags(args []string) (*settings, error) {
	var s settings
	set := flag.NewFlagSet("agent", flag.ContinueOnError)
	set.StringVar(&s.site, "site", "", "offer the model the ANML actions of the site at this `URL`; empty: the demo")
	set.StringVar(&s.modelURL, "model-url", "", "use the chat completions API below this `URL`, with the key in "+
		keyVariable+"; empty: a scripted model")
	set.StringVar(&s.model, "model", "", "the `NAME` of the model at --model-url")
	set.StringVar(&s.policy, "policy", "", "obey the policy of an organisation in this `FILE`")
	set.StringVar(&s.ledger, "ledger", "", "record disclosures and refusals in this `DIRECTORY`; empty: in memory")
	set.StringVar(&s.profile, "profile", "", "read the user's data from this `FILE`, a JSON object of field names and texts")
	set.BoolVar(&s.browser, "browser", false, "ask for consent on a page in the browser instead of the terminal")
	set.Func("skill", "offer the model the skill at this `URL`; may be repeated", appendTo(&s.skills))
	set.Func("root", "trust the skills below this `URL`; may be repeated", appendTo(&s.roots))
	s.network.Declare(set)
	if err := set.Parse(args); err != nil {
		return nil, err
	}
	s.task = strings.Join(set.Args(), " ")
	switch {
	case (s.modelURL == "") != (s.model == ""):
		return nil, errors.New("--model-url and --model belong together; set both, or neither for the scripted model")
	case s.site != "" && s.model == "":
		return nil, errors.New("the scripted model knows only the site of the demo; set --model-url and --model")
	case s.site != "" && s.task == "":
		return nil, errors.New("there is no task; write what the assistant should do as the last argument")
	}
	return &s, nil
}

func appendTo(list *[]string) func(string) error {
	return func(value string) error {
		*list = append(*list, value)
		return nil
	}
}

// run builds the assistant that the flags describe, and lets it do the task.
func run(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	s, err := parseFlags(args)
	if err != nil {
		return err
	}
	host, profile, closeHost, err := newHost(s)
	if err != nil {
		return err
	}
	defer closeHost()
	if host.Prompter, err = newPrompter(ctx, s.browser, host, in, out); err != nil {
		return err
	}
	model, err := newModel(s)
	if err != nil {
		return err
	}
	a, err := newAssistant(ctx, s, host, profile)
	if err != nil {
		return err
	}
	defer a.close()
	a.model, a.log = model, out

	fmt.Fprintf(out, "you: %s\n", s.task)
	last, err := a.do(ctx, s.task)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "assistant: %s\n\n", printable(last))
	return printLedger(ctx, out, a.session.Ledger())
}

// newHost returns the host of the site, or that of the demo, and the user's data.
func newHost(s *settings) (*lookleap.Host, agent.Fields, func(), error) {
	profile, err := readProfile(s.profile)
	if err != nil {
		return nil, nil, nil, err
	}
	if s.site == "" {
		demo := newDemo(s)
		if s.profile == "" {
			profile = demoProfile
		}
		return demo.Host(), profile, demo.Close, nil
	}
	if s.site, err = s.network.URL(s.site); err != nil {
		return nil, nil, nil, err
	}
	host, err := s.network.NewHost()
	if err != nil {
		return nil, nil, nil, err
	}
	for _, skipped := range s.network.Skipped() {
		fmt.Fprintln(os.Stderr, "not checked:", skipped)
	}
	return &host.Host, profile, func() { _ = host.Close() }, nil
}

func readProfile(path string) (agent.Fields, error) {
	fields := agent.Fields{}
	if path == "" {
		return fields, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var texts map[string]string
	if err := json.Unmarshal(data, &texts); err != nil {
		return nil, fmt.Errorf(`%s: %w; write an object such as {"email": "kim@example.com"}`, path, err)
	}
	for name, text := range texts {
		fields[name] = agent.Value{Text: text, Provenance: agent.ProvenanceUser}
	}
	return fields, nil
}

// newModel returns the model of the API, or the scripted one.
func newModel(s *settings) (model, error) {
	if s.modelURL == "" {
		return &script{}, nil
	}
	return newChat(s.modelURL, s.model, os.Getenv(keyVariable))
}

// newAssistant returns an assistant without a model. The policy limits what each part may do; it is
// an error if it cannot be read.
func newAssistant(ctx context.Context, s *settings, host *lookleap.Host, profile agent.Fields) (*assistant, error) {
	user := agent.User{Profile: profile, Policy: &agent.UserPolicy{}}
	var skills dvs.Options
	var trust anmltrust.Rules
	if s.policy != "" {
		rules, err := policy.Load(s.policy)
		if err != nil {
			return nil, err
		}
		skills, trust = rules.Skills(skills), rules.Trust(trust)
		if err := rules.Agent(user.Policy); err != nil {
			return nil, err
		}
	}
	if s.ledger != "" {
		ledger, err := hostflags.OpenStore(s.ledger)
		if err != nil {
			return nil, err
		}
		user.Ledger = ledger
	}
	a := &assistant{site: s.site, skills: map[string]*dvs.Registration{}}
	loader := dvs.NewLoader(host, skills)
	for _, root := range s.roots {
		if _, err := loader.Roots().Register(root, dvs.ByUser); err != nil {
			return nil, err
		}
	}
	for _, url := range s.skills {
		r, err := loader.Register(ctx, url)
		if err != nil {
			return nil, err
		}
		if other := a.skills[r.Name]; other != nil {
			return nil, fmt.Errorf("the skills of %s and %s are both called %q; leave out one --skill", other.Root, r.Root, r.Name)
		}
		a.skills[r.Name] = r
	}
	var err error
	a.session, err = agent.New(host, agent.Options{Verifier: anmltrust.NewVerifier(host, trust)}).NewSession(user)
	return a, err
}

// printLedger prints what was told to sites, and what was not.
func printLedger(ctx context.Context, out io.Writer, ledger *agent.Ledger) error {
	fmt.Fprintln(out, "ledger:")
	for e, err := range ledger.Entries(ctx) {
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "  %s %-9s %s\n", e.Time.Format("2006-01-02 15:04"), e.Kind,
			printable(strings.Join(strings.Fields(strings.Join([]string{e.Field, "to", e.Endpoint, "for",
				e.Action, e.Basis, string(e.Reason)}, " ")), " ")))
	}
	return nil
}
