package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml/agent"
)

// options are the command line.
type options struct {
	site, profile, ledger, http string
	roots, skills               words
}

// words is a flag that may be repeated.
type words []string

func (w *words) String() string { return strings.Join(*w, " ") }

func (w *words) Set(word string) error {
	*w = append(*w, word)
	return nil
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	o, err := parse(os.Args[1:], os.Stderr)
	if err != nil {
		os.Exit(2)
	}
	host := &lookleap.Host{Prompter: suspend{}}
	defer host.Close()
	if err := serve(ctx, host, o); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "mcp:", err)
		os.Exit(1)
	}
}

func parse(args []string, stderr io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("mcp", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.site, "site", "", "offer the ANML actions of this `ORIGIN`")
	flags.StringVar(&o.profile, "profile", "", "the user's data: a `FILE` with a JSON object of fields and values")
	flags.StringVar(&o.ledger, "ledger", "", "record every disclosure in this `FILE`")
	flags.StringVar(&o.http, "http", "", "serve streamable HTTP at this `ADDRESS` instead of standard input and output")
	flags.Var(&o.roots, "root", "trust this `ROOT` of skills; may be repeated")
	flags.Var(&o.skills, "skill", "offer the skill at this `URL`; may be repeated")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 || (o.site == "" && len(o.skills) == 0) {
		fmt.Fprintln(stderr, "mcp: give --site or --skill, and no other arguments")
		return o, errors.New("usage")
	}
	return o, nil
}

// serve offers what the options name until ctx ends or the client leaves.
func serve(ctx context.Context, host *lookleap.Host, o options) error {
	s, err := open(ctx, host, o)
	if err != nil {
		return err
	}
	defer s.session.Close()
	if o.http == "" {
		return s.server.Run(ctx, &mcp.StdioTransport{})
	}
	return listen(ctx, o.http, s.web())
}

// open starts the session, and finds and verifies what it will offer.
func open(ctx context.Context, host *lookleap.Host, o options) (*service, error) {
	user, err := o.user()
	if err != nil {
		return nil, err
	}
	session, err := agent.New(host, agent.Options{}).NewSession(user)
	if err != nil {
		return nil, err
	}
	s := newService(session)
	if o.site != "" {
		page, err := session.Discover(ctx, o.site)
		if err != nil {
			return nil, errors.Join(err, session.Close())
		}
		s.show(page)
	}
	if err := s.offerSkills(ctx, host, o.roots, o.skills); err != nil {
		return nil, errors.Join(err, session.Close())
	}
	return s, nil
}

// user is the user of the session.
func (o options) user() (u agent.User, err error) {
	if o.profile != "" {
		text, err := os.ReadFile(o.profile)
		if err != nil {
			return u, err
		}
		var fields map[string]string
		if err := json.Unmarshal(text, &fields); err != nil {
			return u, fmt.Errorf("%s: %w", o.profile, err)
		}
		profile := make(agent.Fields)
		for field, value := range fields {
			profile[field] = agent.Value{Text: value}
		}
		u.Profile = profile
	}
	if o.ledger != "" {
		u.Ledger, err = agent.OpenDisclosureLedger(o.ledger, agent.LedgerOptions{})
	}
	return u, err
}

// web is the server over streamable HTTP. Clients of the newest protocol carry
// their state along; older ones need a session, in which they can be asked.
// Requests of web pages from elsewhere are refused. If you listen beyond
// localhost, put authentication before it.
func (s *service) web() http.Handler {
	server := func(*http.Request) *mcp.Server { return s.server }
	newer := mcp.NewStreamableHTTPHandler(server, &mcp.StreamableHTTPOptions{Stateless: true})
	older := mcp.NewStreamableHTTPHandler(server, nil)
	return http.NewCrossOriginProtection().Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Protocol-Version") >= manyRounds {
			newer.ServeHTTP(w, r)
			return
		}
		older.ServeHTTP(w, r)
	}))
}

func listen(ctx context.Context, address string, h http.Handler) error {
	server := &http.Server{Addr: address, Handler: h, ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
