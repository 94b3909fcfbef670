package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/lookleap/lookleap"
)

// printer writes the story.
type printer interface {
	title(number int, text string)
	say(text string)
	show(text string)
	decision(o outcome, what string, code lookleap.Code, why string)
	fact(text string)
	wrong(text string)
	summary(text string)
}

func newPrinter(w io.Writer, markdown bool) printer {
	if markdown {
		return markdownPrinter{w}
	}
	f, ok := w.(*os.File)
	return plainPrinter{w: w, colour: ok && term.IsTerminal(int(f.Fd()))}
}

// plainPrinter writes for a terminal, with colours only there.
type plainPrinter struct {
	w      io.Writer
	colour bool
}

// width is where lines of text are broken.
const width = 79

func (p plainPrinter) title(number int, text string) {
	fmt.Fprintf(p.w, "\n%s\n", p.paint(bold, fmt.Sprintf("%d. %s", number, text)))
}

func (p plainPrinter) say(text string) { p.wrapped("   ", "   ", text) }

func (p plainPrinter) show(text string) {
	for line := range strings.Lines(text) {
		fmt.Fprintf(p.w, "     | %s\n", strings.TrimRight(line, "\n"))
	}
}

func (p plainPrinter) decision(o outcome, what string, code lookleap.Code, why string) {
	if code != lookleap.CodeOK {
		what += " (" + string(code) + ")"
	}
	fmt.Fprintf(p.w, "   %s  %s\n", p.paint(colours[o], fmt.Sprintf("%-7s", o)), what)
	p.wrapped("            ", "            ", why)
}

func (p plainPrinter) fact(text string) { p.wrapped("   checked  ", "            ", text) }

func (p plainPrinter) wrong(text string) {
	fmt.Fprintf(p.w, "   %s  %s\n", p.paint(red, "WRONG  "), text)
}

func (p plainPrinter) summary(text string) { fmt.Fprintf(p.w, "\n%s\n", text) }

func (p plainPrinter) wrapped(first, rest, text string) {
	prefix, line := first, ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(prefix)+len(line)+1+len(word) > width {
			fmt.Fprintf(p.w, "%s%s\n", prefix, line)
			prefix, line = rest, ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	if line != "" {
		fmt.Fprintf(p.w, "%s%s\n", prefix, line)
	}
}

// What a terminal does with words that matter.
const (
	bold   = "\x1b[1m"
	red    = "\x1b[1;31m"
	green  = "\x1b[1;32m"
	yellow = "\x1b[1;33m"
	normal = "\x1b[0m"
)

var colours = map[outcome]string{allowed: green, refused: red, asked: yellow}

func (p plainPrinter) paint(colour, text string) string {
	if !p.colour {
		return text
	}
	return colour + text + normal
}

// markdownPrinter writes the same story as Markdown.
type markdownPrinter struct{ w io.Writer }

func (p markdownPrinter) title(number int, text string) {
	if number == 1 {
		fmt.Fprint(p.w, "# lookleap: a transcript\n\nWritten by `go run ./examples/quickstart --transcript`.\n")
	}
	fmt.Fprintf(p.w, "\n## %d. %s\n", number, text)
}

func (p markdownPrinter) say(text string) { fmt.Fprintf(p.w, "\n%s\n", text) }

func (p markdownPrinter) show(text string) { fmt.Fprintf(p.w, "\n~~~text\n%s\n~~~\n", text) }

func (p markdownPrinter) decision(o outcome, what string, code lookleap.Code, why string) {
	if code != lookleap.CodeOK {
		why = fmt.Sprintf("%s (`%s`)", why, code)
	}
	fmt.Fprintf(p.w, "\n**%s** %s  \n%s\n", o, what, why)
}

func (p markdownPrinter) fact(text string) { fmt.Fprintf(p.w, "\nChecked: %s\n", text) }

func (p markdownPrinter) wrong(text string) { fmt.Fprintf(p.w, "\n**WRONG** %s\n", text) }

func (p markdownPrinter) summary(text string) { fmt.Fprintf(p.w, "\n---\n\n%s\n", text) }
