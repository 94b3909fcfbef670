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

// writeHelp explains one command, or all of them when topic is "". It is arranged like a manual
// page.
func writeHelp(w io.Writer, topic string) error {
	var b strings.Builder
	if topic == "" || topic == "help" {
		writeOverview(&b)
	} else {
		c, err := findCommand(topic)
		if err != nil {
			return err
		}
		writeCommand(&b, c)
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
	if own.Lookup("sarif") != nil {
		status += exitStatusReported
	}
	section(b, "EXIT STATUS", status)
	section(b, "SEE ALSO", "lookleap help, for the options of all commands")
}

const exitStatus = `0  every input was accepted
1  an input was refused, or could not be judged
2  the command line is wrong: nothing was judged`

// exitStatusReported is what commands that report to continuous integration add.
const exitStatusReported = `
3  a skill is not as it was locked
4  something could not be found out, such as with a server that does not answer`

func writeOverview(b *strings.Builder) {
	section(b, "NAME", "lookleap - says what the library makes of a URL, a document or a site")
	section(b, "SYNOPSIS", "lookleap [OPTION…] COMMAND ARG…\nlookleap help [COMMAND]")
	section(b, "DESCRIPTION", `Each input is accepted or refused, and the result says why, where, and how to fix it.
Options can be written anywhere. "-" reads standard input. After "--", no word is an option.`)
	b.WriteString("COMMANDS\n")
	for _, c := range commands() {
		fmt.Fprintf(b, "  %-10s  %s\n", c.name, c.summary)
	}
	b.WriteByte('\n')
	writeFlags(b, "OPTIONS OF ALL COMMANDS", commonFlags())
	section(b, "OUTPUT", `With --json every input prints one line:
{"input", "ok", "code", "message", "findings", "value", "verdict"}`)
	section(b, "ENVIRONMENT", "NO_COLOR  if it is not empty, no colors are printed")
	section(b, "EXIT STATUS", exitStatus+"\n3, 4  of skill and lock: see their help")
}

// reflow joins the lines of each paragraph, which wrap breaks again. Short lines, such as those of
// tables and of JSON, stay as they are.
func reflow(text string) string {
	const full = 55 // a line of prose is at least so wide, unless its paragraph ends
	var b strings.Builder
	joins := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if b.Len() > 0 {
			if joins && line != "" && line[0] != ' ' && line[0] != '}' {
				b.WriteByte(' ')
			} else {
				b.WriteByte('\n')
			}
		}
		b.WriteString(line)
		joins = len(line) >= full && line[0] != ' ' && !strings.HasSuffix(line, ":")
	}
	return b.String()
}

func section(b *strings.Builder, title, text string) {
	fmt.Fprintln(b, title)
	for line := range strings.Lines(strings.TrimSpace(text)) {
		line = strings.TrimRight(line, "\n")
		if line != "" {
			line = "  " + line
		}
		fmt.Fprintln(b, line)
	}
	fmt.Fprintln(b)
}

// writeFlags lists a set of flags under a title, and nothing for an empty set.
func writeFlags(b *strings.Builder, title string, flags *flag.FlagSet) {
	count := 0
	flags.VisitAll(func(f *flag.Flag) {
		count++
		if count == 1 {
			fmt.Fprintln(b, title)
		}
		value, usage := flag.UnquoteUsage(f)
		fmt.Fprintf(b, "  %s\n      %s\n", strings.TrimSpace("--"+f.Name+" "+value), usage)
	})
	if count > 0 {
		fmt.Fprintln(b)
	}
}

func codeCommand(*flag.FlagSet) action {
	return func(ctx context.Context, s *session, args []string) error {
		if len(args) == 0 {
			args = knownCodes()
		}
		return s.words(ctx, args, explainCode)
	}
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
		return refuse(&lookleap.Error{Code: lookleap.CodeUsage,
			Message: "no check ends with the code " + plaintext.Quote(word, 80), Fix: fix})
	}
	r := accept(map[string]string{"code": word, "title": code.Title()})
	r.Message = code.Title()
	return r
}

func versionCommand(*flag.FlagSet) action {
	return func(ctx context.Context, s *session, args []string) error {
		if len(args) > 0 {
			return usagef("version takes no arguments")
		}
		return s.judge(ctx, "lookleap", version)
	}
}

type versionValue struct {
	Version          string            `json:"version"`
	Commit           string            `json:"commit"`
	Go               string            `json:"go"`
	PublicSuffixList string            `json:"publicSuffixList"`
	Documents        map[string]string `json:"documents"`
}

func buildVersion() string {
	if build, ok := debug.ReadBuildInfo(); ok && build.Main.Version != "" {
		return build.Main.Version
	}
	return "(devel)"
}

func version(context.Context, string) result {
	value := versionValue{Version: buildVersion(), PublicSuffixList: lookleap.PublicSuffixVersion(), Documents: map[string]string{
		"agentstxt": agentstxt.Draft, "aiuri": aiuri.Draft, "anml": anml.Draft, "anmltrust": anmltrust.Draft, "dvs": dvs.Draft, "wellknown": wellknown.Spec,
	}}
	if build, ok := debug.ReadBuildInfo(); ok {
		value.Go = build.GoVersion
		for _, setting := range build.Settings {
			if setting.Key == "vcs.revision" {
				value.Commit = setting.Value
			}
		}
	}
	r := accept(value, row{"version", value.Version}, row{"commit", value.Commit}, row{"go", value.Go}, row{"public suffix list", value.PublicSuffixList})
	for _, name := range slices.Sorted(maps.Keys(value.Documents)) {
		r.row(name, value.Documents[name])
	}
	return r
}

var completionArgs = []string{"bash", "zsh", "fish", "powershell"}

func completionCommand(*flag.FlagSet) action {
	return func(_ context.Context, s *session, args []string) error {
		if len(args) != 1 || !slices.Contains(completionArgs, args[0]) {
			return usagef("name one shell: %s", strings.Join(completionArgs, ", "))
		}
		return writeCompletion(s.stdout, args[0])
	}
}

func writeCompletion(w io.Writer, shell string) error {
	global := completed{Flags: flagsOf(commonFlags())}
	help := completed{Name: "help", Summary: "how to use a command", AllFlags: flagWords(global.Flags)}
	values := map[string]bool{}
	var all []completed
	for _, c := range commands() {
		own := flagsOf(c.flags())
		all = append(all, completed{c.name, c.summary, strings.Join(c.words, " "), own, flagWords(slices.Concat(own, global.Flags))})
		help.Words += c.name + " "
		for _, f := range slices.Concat(own, global.Flags) {
			if !f.Bool {
				values["--"+f.Name] = true
			}
		}
	}
	help.Words += "help"
	return completions.ExecuteTemplate(w, shell, map[string]any{
		"names": help.Words, "flags": help.AllFlags, "global": global, "commands": append(all, help), "values": slices.Sorted(maps.Keys(values)),
	})
}

// completed is what a script completes after a command.
type completed struct {
	Name, Summary string
	Words         string // that are neither flags nor files
	Flags         []completedFlag
	AllFlags      string // with those of all commands, as they are typed
}

type completedFlag struct {
	Name, Usage string
	Bool        bool
}

func flagsOf(set *flag.FlagSet) (flags []completedFlag) {
	set.VisitAll(func(f *flag.Flag) {
		_, usage := flag.UnquoteUsage(f)
		flags = append(flags, completedFlag{f.Name, usage, isBool(f)})
	})
	return flags
}

func flagWords(flags []completedFlag) string {
	var words []string
	for _, f := range flags {
		words = append(words, "--"+f.Name)
	}
	return strings.Join(words, " ")
}

// completions are the scripts. Values, and the arguments of most commands, are completed by the names of files.
var completions = template.Must(template.New("").Funcs(template.FuncMap{
	"join":  strings.Join,
	"quote": strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace,
	"trim":  strings.TrimSpace,
}).Parse(`{{define "zsh"}}autoload -U +X bashcompinit && bashcompinit
{{template "bash" .}}{{end}}

{{define "bash"}}_lookleap() {
  local word=${COMP_WORDS[COMP_CWORD]} words='{{.names}}' flags='{{.flags}}' i
  COMPREPLY=()
  case ${COMP_WORDS[COMP_CWORD-1]} in {{join .values "|"}}) return ;; esac
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
      {{join .values "|"}}) i=$((i + 1)) ;;
{{range .commands}}      {{.Name}}) words='{{.Words}}' flags='{{.AllFlags}}'; break ;;
{{end}}    esac
  done
  [[ $word == -* ]] && words=$flags
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _lookleap lookleap
{{end}}

{{define "flag"}}-l {{.Name}}{{if not .Bool}} -r{{end}} -d '{{quote .Usage}}'
{{end}}

{{define "fish"}}function __lookleap_command
  set -l found
  set -l value no
  for word in (commandline -opc)[2..-1]
    if test $value = yes
      set value no
    else if contains -- $word {{join .values " "}}
      set value yes
    else if not string match -q -- '-*' $word
      set found $word
      break
    end
  end
  test "$found" = "$argv[1]"
end
{{range .commands}}complete -c lookleap -n '__lookleap_command ""' -f -a {{.Name}} -d '{{quote .Summary}}'
{{end}}{{range .global.Flags}}complete -c lookleap {{template "flag" .}}{{end -}}
{{range $c := .commands}}{{range .Flags}}complete -c lookleap -n '__lookleap_command "{{$c.Name}}"' {{template "flag" .}}{{end -}}
{{if .Words}}complete -c lookleap -n '__lookleap_command "{{.Name}}"' -f -a '{{.Words}}'
{{end}}{{end}}{{end}}

{{define "powershell"}}Register-ArgumentCompleter -Native -CommandName lookleap -ScriptBlock {
  param($word, $line, $cursor)
  $words = '{{.names}} {{.flags}}'
  foreach ($element in $line.CommandElements) {
    switch ($element.ToString()) {
{{range .commands}}      '{{.Name}}' { $words = '{{trim (print .Words " " .AllFlags)}}' }
{{end}}    }
  }
  $words -split ' ' | Where-Object { $_ -like "$word*" } | ForEach-Object { [System.Management.Automation.CompletionResult]::new($_) }
}
{{end}}`))
