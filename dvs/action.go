package dvs

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/lookleap/lookleap"
)

// ActionKind is a kind of action that the host program performs itself.
type ActionKind string

// The kinds of action (section 5.2).
const (
	Shell   ActionKind = "shell"    // a command
	APICall ActionKind = "api-call" // a request to a service
	FileOp  ActionKind = "file"     // reading or changing the user's files
)

var actionSentences = map[ActionKind]string{Shell: "run a command", APICall: "call a service", FileOp: "work on files"}

// Action is something that the text of a skill tells the agent to do, beyond reading. Commands
// inside Markdown are actions too (section 5.2).
type Action struct {
	Kind    ActionKind
	Command string // the exact command, request or operation
	Uses    []Use
}

type plannedAction struct {
	loadTerms
	Kind    ActionKind `json:"kind"`
	Command string     `json:"command"`
	Uses    []Use      `json:"uses,omitempty"`
}

// Confirm asks the user for an action that the host program performs itself. If it returns nil,
// the action may be done once, exactly as it was described. A command or uses of more than 4 KiB
// are refused with [lookleap.CodeConsentTooLong], since a prompt cannot show them.
func (s *Loaded) Confirm(ctx context.Context, a Action) error {
	if err := s.ready(); err != nil {
		return err
	}
	if _, err := s.Skill(); err != nil {
		return s.loader.refuseTarget(ctx, s.ID.String(), err)
	}
	if a.Kind == Shell {
		if err := s.loader.policies.scripts(s.ID.String()); err != nil {
			return s.loader.refuseTarget(ctx, s.ID.String(), err)
		}
	}
	sentence, ok := actionSentences[a.Kind]
	if !ok {
		return s.loader.refuseTarget(ctx, s.ID.String(), refuse(lookleap.CodeUsage, string(a.Kind), "the kind of action is unknown",
			fmt.Sprintf("use one of %v", slices.Sorted(maps.Keys(actionSentences)))))
	}
	if err := (&Invocation{Args: []string{a.Command}, Uses: a.Uses}).check(); err != nil {
		return s.loader.refuseTarget(ctx, s.ID.String(), err)
	}
	planned := &plannedAction{loadTerms: s.loadTerms(), Kind: a.Kind, Command: a.Command, Uses: slices.Clone(a.Uses)}
	req := s.request(lookleap.ConsentScript, fmt.Sprintf("%s because the skill %s says so", sentence, quoteName(s.ID.String())))
	req.Items = []lookleap.ConsentItem{{ID: "act", Class: lookleap.ItemCode, Recipient: lookleap.RecipientAgent,
		Digest:  lookleap.Digest([]byte(a.Command)),
		Summary: sentence + "; " + usesSentence(a.Uses),
		Values:  []lookleap.ConsentValue{{Label: string(a.Kind), Text: a.Command, Source: s.ServingHost(), Command: true}}}}
	data, _ := json.Marshal(planned)
	approval, err := s.agreeTo(ctx, req, &plannedEffect{Type: effectAction, Action: planned},
		consentKey{effectAction, planned.Skill, lookleap.Digest(data)})
	if err != nil {
		return err
	}
	return s.loader.commitAction(ctx, approval, planned)
}

// commitAction spends the user's approval of an action, which the caller then does.
func (l *Loader) commitAction(ctx context.Context, approval *lookleap.Approval, planned *plannedAction) error {
	if planned.Kind == Shell {
		if err := l.policies.scripts(planned.Skill); err != nil {
			return l.refuseTarget(ctx, planned.Skill, err)
		}
	}
	_, err := l.host.Commit(ctx, approval, func(ctx context.Context, _ []byte) ([]byte, error) {
		return nil, lookleap.NothingSent(l.checkTerms(ctx, planned.loadTerms))
	})
	return err
}
