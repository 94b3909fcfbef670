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
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/contrib/hostflags"
	"github.com/lookleap/lookleap/internal/domain"
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

// misused says what is wrong with a command line, and where help is: about a command or all.
func misused(stderr io.Writer, topic string, err error) int {
	fmt.Fprintf(stderr, "%s: %s\nTry: %s\n", strings.TrimSpace("lookleap "+topic), visible(err.Error()),
		strings.TrimSpace("lookleap help "+topic))
	return exitUsage
}

type usageError string

func (e usageError) Error() string             { return string(e) }
func (e usageError) ReasonCode() lookleap.Code { return lookleap.CodeUsage }

func usagef(format string, args ...any) error { return usageError(fmt.Sprintf(format, args...)) }

// commands is what lookleap can look at, in the order of its help.
func commands() []command {
	const many = 1 << 20
	all := []command{
		{name: "url", build: urlCommand},
		{name: "dns", build: bare(dnsCommand), named: true, args: counted{1, 2, "give a name and perhaps a type"}},
		{name: "wellknown", build: wellknownCommand},
		{name: "agentstxt", build: agentstxtCommand,
			args: counted{1, many, "give at least one file or URL, or - for standard input"}},
		{name: "anml", build: anmlCommand},
		{name: "skill", build: skillCommand, words: installWords,
			args: counted{1, many, "give at least one file, directory or URL, or - for standard input"}},
		{name: "skills", build: skillsCommand, sites: true},
		{name: "lock", build: lockCommand, named: true, args: counted{1, many, "give at least one directory or URL"}},
		{name: "policy", build: bare(policyCommand), named: true, args: counted{1, many, "name a policy file"}},
		{name: "feed", build: feedCommand, named: true},
		{name: "trust", build: trustCommand, named: true,
			args: counted{2, 2, "give the URL that served the document, and the site that it claims"}},
		{name: "record", build: recordCommand},
		{name: "manifest", build: manifestCommand},
		{name: "replay", build: bare(replayCommand)},
		{name: "aiuri", build: aiuriCommand},
		{name: "aiip", build: aiipCommand, sites: true},
		{name: "jws", build: jwsCommand},
		{name: "receipt", build: receiptCommand, words: []string{"verify"}},
		{name: "ledger", build: ledgerCommand, words: []string{"verify"}},
		{name: "site", build: siteCommand, sites: true},
		{name: "doctor", build: bare(doctorCommand), sites: true},
		{name: "publish", build: publishCommand, args: counted{1, 1, "name one directory"}},
		{name: "serve", build: serveCommand, args: counted{0, 0, "serve takes no arguments: URLs are typed on the page"}},
		{name: "code", build: bare(codeCommand), words: knownCodes()},
		{name: "completion", build: bare(completionCommand), words: shells,
			args: counted{1, 1, "name one shell: " + strings.Join(shells, ", ")}},
		{name: "version", build: bare(versionCommand), args: counted{0, 0, "version takes no arguments"}},
	}
	for i := range all {
		all[i].page = pages[all[i].name]
	}
	return all
}

type command struct {
	page
	name  string
	sites bool     // its arguments are sites: example.com stands for https://example.com
	named bool     // its arguments are names: "-" is not standard input
	args  counted  // zero: any number
	words []string // that may follow it, for completion

	// build declares the command's own flags and returns what runs once they are parsed.
	build func(flags *flag.FlagSet) action
}

// counted is how many arguments a command takes, and what it says about another number.
type counted struct {
	least, most int
	otherwise   string
}

// action judges the inputs. Its error is a [usageError], or says why it did not judge all of them.
type action func(ctx context.Context, s *session, args []string) error

// bare returns the build of a command without flags of its own.
func bare(run action) func(*flag.FlagSet) action {
	return func(*flag.FlagSet) action { return run }
}

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

type commandLine struct {
	help    bool
	topic   string // the command, or what help is about; "" is everything
	action  action
	args    []string // arguments after the command, without flags
	options options
}

type options struct {
	hostflags.Flags
	json    bool
	noColor bool
	html    string
	timeout time.Duration
}

// defaultTimeout bounds the judgement of one input.
const defaultTimeout = 30 * time.Second

func (o *options) declare(flags *flag.FlagSet) {
	flags.BoolVar(&o.json, "json", false, "print one JSON object a line for each input")
	flags.BoolVar(&o.noColor, "no-color", false, "print no colors; so does the environment variable NO_COLOR")
	flags.StringVar(&o.html, "html", "", "also write the results to `FILE` as a page")
	o.Declare(flags)
	flags.DurationVar(&o.timeout, "timeout", defaultTimeout, "`TIME` for each input, for instance 5s")
}

// parseLine reads a command line. Flags may stand anywhere; "--" makes words of all that follows.
// Every error is a [usageError], and comes with the topic of the help.
func parseLine(args []string) (*commandLine, error) {
	given, words := split(args)
	name := strings.Join(words[:min(len(words), 1)], "")
	line := &commandLine{args: words[min(len(words), 1):]}
	flags := newFlags(name)
	line.options.declare(flags)
	c := new(command)
	if name != "" && name != "help" {
		var err error
		if c, err = findCommand(name); err != nil {
			return line, err
		}
		line.topic, line.action = name, c.build(flags)
	}
	switch err := flags.Parse(given); {
	case errors.Is(err, flag.ErrHelp):
		line.help = true
		return line, nil
	case err != nil:
		return line, usagef("%s", plainFlagError.Replace(err.Error()))
	case slices.ContainsFunc(given, isEmpty):
		return line, usagef("a flag has an empty value")
	case name == "":
		return line, usagef("say what to look at")
	case name == "help" && len(line.args) > 1:
		return line, usagef("help explains one command at a time")
	case name == "help":
		line.help, line.topic = true, strings.Join(line.args, "")
		return line, nil
	case c.args.otherwise != "" && (len(line.args) < c.args.least || len(line.args) > c.args.most):
		return line, usagef("%s", c.args.otherwise)
	case c.named && slices.Contains(line.args, "-"):
		return line, usagef("this command does not read standard input")
	case len(slices.DeleteFunc(slices.Clone(line.args), func(word string) bool { return word != "-" })) > 1:
		return line, usagef("- may be given once: standard input is read only once")
	case line.options.timeout <= 0:
		return line, usagef("--timeout must be more than nothing")
	}
	for i, arg := range line.args {
		url, err := line.options.URL(arg)
		if err != nil {
			return line, usagef("%v", err)
		}
		if c.sites {
			url = siteURL(url)
		}
		line.args[i] = url
	}
	return line, nil
}

// siteURL returns the https URL of a site that is named as people do. Other words stay as they are.
func siteURL(word string) string {
	if _, err := domain.Parse("https://" + word); err != nil || strings.Contains(word, "://") {
		return word
	}
	return "https://" + word
}

// isEmpty reports whether a value is empty: most often that of a variable that was not set.
func isEmpty(word string) bool {
	return word == "" || word[0] == '-' && strings.HasSuffix(word, "=")
}

// plainFlagError turns what package flag says into the words of the help.
var plainFlagError = strings.NewReplacer(
	"flag provided but not defined: -", "there is no flag --",
	"flag needs an argument: -", "a value is missing after --",
	" for flag -", " for --",
	" for -", " for --",
)

// newFlags returns an empty set that prints nothing itself: run makes texts visible.
func newFlags(name string) *flag.FlagSet {
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	return flags
}

// split tells flags, each followed by its value, from words. Since flags may stand before the
// command, a name takes a value in all commands or in none (a test sees to it).
func split(args []string) (given, words []string) {
	known := allFlags()
	for i := 0; i < len(args); i++ {
		word := args[i]
		switch {
		case word == "--":
			return given, append(words, args[i+1:]...)
		case len(word) < 2 || word[0] != '-': // "-" is a word
			words = append(words, word)
		default:
			given = append(given, word)
			// The name of --name=value is not a known one, since the value is in the word already.
			if f := known.Lookup(strings.TrimPrefix(word[1:], "-")); f != nil && !isBool(f) && i+1 < len(args) {
				i++
				given = append(given, args[i])
			}
		}
	}
	return given, words
}

func commonFlags() *flag.FlagSet {
	set := newFlags("")
	new(options).declare(set)
	return set
}

func allFlags() *flag.FlagSet {
	all := commonFlags()
	for _, c := range commands() {
		c.flags().VisitAll(func(f *flag.Flag) {
			if all.Lookup(f.Name) == nil {
				all.Var(f.Value, f.Name, f.Usage)
			}
		})
	}
	return all
}

func isBool(f *flag.Flag) bool {
	b, ok := f.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}

type repeated []string

func (r *repeated) String() string { return strings.Join(*r, " ") }

func (r *repeated) Set(value string) error {
	*r = append(*r, value)
	return nil
}
