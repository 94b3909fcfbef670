// Conformance is the server and the client that the npm package
// @modelcontextprotocol/conformance tests (SEP-2640). .ci/run mcp runs it.
//
//	conformance server ADDRESS
//	conformance proxy ADDRESS URL
//	conformance client URL
package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/contrib/gate"
	lookleapmcp "github.com/lookleap/lookleap/contrib/mcp"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/lookleaptest"
)

func main() {
	err := errors.New("use: conformance server ADDRESS, conformance proxy ADDRESS URL, or conformance client URL")
	if len(os.Args) > 2 {
		switch ctx, what := context.Background(), os.Args[1]; {
		case what == "server" && len(os.Args) == 3:
			err = serve(ctx, os.Args[2])
		case what == "proxy" && len(os.Args) == 4:
			err = pass(ctx, os.Args[2], os.Args[3])
		case what == "client" && len(os.Args) == 3:
			err = load(ctx, os.Args[2])
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// serve offers two skills with directories, one entry on a page.
func serve(ctx context.Context, address string) error {
	net0 := lookleaptest.NewInternet()
	defer net0.Close()
	site := net0.Site("skills.example")
	site.File("/refund/SKILL.md", "text/markdown",
		"---\nname: refund\ndescription: Refunds a ticket.\nlicense: Apache-2.0\nmetadata:\n  version: \"1.2\"\n  reviewed: 2026-01-02\n---\nUse [the letter](templates/letter.md), [the form](templates/eu/form.md) or [the script](scripts/sum.sh).\n")
	site.File("/refund/templates/letter.md", "text/markdown", "Dear customer\n")
	site.File("/refund/templates/eu/form.md", "text/markdown", "Form\n")
	site.File("/refund/scripts/sum.sh", "text/plain", "#!/bin/sh\necho 1\n")
	site.File("/tickets/change/SKILL.md", "text/markdown",
		"---\nname: change\ndescription: Changes a ticket.\n---\nAsk for the new date.\n")
	host := net0.Host()
	host.Prompter = lookleapmcp.Prompter{}
	loader := dvs.NewLoader(host, dvs.Options{})
	if _, err := loader.Roots().Register("https://skills.example/", dvs.ByHost); err != nil {
		return err
	}
	var bundles []dvs.Bundle
	for _, path := range []string{"refund", "tickets/change"} {
		skill, err := loader.Load(ctx, "https://skills.example/"+path+"/SKILL.md")
		if err != nil {
			return err
		}
		bundle, err := skill.Bundle(ctx)
		if err != nil {
			return err
		}
		bundles = append(bundles, bundle)
	}
	server, err := lookleapmcp.NewServer(host, lookleapmcp.Options{Skills: bundles, SingleUser: true, PageSize: 1})
	if err != nil {
		return err
	}
	defer server.Close()
	return listen(address, server.Handler())
}

func listen(address string, h http.Handler) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	fmt.Printf("http://%s\n", listener.Addr())
	return (&http.Server{Handler: h}).Serve(listener)
}

// pass offers what the server at a URL offers, through a proxy. A client of the newest protocol has no
// session, and others need one.
func pass(ctx context.Context, address, url string) error {
	host := &lookleap.Host{Prompter: lookleapmcp.Prompter{}}
	defer host.Close()
	server, err := lookleapmcp.NewProxy(ctx, &mcp.StreamableClientTransport{Endpoint: url}, gate.New(host, gate.Options{}), lookleapmcp.ProxyOptions{Server: "suite"})
	if err != nil {
		return err
	}
	the := func(*http.Request) *mcp.Server { return server }
	newer := mcp.NewStreamableHTTPHandler(the, &mcp.StreamableHTTPOptions{Stateless: true})
	older := mcp.NewStreamableHTTPHandler(the, nil)
	return listen(address, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Protocol-Version") >= "2026-07-28" {
			newer.ServeHTTP(w, r)
			return
		}
		older.ServeHTTP(w, r)
	}))
}

// agreeable is a user who approves everything.
type agreeable struct{}

func (agreeable) PromptConsent(_ context.Context, r *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
	d := lookleap.ConsentDecision{Digest: r.Digest}
	for _, item := range r.Items {
		d.Approved = append(d.Approved, item.ID)
	}
	return d, nil
}

// load lists the skills of a server. It loads each of them and reads all files, except in
// the scenario about what a client reads without being asked to.
func load(ctx context.Context, url string) error {
	host := &lookleap.Host{Prompter: agreeable{}}
	defer host.Close()
	client := mcp.NewClient(&mcp.Implementation{Name: "lookleap-conformance", Version: "0.1.0"}, nil)
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: url}, nil)
	if err != nil {
		return err
	}
	defer session.Close()
	skills, err := lookleapmcp.NewSkillClient(host, client, session, lookleapmcp.SkillClientOptions{Server: "suite"})
	if err != nil {
		return err
	}
	for entry, err := range skills.Skills(ctx) {
		if err != nil {
			return err
		}
		if os.Getenv("MCP_CONFORMANCE_SCENARIO") == "sep-2640-client-no-prefetch" {
			continue
		}
		skill, err := skills.Load(ctx, entry)
		if err != nil {
			return err
		}
		for _, name := range skill.Files() {
			if _, err := skill.File(ctx, name); err != nil {
				return err
			}
		}
		fmt.Println(skill.ContextText())
	}
	return nil
}
