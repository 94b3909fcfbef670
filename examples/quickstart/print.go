package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/lookleap/lookleap"
)

// printer writes the story, for a terminal or as Markdown.
type printer struct {
	w        io.Writer
	markdown bool
}

func (p printer) print(plain, markdown string, args ...any) {
	if p.markdown {
		plain = markdown
	}
	fmt.Fprintf(p.w, plain, args...)
}

func (p printer) title(number int, text string) {
	if p.markdown && number == 1 {
		fmt.Fprint(p.w, "# lookleap: a transcript\n\nWritten by `go run ./examples/quickstart --transcript`.\n")
	}
	p.print("\n%d. %s\n", "\n## %d. %s\n", number, text)
}

// say tells what happens.
func (p printer) say(format string, args ...any) {
	p.print("%s\n", "\n%s\n", p.wrapped("   ", fmt.Sprintf(format, args...)))
}

// show prints what the program sees: a document, a dialogue, a verdict.
func (p printer) show(text string) {
	text = strings.TrimRight(text, "\n")
	if !p.markdown {
		text = strings.ReplaceAll(text, "\n", "\n     | ")
	}
	p.print("     | %s\n", "\n~~~text\n%s\n~~~\n", text)
}

// showRequest prints what the user is asked, without the details, and with an ellipsis for texts that
// differ from run to run.
func (p printer) showRequest(r *lookleap.ConsentRequest, differs ...string) {
	dialogue, _, _ := strings.Cut(r.String(), "\nDetails:\n")
	for _, text := range differs {
		dialogue = strings.ReplaceAll(dialogue, text, "…")
	}
	p.show(dialogue)
}

func (p printer) decision(o outcome, what string, code lookleap.Code, why string) {
	switch {
	case code != lookleap.CodeOK && p.markdown:
		why = fmt.Sprintf("%s (`%s`)", why, code)
	case code != lookleap.CodeOK:
		what = fmt.Sprintf("%s (%s)", what, code)
	}
	p.print("   %-7s  %s\n%s\n", "\n**%s** %s  \n%s\n", o, what, p.wrapped("            ", why))
}

// wrapped breaks the lines of plain text. The lines after a label begin under its text.
func (p printer) wrapped(label, text string) string {
	if p.markdown {
		return text
	}
	lines, at := label, len(label)
	for i, word := range strings.Fields(text) {
		if i > 0 && at+1+len(word) > 79 {
			lines += "\n" + strings.Repeat(" ", len(label))
			at = len(label)
		} else if i > 0 {
			lines += " "
			at++
		}
		lines += word
		at += len(word)
	}
	return lines
}
