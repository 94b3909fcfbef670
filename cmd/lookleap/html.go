package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/agentstxt"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/htmlreport"
	"github.com/lookleap/lookleap/internal/webpage"
)

func (s *session) writeHTML() error {
	if len(s.pages) == 0 {
		return nil
	}
	page, err := htmlreport.HTML(s.pages...)
	if err == nil {
		err = os.WriteFile(s.options.html, page, 0o644) //nolint:gosec // a report is for others to read
	}
	if err != nil {
		return fmt.Errorf("writing the page: %w", err)
	}
	return nil
}

func reportOf(r result, now time.Time) htmlreport.Report {
	out := htmlreport.Report{Input: r.Input, OK: r.OK, Code: r.Code, Sentence: r.Message, At: now,
		Checks: r.checks, Picture: r.picture}
	for _, f := range r.Findings {
		if f.Message != r.Message || f.Fix != "" || f.Position != (lookleap.Position{}) { // it says more than the message
			out.Findings = append(out.Findings, f)
		}
	}
	for _, row := range r.rows {
		out.Facts = append(out.Facts, htmlreport.Fact{Label: cmp.Or(row.label, "…"), Text: row.text})
	}
	if _, ok := r.Value.(doctorValue); ok { // the checks have them
		out.Facts, out.Findings = nil, nil
	}
	if v := r.Verdict; v != nil {
		out.Checks, out.Sentence, out.At, out.Until = htmlreport.OfVerdict(v), v.Summary, v.CheckedAt, v.Expires
		if server, site, ok := strings.Cut(v.Subject, " for "); ok && strings.HasPrefix(v.Document, "draft-jeskey-anml") {
			out.Picture = htmlreport.OfTrust(v, server, site)
		}
	}
	if slices.ContainsFunc(r.Findings, func(f lookleap.Finding) bool { return f.Code == developed.Code }) {
		out.Sentence += " (" + developed.Message + ")"
	}
	return out
}

// newPicture returns a picture of a site that speaks for itself.
func newPicture(input string) *htmlreport.Picture {
	host := input
	u, err := domain.Rules{Schemes: []string{"https", "http"}, AllowIP: true, AllowSpecial: true}.Parse(input)
	if err == nil {
		host = u.Host()
	}
	return &htmlreport.Picture{
		Names: [...]string{htmlreport.User: "asks", htmlreport.Agent: lookleap.RecipientAgent, htmlreport.ServingHost: host,
			htmlreport.DNS: "_anml." + host, htmlreport.Manifest: "of " + host, htmlreport.Site: host},
		Edges: []htmlreport.Edge{{From: htmlreport.User, To: htmlreport.Agent, Status: lookleap.Passed,
			Text: "asks about " + input}},
	}
}

func serveCommand(flags *flag.FlagSet) action {
	options := policyFlags(flags)
	listen := flags.String("listen", "127.0.0.1:0", "`ADDRESS` of the loopback interface; port 0 is any free one")
	return func(ctx context.Context, s *session, args []string) error {
		return s.serve(ctx, *listen, options())
	}
}

func (s *session) serve(ctx context.Context, address string, o agentstxt.Options) error {
	l, err := listenLocally("--listen", address)
	if err != nil {
		return err
	}
	v := &viewer{session: s, policy: o, slots: make(chan struct{}, maxLooks)}
	door, err := webpage.NewDoor("", time.Now, v)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.stdout, "Open %s\nThe link works once. Control-C ends the program.\n",
		door.Link("http://"+l.Addr().String()))
	return webpage.Serve(ctx, l, door)
}

func listenLocally(flag, address string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, usagef("%s: %v; use a port that is free: port 0 is any", flag, err)
	}
	if !webpage.IsLoopback(l.Addr()) {
		_ = l.Close()
		return nil, usagef("%s: %s is not an address of the loopback interface", flag, address)
	}
	return l, nil
}

const maxLooks = 2

type viewer struct {
	session *session
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
	seen := look(func(ctx context.Context, origin string) result {
		if command == "doctor" {
			return examine(ctx, v.session, origin)
		}
		return reportSite(ctx, v.session.host, v.policy, origin)
	}).guarded(ctx, origin)
	seen.Input = url
	return reportOf(seen, v.session.options.Now()), nil
}
