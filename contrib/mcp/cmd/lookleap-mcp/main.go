// Lookleap-mcp is an MCP server that puts a web site's ANML actions and verified skills
// into any MCP client.
//
//	lookleap-mcp --site https://shop.example
//	lookleap-mcp --site https://shop.example --http localhost:8080
//	lookleap-mcp --site https://shop.example --http :8080 --users users.json
//	lookleap-mcp --dev --site localhost:8080
//	lookleap-mcp proxy -- ./server --flag # a gate in front of another server, see lookleap-mcp proxy -h
//	lookleap-mcp --root https://github.com/example-org/ --skill https://github.com/example-org/skills/blob/main/refund/SKILL.md
//
// Without --http it serves one user over standard input and output. With --http it serves
// streamable HTTP: one user at a loopback address, or the users of a file:
//
//	[{"id": "kim", "token": "sha256:…", "profile": {"fn": "Kim Example"}, "ledger": "kim"}]
//
// The flags of package hostflags shape the network: --dns, --connect, --dev and others.
//
// The token is the SHA-256 digest of a bearer token with at least 16 characters. Put TLS in
// front of a server that is reached over a network.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/contrib/hostflags"
	lookleapmcp "github.com/lookleap/lookleap/contrib/mcp"
	"github.com/lookleap/lookleap/dvs"
)

// options are the command line.
type options struct {
	site, profile, ledger, http, users string
	roots, skills                      words
	network                            hostflags.Flags
}

// words is a flag that may be repeated.
type words []string

func (w *words) String() string { return strings.Join(*w, " ") }

func (w *words) Set(word string) error {
	*w = append(*w, word)
	return nil
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	if len(os.Args) > 1 && os.Args[1] == "proxy" {
		os.Exit(runProxy(ctx, os.Args[2:], os.Stdout, os.Stderr))
	}
	o, err := parse(os.Args[1:], os.Stderr)
	if err != nil {
		os.Exit(2)
	}
	host, err := o.network.NewHost()
	if err != nil {
		fmt.Fprintln(os.Stderr, "lookleap-mcp:", err)
		os.Exit(2)
	}
	defer host.Close()
	host.Prompter = lookleapmcp.Prompter{}
	for _, skipped := range o.network.Skipped() {
		fmt.Fprintln(os.Stderr, "lookleap-mcp: DEVELOPMENT MODE, not checked:", skipped)
	}
	if err := serve(ctx, &host.Host, o); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "lookleap-mcp:", err)
		os.Exit(1)
	}
}

func parse(args []string, stderr io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("lookleap-mcp", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.site, "site", "", "offer the ANML actions of this `ORIGIN`")
	flags.StringVar(&o.profile, "profile", "", "the only user's data: a `FILE` with a JSON object of fields and values")
	flags.StringVar(&o.ledger, "ledger", "", "record every disclosure of the only user in this `DIRECTORY`")
	flags.StringVar(&o.http, "http", "", "serve streamable HTTP at this `ADDRESS` instead of standard input and output")
	flags.StringVar(&o.users, "users", "", "the users and their tokens: a `FILE` with a JSON list")
	flags.Var(&o.roots, "root", "trust this `ROOT` of skills; may be repeated")
	flags.Var(&o.skills, "skill", "offer the skill at this `URL`; may be repeated")
	o.network.Declare(flags)
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if err := o.devURLs(); err != nil {
		fmt.Fprintln(stderr, "lookleap-mcp:", err)
		return o, err
	}
	var wrong string
	switch {
	case flags.NArg() > 0:
		wrong = "unexpected argument " + flags.Arg(0)
	case o.site == "" && len(o.skills) == 0:
		wrong = "nothing to offer: use --site or --skill"
	case o.users != "" && o.http == "":
		wrong = "--users needs --http"
	case o.users != "" && (o.profile != "" || o.ledger != ""):
		wrong = "--profile and --ledger are for one user: with --users, name them in the file"
	case o.http != "" && o.users == "" && !loopback(o.http):
		wrong = "--http at an address that others can reach needs --users: use localhost, or name the users"
	}
	if wrong != "" {
		fmt.Fprintln(stderr, "lookleap-mcp:", wrong)
		return o, errors.New("usage")
	}
	return o, nil
}

// devURLs writes URLs of this machine as those of the development mode.
func (o *options) devURLs() (err error) {
	if o.site != "" {
		if o.site, err = o.network.URL(o.site); err != nil {
			return err
		}
	}
	for i := range o.skills {
		if o.skills[i], err = o.network.URL(o.skills[i]); err != nil {
			return err
		}
	}
	return nil
}

// loopback reports whether only this machine reaches an address.
func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	ip := net.ParseIP(host)
	return err == nil && (host == "localhost" || ip != nil && ip.IsLoopback())
}

// serve offers what the options name until ctx ends or the client leaves.
func serve(ctx context.Context, host *lookleap.Host, o options) error {
	server, handler, err := open(ctx, host, o)
	if err != nil {
		return err
	}
	defer server.Close()
	if o.http == "" {
		return server.Run(ctx, &mcp.StdioTransport{})
	}
	l, err := net.Listen("tcp", o.http)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "lookleap-mcp: listening at http://%s\n", l.Addr())
	return listen(ctx, l, handler)
}

// open verifies the skills and makes the server and its HTTP handler.
func open(ctx context.Context, host *lookleap.Host, o options) (*lookleapmcp.Server, http.Handler, error) {
	people, err := o.people()
	if err != nil {
		return nil, nil, err
	}
	skills, err := verified(ctx, host, o.roots, o.skills)
	if err != nil {
		return nil, nil, err
	}
	server, err := lookleapmcp.NewServer(host, lookleapmcp.Options{
		Site: o.site, Skills: skills, User: people.user, SingleUser: o.users == "",
	})
	if err != nil {
		return nil, nil, err
	}
	handler := server.Handler()
	if o.users != "" {
		handler = people.authenticate(handler)
	}
	return server, handler, nil
}

// verified loads skills under the roots that the operator trusts. A skill outside of them
// is an error, since no one can be asked yet.
func verified(ctx context.Context, host *lookleap.Host, roots, urls []string) (out []dvs.Bundle, err error) {
	loader := dvs.NewLoader(host, dvs.Options{})
	for _, root := range roots {
		if _, err := loader.Roots().Register(root, dvs.ByHost); err != nil {
			return nil, err
		}
	}
	for _, url := range urls {
		skill, err := loader.Load(ctx, url)
		if err != nil {
			return nil, err
		}
		bundle, err := skill.Bundle(ctx)
		if err != nil {
			return nil, err
		}
		out = append(out, bundle)
	}
	return out, nil
}

// endTime is how long calls that began before the end of the context may take.
const endTime = 30 * time.Second

// listen serves until ctx ends, and then lets calls end. Streams of events, which have no end of
// their own, end with ctx.
func listen(ctx context.Context, l net.Listener, h http.Handler) error {
	server := &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			streaming, stop := context.WithCancel(r.Context())
			defer stop()
			defer context.AfterFunc(ctx, stop)()
			r = r.WithContext(streaming)
		}
		h.ServeHTTP(w, r)
	})}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTime)
	defer cancel()
	if err := server.Shutdown(end); err != nil {
		return errors.Join(err, server.Close())
	}
	return nil
}
