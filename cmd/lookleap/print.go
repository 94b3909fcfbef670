package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/plaintext"
)

type printer func(result) error

// newPrinter returns the printer of a run. Colors and wrapped lines are for terminals.
func newPrinter(w io.Writer, asJSON, noColor bool) printer {
	if asJSON {
		return jsonPrinter(w)
	}
	colour := !noColor && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && isTerminal(w)
	return (&textPrinter{w: w, colour: colour, width: widthOf(w, 0)}).print
}

// isTerminal reports whether a person types what is read, or sees what is written.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// widthOf returns the columns of the terminal that is written to, or another number if there is none.
func widthOf(w io.Writer, other int) int {
	if isTerminal(w) {
		if width, _, err := term.GetSize(int(w.(*os.File).Fd())); err == nil {
			return width
		}
	}
	return other
}

// jsonPrinter writes one object a line, which is harmless on a terminal too.
func jsonPrinter(w io.Writer) printer {
	return func(r result) error {
		if r.Findings == nil {
			r.Findings = []lookleap.Finding{}
		}
		var line bytes.Buffer
		enc := json.NewEncoder(&line)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(r); err != nil {
			return fmt.Errorf("writing a result: %w", err)
		}
		_, err := w.Write(append(escape(bytes.TrimSuffix(line.Bytes(), []byte("\n"))), '\n'))
		return err
	}
}

// escape writes every rune that does not print as \u. JSON has such runes in strings only.
func escape(encoded []byte) []byte {
	out := make([]byte, 0, len(encoded))
	for _, r := range string(encoded) {
		switch {
		case unicode.IsPrint(r) && r != unicode.ReplacementChar: // which json escapes in some versions of Go
			out = append(out, string(r)...)
		case r > 0xFFFF:
			hi, lo := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, hi, lo)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return out
}

const maxShown = 400

// textPrinter writes for people: the answer, then what was found, then what the input is.
type textPrinter struct {
	w      io.Writer
	colour bool
	width  int  // of the terminal, in columns; 0: lines are not wrapped
	after  bool // whether something was printed before
}

func (p *textPrinter) print(r result) error {
	var b strings.Builder
	if p.after {
		b.WriteByte('\n')
	}
	p.after = true
	line := func(label, text string) { fmt.Fprintf(&b, "     %s%s\n", label, visible(text)) }
	answer := "no "
	colour := red
	if r.OK {
		answer, colour = "yes", green
	}
	if p.colour {
		answer = colour + answer + plain
	}
	fmt.Fprintf(&b, "%s  %s\n", answer, plaintext.Quote(r.Input, maxShown))
	if !r.OK {
		line("", r.Message+" ("+string(r.Code)+")")
	} else if r.Message != accepted {
		line("", r.Message)
	}
	for _, f := range r.Findings {
		place := f.Position.String()
		if f.Message != r.Message {
			line("", strings.TrimSpace(f.Severity.String()+" "+place)+": "+f.Message)
		} else if place != "" { // the message was printed
			line("at  ", place)
		}
		if f.Fix != "" {
			line("fix ", f.Fix)
		}
	}
	for _, row := range r.rows {
		line(fmt.Sprintf("%-18s ", visible(row.label)), row.text)
	}
	if r.Verdict != nil {
		for text := range strings.Lines(r.Verdict.String()) {
			line("", strings.TrimSuffix(text, "\n"))
		}
	}
	_, err := io.WriteString(p.w, wrap(b.String(), p.width))
	return err
}

// The two colours that mean something; words say the same without them.
const (
	green = "\x1b[32m"
	red   = "\x1b[31m"
	plain = "\x1b[0m"
)

// visible keeps a sentence to one line that moves no cursor and hides nothing, whatever it quotes.
func visible(s string) string {
	return plaintext.Isolate(plaintext.Line(withoutIsolates.Replace(s)))
}

// withoutIsolates removes the isolates of texts that package plaintext has shown before.
var withoutIsolates = strings.NewReplacer("\u2068", "", "\u2069", "")

// wrap breaks lines between words, unless the width is 0. A continued line begins where the text of
// its line begins, after a name in a column. A word that is wider, such as a URL, stays whole.
func wrap(text string, width int) string {
	if width <= 0 {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = wrapLine(line, width)
	}
	return strings.Join(lines, "\n")
}

func wrapLine(line string, width int) string {
	var b strings.Builder
	words := strings.TrimLeft(line, " │├└─")
	indent := columns(line) - columns(words)
	b.WriteString(line[:len(line)-len(words)])
	hang := indent
	if name, rest, found := strings.Cut(words, "  "); found && indent > 0 && strings.Count(name, " ") < 2 {
		hang += columns(name) + 2 + columns(rest) - columns(strings.TrimLeft(rest, " "))
	}
	next := strings.Repeat(" ", min(hang, width/2))
	at := indent
	for words != "" {
		end := strings.IndexByte(words[1:], ' ') + 1
		if end == 0 {
			end = len(words)
		}
		word := words[:end] // with the space before it
		words = words[end:]
		if at+columns(word) > width && at > len(next) {
			b.WriteString("\n" + next)
			word, at = strings.TrimLeft(word, " "), len(next)
		}
		b.WriteString(word)
		at += columns(word)
	}
	return b.String()
}

func columns(s string) int {
	for _, sequence := range []string{green, red, plain} {
		s = strings.ReplaceAll(s, sequence, "")
	}
	return utf8.RuneCountInString(s)
}

// patience is how long a judgement may take before a terminal is told of it.
const patience = 700 * time.Millisecond

// progress tells people at a terminal what takes so long, until the result comes.
type progress struct {
	w io.Writer // io.Discard if it is not a terminal

	mu    sync.Mutex
	input string // what is judged; "": nothing
	check string // the check that runs; "": the command has only one
	shown bool   // the line is on the terminal
}

func newProgress(stderr io.Writer) *progress {
	if isTerminal(stderr) {
		return &progress{w: stderr}
	}
	return &progress{w: io.Discard}
}

// working says what is worked on, if that takes long, until the returned function is called.
func (p *progress) working(input string) (done func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.input, p.check = input, ""
	timer := time.AfterFunc(patience, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.input != "" {
			p.show()
		}
	})
	return func() {
		timer.Stop()
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.shown {
			fmt.Fprint(p.w, "\r\x1b[K")
		}
		p.input, p.shown = "", false
	}
}

func (p *progress) step(check string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.check = check
	if p.shown {
		p.show()
	}
}

func (p *progress) show() {
	p.shown = true
	text := "looking at " + plaintext.Quote(p.input, 60)
	if p.check != "" {
		text += ": " + p.check
	}
	fmt.Fprintf(p.w, "\r\x1b[K%s …", text)
}
