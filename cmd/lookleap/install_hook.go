package main

import (
	"context"
	"encoding/json"
	"io"
	"path/filepath"
	"regexp"
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

const maxHook = 8 << 20 // bytes that an agent sends

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
			return json.NewEncoder(in.s.stdout).Encode(decision)
		}
		decision["hookEventName"] = call.Event
		return json.NewEncoder(in.s.stdout).Encode(map[string]any{"hookSpecificOutput": decision})
	case call.Event == "SessionStart":
		in.s.refused = 0
		if len(changed) == 0 {
			return nil
		}
		return json.NewEncoder(in.s.stdout).Encode(map[string]any{"systemMessage": message,
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
	if text, ok := value.(string); ok && json.Unmarshal([]byte(text), &value) != nil { // Copilot sends JSON in a string
		value = text
	}
	return slices.ContainsFunc(textsOf(value), func(text string) bool {
		if strings.EqualFold(tool, "skill") && (text == c.name || strings.HasSuffix(text, ":"+c.name) || text == "/"+c.name) {
			return true
		}
		return slices.ContainsFunc(c.paths, func(folder string) bool {
			folder = filepath.Join(filepath.Base(filepath.Dir(folder)), filepath.Base(folder)) // skills/NAME
			path := regexp.QuoteMeta(filepath.ToSlash(folder)) + `([^A-Za-z0-9._-]|$)`         // not of a longer name
			return regexp.MustCompile(path).MatchString(filepath.ToSlash(text))
		})
	})
}

// textsOf returns all strings of a JSON value.
func textsOf(value any) (texts []string) {
	switch v := value.(type) {
	case string:
		texts = append(texts, v)
	case map[string]any:
		for _, one := range v {
			texts = append(texts, textsOf(one)...)
		}
	case []any:
		for _, one := range v {
			texts = append(texts, textsOf(one)...)
		}
	}
	return texts
}
