// Conformance is the server and the client that the npm package
// @modelcontextprotocol/conformance tests (SEP-2640). .ci/run conformance-mcp runs it.
//
//	conformance server ADDRESS
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
	lookleapmcp "github.com/lookleap/lookleap/contrib/mcp"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/lookleaptest"
)

func main() {
	err := errors.New("use: conformance server ADDRESS, or conformance client URL")
	if len(os.Args) == 3 {
		switch os.Args[1] {
		case "server":
			err = serve(context.Background(), os.Args[2])
		case "client":
			err = load(context.Background(), os.Args[2])
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
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	fmt.Printf("http://%s\n", listener.Addr())
	return (&http.Server{Handler: server.Handler()}).Serve(listener)
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
