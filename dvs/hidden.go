package dvs

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/markdown"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// checkBody checks the instructions (section 4.4): that they are not empty, and what a reader of
// the rendered page does not see. It returns the number of invisible characters.
func (p *skillParser) checkBody(body string, at int) (count int) {
	if strings.TrimSpace(body) == "" {
		p.violation(&fault{code: codeEmptyBody, requirement: "DVS-4.2-10", at: at,
			message: "nothing follows the metadata", fix: "write the instructions below the closing --- line"})
		return 0
	}
	if i := strings.Index(body, byteOrderMark); i >= 0 {
		p.add(lookleap.SeverityWarning, &fault{code: lookleap.CodeByteOrderMark, requirement: "DVS-4.2-07", at: at + i,
			message: "the instructions have a byte order mark inside", fix: "remove the character U+FEFF"})
	}
	count, first := countInvisible(body)
	if count > 0 {
		p.add(lookleap.SeverityWarning, &fault{code: codeUnsafeChars, requirement: "DVS-4.3-13", at: at + first,
			message: fmt.Sprintf("the instructions have invisible characters: %s", plaintext.Count(body)), fix: "remove them"})
	}
	p.checkHidden(body, at)
	return count
}

// checkHidden reports text that a model reads and a rendered page does not show: comments,
// elements that are not shown, and unused link definitions (section 4.4).
func (p *skillParser) checkHidden(body string, at int) {
	if !strings.Contains(body, "<") && !strings.Contains(body, "]:") && !strings.Contains(body, "](") {
		return
	}
	look := func(text string, start int) {
		readHTML(text, func(part htmlPart) {
			if what := part.hidden(); what != "" {
				p.hiddenText(at+start, what)
			}
		})
	}
	title := func(text string, start int) {
		if len(strings.Fields(text)) >= hidingWords {
			p.hiddenText(at+start, "a long title of a link: "+plaintext.Quote(text, 60))
		}
	}
	reader := markdown.NewReader(body)
	markdown.Blocks(body, func(b *markdown.Block) bool {
		switch b.Kind {
		case markdown.HTML:
			look(b.Text(body), b.Runs[0].Start)
		case markdown.Prose:
			reader.Items(b, func(i markdown.Item) {
				switch i.Kind {
				case markdown.Tag:
					look(i.Text, i.Start)
				case markdown.Link:
					title(i.Title, i.Start)
				}
			})
		}
		return true
	})
	for _, d := range reader.Definitions() {
		if words := d.Label + " " + d.Text + " " + d.Title; !d.Used && len(strings.Fields(words)) > 2 {
			p.hiddenText(at+d.Start, "text in a link definition that no link uses")
		} else {
			title(d.Title, d.Start)
		}
	}
}

// hidingWords is the number of words in a place that pages do not show at once from which they are
// reported: a title of an image is shorter, and an instruction to a model rarely is.
const hidingWords = 8

// altWords is hidingWords for descriptions of images, which are often sentences.
const altWords = 30

func (p *skillParser) hiddenText(at int, what string) {
	p.add(lookleap.SeverityWarning, &fault{code: codeHiddenText, requirement: "DVS-4.4-01", at: at,
		message: "the instructions have " + what + ", which the rendered page does not show", fix: "remove it, or write it as plain text"})
}

// hidden says what a part of HTML hides, "" if it hides nothing.
func (p *htmlPart) hidden() string {
	switch {
	case p.comment && strings.TrimSpace(p.text) != "":
		return "a comment: " + plaintext.Quote(strings.TrimSpace(p.text), 60)
	case p.closing:
		return ""
	case hidingElements.has(p.name),
		p.name == "dialog" && !slices.ContainsFunc(p.attrs, func(a html.Attribute) bool { return a.Key == "open" }):
		return fmt.Sprintf("an element <%s>", p.name)
	}
	for _, a := range p.attrs {
		value, key := strings.ToLower(strings.Join(strings.Fields(a.Val), " ")), a.Key
		if strings.HasPrefix(key, "data-") {
			key = "data-"
		}
		if hides := hidingAttributes[key]; hides != nil && hides(value) {
			return fmt.Sprintf("an element <%s> that may be hidden or hide words by %s: %s", plaintext.Line(shorten(p.name)), a.Key,
				plaintext.Quote(a.Val, 60))
		}
	}
	return ""
}

// hidingElements are the elements whose content pages do not show.
var hidingElements = wordSet{list: "script style template noscript noembed noframes title datalist meta iframe object canvas video audio desc rp annotation annotation-xml"}

// hidingAttributes report whether an attribute with a value, in lower case, hides its element or
// holds words that pages do not show at once.
var hidingAttributes = map[string]func(value string) bool{
	"hidden": always, "popover": always, "srcdoc": always, "style": hidingStyle,
	"aria-hidden": func(value string) bool { return value == "true" },
	"type":        func(value string) bool { return value == "hidden" },
	"color":       func(value string) bool { return !visibleColors.has(value) },
	"width":       func(value string) bool { return isTiny(value, 1) },
	"height":      func(value string) bool { return isTiny(value, 1) },
	"class":       func(value string) bool { return slices.ContainsFunc(strings.Fields(value), hidingClasses.has) },
	"title":       hasWords(hidingWords), "aria-label": hasWords(hidingWords), "aria-description": hasWords(hidingWords),
	"aria-placeholder": hasWords(hidingWords), "aria-roledescription": hasWords(hidingWords),
	"summary": hasWords(hidingWords), "abbr": hasWords(hidingWords), "alt": hasWords(altWords), "data-": hasWords(3),
}

func always(string) bool { return true }

func hasWords(n int) func(string) bool {
	return func(value string) bool { return len(strings.Fields(value)) >= n }
}

// hidingClasses are the class names that common style sheets use for text for screen readers.
var hidingClasses = wordSet{list: "sr-only visually-hidden visuallyhidden screen-reader-text hidden d-none invisible"}

// harmlessStyles are properties of a style that cannot make text vanish.
var harmlessStyles = wordSet{list: "text-align vertical-align float clear border border-collapse border-radius font-family font-style font-weight list-style list-style-type text-decoration white-space"}

// visibleColors are colors that are visible on most pages, light or dark.
var visibleColors = wordSet{list: "red green blue orange gray grey purple brown teal crimson tomato steelblue"}

// hidingStyle reports whether a style, in lower case, could make text vanish. There are too many
// ways to tell: transparent, tiny, moved, cut off, in the color of the page, or behind an escape. So
// it returns false only if each property is known to be harmless.
func hidingStyle(style string) bool {
	for declaration := range strings.SplitSeq(strings.TrimSpace(style), ";") {
		name, value, _ := strings.Cut(declaration, ":")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		switch name {
		case "":
		case "font-size", "width", "height", "max-width", "max-height":
			if isTiny(value, 2) {
				return true
			}
		case "color":
			if !visibleColors.has(value) {
				return true
			}
		default:
			if !harmlessStyles.has(name) {
				return true
			}
		}
	}
	return false
}

// isTiny reports whether a value begins with a number of at most so much. Percentages and lengths
// that depend on the font count as they are.
func isTiny(value string, most float64) bool {
	number := value[:len(value)-len(strings.TrimLeft(value, "+0123456789."))]
	n, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return false
	}
	switch unit := value[len(number):]; unit {
	case "em", "rem", "ex", "ch", "in", "cm", "vw", "vh":
		n *= 10
	case "%":
		n /= 100
		if most > 1 {
			n *= 10
		}
	}
	return n <= most
}

// invalidText returns the offset of the first byte that is not UTF-8 text, or -1.
func invalidText(data []byte) int {
	if utf8.Valid(data) {
		return bytes.IndexByte(data, 0)
	}
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 || r == 0 {
			return i
		}
		i += size
	}
	return -1
}

// checkCharacters refuses characters that a header must not have: invalid UTF-8, control
// characters except TAB and line ends, a CR without LF, and line separators of some YAML readers
// only. A character in the value of name or description has the code of that field.
func checkCharacters(text []byte, header span) *fault {
	for i := header.start; i < header.end; {
		if c := text[i]; ' ' <= c && c < 0x7f || c == '\n' || c == '\t' {
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:header.end])
		shown := fmt.Sprintf("the metadata has the character U+%04X", r)
		switch {
		case r == utf8.RuneError && size == 1, r == 0:
			return notUTF8(i)
		case r == '\r' && bytes.HasPrefix(text[i:], []byte("\r\n")):
		case r == '\r', r == '\u0085', r == '\u2028', r == '\u2029':
			return badFrontmatter(i, shown+", which only some readers treat as a line end", "end lines with LF or CR LF")
		case isControl(r):
			f := badFrontmatter(i, shown, "remove it")
			f.code, f.requirement = fieldCode(text[header.start:i])
			return f
		case r == '\ufeff', r == '\ufffe', r == '\uffff':
			return badFrontmatter(i, shown, "remove it")
		}
		i += size
	}
	return nil
}

func notUTF8(at int) *fault {
	return &fault{code: lookleap.CodeNotUTF8, requirement: "DVS-4.2-02", at: at,
		message: "the text is not valid UTF-8", fix: "save the file as UTF-8"}
}

// isControl reports whether a character is one of C0, DEL or C1.
func isControl(r rune) bool { return r < ' ' || 0x7f <= r && r <= 0x9f }

// fieldCode returns the code of the field in which a header's text ends.
func fieldCode(before []byte) (lookleap.Code, string) {
	for len(before) > 0 {
		line := before[bytes.LastIndexByte(before, '\n')+1:]
		switch key, _, _ := bytes.Cut(line, []byte{':'}); {
		case len(line) == 0 || line[0] == ' ':
		case string(key) == "description":
			return CodeBadDescription, "DVS-4.3-13"
		case string(key) == "name":
			return lookleap.CodeBadName, "DVS-4.3-06"
		default:
			return CodeBadFrontmatter, "DVS-4.3-02"
		}
		before = bytes.TrimSuffix(before[:len(before)-len(line)], []byte{'\n'})
	}
	return CodeBadFrontmatter, "DVS-4.3-02"
}

// countInvisible counts the invisible characters of a text, and returns the offset of the first.
// One joiner or variation selector after a visible character is normal in emoji and some scripts
// and is not counted; nor are TAB and line ends.
func countInvisible(text string) (count, first int) {
	const selector, joiner = 1, 2
	glue := 0 // what the last character was, if it joins
	seen := false
	first = -1
	for i := 0; i < len(text); {
		plain := i
		for i < len(text) && (' ' <= text[i] && text[i] <= '~' || text[i] == '\n') { // nearly everything
			i++
		}
		if i > plain {
			glue, seen = 0, text[i-1] > ' '
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case !plaintext.Invisible(r), r == '\r' && i+1 < len(text) && text[i+1] == '\n':
			glue, seen = 0, r > ' '
		case (r == '\ufe0e' || r == '\ufe0f') && seen && glue == 0:
			glue = selector
		case (r == '\u200c' || r == '\u200d') && seen && glue < joiner:
			glue = joiner
		default:
			count++
			if first < 0 {
				first = i
			}
			glue, seen = 0, false
		}
		i += size
	}
	return count, first
}

func removeInvisible(text string) string {
	if strings.IndexFunc(text, plaintext.Invisible) < 0 {
		return text
	}
	return strings.Map(func(r rune) rune {
		if plaintext.Invisible(r) {
			return -1
		}
		return r
	}, text)
}

// oneLine removes invisible characters and joins lines.
func oneLine(text string) string { return strings.Join(strings.Fields(removeInvisible(text)), " ") }
