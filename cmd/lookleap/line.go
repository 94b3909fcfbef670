package main

import (
	"errors"
	"flag"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/lookleap/lookleap/contrib/hostflags"
	"github.com/lookleap/lookleap/internal/domain"
)

type commandLine struct {
	help    bool
	topic   string // the command, or what help is about; "" is everything
	action  action
	args    []string // arguments after the command, without flags
	options options
}

// options are the flags that every command takes.
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

// parseLine reads a command line. Flags may stand anywhere, before the command
// too; "--" makes words of all that follows. Every error is a [usageError], and
// comes with as much of the line as says what help would be about.
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

// siteURL returns the https URL of a site that is named as people do: example.com. Other words stay as they
// are.
func siteURL(word string) string {
	if _, err := domain.Parse("https://" + word); err != nil || strings.Contains(word, "://") {
		return word
	}
	return "https://" + word
}

// isEmpty tells an empty value, or a flag with one: most often a variable of a
// shell that was not set, and never a wish for the default.
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

// newFlags returns an empty set that prints nothing itself: run reports, with
// control characters made visible.
func newFlags(name string) *flag.FlagSet {
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	return flags
}

// split tells flags, each followed by its value, from words. Since flags may
// stand before the command, it goes by the flags of all commands: a name takes
// a value in each of them or in none (a test sees to it).
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

// allFlags is the union of the flags of all commands.
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
