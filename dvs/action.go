package dvs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// ActionKind is a kind of action in a skill's text that the host performs
// itself.
type ActionKind string

// The kinds of action (section 5.2).
const (
	Shell   ActionKind = "shell"    // a command
	APICall ActionKind = "api-call" // a request to a service
	FileOp  ActionKind = "file"     // reading or changing files of the user's
)

var actionSentences = map[ActionKind]string{Shell: "run a command", APICall: "call a service", FileOp: "work on files"}

// Action is something that a skill's text tells the agent to do and that is
// more than reading: commands written inside Markdown count (section 5.2).
type Action struct {
	Kind    ActionKind
	Command string // the exact command, request or operation
	Uses    []Use
}

type plannedAction struct {
	standing
	Kind    ActionKind `json:"kind"`
	Command string     `json:"command"`
	Uses    []Use      `json:"uses,omitempty"`
}

// Confirm asks the user for an action that the host performs itself. No error
// means that it may be done, once and exactly so. A command or uses of more than 4 KiB, which a prompt
// cannot show whole, are refused with [lookleap.CodeConsentTooLong].
func (s *Loaded) Confirm(ctx context.Context, a Action) error {
	if err := s.ready(); err != nil {
		return err
	}
	if err := s.use(); err != nil {
		return s.loader.refuseTarget(ctx, s.ID.String(), err)
	}
	sentence, ok := actionSentences[a.Kind]
	if !ok {
		return s.loader.refuseTarget(ctx, s.ID.String(), refuse(lookleap.CodeUsage, string(a.Kind), "there is no such kind of action",
			fmt.Sprintf("use one of %v", slices.Sorted(maps.Keys(actionSentences)))))
	}
	if err := errors.Join(checkWords(a.Command), checkUses(a.Uses)); err != nil {
		return s.loader.refuseTarget(ctx, s.ID.String(), err)
	}
	planned := &plannedAction{standing: s.standing(), Kind: a.Kind, Command: a.Command, Uses: slices.Clone(a.Uses)}
	effect, err := (&plannedEffect{Type: effectAction, Action: planned}).encode()
	if err != nil {
		return err
	}
	req := s.request(lookleap.ConsentScript, fmt.Sprintf("%s because the skill %s says so", sentence, plaintext.Quote(s.ID.String(), 400)))
	req.Items = []lookleap.ConsentItem{{ID: "act", Class: lookleap.ItemCode, Recipient: lookleap.RecipientAgent, Digest: lookleap.Digest([]byte(a.Command)),
		Summary: sentence + "; " + usesSentence(a.Uses),
		Values:  []lookleap.ConsentValue{{Label: string(a.Kind), Text: a.Command, Source: s.ServingHost(), Command: true}}}}
	plan, err := lookleap.NewPlan(req, effect, s.loader.host.Time())
	if err != nil {
		return s.loader.refuseConsent(ctx, s.Verdict, err)
	}
	data, _ := json.Marshal(planned)
	approval, err := s.loader.approve(ctx, plan, strings.Join([]string{effectAction, planned.Skill, lookleap.Digest(data)}, "\n"))
	if err != nil {
		return s.loader.refuseConsent(ctx, s.Verdict, err)
	}
	return s.loader.host.Commit(ctx, approval, func(ctx context.Context, _ []byte) error { return s.loader.checkStanding(ctx, planned.standing) })
}
