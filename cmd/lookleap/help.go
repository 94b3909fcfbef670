package main

import (
	"flag"
	"fmt"
	"io"
	"strings"
)

// writeHelp explains one command, or all of them when topic is "".
func writeHelp(w io.Writer, topic string) error {
	if topic == "" || topic == "help" {
		writeOverview(w)
		return nil
	}
	c, err := findCommand(topic)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "lookleap %s %s\n\n%s\n\n", c.name, c.args, strings.TrimSpace(c.about))
	own := newFlags(c.name)
	c.build(own)
	writeFlags(w, "Flags", own)
	fmt.Fprintln(w, "Examples:")
	for _, example := range c.examples {
		fmt.Fprintf(w, "  %s\n", example)
	}
	fmt.Fprintln(w, "\nThe flags of all commands: lookleap help")
	return nil
}

func writeOverview(w io.Writer) {
	fmt.Fprint(w, `lookleap [--json] COMMAND ARG…
lookleap help [COMMAND]

Says what lookleap makes of each input: accepted or refused, why, where, and how
to fix it. Flags may stand anywhere; - reads standard input.

Commands:
`)
	for _, c := range commands() {
		fmt.Fprintf(w, "  %-10s %s\n", c.name, c.summary)
	}
	fmt.Fprintln(w)
	global := newFlags("lookleap")
	new(options).declare(global)
	writeFlags(w, "Flags of all commands", global)
	fmt.Fprint(w, `With --json every input prints one line:
  {"input", "ok", "code", "message", "findings", "value", "verdict"}

Exit code: 0 all inputs accepted, 1 any refused, 2 wrong usage.
`)
}

// writeFlags lists a set of flags under a title, and nothing for an empty set.
func writeFlags(w io.Writer, title string, flags *flag.FlagSet) {
	count := 0
	flags.VisitAll(func(f *flag.Flag) {
		if count == 0 {
			fmt.Fprintf(w, "%s:\n", title)
		}
		count++
		value, usage := flag.UnquoteUsage(f)
		fmt.Fprintf(w, "  %-20s %s\n", strings.TrimSpace("--"+f.Name+" "+value), usage)
	})
	if count > 0 {
		fmt.Fprintln(w)
	}
}
