package main

import (
	"context"
	"flag"

	"github.com/lookleap/lookleap/internal/textdiff"
)

// commands is what lookleap can look at, in the order of its help.
func commands() []command {
	return []command{
		urlCommand(),
		dnsCommand(),
		wellknownCommand(),
		agentstxtCommand(),
		anmlCommand(),
		skillCommand(),
		skillsCommand(),
		lockCommand(),
		policyCommand(),
		feedCommand(),
		trustCommand(),
		recordCommand(),
		manifestCommand(),
		replayCommand(),
		aiuriCommand(),
		aiipCommand(),
		jwsCommand(),
		receiptCommand(),
		ledgerCommand(),
		siteCommand(),
		doctorCommand(),
		publishCommand(),
		serveCommand(),
		codeCommand(),
		completionCommand(),
		versionCommand(),
	}
}

// command is one thing that lookleap can look at.
type command struct {
	name     string
	args     string   // its arguments and flags, as usage shows them
	summary  string   // one line
	about    string   // what is judged, and the members of "value"
	examples []string // command lines as one would type them
	sites    bool     // its arguments are sites: example.com stands for https://example.com
	words    []string // that may follow it, for completion

	// build declares the command's own flags and returns what runs once they are parsed.
	build func(flags *flag.FlagSet) action
}

// action judges the inputs that the arguments name. Its error is a
// [usageError], or says why not all of them could be judged.
type action func(ctx context.Context, s *session, args []string) error

// findCommand returns the command of that name.
func findCommand(name string) (command, error) {
	for _, c := range commands() {
		if c.name == name {
			return c, nil
		}
	}
	var names []string
	for _, c := range commands() {
		names = append(names, c.name)
	}
	if near := textdiff.Nearest(name, names); near != "" {
		return command{}, usagef("there is no command %q; did you mean %s?", name, near)
	}
	return command{}, usagef("there is no command %q", name)
}
