package main

import (
	"cmp"
	"context"
	"errors"
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
	"github.com/lookleap/lookleap/anml/agent"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/htmlreport"
	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/internal/webpage"
)

// claim is what was decided about a server that speaks for a site.
type claim struct {
	site    string
	verdict *lookleap.Verdict // nil: a host that speaks for itself
	err     error
}

func claimOf(p agent.Party) claim {
	c := claim{site: p.Domain, err: p.Err}
	var no *lookleap.VerifyError
	switch {
	case p.Authorization != nil:
		c.verdict = p.Authorization.Verdict
	case errors.As(p.Err, &no):
		c.verdict = no.Verdict
	}
	return c
}

// keepPage keeps a result for the page of --html.
func (s *session) keepPage(r result) {
	if s.options.html != "" {
		s.pages = append(s.pages, reportOf(r, s.now()))
	}
}

func (s *session) now() time.Time {
	return cmp.Or(s.options.At, time.Now())
}

// writeHTML writes the page of --html, if there are results.
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

// reportOf returns a result as a report.
func reportOf(r result, now time.Time) htmlreport.Report {
	out := htmlreport.Report{Input: r.Input, OK: r.OK, Code: r.Code, Sentence: oneLine(r.Message), Findings: r.Findings, At: now}
	for _, row := range r.rows {
		out.Facts = append(out.Facts, htmlreport.Fact{Label: cmp.Or(row.label, "…"), Text: row.text})
	}
	switch value := r.Value.(type) {
	case doctorValue:
		out.Checks = doctorChecks(value)
		out.Picture = doctorPicture(value, r.Input)
		out.Facts = nil
		out.Findings = nil
	case siteValue:
		out.Checks, out.Picture = siteChecks(value, r.claims), sitePicture(value, r)
	}
	if v := r.Verdict; v != nil {
		out.Checks = htmlreport.OfVerdict(v)
		out.Sentence = v.Summary
		out.At = v.CheckedAt
		out.Until = v.Expires
		if server, site, ok := strings.Cut(v.Subject, " for "); ok && strings.HasPrefix(v.Document, "draft-jeskey-anml") {
			out.Picture = htmlreport.OfTrust(v, server, site)
		}
	}
	if slices.ContainsFunc(r.Findings, func(f lookleap.Finding) bool { return f.Code == developed.Code }) {
		out.Sentence += " (" + developed.Message + ")"
	}
	return out
}

// stateStatus is the status of each state of a diagnosis.
var stateStatus = map[string]lookleap.Status{fine: lookleap.Passed, wrong: lookleap.Failed, absent: lookleap.Skipped,
	skipped: lookleap.Skipped}

func doctorChecks(value doctorValue) (checks []htmlreport.Check) {
	for _, d := range value.Checks {
		checks = append(checks, htmlreport.Check{Name: d.Check, Status: stateStatus[d.State], Code: d.Code,
			Message: d.State + ": " + d.Message, Findings: d.Findings, Snippet: d.Snippet})
	}
	return checks
}

// doctorPicture shows the checks of a site where they belong in the picture of trust.
func doctorPicture(value doctorValue, input string) *htmlreport.Picture {
	p := newPicture(input, hostOf(input), hostOf(input))
	for _, d := range value.Checks {
		for _, place := range []struct {
			check    string
			from, to htmlreport.Node
		}{
			{"address", htmlreport.Agent, htmlreport.DNS},
			{"connection", htmlreport.Agent, htmlreport.ServingHost},
			{"trust record", htmlreport.DNS, htmlreport.Manifest},
			{"trust manifest", htmlreport.Manifest, htmlreport.ServingHost},
			{"anml", htmlreport.ServingHost, htmlreport.Site},
		} {
			if d.Check == place.check {
				p.Edges = append(p.Edges, htmlreport.Edge{From: place.from, To: place.to, Status: stateStatus[d.State],
					Text: d.Check + ": " + d.Message})
			}
		}
	}
	return p
}

func newPicture(input, server, site string) *htmlreport.Picture {
	p := new(htmlreport.Picture)
	p.Names[htmlreport.User], p.Names[htmlreport.Agent] = "asks", lookleap.RecipientAgent
	p.Names[htmlreport.ServingHost], p.Names[htmlreport.Site] = server, site
	p.Names[htmlreport.DNS], p.Names[htmlreport.Manifest] = "_anml."+site, "of "+site
	p.Edges = []htmlreport.Edge{{From: htmlreport.User, To: htmlreport.Agent, Status: lookleap.Passed, Text: "asks about " + input}}
	return p
}

// hostOf returns the host of a URL, or the whole text if it is not a URL.
func hostOf(url string) string {
	u, err := domain.Rules{Schemes: []string{"https", "http"}, AllowIP: true, AllowSpecial: true}.Parse(url)
	if err != nil {
		return url
	}
	return u.Host()
}

// siteChecks returns what was found at a site as checks; each claim has those of its verdict.
func siteChecks(value siteValue, claims []claim) []htmlreport.Check {
	refusals := make(map[string]siteRefusal)
	for _, r := range value.Refused {
		refusals[r.What] = r
	}
	check := func(name string, found bool, message string) htmlreport.Check {
		c := htmlreport.Check{Name: name, Status: lookleap.Skipped, Message: "none"}
		if found {
			c.Status, c.Message = lookleap.Passed, message
		}
		if r, ok := refusals[name]; ok {
			c.Status, c.Code, c.Message = lookleap.Failed, r.Code, "turned away: "+oneLine(r.Message)
		}
		return c
	}
	checks := []htmlreport.Check{check("policy", value.Policy.State != "", value.Policy.State)}
	document := check("anml", false, "")
	if a := value.ANML; a != nil {
		document = check("anml", true, fmt.Sprintf("%s offers %s and asks for %s", a.URL,
			plaintext.Plural(len(a.Actions), "action", "actions"), plaintext.Plural(len(a.Asks), "field", "fields")))
	}
	for _, cl := range claims {
		name := "claim to speak for " + cl.site
		c := check(name, true, "the host speaks for itself")
		if cl.verdict != nil {
			c.Checks = htmlreport.OfVerdict(cl.verdict)
			if cl.err == nil {
				c.Message = cl.verdict.Summary
			}
		}
		document.Checks = append(document.Checks, c)
	}
	return append(checks, document, check("skills", len(value.Skills) > 0, plaintext.Plural(len(value.Skills), "skill", "skills")),
		check("ai endpoint", value.Endpoint != "", value.Endpoint))
}

// sitePicture shows the first claim that was refused, else the first one that was verified,
// else the site that speaks for itself.
func sitePicture(value siteValue, r result) *htmlreport.Picture {
	var shown *claim
	for i := range r.claims {
		if c := &r.claims[i]; c.verdict != nil && (shown == nil || shown.err == nil && c.err != nil) {
			shown = c
		}
	}
	if shown != nil {
		return htmlreport.OfTrust(shown.verdict, value.ANML.Serving, shown.site)
	}
	p := newPicture(r.Input, hostOf(r.Input), hostOf(r.Input))
	edge := func(from, to htmlreport.Node, status lookleap.Status, text string) {
		p.Edges = append(p.Edges, htmlreport.Edge{From: from, To: to, Status: status, Text: text})
	}
	status, text := lookleap.Passed, "what the site publishes was read over https from its own host"
	if len(value.Refused) > 0 {
		status, text = lookleap.Failed, value.Refused[0].What+" was turned away: "+oneLine(value.Refused[0].Message)
	}
	edge(htmlreport.Agent, htmlreport.ServingHost, status, text)
	if value.ANML != nil {
		edge(htmlreport.ServingHost, htmlreport.Site, lookleap.Passed, "the host speaks for itself, so no one else has to vouch for it")
	} else {
		edge(htmlreport.ServingHost, htmlreport.Site, lookleap.Skipped, "no document speaks for anyone")
	}
	return p
}

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
