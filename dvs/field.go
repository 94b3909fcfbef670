package dvs

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/confusable"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// Limits of the fields, in characters.
const (
	maxName          = 64
	maxDescription   = 1024
	maxCompatibility = 500
)

func find(fields []Field, key string) *Value {
	for i := range fields {
		if fields[i].Key == key {
			return &fields[i].Value
		}
	}
	return nil
}

// requiredText returns the text of a required field. Under Lenient, the texts of a list are joined.
// missing is the fault of a header without the field.
func (p *skillParser) requiredText(field string, v *Value, header span, missing fault) (text string, ok bool) {
	switch {
	case v == nil:
		missing.at, missing.message = header.start, "the metadata has no "+field
		p.fatal(&missing)
	case v.Kind == Null:
		missing.at, missing.message = v.Position.Offset, "the metadata has no value for the "+field
		p.fatal(&missing)
	case v.Kind == Text:
		return v.Text, true
	default:
		missing.at, missing.message = v.Position.Offset, fmt.Sprintf("the %s is %s, not a text", field, v.Kind)
		p.violation(&missing)
		return v.flat(), p.profile == Lenient
	}
	return "", false
}

func badName(at int, message, fix string) *fault {
	return &fault{code: lookleap.CodeBadName, requirement: "DVS-4.3-06", at: at, message: message, fix: fix}
}

func (p *skillParser) name(v *Value, header span) (name string, at int) {
	missing := fault{code: lookleap.CodeBadName, requirement: "DVS-4.3-03",
		fix: "add a line name: followed by lower-case letters, digits and hyphens"}
	if p.profile == Lenient && p.directory != "" &&
		(v == nil || v.isScalar() && strings.TrimSpace(removeInvisible(v.Text)) == "" || v.Kind == Null) {
		missing.at, missing.message = header.start,
			"the metadata has no name, so the name of the directory stands in: "+plaintext.Quote(p.directory, maxName)
		p.add(lookleap.SeverityWarning, &missing)
		v = &Value{Kind: Text, Text: p.directory, Position: p.position(header.start)}
	}
	name, ok := p.requiredText("name", v, header, missing)
	if !ok {
		return "", 0
	}
	at = v.Position.Offset
	if p.profile == Lenient {
		name = p.withoutInvisible(name, at, "name")
	}
	if strings.TrimSpace(name) == "" {
		p.fatal(badName(at, "the name is empty", "add a name"))
		return "", 0
	}
	if n := utf8.RuneCountInString(name); n > maxName {
		p.violation(&fault{code: codeNameTooLong, requirement: "DVS-4.3-05", at: at,
			message: fmt.Sprintf("the name has %d characters, %d are allowed", n, maxName), fix: "shorten the name"})
	}
	if i := strings.IndexFunc(name, func(r rune) bool { return !isNameRune(r) }); i >= 0 {
		r, _ := utf8.DecodeRuneInString(name[i:])
		p.violation(badName(at, fmt.Sprintf("the name %s has the character %s", plaintext.Quote(name, maxName),
			plaintext.Quote(string(r), 0)),
			"use lower-case letters a to z, digits and hyphens only"))
	}
	if strings.HasPrefix(name, "-") || strings.HasSuffix(name, "-") || strings.Contains(name, "--") {
		f := &fault{code: codeNameHyphen, requirement: "DVS-4.3-07", at: at,
			message: "the name begins or ends with a hyphen, or has two in a row", fix: "put single hyphens between words"}
		if p.profile == AgentSkills {
			f.code = lookleap.CodeBadName
		}
		p.formatViolation(f)
	}
	return name, at
}

// isNameRune reports whether a character may stand in a name. A name is put into
// URL paths, so letters are those of ASCII.
func isNameRune(r rune) bool { return 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '-' }

func isName(text string) bool {
	return text != "" && len(text) <= maxName && strings.IndexFunc(text, func(r rune) bool { return !isNameRune(r) }) < 0
}

func (p *skillParser) description(v *Value, header span) string {
	text, ok := p.requiredText("description", v, header, fault{code: CodeBadDescription, requirement: "DVS-4.3-04",
		fix: "add a line description: that says what the skill does and when to use it"})
	if !ok {
		return ""
	}
	text = strings.TrimSpace(text)
	if !isPrintable(text) {
		text = p.checkVisible(text, v.Position.Offset)
	}
	if text == "" {
		p.fatal(&fault{code: CodeBadDescription, requirement: "DVS-4.3-08", at: v.Position.Offset,
			message: "the description is empty", fix: "say what the skill does and when to use it"})
		return ""
	}
	if n := utf8.RuneCountInString(text); n > maxDescription {
		p.violation(&fault{code: codeDescTooLong, requirement: "DVS-4.3-09", at: v.Position.Offset,
			message: fmt.Sprintf("the description has %d characters, %d are allowed", n,
				maxDescription), fix: "move the details to the instructions"})
	}
	return text
}

// isPrintable reports whether a text is of printable ASCII alone, as most are.
func isPrintable(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' {
			return false
		}
	}
	return true
}

// checkVisible judges the characters of a description that a reader does not see.
// It returns "" if no character is visible.
func (p *skillParser) checkVisible(text string, at int) string {
	if i := strings.IndexFunc(text, func(r rune) bool { return isControl(r) && r != '\t' && r != '\n' }); i >= 0 {
		r, _ := utf8.DecodeRuneInString(text[i:])
		p.violation(&fault{code: CodeBadDescription, requirement: "DVS-4.3-13", at: at,
			message: fmt.Sprintf("the description has the control character U+%04X", r), fix: "remove it"})
	}
	if count, _ := countInvisible(text); count > 0 {
		p.add(lookleap.SeverityWarning, &fault{code: codeUnsafeChars, requirement: "DVS-4.3-13", at: at,
			message: fmt.Sprintf("the description has invisible characters: %s", plaintext.Count(text)), fix: "remove them"})
	}
	if p.profile == Lenient {
		text = strings.TrimSpace(strings.Map(func(r rune) rune {
			if isControl(r) && r != '\t' && r != '\n' {
				return -1
			}
			return r
		}, text))
	}
	if strings.TrimSpace(removeInvisible(text)) == "" {
		return ""
	}
	return text
}

// withoutInvisible removes invisible characters from a text and reports it.
func (p *skillParser) withoutInvisible(text string, at int, what string) string {
	shown := strings.TrimSpace(removeInvisible(text))
	if shown != strings.TrimSpace(text) {
		p.add(lookleap.SeverityWarning, &fault{code: codeUnsafeChars, requirement: "DVS-4.3-13", at: at,
			message: "invisible characters were removed from the " + what, fix: "remove them"})
	}
	return shown
}

// knownFields are the fields that this draft or the public format defines, by their letters.
var knownFields = map[string]string{"name": "name", "description": "description", "license": "license", "compatibility": "compatibility",
	"metadata": "metadata", "allowedtools": "allowed-tools", "trustroot": "trust-root"}

// likeField returns the known field that a key looks like to a person, or to a reader that ignores
// case, blanks, hyphens, invisible characters and look-alikes of Latin letters; or "".
func likeField(key string) string {
	letters := strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || plaintext.Invisible(r) || r == '-' || r == '_' || r == '.' {
			return -1
		}
		return r
	}, key)
	if like := knownFields[foldName(letters)]; like != "" || isPrintable(letters) {
		return like
	}
	var ascii strings.Builder
	for _, r := range letters {
		ascii.WriteString(confusable.Letters(r))
	}
	return knownFields[ascii.String()]
}

// checkExtra checks the optional fields of the public format. This draft keeps them without a
// meaning, so a violation is only a [lookleap.SeverityInfo] finding there.
func (p *skillParser) checkExtra(f *Field) {
	problem, fix := "", ""
	if like := likeField(f.Key); like != "" && like != f.Key {
		p.add(lookleap.SeverityWarning, &fault{code: codeUnknownField, requirement: "DVS-4.3-11", at: f.Position.Offset,
			message: fmt.Sprintf("the key %s is not %s, and other readers may take it for that",
				plaintext.Quote(f.Key, 64), like), fix: "write it as " + like + ", or remove it"})
		return
	}
	switch f.Key {
	case "license", "allowed-tools":
		if f.Value.Kind != Text {
			problem, fix = "is "+f.Value.Kind.String()+", not a text", "write it as one text"
		}
		if f.Key == "allowed-tools" && f.Value.Kind == List {
			fix = "write the tools in one line with blanks between them"
		}
	case "compatibility":
		switch n := utf8.RuneCountInString(f.Value.Text); {
		case f.Value.Kind != Text:
			problem, fix = "is "+f.Value.Kind.String()+", not a text", "write it as one text"
		case n == 0 || n > maxCompatibility:
			problem, fix = fmt.Sprintf("has %d characters, 1 to %d are allowed", n, maxCompatibility), "shorten it, or leave it out"
		}
	case "metadata":
		problem, fix = annotationFault(&f.Value)
	default:
		if p.profile != AgentSkills {
			return
		}
		p.add(lookleap.SeverityInfo, &fault{code: codeUnknownField, requirement: "DVS-4.3-11", at: f.Position.Offset,
			message: fmt.Sprintf("the key %s is kept and has no meaning here", plaintext.Quote(f.Key, 64)), fix: "put it below metadata"})
	}
	if problem != "" {
		p.formatViolation(&fault{code: codeBadField, requirement: "DVS-4.3-11", at: f.Position.Offset,
			message: fmt.Sprintf("the value of %s %s", f.Key, problem), fix: fix})
	}
}

// annotationFault judges the metadata key: texts by texts.
func annotationFault(v *Value) (problem, fix string) {
	if v.Kind != Map {
		return "is " + v.Kind.String() + ", not a mapping", "write lines of the form key: value below it"
	}
	for i := range v.Fields {
		if f := &v.Fields[i]; !f.Value.isScalar() {
			return fmt.Sprintf("has %s below %s where a text should be", f.Value.Kind, plaintext.Quote(f.Key, 64)), "write it as one text"
		}
	}
	return "", ""
}

// chooseFields leaves one field of each key: the last one with a value, as most YAML readers do. Where
// a field that a skill needs is missing, the first other spelling of its key stands in, which no reader
// takes for it.
func (p *skillParser) chooseFields(fields []Field) (kept []Field) {
	at := make(map[string]int, len(fields))
	for _, f := range fields {
		warn := func(message, fix string) {
			p.add(lookleap.SeverityWarning, badFrontmatter(f.Position.Offset, "the key "+plaintext.Quote(f.Key, 64)+message, fix))
		}
		if like := likeField(f.Key); like != f.Key && (like == "name" || like == "description") {
			exact := find(fields, like)
			if _, taken := at[like]; exact != nil && exact.Kind != Null || exact == nil && taken {
				warn(" could be read as "+like+", which another line has; this one was skipped", "keep one of them")
				continue
			}
			warn(" was read as "+like, "write the key as "+like)
			f.Key = like
		}
		i, repeated := at[f.Key]
		switch {
		case !repeated:
			at[f.Key] = len(kept)
			kept = append(kept, f)
		case f.Value.Kind != Null:
			kept[i] = f
		}
		if repeated {
			warn(" is repeated; one of them was read", "keep one of them")
		}
	}
	return kept
}
