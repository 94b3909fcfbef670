package main

import (
	"context"
	"flag"
	"io"
	"maps"
	"slices"
	"strings"
	"text/template"
)

// completionArgs are the shells that the command "completion" knows.
var completionArgs = []string{"bash", "zsh", "fish", "powershell"}

func completionCommand() command {
	return command{
		name:    "completion",
		args:    "bash|zsh|fish|powershell",
		summary: "a script that completes commands and flags in your shell",
		about: `Prints a script. Let your shell read it when it starts:

  bash        source <(lookleap completion bash)         in ~/.bashrc
  zsh         source <(lookleap completion zsh)          in ~/.zshrc, after compinit
  fish        lookleap completion fish | source          in ~/.config/fish/config.fish
  powershell  lookleap completion powershell | Out-String | Invoke-Expression    in $PROFILE`,
		examples: `lookleap completion bash`,
		words:    completionArgs,
		build: func(*flag.FlagSet) action {
			return func(_ context.Context, s *session, args []string) error {
				if len(args) != 1 || !slices.Contains(completionArgs, args[0]) {
					return usagef("name one shell: %s", strings.Join(completionArgs, ", "))
				}
				return writeCompletion(s.stdout, args[0])
			}
		},
	}
}

// writeCompletion prints the script of a shell.
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
