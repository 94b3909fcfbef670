package dvs

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lookleap/lookleap/internal/plaintext"
)

// Capability is one thing that a skill may do, as far as its text says.
//
// The kinds are script, a file that can run, with its interpreter in brackets; program, which a command
// in a code block or a shell script starts; command, in a code block; host and url; env, an environment
// variable that a script or a command reads; path, a file outside the skill that one of them names;
// tool, an entry of allowed-tools, which grants nothing; skill, another one that the instructions refer
// to; and unread, what could not be read, such as a script that is not text.
type Capability struct {
	Kind  string `json:"kind"`
	Value string `json:"value"` // untrusted text of the publisher
	File  string `json:"file"`  // the first file that says so, by its path below the skill's directory
}

const (
	capabilityScript  = "script"
	capabilityProgram = "program"
	capabilityCommand = "command"
	capabilityHost    = "host"
	capabilityURL     = "url"
	capabilityEnv     = "env"
	capabilityPath    = "path"
	capabilityTool    = "tool"
	capabilitySkill   = "skill"
	capabilityUnread  = "unread"
)

// capabilityKinds has the kinds of capability in the order in which they are listed, and what a skill
// may do by each.
var capabilityKinds = []struct{ kind, may string }{
	{capabilityScript, "run the scripts"}, {capabilityProgram, "start the programs"}, {capabilityCommand, "run the commands"},
	{capabilityHost, "contact the hosts"}, {capabilityURL, "use the URLs"}, {capabilityEnv, "read the environment variables"},
	{capabilityPath, "use the files"}, {capabilityTool, "ask for the tools"}, {capabilitySkill, "use the skills"},
	{capabilityUnread, "do what was not read"},
}

// rankOf returns the place of a kind in capabilityKinds, or -1.
func rankOf(kind string) int {
	for i := range capabilityKinds {
		if capabilityKinds[i].kind == kind {
			return i
		}
	}
	return -1
}

// of returns the values of one kind.
func (c Capabilities) of(kind string) (values []string) {
	for i := range c {
		if c[i].Kind == kind {
			values = append(values, c[i].Value)
		}
	}
	return values
}

// CapabilityNote says what a list of capabilities is worth. Show it with the list.
const CapabilityNote = "is a reading of the text and no proof: a script can hide what it does, and a model can be told to do more"

// capabilitySentence is the note in the sentences and prompts of this package.
const capabilitySentence = "the list of what it may do " + CapabilityNote

// Capabilities is what a skill may do, sorted by kind and value, each once. It is a reading of the
// text and no proof: see [CapabilityNote].
type Capabilities []Capability

// What is listed of one skill at most. What is beyond is listed as one capability of the kind
// unread, so that a change of it does not pass for no change.
const (
	maxCapabilities    = 500     // of one kind
	maxCapabilityValue = 300     // bytes of one value
	maxCapabilityText  = 4 << 20 // bytes of files that are read
)

// CapabilitiesOf reads the files of a skill, by their paths below its directory, and returns what
// the skill may do as far as the text says. It does no I/O, and takes time in proportion to the
// size of the files.
func CapabilitiesOf(files map[string][]byte) Capabilities {
	r := capabilityReader{found: make(map[string]map[string]string)}
	room := maxCapabilityText
	for _, name := range slices.Sorted(maps.Keys(files)) {
		content := files[name]
		if len(content) > room {
			r.file = name
			r.add(capabilityUnread, name+" (beyond what is read of one skill)", DigestOf(content).String())
			continue
		}
		room -= len(content)
		r.read(name, content)
	}
	return r.list()
}

// capabilityReader collects what the files of a skill say.
type capabilityReader struct {
	file  string // the one that is being read
	found map[string]map[string]string
}

// add notes a capability. The digest, if it is not empty, makes two versions differ of which
// nothing else is known.
func (r *capabilityReader) add(kind string, value, digest string) {
	value = strings.TrimSpace(strings.ToValidUTF8(value, "\ufffd"))
	if value == "" {
		return
	}
	if len(value) > maxCapabilityValue {
		digest = DigestOf([]byte(value)).String()
		value = value[:maxCapabilityValue]
		for !utf8.ValidString(value) {
			value = value[:len(value)-1]
		}
		value += "…"
	}
	if digest != "" {
		value += " " + digest[:len(digestPrefix)+12]
	}
	values := r.found[kind]
	if values == nil {
		values = make(map[string]string)
		r.found[kind] = values
	}
	if _, known := values[value]; !known {
		values[value] = r.file
	}
}

// list returns what was found, in order. Of a kind with too many values the rest counts as one.
func (r *capabilityReader) list() Capabilities {
	var all Capabilities
	for _, k := range capabilityKinds {
		kind := k.kind
		values := slices.Sorted(maps.Keys(r.found[kind]))
		if len(values) > maxCapabilities && kind != capabilityUnread {
			rest := strings.Join(values[maxCapabilities:], "\n")
			r.file = r.found[kind][values[maxCapabilities]]
			r.add(capabilityUnread, fmt.Sprintf("%d more of the kind %s", len(values)-maxCapabilities, kind),
				DigestOf([]byte(rest)).String())
			values = values[:maxCapabilities]
		}
		for _, value := range values {
			all = append(all, Capability{kind, value, r.found[kind][value]})
		}
	}
	return all
}

// read reads one file.
func (r *capabilityReader) read(name string, content []byte) {
	r.file = name
	readable := utf8.Valid(content) && !bytes.Contains(content, []byte{0})
	switch kind := KindOf(name, content); {
	case kind == Script:
		r.add(capabilityScript, fmt.Sprintf("%s (%s)", name, interpreterOf(name, content)), "")
		if !readable {
			r.add(capabilityUnread, name+" (not text)", DigestOf(content).String())
			return
		}
		text := string(content)
		r.urls(text)
		r.script(name, text)
	case !readable:
	case name == EntryFile:
		skill, _, err := ParseSkill(content, Lenient, Limits{})
		if err != nil {
			skill = &Skill{Body: string(content)}
		}
		r.skill(skill)
	case kind == Instructions:
		r.instructions(&Skill{Body: string(content)})
	default:
		r.urls(string(content))
	}
}

// capabilitiesOfSkill returns what a SKILL.md says, as CapabilitiesOf does.
func capabilitiesOfSkill(s *Skill) Capabilities {
	r := capabilityReader{file: EntryFile, found: make(map[string]map[string]string)}
	r.skill(s)
	return r.list()
}

// skill reads a SKILL.md.
func (r *capabilityReader) skill(s *Skill) {
	depth := 0 // of brackets in allowed-tools: a blank within them does not separate
	for entry := range strings.FieldsFuncSeq(s.Text("allowed-tools"), func(c rune) bool {
		switch c {
		case '(':
			depth++
		case ')':
			depth--
		}
		return depth <= 0 && (c == ',' || c == ' ' || c == '\n' || c == '\t')
	}) {
		r.add(capabilityTool, entry, "")
	}
	r.urls(s.Description)
	for i := range s.Extra {
		r.urls(s.Extra[i].Value.flat())
		if strings.EqualFold(s.Extra[i].Key, "hooks") {
			r.hooks(&s.Extra[i].Value)
		}
	}
	r.instructions(s)
}

// hooks reads the commands that some agents run by themselves while a skill is in use.
func (r *capabilityReader) hooks(v *Value) {
	for i := range v.Items {
		r.hooks(&v.Items[i])
	}
	for i := range v.Fields {
		if f := &v.Fields[i]; f.Key == "command" && f.Value.isScalar() {
			r.commands(f.Value.Text, true)
		} else {
			r.hooks(&f.Value)
		}
	}
}

// injected is a command whose output some agents put into the instructions, before a model reads them.
var injected = regexp.MustCompile("!`([^`\n]+)`")

// instructions reads Markdown: the SKILL.md, or another file of instructions.
func (r *capabilityReader) instructions(s *Skill) {
	r.urls(s.Body)
	for _, command := range injected.FindAllStringSubmatch(s.Body, -1) {
		r.commands(command[1], true)
	}
	for _, ref := range s.References() {
		if path.Base(ref.Target) == EntryFile && ref.Target != EntryFile {
			r.add(capabilitySkill, ref.Target, "")
		}
	}
	for _, block := range s.Blocks() {
		if !block.Code {
			continue
		}
		switch syntax := syntaxOf(block.Language); {
		case syntax == shellSyntax || block.Language == "":
			r.commands(block.Text, syntax == shellSyntax)
		case syntax != 0:
			r.code(block.Text, syntax)
		}
	}
}

// Diff returns what c has and old lacks, and what old has and c lacks. The file that says something
// does not count.
func (c Capabilities) Diff(old Capabilities) (gained, lost Capabilities) {
	return c.without(old), old.without(c)
}

func (c Capabilities) without(other Capabilities) (rest Capabilities) {
	known := make(map[Capability]bool, len(other))
	for _, o := range other {
		known[Capability{Kind: o.Kind, Value: o.Value}] = true
	}
	for _, o := range c {
		if !known[Capability{Kind: o.Kind, Value: o.Value}] {
			rest = append(rest, o)
		}
	}
	return rest
}

// maxListed is how many values of one kind a sentence names.
const maxListed = 8

// Sentences returns one sentence for each kind that is there, such as `contact the hosts
// "api.example.com"`. The values are quoted, so the sentences are safe to print. A sentence names
// at most eight values and counts the others.
func (c Capabilities) Sentences() []string {
	var all []string
	for _, k := range capabilityKinds {
		values, more := c.of(k.kind), ""
		if n := len(values) - maxListed; n > 0 {
			values, more = values[:maxListed], fmt.Sprintf(" and %d more", n)
		}
		for i, v := range values {
			values[i] = plaintext.Quote(v, 120)
		}
		if len(values) > 0 {
			all = append(all, k.may+" "+strings.Join(values, ", ")+more)
		}
	}
	return all
}

// sort puts capabilities in order.
func (c Capabilities) sort() {
	slices.SortFunc(c, func(a, b Capability) int {
		return cmp.Or(cmp.Compare(rankOf(a.Kind), rankOf(b.Kind)), cmp.Compare(a.Value, b.Value))
	})
}
