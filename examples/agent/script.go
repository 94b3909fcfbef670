package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// script is a model for the demo and for tests. It follows its steps as long as they succeed.
// If one fails, it cancels the reservation, and says why.
type script struct {
	step   int
	failed string // why; empty as long as all steps succeeded
}

var steps = []struct{ tool, args string }{
	{"load_skill", `{"name":"book-a-ferry"}`},
	{"open_site", `{}`},
	{"search", `{"from":"harbour","to":"island"}`},
	{"reserve", `{"trip":"t2","seats":2}`},
	{"pay", `{}`},
	{"confirm", `{}`},
}

// next reads the result of its last call as any model does, and calls the tool of the next step.
func (s *script) next(_ context.Context, conversation []message, tools []tool) (message, error) {
	last := conversation[len(conversation)-1]
	if last.Role == "tool" {
		var result struct{ Do, Code, Error string }
		if err := json.Unmarshal([]byte(last.Content), &result); err != nil {
			return message{}, err
		}
		switch {
		case s.failed != "" && result.Do == "":
			return say("I gave the seats back. " + s.failed), nil
		case s.failed != "":
			return say(s.failed + " The seats are still reserved."), nil
		case result.Do != "":
			why, _, _ := strings.Cut(result.Error, "\n")
			s.failed = fmt.Sprintf("The step %q failed: %s", steps[s.step-1].tool, why)
			if i := find(tools, "cancel"); i >= 0 {
				return use(tools[i].Name, "{}"), nil
			}
			return say(s.failed), nil
		}
	}
	if s.step == len(steps) {
		return say("Two seats to the island are booked."), nil
	}
	step := steps[s.step]
	i := find(tools, step.tool)
	if i < 0 {
		return say(fmt.Sprintf("The page offers no tool %q.", step.tool)), nil
	}
	s.step++
	return use(tools[i].Name, step.args), nil
}

// find returns the index of the tool whose name ends with a word, or -1.
func find(tools []tool, word string) int {
	return slices.IndexFunc(tools, func(t tool) bool { return strings.HasSuffix(t.Name, word) })
}

func say(text string) message { return message{Role: "assistant", Content: text} }

func use(name, args string) message {
	c := toolCall{ID: "call-" + name, Type: "function"}
	c.Function.Name, c.Function.Arguments = name, args
	return message{Role: "assistant", ToolCalls: []toolCall{c}}
}
