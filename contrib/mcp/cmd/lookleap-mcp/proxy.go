package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/contrib/gate"
	"github.com/lookleap/lookleap/contrib/hostflags"
	lookleapmcp "github.com/lookleap/lookleap/contrib/mcp"
	"github.com/lookleap/lookleap/contrib/policy"
	"github.com/lookleap/lookleap/contrib/webconsent"
)

const proxyUsage = `lookleap-mcp proxy asks you before the tools of an MCP server run.

  lookleap-mcp proxy [FLAGS] -- COMMAND [ARGUMENT...]   a server that is a program
  lookleap-mcp proxy [FLAGS] --url URL                  a server at a URL

A call is shown with its arguments, and at its first use with the definition of the tool. It runs once,
as it was shown. If the server changes a tool, you see the difference and are asked again. You are asked
by your client (elicitation), or on a page of this machine if the client cannot ask.

  --print-config NAME    print the configuration for your client, and end
  --receipts             print the signed receipts of your decisions about this server, and end; check them with
                         lookleap receipt verify - --jwks DIRECTORY/receipts.jwks
  --name NAME            the name of the server in questions; default: from the command or URL
  --pass PATTERN         tools that run without a question, such as "read_*"; may be repeated
  --trust-annotations    tools that the server calls read-only run without a question
  --policy FILE          an organisation's policy: its section "tools" can only be stricter; may be repeated
  --state DIRECTORY      approved definitions, open questions, receipts with their keys (the public one is
                         receipts.jwks), and the record calls.jsonl of calls that you were not asked about;
                         a start with more than 16 MiB of it renames it to calls.jsonl.1.
                         Default: lookleap/mcp-proxy/DIGEST in the user's configuration directory
  --open                 open the page in your browser; the model then does not get its link
  --timeout DURATION     how long the server may take for one answer; default: 10m
  --env NAME             pass this variable on to the program; may be repeated. It gets PATH, HOME, LANG,
                         TERM and TMPDIR (on Windows, what programs need) and nothing else
  --header-env NAME=VAR  send the header NAME with the value of the variable VAR, with --url, to its
                         host only; may be repeated. For a token, VAR has the value "Bearer ..."
  --dns --anchor --ca --public-suffix-list --connect --proxy --proxy-by-name --allow --allow-private
  --dev --at             shape the network for --url, as lookleap-mcp -h explains. --dev is for localhost

Exit codes: 0 the client left, 1 the server or the client failed, 2 the command line is wrong.
`

// proxyOptions are the command line of lookleap-mcp proxy.
type proxyOptions struct {
	command                       []string
	url, name, state, printConfig string
	pass, policies, env, headers  words
	trustAnnotations, open        bool
	receipts                      bool
	timeout                       time.Duration
	network                       hostflags.Flags
	given                         []string // the flags that are set, besides --name and --print-config
}

func parseProxy(args []string, stderr io.Writer) (o proxyOptions, err error) {
	flags := flag.NewFlagSet("lookleap-mcp proxy", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() { fmt.Fprint(stderr, proxyUsage) }
	flags.StringVar(&o.url, "url", "", "")
	flags.StringVar(&o.name, "name", "", "")
	flags.StringVar(&o.state, "state", "", "")
	flags.StringVar(&o.printConfig, "print-config", "", "")
	flags.Var(&o.pass, "pass", "")
	flags.Var(&o.policies, "policy", "")
	flags.Var(&o.env, "env", "")
	flags.Var(&o.headers, "header-env", "")
	flags.BoolVar(&o.trustAnnotations, "trust-annotations", false, "")
	flags.BoolVar(&o.open, "open", false, "")
	flags.BoolVar(&o.receipts, "receipts", false, "")
	flags.DurationVar(&o.timeout, "timeout", 10*time.Minute, "")
	o.network.Declare(flags)
	flags.VisitAll(func(f *flag.Flag) {
		if f.Name != "name" && f.Name != "print-config" {
			f.Value = givenFlag{f.Value, f.Name, &o.given}
		}
	})
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	o.command = flags.Args()
	var wrong string
	switch {
	case o.url == "" && len(o.command) == 0 && !(o.receipts && o.state != ""):
		wrong = "no server: write -- and its command, or --url"
	case o.url != "" && len(o.command) > 0:
		wrong = "--url and a command exclude each other"
	case o.url == "" && len(o.headers) > 0:
		wrong = "--header-env needs --url"
	case o.url != "" && len(o.env) > 0:
		wrong = "--env is for a program: use --header-env with --url"
	case o.timeout <= 0:
		wrong = "--timeout has to be more than 0"
	}
	for _, pattern := range o.pass {
		if _, err := gate.Match(pattern, ""); err != nil {
			wrong = "--pass: malformed pattern " + pattern
		}
	}
	for _, h := range o.headers {
		if name, variable, ok := strings.Cut(h, "="); !ok || name == "" || variable == "" {
			wrong = "--header-env: write NAME=VARIABLE; the value of the header is not written on the command line"
		}
	}
	if wrong != "" {
		fmt.Fprintln(stderr, "lookleap-mcp proxy:", wrong)
		return o, errors.New("usage")
	}
	if o.name == "" {
		o.name = o.printConfig
	}
	o.name = label(o.name, o.url, o.command)
	if o.state == "" {
		o.state, err = defaultState(o)
	}
	return o, err
}

// givenFlag records the flags that are set, as a command line has them.
type givenFlag struct {
	flag.Value
	name string
	all  *[]string
}

func (g givenFlag) Set(value string) error {
	*g.all = append(*g.all, "--"+g.name+"="+value)
	return g.Value.Set(value)
}

// IsBoolFlag reports whether the flag has no value on the command line.
func (g givenFlag) IsBoolFlag() bool {
	b, is := g.Value.(interface{ IsBoolFlag() bool })
	return is && b.IsBoolFlag()
}

// label returns the name of the server for questions: a chosen one, or that of its host or program.
func label(name, url string, command []string) string {
	if name == "" && url != "" {
		_, name, _ = strings.Cut(url, "://")
		if end := strings.IndexAny(name, "/?#"); end >= 0 { // a query may have a key
			name = name[:end]
		}
	}
	if name == "" && len(command) > 0 {
		name = strings.TrimSuffix(filepath.Base(command[0]), filepath.Ext(command[0]))
	}
	name = strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9':
			return r
		case 'A' <= r && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, name), "-")
	name = strings.Trim(name[:min(len(name), 63)], "-")
	if name == "" {
		return "server"
	}
	return name
}

// defaultState returns the directory for the state of one server.
func defaultState(o proxyOptions) (string, error) {
	config, err := os.UserConfigDir()
	if err != nil {
		return "", err
	}
	server, err := json.Marshal([]any{o.url, o.command})
	if err != nil {
		return "", err
	}
	digest := strings.TrimPrefix(lookleap.Digest(server), "sha256:")
	return filepath.Join(config, "lookleap", "mcp-proxy", digest[:32]), nil
}

// runProxy is lookleap-mcp proxy. It returns the exit code.
func runProxy(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parseProxy(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case o.printConfig != "":
		err = printConfig(o, stdout, stderr)
	case o.receipts:
		err = o.printReceipts(ctx, stdout, stderr)
	default:
		err = o.run(ctx, stderr)
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(stderr, "lookleap-mcp proxy:", err)
		if lookleap.CodeOf(err) == lookleap.CodeUsage {
			return 2
		}
		return 1
	}
	return 0
}

// run serves the client over standard input and output until it leaves.
func (o *proxyOptions) run(ctx context.Context, stderr io.Writer) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	upstream, host, err := o.upstream(stderr)
	if err != nil {
		return err
	}
	defer host.Close()
	rules := gate.Options{}
	if len(o.pass) > 0 {
		rules.Rules = append(rules.Rules, gate.Rule{Tools: o.pass, Verb: gate.Pass})
	}
	if o.trustAnnotations {
		rules.Rules = append(rules.Rules, gate.Rule{ReadOnly: true, Verb: gate.Pass})
	}
	if len(o.policies) > 0 {
		organisation, err := policy.Load(o.policies...)
		if err != nil {
			return err
		}
		rules = organisation.Tools(rules)
	}
	store, err := hostflags.OpenStore(filepath.Join(o.state, "store"))
	if err != nil {
		return err
	}
	record, err := openRecord(filepath.Join(o.state, "calls.jsonl"))
	if err != nil {
		return err
	}
	defer record.Close()
	key, err := storedKey(ctx, store, "mcp-proxy/key")
	if err != nil {
		return err
	}
	keys := lookleap.Keys{key}
	log, err := o.receiptLog(ctx, store)
	if err != nil {
		return err
	}
	asked, err := webconsent.New(webconsent.Options{Store: store, Keys: keys, Wait: -1})
	if err != nil {
		return err
	}
	host.Prompter, host.Plans, host.Record = lookleapmcp.Prompter{}, store, log.Record
	p := &page{prompter: asked, stderr: stderr, open: o.open}
	server, err := lookleapmcp.NewProxy(ctx, upstream.way(), gate.New(&host.Host, rules), lookleapmcp.ProxyOptions{
		Server: o.name, Store: store, Keys: keys, TrustAnnotations: o.trustAnnotations, Page: asked,
		Where:   func(context.Context) (string, error) { return p.where(ctx) },
		Timeout: o.timeout, Record: record,
	})
	if err != nil {
		upstream.wait()
		return err
	}
	fmt.Fprintln(stderr, "lookleap-mcp proxy: receipts and the record of calls are in", o.state)
	err = server.Run(ctx, &mcp.StdioTransport{})
	stop()
	upstream.wait()
	return err
}

// printConfig prints the configuration of a client for this command line.
func printConfig(o proxyOptions, stdout, stderr io.Writer) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	type server struct {
		Command string   `json:"command"`
		Args    []string `json:"args"`
	}
	out := server{Command: program, Args: append([]string{"proxy", "--name", o.name}, o.given...)}
	if len(o.command) > 0 {
		out.Args = append(out.Args, "--")
	}
	out.Args = append(out.Args, o.command...)
	variables := append([]string{}, o.env...)
	for _, h := range o.headers {
		_, variable, _ := strings.Cut(h, "=")
		variables = append(variables, variable)
	}
	if len(variables) > 0 {
		fmt.Fprintln(stderr, "lookleap-mcp proxy: set these variables where the client runs, or in its configuration under \"env\":", strings.Join(variables, " "))
	}
	e := json.NewEncoder(stdout)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(map[string]any{"mcpServers": map[string]server{o.printConfig: out}})
}
