// Lookleap shows what the library makes of an input: a URL, a policy, a record, a
// document. It is the library seen from a shell: it accepts or it refuses, and
// says why, where, and how to fix it.
//
//	lookleap [--json] COMMAND ARG…
//	lookleap help [COMMAND]
//
// To add a command, see "A new command" in CONTRIBUTING.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/textdiff"
)

// The exit codes, the same for every command.
const (
	exitAccepted = 0 // every input was accepted
	exitRefused  = 1 // at least one was refused
	exitUsage    = 2 // nothing was judged: the command line is wrong

	// Only of skill --policy and lock --check, where exitRefused counts before the others.
	exitChanged   = 3 // a skill is not as it was locked
	exitUnchecked = 4 // something could not be found out, such as a server that does not answer
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// Reading a terminal or a pipe does not end with the context. All else does, webpage.Serve
	// two seconds later.
	context.AfterFunc(ctx, func() {
		stop()
		time.AfterFunc(3*time.Second, func() { os.Exit(exitRefused) })
	})
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is the whole program: arguments without the program's name in, exit code out.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	line, err := parseLine(args)
	if err != nil {
		return misused(stderr, line.topic, err)
	}
	if line.help {
		if err := writeHelp(stdout, line.topic); err != nil {
			return misused(stderr, "", err)
		}
		return exitAccepted
	}
	if skipped := line.options.Skipped(); len(skipped) > 0 {
		fmt.Fprintf(stderr, "DEVELOPMENT MODE. Not checked:\n  - %s\n", strings.Join(skipped, "\n  - "))
	}
	s, err := newSession(line.options, stdin, stdout, stderr)
	if err == nil { // a network flag that is wrong is wrong for every command
		defer s.close()
		err = errors.Join(line.action(ctx, s, line.args), s.writeHTML(), s.report.write(stdout))
	}
	var usage usageError
	switch {
	case errors.As(err, &usage):
		return misused(stderr, line.topic, err)
	case err != nil:
		fmt.Fprintf(stderr, "lookleap %s: %s\n", line.topic, visible(err.Error()))
		return exitRefused
	case s.report != nil:
		return s.report.exit()
	case s.refused > 0:
		return exitRefused
	}
	return exitAccepted
}

// misused says what is wrong with a command line, and where help is: about one
// command, or with topic "" about all.
func misused(stderr io.Writer, topic string, err error) int {
	fmt.Fprintf(stderr, "%s: %s\nTry: %s\n", strings.TrimSpace("lookleap "+topic), visible(err.Error()),
		strings.TrimSpace("lookleap help "+topic))
	return exitUsage
}

// usageError is a command line that cannot be carried out.
type usageError string

func (e usageError) Error() string             { return string(e) }
func (e usageError) ReasonCode() lookleap.Code { return lookleap.CodeUsage }

func usagef(format string, args ...any) error { return usageError(fmt.Sprintf(format, args...)) }

// commands is what lookleap can look at, in the order of its help.
func commands() []command {
	all := []command{
		{name: "url", build: urlCommand},
		{name: "dns", named: true, build: dnsCommand},
		{name: "wellknown", build: wellknownCommand},
		{name: "agentstxt", build: agentstxtCommand},
		{name: "anml", build: anmlCommand},
		{name: "skill", words: installWords, build: skillCommand},
		{name: "skills", sites: true, build: skillsCommand},
		{name: "lock", named: true, build: lockCommand},
		{name: "policy", named: true, build: policyCommand},
		{name: "feed", named: true, build: feedCommand},
		{name: "trust", named: true, build: trustCommand},
		{name: "record", build: recordCommand},
		{name: "manifest", build: manifestCommand},
		{name: "replay", build: replayCommand},
		{name: "aiuri", build: aiuriCommand},
		{name: "aiip", sites: true, build: aiipCommand},
		{name: "jws", build: jwsCommand},
		{name: "receipt", words: []string{"verify"}, build: receiptCommand},
		{name: "ledger", words: []string{"verify"}, build: ledgerCommand},
		{name: "site", sites: true, build: siteCommand},
		{name: "doctor", sites: true, build: doctorCommand},
		{name: "publish", build: publishCommand},
		{name: "serve", build: serveCommand},
		{name: "code", words: knownCodes(), build: codeCommand},
		{name: "completion", words: completionArgs, build: completionCommand},
		{name: "version", build: versionCommand},
	}
	for i := range all {
		all[i].page = pages[all[i].name]
	}
	return all
}

// command is one thing that lookleap can look at.
type command struct {
	page
	name  string
	sites bool     // its arguments are sites: example.com stands for https://example.com
	named bool     // its arguments are names: "-" is not standard input
	words []string // that may follow it, for completion

	// build declares the command's own flags and returns what runs once they are parsed.
	build func(flags *flag.FlagSet) action
}

// action judges the inputs that the arguments name. Its error is a
// [usageError], or says why not all of them could be judged.
type action func(ctx context.Context, s *session, args []string) error

// flags returns the command's own flags. They are parsed for their names only.
func (c *command) flags() *flag.FlagSet {
	set := newFlags(c.name)
	c.build(set)
	return set
}

func findCommand(name string) (*command, error) {
	var names []string
	for _, c := range commands() {
		if c.name == name {
			return &c, nil
		}
		names = append(names, c.name)
	}
	if near := textdiff.Nearest(name, names); near != "" {
		return nil, usagef("there is no command %q; did you mean %s?", name, near)
	}
	return nil, usagef("there is no command %q", name)
}
