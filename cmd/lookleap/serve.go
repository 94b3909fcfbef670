package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/agentstxt"
	"github.com/lookleap/lookleap/internal/htmlreport"
	"github.com/lookleap/lookleap/internal/webpage"
)

func serveCommand() command {
	return command{
		name:    "serve",
		args:    "",
		summary: "a local page that shows the reports of site and doctor for URLs that one types",
		about: `Serves a page on this machine and prints a link, which opens it in one browser, once.
The page takes a URL and shows the report of lookleap site or lookleap doctor, as --html
writes it. It serves the loopback interface only, and ends with Control-C.

value: none`,
		examples: []string{"lookleap serve", "lookleap serve --listen 127.0.0.1:7777"},
		build: func(flags *flag.FlagSet) action {
			options := policyFlags(flags)
			listen := flags.String("listen", "127.0.0.1:0", "`ADDRESS` of the loopback interface; port 0 is any free one")
			return func(ctx context.Context, s *session, args []string) error {
				if len(args) > 0 {
					return usagef("serve takes no arguments: URLs are typed on the page")
				}
				return s.serve(ctx, *listen, options())
			}
		},
	}
}

func (s *session) serve(ctx context.Context, address string, o agentstxt.Options) error {
	host, err := s.Host()
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return usagef("--listen: %v; use a port that is free: port 0 is any", err)
	}
	if !webpage.IsLoopback(l.Addr()) {
		_ = l.Close()
		return usagef("--listen: %s is not an address of the loopback interface", address)
	}
	v := &viewer{session: s, host: host, policy: o, slots: make(chan struct{}, maxLooks)}
	door, err := webpage.NewDoor("", time.Now, v)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.stdout, "Open %s\nThe link works once. Control-C ends the program.\n", door.Link("http://"+l.Addr().String()))
	return webpage.Serve(ctx, l, door)
}

// maxLooks is how many sites are looked at at the same time.
const maxLooks = 2

// viewer shows the reports of URLs that are typed.
type viewer struct {
	session *session
	host    *lookleap.Host
	policy  agentstxt.Options
	slots   chan struct{}
}

var viewerCommands = []htmlreport.Command{
	{Name: "site", Summary: "what an agent finds there"},
	{Name: "doctor", Summary: "what is wrong with your own site"},
}

func (v *viewer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	page := htmlreport.Live{Commands: viewerCommands, Command: "site", Token: webpage.FormToken(r, "look")}
	status := http.StatusOK
	switch {
	case r.URL.Path != "/":
		http.NotFound(w, r)
		return
	case r.Method == http.MethodPost:
		page.URL, page.Command = strings.TrimSpace(r.PostFormValue("url")), r.PostFormValue("command")
		if !webpage.FormTokenValid(r, r.PostFormValue("token"), "look") {
			status, page.Fault = http.StatusForbidden, "The form belongs to another session. Send it again."
			break
		}
		seen, err := v.look(r.Context(), page.Command, page.URL)
		if err != nil {
			status, page.Fault = http.StatusUnprocessableEntity, err.Error()
			break
		}
		page.Reports = []htmlreport.Report{seen}
	case r.Method != http.MethodGet:
		w.Header().Set("Allow", "GET, POST")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return
	}
	htmlreport.WriteLive(w, status, page)
}

// look looks at a site, within the time for one input. Its error is about what was typed.
func (v *viewer) look(ctx context.Context, command, url string) (htmlreport.Report, error) {
	ctx, cancel := context.WithTimeout(ctx, v.session.options.timeout)
	defer cancel()
	origin, err := v.session.options.URL(url)
	if err != nil {
		return htmlreport.Report{}, err
	}
	select {
	case v.slots <- struct{}{}:
		defer func() { <-v.slots }()
	case <-ctx.Done():
		return htmlreport.Report{}, fmt.Errorf("other sites are being looked at; try again")
	}
	seen := guarded(ctx, func(ctx context.Context) result {
		if command == "doctor" {
			return examine(ctx, &patient{host: v.host, dev: v.session.options.Dev, step: func(string) {}}, origin)
		}
		return reportSite(ctx, v.host, v.policy, origin)
	})
	seen.Input = url
	return reportOf(seen, v.session.now()), nil
}
