package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
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
		examples: []string{"lookleap completion bash"},
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
	var names []string
	flagsOf := map[string]string{} // by command
	global := newFlags("")
	new(options).declare(global)
	for _, c := range commands() {
		names = append(names, c.name)
		own := newFlags(c.name)
		c.build(own)
		words := append(flagNames(own), flagNames(global)...)
		if c.name == "completion" {
			words = append(completionArgs, words...)
		}
		flagsOf[c.name] = strings.Join(words, " ")
	}
	names = append(names, "help")
	flagsOf["help"] = strings.Join(names, " ")
	all := strings.Join(append(slices.Clone(names), flagNames(global)...), " ")
	var b strings.Builder
	switch shell {
	case "zsh", "bash":
		if shell == "zsh" {
			b.WriteString("autoload -U +X bashcompinit && bashcompinit\n")
		}
		fmt.Fprintf(&b, "_lookleap() {\n  local word=${COMP_WORDS[COMP_CWORD]} words='%s' i\n  for ((i = 1; i < COMP_CWORD; i++)); do\n    case ${COMP_WORDS[i]} in\n", all)
		for _, name := range names {
			fmt.Fprintf(&b, "      %s) words='%s'; break ;;\n", name, flagsOf[name])
		}
		b.WriteString("    esac\n  done\n  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n}\ncomplete -o default -F _lookleap lookleap\n")
	case "fish":
		for _, c := range commands() {
			fmt.Fprintf(&b, "complete -c lookleap -n __fish_use_subcommand -a %s -d '%s'\n", c.name, strings.ReplaceAll(c.summary, "'", `\'`))
		}
		b.WriteString("complete -c lookleap -n __fish_use_subcommand -a help -d 'how to use a command'\n")
		for _, name := range names {
			for word := range strings.FieldsSeq(flagsOf[name]) {
				if flag, ok := strings.CutPrefix(word, "--"); ok {
					fmt.Fprintf(&b, "complete -c lookleap -n '__fish_seen_subcommand_from %s' -l %s\n", name, flag)
				} else {
					fmt.Fprintf(&b, "complete -c lookleap -n '__fish_seen_subcommand_from %s' -a %s\n", name, word)
				}
			}
		}
	case "powershell":
		fmt.Fprintf(&b, "Register-ArgumentCompleter -Native -CommandName lookleap -ScriptBlock {\n  param($word, $line, $cursor)\n  $words = '%s'\n  foreach ($element in $line.CommandElements) {\n    switch ($element.ToString()) {\n", all)
		for _, name := range names {
			fmt.Fprintf(&b, "      '%s' { $words = '%s' }\n", name, flagsOf[name])
		}
		b.WriteString("    }\n  }\n  $words -split ' ' | Where-Object { $_ -like \"$word*\" } | ForEach-Object { [System.Management.Automation.CompletionResult]::new($_) }\n}\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// flagNames returns the flags of a set as they are typed.
func flagNames(flags *flag.FlagSet) (names []string) {
	flags.VisitAll(func(f *flag.Flag) { names = append(names, "--"+f.Name) })
	return names
}
