package main

import (
	"context"
	_ "embed"
	"flag"
	"fmt"
	"io"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"text/template"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/agentstxt"
	"github.com/lookleap/lookleap/aiuri"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/internal/textdiff"
	"github.com/lookleap/lookleap/wellknown"
)

// helpText has a page for each command: its synopsis, what it is in one line, what it judges with the
// members of "value", and command lines as one would type them.
//
//go:embed help.txt
var helpText string

type page struct{ synopsis, summary, about, examples string }

var pages = func() map[string]page {
	all := make(map[string]page)
	for text := range strings.SplitSeq(strings.TrimPrefix(helpText, "=== "), "\n=== ") {
		name, text, _ := strings.Cut(text, "\n")
		synopsis, text, _ := strings.Cut(text, "\n\n")
		summary, text, _ := strings.Cut(text, "\n\n")
		about, examples, _ := strings.Cut(text, "\n\nExamples:\n")
		all[name] = page{synopsis, summary, about, strings.TrimSpace(examples)}
	}
	return all
}()

const helpWidth = 80

// writeHelp explains one command, or all of them when topic is "", as a manual page.
func writeHelp(w io.Writer, topic string) error {
	var b strings.Builder
	if topic == "" || topic == "help" {
		writeOverview(&b)
	} else if c, err := findCommand(topic); err == nil {
		writeCommand(&b, c)
	} else {
		return err
	}
	_, err := io.WriteString(w, wrap(b.String(), widthOf(w, helpWidth)))
	return err
}

func writeCommand(b *strings.Builder, c *command) {
	section(b, "NAME", "lookleap "+c.name+" - "+c.summary)
	section(b, "SYNOPSIS", c.synopsis)
	section(b, "DESCRIPTION", reflow(c.about))
	own := c.flags()
	writeFlags(b, "OPTIONS", own)
	section(b, "EXAMPLES", c.examples)
	status := exitStatus
	if own.Lookup("sarif") != nil { // it reports to continuous integration
		status += "\n3  a skill is not as it was locked" +
			"\n4  something could not be found out, such as with a server that does not answer"
	}
	section(b, "EXIT STATUS", status)
	section(b, "SEE ALSO", "lookleap help, for the options of all commands")
}

const exitStatus = `0  every input was accepted
1  an input was refused, or could not be judged
2  the command line is wrong: nothing was judged`

func writeOverview(b *strings.Builder) {
	section(b, "NAME", "lookleap - says what the library makes of a URL, a document or a site")
	section(b, "SYNOPSIS", "lookleap [OPTION…] COMMAND ARG…\nlookleap help [COMMAND]")
	section(b, "DESCRIPTION", `Each input is accepted or refused, and the result says why, where, and how to fix it.
Options can be written anywhere. "-" reads standard input. After "--", no word is an option.`)
	var list strings.Builder
	for _, c := range commands() {
		fmt.Fprintf(&list, "%-10s  %s\n", c.name, c.summary)
	}
	section(b, "COMMANDS", list.String())
	writeFlags(b, "OPTIONS OF ALL COMMANDS", commonFlags())
	section(b, "OUTPUT", `With --json every input prints one line:
{"input", "ok", "code", "message", "findings", "value", "verdict"}`)
	section(b, "ENVIRONMENT", "NO_COLOR  if it is not empty, no colors are printed")
	section(b, "EXIT STATUS", exitStatus+"\n3, 4  of skill and lock: see their help")
}

// reflow joins the lines of each paragraph, which wrap breaks again. Short lines stay as they are.
func reflow(text string) string {
	const full = 55 // a line of prose is at least so wide, unless its paragraph ends
	lines := strings.SplitAfter(text, "\n")
	for i, line := range lines[:len(lines)-1] {
		line = strings.TrimSuffix(line, "\n")
		prose := len(line) >= full && line[0] != ' ' && !strings.HasSuffix(line, ":")
		if next := lines[i+1]; prose && next != "" && !strings.ContainsAny(next[:1], "\n }") {
			lines[i] = line + " "
		}
	}
	return strings.Join(lines, "")
}

func section(b *strings.Builder, title, text string) {
	text = strings.ReplaceAll("\n"+strings.TrimSpace(text), "\n", "\n  ")
	fmt.Fprintf(b, "%s%s\n\n", title, strings.ReplaceAll(text, "\n  \n", "\n\n"))
}

// writeFlags lists a set of flags under a title, and nothing for an empty set.
func writeFlags(b *strings.Builder, title string, flags *flag.FlagSet) {
	var text strings.Builder
	flags.VisitAll(func(f *flag.Flag) {
		value, usage := flag.UnquoteUsage(f)
		fmt.Fprintf(&text, "%s\n    %s\n", strings.TrimSpace("--"+f.Name+" "+value), usage)
	})
	if text.Len() > 0 {
		section(b, title, text.String())
	}
}

func codeCommand(ctx context.Context, s *session, args []string) error {
	if len(args) == 0 {
		args = knownCodes()
	}
	return s.words(ctx, args, explainCode)
}

func knownCodes() (codes []string) {
	for code := range lookleap.Codes() {
		codes = append(codes, string(code))
	}
	return codes
}

func explainCode(_ context.Context, word string) result {
	code := lookleap.Code(word)
	if !code.Known() {
		fix := "lookleap code lists all codes"
		if near := textdiff.Nearest(word, knownCodes()); near != "" {
			fix = "did you mean " + near + "?"
		}
		return refuse(fault(lookleap.CodeUsage, "no check ends with the code "+plaintext.Quote(word, 80), fix))
	}
	r := accept(map[string]string{"code": word, "title": code.Title()})
	r.Message = code.Title()
	return r
}

func versionCommand(ctx context.Context, s *session, args []string) error {
	return s.judge(ctx, "lookleap", version)
}

func buildVersion() string {
	if build, ok := debug.ReadBuildInfo(); ok && build.Main.Version != "" {
		return build.Main.Version
	}
	return "(devel)"
}

func version(context.Context, string) result {
	documents := map[string]string{
		"agentstxt": agentstxt.Draft, "aiuri": aiuri.Draft, "anml": anml.Draft, "anmltrust": anmltrust.Draft,
		"dvs": dvs.Draft, "wellknown": wellknown.Spec,
	}
	var goVersion, commit string
	if build, ok := debug.ReadBuildInfo(); ok {
		goVersion = build.GoVersion
		for _, setting := range build.Settings {
			if setting.Key == "vcs.revision" {
				commit = setting.Value
			}
		}
	}
	suffixes := lookleap.PublicSuffixVersion()
	r := accept(map[string]any{"version": buildVersion(), "commit": commit, "go": goVersion, "publicSuffixList": suffixes,
		"documents": documents},
		row{"version", buildVersion()}, row{"commit", commit}, row{"go", goVersion}, row{"public suffix list", suffixes})
	for _, name := range slices.Sorted(maps.Keys(documents)) {
		r.row(name, documents[name])
	}
	return r
}

var shells = []string{"bash", "zsh", "fish", "powershell"}

func completionCommand(_ context.Context, s *session, args []string) error {
	if !slices.Contains(shells, args[0]) {
		return usagef("name one shell: %s", strings.Join(shells, ", "))
	}
	return writeCompletion(s.stdout, args[0])
}

func writeCompletion(w io.Writer, shell string) error {
	global := flagsOf(commonFlags())
	help := completed{Name: "help", Summary: "how to use a command", AllFlags: typed(global)}
	values := map[string]bool{}
	var all []completed
	for _, c := range commands() {
		own := flagsOf(c.flags())
		both := slices.Concat(own, global)
		all = append(all, completed{c.name, c.summary, strings.Join(c.words, " "), own, typed(both)})
		help.Words += c.name + " "
		for _, f := range both {
			if !isBool(f) {
				values["--"+f.Name] = true
			}
		}
	}
	help.Words += "help"
	return completions.ExecuteTemplate(w, shell, map[string]any{
		"names": help.Words, "flags": help.AllFlags, "global": global, "commands": append(all, help),
		"values": slices.Sorted(maps.Keys(values)),
	})
}

type completed struct {
	Name, Summary string
	Words         string // that are neither flags nor files
	Flags         []*flag.Flag
	AllFlags      string // with those of all commands, as they are typed
}

func flagsOf(set *flag.FlagSet) (flags []*flag.Flag) {
	set.VisitAll(func(f *flag.Flag) { flags = append(flags, f) })
	return flags
}

func typed(flags []*flag.Flag) string {
	var words []string
	for _, f := range flags {
		words = append(words, "--"+f.Name)
	}
	return strings.Join(words, " ")
}

// completionText has the scripts. They complete values, and the arguments of most commands, by the names of files.
//
//go:embed completion.txt
var completionText string

var completions = template.Must(template.New("").Funcs(template.FuncMap{
	"bool":  isBool,
	"join":  strings.Join,
	"quote": strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace,
	"trim":  strings.TrimSpace,
	"usage": func(f *flag.Flag) string { _, usage := flag.UnquoteUsage(f); return usage },
}).Parse(completionText))
