package main

import (
	"context"
	"encoding/json"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lookleap/lookleap/dvs/install"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// hookCall is what an agent tells a hook: Claude Code and Codex with words in one style, Copilot in
// another.
type hookCall struct {
	Event     string          `json:"hook_event_name"`
	Directory string          `json:"cwd"`
	Tool      string          `json:"tool_name"`
	Input     json.RawMessage `json:"tool_input"`

	CopilotTool  string          `json:"toolName"`
	CopilotInput json.RawMessage `json:"toolArgs"`
}

// maxHook bounds what an agent sends, in bytes.
const maxHook = 8 << 20

// hook answers an agent that starts or is about to use a tool: which skills are not as they were
// installed. Without a call it prints one line for people. It sends no request.
func (in *installer) hook(_ context.Context, args []string) error {
	if len(args) > 0 {
		return usagef("hook takes no names")
	}
	var call hookCall
	if in.s.stdin != nil && !isTerminal(in.s.stdin) {
		sent, err := io.ReadAll(io.LimitReader(in.s.stdin, maxHook))
		if err != nil {
			return err
		}
		_ = json.Unmarshal(sent, &call) // what is no call gets the line for people
	}
	changed, installed := in.changedSkills(call.Directory)
	message := hookMessage(changed, installed)
	if len(changed) > 0 {
		in.s.refused++
	}
	switch tool, input := call.Tool, call.Input; {
	case call.Event == "PreToolUse" || call.CopilotTool != "":
		if call.CopilotTool != "" {
			tool, input = call.CopilotTool, call.CopilotInput
		}
		in.s.refused = 0 // the answer says it, and agents take another exit code for a fault of the hook
		decision := map[string]string{"permissionDecision": "deny", "permissionDecisionReason": message}
		switch {
		case !slices.ContainsFunc(changed, func(c changedSkill) bool { return c.usedBy(tool, input) }):
			return nil
		case call.CopilotTool != "":
			return writeJSON(in.s, decision)
		}
		decision["hookEventName"] = call.Event
		return writeJSON(in.s, map[string]any{"hookSpecificOutput": decision})
	case call.Event == "SessionStart":
		in.s.refused = 0
		if len(changed) == 0 {
			return nil
		}
		return writeJSON(in.s, map[string]any{"systemMessage": message,
			"hookSpecificOutput": map[string]string{"hookEventName": call.Event, "additionalContext": message + " Do not read or use them."}})
	}
	_, err := io.WriteString(in.s.stdout, message+"\n")
	return err
}

// changedSkill is a skill that is not as it was installed.
type changedSkill struct {
	name  string
	paths []string
}

// changedSkills looks at the skills of the project, and at those of the user. A lockfile that cannot be
// read vouches for no skill.
func (in *installer) changedSkills(directory string) (changed []changedSkill, installed int) {
	places := []*install.Place{in.place}
	if !in.user {
		if p, err := install.Open(directory, install.Project); directory != "" && err == nil {
			places[0] = p
		}
		if p, err := install.Open("", install.User); err == nil {
			places = append(places, p)
		}
	}
	for _, p := range places {
		checks, err := p.Verify()
		if err != nil {
			changed = append(changed, changedSkill{"all of " + p.LockPath(), p.Folders()})
			continue
		}
		for _, c := range checks {
			installed++
			if !c.OK() {
				changed = append(changed, changedSkill{c.Entry.Directory, c.Paths})
			}
		}
	}
	return changed, installed
}

func hookMessage(changed []changedSkill, installed int) string {
	if len(changed) == 0 {
		return "lookleap: " + plaintext.Plural(installed, "skill is", "skills are") + " as installed."
	}
	var names []string
	for _, c := range changed {
		names = append(names, plaintext.Line(c.name))
	}
	const most = 10
	shown := strings.Join(names[:min(len(names), most)], ", ")
	if len(names) > most {
		shown += ", …"
	}
	return "lookleap: " + plaintext.Plural(len(changed), "skill is", "skills are") + " not as installed and must not be used: " + shown +
		". See lookleap skill verify; lookleap skill sync restores them."
}

// usedBy reports whether a tool is about to use the skill: its input has the name, for a tool that uses
// skills, or a path below its folder.
func (c *changedSkill) usedBy(tool string, input json.RawMessage) bool {
	var value any
	if json.Unmarshal(input, &value) != nil {
		value = string(input)
	}
	var text string
	if json.Unmarshal(input, &text) == nil { // Copilot sends the arguments as JSON in a string
		if json.Unmarshal([]byte(text), &value) != nil {
			value = text
		}
	}
	return c.in(value, strings.EqualFold(tool, "skill"))
}

func (c *changedSkill) in(value any, named bool) bool {
	switch v := value.(type) {
	case map[string]any:
		for _, one := range v {
			if c.in(one, named) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, func(one any) bool { return c.in(one, named) })
	case string:
		if named && (v == c.name || strings.HasSuffix(v, ":"+c.name) || v == "/"+c.name) {
			return true
		}
		slashed := filepath.ToSlash(v)
		return slices.ContainsFunc(c.paths, func(path string) bool {
			path = filepath.ToSlash(path)
			folder := path[strings.LastIndexByte(path[:strings.LastIndexByte(path, '/')], '/')+1:] // skills/NAME
			return namesPath(slashed, path) || namesPath(slashed, folder)
		})
	}
	return false
}

// namesPath reports whether a text has a path that is not the beginning of a longer name.
func namesPath(text, path string) bool {
	for {
		at := strings.Index(text, path)
		if at < 0 {
			return false
		}
		text = text[at+len(path):]
		if text == "" || !isNameByte(text[0]) {
			return true
		}
	}
}

func isNameByte(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || b == '-' || b == '_' || b == '.'
}

// writeJSON writes a value as one line.
func writeJSON(s *session, v any) error {
	line, err := json.Marshal(v)
	if err == nil {
		_, err = s.stdout.Write(append(line, '\n'))
	}
	return err
}
