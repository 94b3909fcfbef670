package dvs

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/markdown"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// checkHidden reports what a model reads and a person does not see once the page is rendered:
// comments, elements that are not shown, and link definitions that no link uses (section 4.4).
func (p *skillParser) checkHidden(body string, at int) {
	if !strings.Contains(body, "<") && !strings.Contains(body, "]:") {
		return
	}
	look := func(text string, start int) {
		readHTML(text, func(part htmlPart) {
			if what := part.hidden(); what != "" {
				p.hiddenText(at+start, what)
			}
		})
	}
	reader := markdown.NewReader(body)
	markdown.Blocks(body, func(b *markdown.Block) bool {
		switch b.Kind {
		case markdown.HTML:
			look(b.Text(body), b.Runs[0].Start)
		case markdown.Prose:
			reader.Items(b, func(i markdown.Item) {
				if i.Kind == markdown.Tag {
					look(i.Text, i.Start)
				}
			})
		}
		return true
	})
	for _, d := range reader.Definitions() {
		if words := d.Label + " " + d.Text + " " + d.Title; !d.Used && len(strings.Fields(words)) > 2 {
			p.hiddenText(at+d.Start, "text in a link definition that no link uses")
		}
	}
}

func (p *skillParser) hiddenText(at int, what string) {
	p.add(lookleap.SeverityWarning, &fault{code: CodeHiddenText, requirement: "DVS-4.4-01", at: at,
		message: "the instructions have " + what + ", which the rendered page does not show", fix: "remove it, or write it as plain text"})
}

// hidden says what a part of HTML hides, "" if it hides nothing.
func (p *htmlPart) hidden() string {
	switch {
	case p.comment && strings.TrimSpace(p.text) != "":
		return "a comment: " + plaintext.Quote(strings.TrimSpace(p.text), 60)
	case p.name == "", p.closing:
		return ""
	}
	switch p.name {
	case "script", "style", "template", "noscript", "noembed", "noframes", "title", "datalist", "meta", "iframe", "object", "canvas", "desc", "rp":
		return fmt.Sprintf("an element <%s>", p.name)
	case "dialog":
		if !slices.ContainsFunc(p.attrs, func(a htmlAttr) bool { return a.name == "open" }) {
			return "an element <dialog> that is not open"
		}
	}
	for _, a := range p.attrs {
		value := strings.ToLower(strings.Join(strings.Fields(a.value), " "))
		hides := false
		switch a.name {
		case "hidden", "popover", "srcdoc":
			hides = true
		case "class":
			hides = slices.ContainsFunc(strings.Fields(value), func(class string) bool { return slices.Contains(hidingClasses, class) })
		case "aria-hidden":
			hides = value == "true"
		case "type":
			hides = value == "hidden"
		case "width", "height":
			hides = isTiny(value, 1)
		case "color":
			hides = isPale(value)
		case "size":
			hides = p.name == "font" && isTiny(value, 0)
		case "style":
			hides = hidingStyle(value)
		}
		if hides {
			return fmt.Sprintf("an element <%s> that is hidden by %s", plaintext.Line(shorten(p.name)), a.name)
		}
	}
	return ""
}

// hidingClasses are the names that common style sheets give to what only screen readers read.
var hidingClasses = []string{"sr-only", "visually-hidden", "visuallyhidden", "screen-reader-text", "hidden", "d-none", "invisible"}

// hidingStyle reports whether a style, in lower case, makes text vanish: not shown, transparent,
// tiny, moved or cut off, or in the color of the page. Escapes and comments have no other use in
// such a place.
func hidingStyle(style string) bool {
	if strings.ContainsAny(style, `\`) || strings.Contains(style, "/*") {
		return true
	}
	declarations := map[string]string{}
	for declaration := range strings.SplitSeq(style, ";") {
		name, value, _ := strings.Cut(strings.ReplaceAll(declaration, "!important", ""), ":")
		declarations[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	for name, value := range declarations {
		hides := false
		switch name {
		case "display":
			hides = value == "none"
		case "visibility", "content-visibility":
			hides = value == "hidden" || value == "collapse"
		case "opacity", "zoom", "scale":
			hides = isTiny(value, 0.2)
		case "font-size", "width", "height", "max-width", "max-height":
			hides = isTiny(value, 2)
		case "font":
			hides = slices.ContainsFunc(strings.Fields(value), func(w string) bool { return isTiny(w, 2) })
		case "color", "-webkit-text-fill-color":
			background := cmp.Or(declarations["background-color"], declarations["background"])
			hides = value == background && value != "" || isPale(value) && (background == "" || isPale(background))
		case "line-height":
			hides = isTiny(value, 0.2)
		case "left", "right", "top", "bottom", "text-indent", "margin", "margin-left", "margin-top":
			distance, negative := strings.CutPrefix(value, "-")
			hides = negative && !isTiny(distance, 99)
		case "clip", "clip-path", "mask":
			hides = value != "none" && value != "auto"
		case "transform", "filter":
			hides = strings.Contains(value, "scale(0") || strings.Contains(value, "opacity(0") || strings.Contains(value, "translate")
		}
		if hides {
			return true
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

// isPale reports whether a color is that of most pages, or none.
func isPale(value string) bool {
	switch value {
	case "white", "transparent", "snow", "ivory", "ghostwhite", "whitesmoke", "floralwhite", "mintcream", "azure", "aliceblue", "canvas":
		return true
	}
	if digits, ok := strings.CutPrefix(value, "#"); ok {
		switch len(digits) {
		case 3, 4, 6, 8:
		default:
			return false
		}
		per := 1
		if len(digits) >= 6 {
			per = 2
		}
		if alpha := digits[min(3*per, len(digits)):]; alpha != "" && strings.Trim(alpha[:1], "0") == "" {
			return true
		}
		for i := 0; i < 3*per; i += per {
			if digits[i] != 'f' {
				return false
			}
		}
		return true
	}
	kind, arguments, ok := strings.Cut(strings.TrimSuffix(value, ")"), "(")
	if !ok {
		return false
	}
	numbers := strings.FieldsFunc(arguments, func(r rune) bool { return r == ',' || r == '/' || r == ' ' })
	if len(numbers) == 4 && isTiny(numbers[3], 0.2) {
		return true
	}
	if len(numbers) < 3 {
		return false
	}
	switch strings.TrimSuffix(kind, "a") {
	case "rgb":
		for _, n := range numbers[:3] {
			if v, _ := strconv.ParseFloat(strings.TrimSuffix(n, "%"), 64); v < 240 && !(strings.HasSuffix(n, "%") && v >= 94) {
				return false
			}
		}
		return true
	case "hsl":
		lightness, _ := strconv.ParseFloat(strings.TrimSuffix(numbers[2], "%"), 64)
		return lightness >= 94
	}
	return false
}
