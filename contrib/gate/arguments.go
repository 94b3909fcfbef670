package gate

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/internal/strictjson"
)

// Limits of the arguments of one call.
const (
	maxArguments = 256 << 10        // bytes
	maxCanonical = 2 * maxArguments // bytes in the form of RFC 8785, which writes 1e20 with all digits
	maxDepth     = 16
	maxValues    = 1000
)

var canonicalLimits = strictjson.Limits{Size: maxCanonical, Depth: maxDepth, Values: maxValues}

// arguments are those of one call: a JSON object that every reader reads in the same way.
type arguments struct {
	text jsontext.Value          // RFC 8785
	root func() strictjson.Value // parses text once; most calls that pass do not need it
}

// parseArguments reads the arguments of a model. Nothing and null, as frameworks send for a call
// without arguments, are read as an empty object.
func parseArguments(text []byte) (*arguments, error) {
	if nothing := strings.TrimSpace(string(text)); nothing == "" || nothing == "null" {
		text = []byte("{}")
	}
	root, err := strictjson.Parse(text, strictjson.Limits{Size: maxArguments, Depth: maxDepth, Values: maxValues})
	if err == nil {
		err = root.Expect(strictjson.Object)
	}
	if err == nil {
		err = exact(root)
	}
	if err != nil {
		return nil, argumentError(err)
	}
	canonical := jsontext.Value(slices.Clone(text))
	if err := canonical.Canonicalize(); err != nil {
		return nil, argumentError(err)
	}
	if len(canonical) > maxCanonical {
		return nil, argumentError(root.Refuse(strictjson.CodeTooLarge, "the text is larger than its limit with all digits of its numbers", "send less"))
	}
	return &arguments{canonical, sync.OnceValue(func() strictjson.Value {
		root, _ := strictjson.Parse(canonical, canonicalLimits) // it was parsed before and is within the limits: cannot fail
		return root
	})}, nil
}

// exact refuses numbers that are others for a reader with doubles, and members that are others for a
// reader that ignores letter case.
func exact(v strictjson.Value) error {
	switch v.Kind() {
	case strictjson.Number:
		if strings.ContainsAny(v.Source(), ".eE") {
			_, err := v.Float()
			return err
		}
		_, err := v.Int()
		return err
	case strictjson.Array:
		for item := range v.Elements() {
			if err := exact(item); err != nil {
				return err
			}
		}
	case strictjson.Object:
		var names []string
		for name, member := range v.Members() {
			if name = strings.Map(foldLetter, name); slices.Contains(names, name) {
				return member.Refuse(strictjson.CodeDuplicateName, "the name differs from another one only in letter case", "keep one of the members")
			}
			names = append(names, name)
			if err := exact(member); err != nil {
				return err
			}
		}
	}
	return nil
}

// foldLetter returns the letter that stands for all that differ from it only in case.
func foldLetter(r rune) rune {
	least := r
	for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
		least = min(least, other)
	}
	return unicode.ToLower(least)
}

// checkNames refuses arguments with a name that only differs in letter case from one that the tool
// names: readers such as encoding/json take it for that one.
func (a *arguments) checkNames(t *Tool) (err error) {
	if len(t.Arguments) == 0 {
		return nil
	}
	a.walk(func(l leaf, _ bool) {
		for pattern := range t.Arguments {
			if !matches(pattern, l.pointer) && pairwise(pattern, l.pointer, strings.EqualFold) {
				err = argumentError(l.value.Refuse(string(lookleap.CodeUsage), "the name differs from "+plaintext.Quote(pattern, 100)+" in letter case",
					"write it as the tool does"))
			}
		}
	})
	return err
}

// argumentError returns an error of a parser with its position in the arguments.
func argumentError(err error) error {
	out := &lookleap.Error{Code: lookleap.CodeOf(err), Subject: "arguments", Message: err.Error(), Fix: "send a JSON object that has one reading"}
	var bad *strictjson.Error
	if errors.As(err, &bad) {
		out.Code, out.Message = lookleap.Code(bad.Code), bad.Message
		out.Position = lookleap.Position(bad.Place())
		if bad.Fix != "" {
			out.Fix = bad.Fix
		}
	}
	return out
}

func (a *arguments) canonical() json.RawMessage { return json.RawMessage(slices.Clone(a.text)) }

// leaf is one value that is not an object or array, or an empty one.
type leaf struct {
	pointer string
	value   strictjson.Value
}

// walk visits all values, a container before what is in it.
func (a *arguments) walk(visit func(l leaf, container bool)) {
	var walk func(pointer string, v strictjson.Value)
	walk = func(pointer string, v strictjson.Value) {
		switch v.Kind() {
		case strictjson.Object:
			visit(leaf{pointer, v}, true)
			for name, member := range v.Members() {
				walk(string(jsontext.Pointer(pointer).AppendToken(name)), member)
			}
		case strictjson.Array:
			visit(leaf{pointer, v}, true)
			i := 0
			for item := range v.Elements() {
				walk(pointer+"/"+strconv.Itoa(i), item)
				i++
			}
		default:
			visit(leaf{pointer, v}, false)
		}
	}
	walk("", a.root())
}

// leaves returns all values in the order of the canonical form. Containers are left out unless they
// are empty.
func (a *arguments) leaves() (all []leaf) {
	a.walk(func(l leaf, container bool) {
		if source := l.value.Source(); !container || l.pointer != "" && (source == "{}" || source == "[]") {
			all = append(all, l)
		}
	})
	return all
}

// argument returns what the argument at a pointer means. A "*" in the pointer of a tool is any index or
// name. Of several such pointers that match, the one with the greatest role counts, so a secret is one.
func (t *Tool) argument(pointer string) (best Argument) {
	if exact, ok := t.Arguments[pointer]; ok {
		return exact
	}
	for pattern, a := range t.Arguments {
		if strings.Contains(pattern, "/*") && matches(pattern, pointer) {
			best = Argument{max(best.Role, a.Role), best.Editable || a.Editable}
		}
	}
	return best
}

func matches(pattern, pointer string) bool {
	return pairwise(pattern, pointer, func(part, segment string) bool { return part == segment })
}

// pairwise reports whether a pointer has the parts of a pattern, by some comparison of names.
func pairwise(pattern, pointer string, same func(part, segment string) bool) bool {
	return slices.EqualFunc(strings.Split(pattern, "/"), strings.Split(pointer, "/"),
		func(part, segment string) bool { return part == "*" || same(part, segment) })
}

// hasSecrets reports whether an argument of the tool may be a secret.
func (t *Tool) hasSecrets() bool {
	for _, argument := range t.Arguments {
		if argument.Role == Secret {
			return true
		}
	}
	return false
}

// text returns a value as a person reads it, and its kind.
func (l leaf) text() (kind, text string) {
	switch l.value.Kind() {
	case strictjson.String:
		text, _ = l.value.Text()
		return "text", text
	case strictjson.Number:
		return "number", l.value.Source()
	case strictjson.Bool:
		return "yes or no", l.value.Source()
	case strictjson.Null:
		return "nothing", "null"
	case strictjson.Array:
		return "empty list", "[]"
	}
	return "empty object", "{}"
}

// secretMark replaces a secret in a plan: a salt, and a keyed digest of the value.
const secretMark = "secret:hmac-sha256:"

func sealSecret(salt, value string) string {
	mac := hmac.New(sha256.New, []byte(salt))
	mac.Write([]byte(value))
	return secretMark + salt + ":" + hex.EncodeToString(mac.Sum(nil))
}

// holds reports whether a mark is that of a value.
func holds(mark, value string) bool {
	salt, _, ok := strings.Cut(strings.TrimPrefix(mark, secretMark), ":")
	return ok && hmac.Equal([]byte(mark), []byte(sealSecret(salt, value)))
}

// hide returns the arguments with a mark for each secret, and the secrets by pointer.
func (a *arguments) hide(t *Tool) (*arguments, map[string]string, error) {
	if !t.hasSecrets() {
		return a, nil, nil
	}
	secrets := map[string]string{}
	marks := map[string]json.RawMessage{}
	var bad error
	a.walk(func(l leaf, _ bool) {
		if t.argument(l.pointer).Role != Secret {
			return
		}
		text, err := l.value.Text()
		if err != nil {
			bad = argumentError(l.value.Refuse(string(lookleap.CodeUsage), "a secret has to be a text", "send a string"))
			return
		}
		secrets[l.pointer] = text
		marks[l.pointer], _ = json.Marshal(sealSecret(rand.Text(), text)) // a string
	})
	if bad != nil || len(marks) == 0 {
		return a, secrets, bad
	}
	hidden, err := a.with(marks)
	return hidden, secrets, err
}

// shownDigest is the digest of the arguments as they are shown: with no trace of secrets, whose marks
// are others in each plan, so that a call that was refused is known again.
func (a *arguments) shownDigest(t *Tool) string {
	shown := a
	if t.hasSecrets() {
		marks := map[string]json.RawMessage{}
		for _, l := range a.leaves() {
			if t.argument(l.pointer).Role == Secret {
				marks[l.pointer] = json.RawMessage(`"secret"`)
			}
		}
		if masked, err := a.with(marks); err == nil { // they are texts as before
			shown = masked
		}
	}
	return lookleap.Digest(shown.text)
}

// at returns the value at a pointer, none if there is none.
func (a *arguments) at(pointer string) strictjson.Value {
	v := a.root()
	for token := range jsontext.Pointer(pointer).Tokens() {
		next := strictjson.Value{}
		switch v.Kind() {
		case strictjson.Object:
			for name, member := range v.Members() {
				if name == token {
					next = member
				}
			}
		case strictjson.Array:
			i := 0
			for item := range v.Elements() {
				if strconv.Itoa(i) == token {
					next = item
				}
				i++
			}
		}
		v = next
	}
	return v
}

// with returns the arguments with other values at some pointers.
func (a *arguments) with(values map[string]json.RawMessage) (*arguments, error) {
	// From the end to the beginning, so that offsets stay those of the old text.
	pointers := slices.SortedFunc(maps.Keys(values), func(x, y string) int { return a.at(y).Offset() - a.at(x).Offset() })
	text := slices.Clone(a.text)
	for _, pointer := range pointers {
		old := a.at(pointer)
		text = slices.Concat(text[:old.Offset()], jsontext.Value(values[pointer]), text[old.Offset()+len(old.Source()):])
	}
	return parseArguments(text)
}

// replace returns the arguments with values that a person changed, and a sentence about each.
func (a *arguments) replace(values map[string]json.RawMessage, t *Tool) (*arguments, []string, error) {
	var changed []string
	pointers := slices.Sorted(maps.Keys(values))
	for i, pointer := range pointers {
		if i > 0 && strings.HasPrefix(pointer, pointers[i-1]+"/") {
			return nil, nil, usage("the argument "+plaintext.Quote(pointer, 100)+" is changed twice", "change an argument or what is in it")
		}
		old := a.at(pointer)
		if is := t.argument(pointer); !is.Editable || is.Role == Secret || old.Kind() == strictjson.None {
			return nil, nil, usage("the argument "+plaintext.Quote(pointer, 100)+" cannot be changed", "change only arguments that the tool marks as editable")
		}
		value, err := strictjson.Parse(values[pointer], strictjson.Limits{Size: maxArguments, Depth: maxDepth, Values: maxValues})
		if err != nil {
			return nil, nil, argumentError(err)
		}
		if value.Kind() != old.Kind() {
			return nil, nil, usage("the argument "+plaintext.Quote(pointer, 100)+" is "+old.Kind().String()+", and the new value "+value.Kind().String(), "send a value of the same kind")
		}
		if value.Source() != old.Source() {
			changed = append(changed, plaintext.Quote(pointer, 100)+" is "+plaintext.Quote(value.Source(), 200)+" and not "+plaintext.Quote(old.Source(), 200))
		}
	}
	if len(changed) == 0 {
		return nil, nil, usage("nothing was changed", "resume the plan instead")
	}
	revised, err := a.with(values)
	return revised, changed, err
}

// reveal returns the arguments with the secrets in their places, from those that are known here or
// from a function, and refuses a value that is not the approved one. Only a tool with secrets needs it.
func (a *arguments) reveal(t *Tool, known map[string]string, secret func(string) (string, error)) (json.RawMessage, error) {
	values := map[string]json.RawMessage{}
	for _, l := range a.leaves() {
		if t.argument(l.pointer).Role != Secret {
			continue
		}
		sealed, err := l.value.Text()
		if err != nil {
			return nil, argumentError(err)
		}
		value, here := known[l.pointer]
		if !here {
			if value, err = secret(l.pointer); err != nil {
				return nil, err
			}
		}
		if !holds(sealed, value) {
			return nil, &lookleap.Error{Code: lookleap.CodePlanInvalid, Message: "the secret " + l.pointer + " is not the one that was approved", Err: lookleap.ErrPlanInvalid}
		}
		values[l.pointer], _ = json.Marshal(value) // a string
	}
	if len(values) == 0 {
		return a.canonical(), nil
	}
	revealed, err := a.with(values)
	if err != nil {
		return nil, err
	}
	return revealed.canonical(), nil
}
