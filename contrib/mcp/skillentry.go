package lookleapmcp

import (
	"bytes"
	"fmt"
	"reflect"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"gopkg.in/yaml.v3"

	"github.com/lookleap/lookleap/dvs"
)

// SkillsExtension is the identifier of the MCP extension for skills (SEP-2640).
const SkillsExtension = "io.modelcontextprotocol/skills"

// The methods of the extension.
const (
	methodList      = "skills/list"
	methodGet       = "skills/get"
	methodDirectory = "resources/directory/read"
)

// What every client loads (SEP-2640, "Limits"). Skills beyond it are neither offered nor
// loaded.
const (
	maxSkillFiles = 512
	maxSkillBytes = 16 << 20
)

const (
	typeDirectory = "inode/directory"
	typeMarkdown  = "text/markdown"
)

// Entry describes a skill that a server offers. Everything in it is the server's claim.
type Entry struct {
	URI         string         `json:"uri"` // of the SKILL.md
	Frontmatter map[string]any `json:"frontmatter"`
	Files       Manifest       `json:"resources"`
	Meta        map[string]any `json:"_meta,omitempty"`
}

// File is one file of a skill, as the manifest of its server lists it.
type File struct {
	URI    string     `json:"uri"`
	Digest dvs.Digest `json:"digest"`
	Size   int64      `json:"size"`
}

// Name returns the skill's name, which is the publisher's claim.
func (e *Entry) Name() string { return e.text("name") }

// Description returns the skill's description, which is the publisher's claim.
func (e *Entry) Description() string { return e.text("description") }

func (e *Entry) text(field string) string {
	text, _ := e.Frontmatter[field].(string)
	return text
}

type listParams struct {
	mcp.ParamsBase
	Cursor string `json:"cursor,omitempty"`
}

type listResult struct {
	mcp.ResultBase
	mcp.Cacheable
	ResultType string  `json:"resultType"`
	Skills     []Entry `json:"skills"`
	NextCursor string  `json:"nextCursor,omitempty"`
}

type uriParams struct {
	mcp.ParamsBase
	URI    string `json:"uri"`
	Cursor string `json:"cursor,omitempty"`
}

type getResult struct {
	mcp.ResultBase
	mcp.Cacheable
	ResultType string `json:"resultType"`
	Skill      Entry  `json:"skill"`
}

type directoryResult struct {
	mcp.ResultBase
	ResultType string          `json:"resultType"`
	Resources  []*mcp.Resource `json:"resources"`
	NextCursor string          `json:"nextCursor,omitempty"`
}

// frontmatter returns the header of a SKILL.md as JSON values, every field of it.
func frontmatter(file []byte) (map[string]any, error) {
	lines := bytes.SplitAfter(bytes.TrimPrefix(file, []byte("\ufeff")), []byte("\n"))
	fence := func(line []byte) bool { return string(bytes.TrimRight(line, " \t\r\n")) == "---" }
	if !fence(lines[0]) {
		return nil, fmt.Errorf("the file does not begin with ---")
	}
	for i := 1; i < len(lines); i++ {
		if !fence(lines[i]) {
			continue
		}
		var root yaml.Node
		if err := yaml.Unmarshal(bytes.Join(lines[1:i], nil), &root); err != nil {
			return nil, err
		}
		if len(root.Content) == 0 {
			return map[string]any{}, nil
		}
		value, err := jsonValue(root.Content[0], 0)
		if err != nil {
			return nil, err
		}
		fields, ok := value.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("the header is not a list of fields")
		}
		return fields, nil
	}
	return nil, fmt.Errorf("the header does not end with ---")
}

// jsonValue converts YAML to what encoding/json decodes. Dates stay text, as in YAML 1.2.
// Aliases are refused: they let a short header stand for a huge one.
func jsonValue(n *yaml.Node, depth int) (any, error) {
	if depth > 32 {
		return nil, fmt.Errorf("line %d: the header is nested too deeply", n.Line)
	}
	switch n.Kind {
	case yaml.MappingNode:
		out := make(map[string]any, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			if _, twice := out[key.Value]; twice || key.Kind != yaml.ScalarNode {
				return nil, fmt.Errorf("line %d: a key of the header is repeated or is not a text", key.Line)
			}
			value, err := jsonValue(n.Content[i+1], depth+1)
			if err != nil {
				return nil, err
			}
			out[key.Value] = value
		}
		return out, nil
	case yaml.SequenceNode:
		out := make([]any, 0, len(n.Content))
		for _, item := range n.Content {
			value, err := jsonValue(item, depth+1)
			if err != nil {
				return nil, err
			}
			out = append(out, value)
		}
		return out, nil
	case yaml.ScalarNode:
		switch n.Tag {
		case "!!null":
			return nil, nil
		case "!!bool":
			return strconv.ParseBool(n.Value)
		case "!!int", "!!float":
			var f float64
			if err := n.Decode(&f); err != nil {
				return nil, err
			}
			return f, nil
		}
		return n.Value, nil
	}
	return nil, fmt.Errorf("line %d: the header has an alias", n.Line)
}

// sameFields reports whether the fields that an entry claims are those of the file. A
// field that is null counts as missing.
func sameFields(claimed, actual map[string]any) bool {
	return reflect.DeepEqual(withoutNull(claimed), withoutNull(actual))
}

func withoutNull(fields map[string]any) map[string]any {
	out := make(map[string]any, len(fields))
	for key, value := range fields {
		if value != nil {
			out[key] = value
		}
	}
	return out
}
