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

// completion is what a script completes.
type completion struct {
	names  []string                // the commands
	flags  map[string][]*flag.Flag // of each command alone; "": of all commands
	values []string                // the flags that a value follows
}

func newCompletion() completion {
	c := completion{flags: map[string][]*flag.Flag{}}
	add := func(name string, set *flag.FlagSet) {
		set.VisitAll(func(f *flag.Flag) {
			c.flags[name] = append(c.flags[name], f)
			if word := "--" + f.Name; !isBool(f) && !slices.Contains(c.values, word) {
				c.values = append(c.values, word)
			}
		})
	}
	add("", commonFlags())
	for _, command := range commands() {
		c.names = append(c.names, command.name)
		add(command.name, command.flags())
	}
	c.names = append(c.names, "help")
	slices.Sort(c.values)
	return c
}

// words returns what can follow a command that is neither a flag nor a file.
func (c completion) words(name string) []string {
	if name == "help" {
		return c.names
	}
	for _, command := range commands() {
		if command.name == name {
			return command.words
		}
	}
	return nil
}

// flagWords returns the flags of a command and those of all commands as they are typed.
func (c completion) flagWords(name string) string {
	flags := c.flags[""]
	if name != "" {
		flags = slices.Concat(c.flags[name], flags)
	}
	words := make([]string, len(flags))
	for i, f := range flags {
		words[i] = "--" + f.Name
	}
	return strings.Join(words, " ")
}

// writeCompletion prints the script of a shell.
func writeCompletion(w io.Writer, shell string) error {
	c := newCompletion()
	script := map[string]func() string{"bash": c.bash, "zsh": c.zsh, "fish": c.fish, "powershell": c.powershell}[shell]
	_, err := io.WriteString(w, script())
	return err
}

func (c completion) zsh() string { return "autoload -U +X bashcompinit && bashcompinit\n" + c.bash() }

// bash completes a value, and the argument of most commands, by the names of files.
func (c completion) bash() string {
	var b strings.Builder
	values := strings.Join(c.values, "|")
	fmt.Fprintf(&b, `_lookleap() {
  local word=${COMP_WORDS[COMP_CWORD]} words='%s' flags='%s' i
  COMPREPLY=()
  case ${COMP_WORDS[COMP_CWORD-1]} in %s) return ;; esac
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
      %[3]s) i=$((i + 1)) ;;
`, strings.Join(c.names, " "), c.flagWords(""), values)
	for _, name := range c.names {
		fmt.Fprintf(&b, "      %s) words='%s' flags='%s'; break ;;\n", name, strings.Join(c.words(name), " "), c.flagWords(name))
	}
	b.WriteString(`    esac
  done
  [[ $word == -* ]] && words=$flags
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _lookleap lookleap
`)
	return b.String()
}

func (c completion) fish() string {
	var b strings.Builder
	fmt.Fprintf(&b, `function __lookleap_command
  set -l found
  set -l value no
  for word in (commandline -opc)[2..-1]
    if test $value = yes
      set value no
    else if contains -- $word %s
      set value yes
    else if not string match -q -- '-*' $word
      set found $word
      break
    end
  end
  test "$found" = "$argv[1]"
end
`, strings.Join(c.values, " "))
	line := func(name, rest string) {
		fmt.Fprintf(&b, "complete -c lookleap -n '__lookleap_command \"%s\"' %s\n", name, rest)
	}
	quote := strings.NewReplacer(`\`, `\\`, "'", `\'`)
	flags := func(set []*flag.Flag, prefix string) {
		for _, f := range set {
			_, usage := flag.UnquoteUsage(f)
			value := ""
			if !isBool(f) {
				value = " -r"
			}
			fmt.Fprintf(&b, "complete -c lookleap %s-l %s%s -d '%s'\n", prefix, f.Name, value, quote.Replace(usage))
		}
	}
	for _, command := range commands() {
		line("", "-f -a "+command.name+" -d '"+quote.Replace(command.summary)+"'")
	}
	line("", "-f -a help -d 'how to use a command'")
	flags(c.flags[""], "")
	for _, name := range c.names {
		flags(c.flags[name], "-n '__lookleap_command \""+name+"\"' ")
		if words := c.words(name); words != nil {
			line(name, "-f -a '"+strings.Join(words, " ")+"'")
		}
	}
	return b.String()
}

func (c completion) powershell() string {
	var b strings.Builder
	all := strings.Join(c.names, " ") + " " + c.flagWords("")
	fmt.Fprintf(&b, "Register-ArgumentCompleter -Native -CommandName lookleap -ScriptBlock {\n  param($word, $line, $cursor)\n  $words = '%s'\n  foreach ($element in $line.CommandElements) {\n    switch ($element.ToString()) {\n", all)
	for _, name := range c.names {
		fmt.Fprintf(&b, "      '%s' { $words = '%s' }\n", name, strings.TrimSpace(strings.Join(c.words(name), " ")+" "+c.flagWords(name)))
	}
	b.WriteString("    }\n  }\n  $words -split ' ' | Where-Object { $_ -like \"$word*\" } | ForEach-Object { [System.Management.Automation.CompletionResult]::new($_) }\n}\n")
	return b.String()
}
