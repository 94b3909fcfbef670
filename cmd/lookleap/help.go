package main

import (
	"flag"
	"fmt"
	"io"
	"strings"
)

// helpWidth is the width of help that is not shown on a terminal.
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
	section(b, "SYNOPSIS", "lookleap "+c.name+" "+c.args)
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

// section writes an indented text below a title.
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
