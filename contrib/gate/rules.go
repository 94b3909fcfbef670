package gate

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// Verb is what happens to a call.
type Verb uint8

// The verbs, in the order of strictness except for the first, which is the default.
const (
	Ask    Verb = iota // the person decides
	Pass               // it runs
	Refuse             // it does not run
)

// Stricter returns the stricter of two verbs: a refusal, then a question.
func Stricter(a, b Verb) Verb {
	rank := [...]int{Pass: 0, Ask: 1, Refuse: 2}
	if rank[min(a, Refuse)] >= rank[min(b, Refuse)] {
		return min(a, Refuse)
	}
	return min(b, Refuse)
}

// Rule applies to a call if all of its conditions hold. A condition that is not set holds.
type Rule struct {
	Tools      []string // names or patterns of Match, such as "read_*"
	ReadOnly   bool     // the tool is marked as read-only
	Recipients []string // each recipient of the call is one of these, and there is at least one; nil: not set
	AtMost     float64  // each amount of the call is a number from 0 to this, and there is at least one; 0: not set
	PerDay     int      // in 24 hours, fewer than this many calls of the tool met this rule, for this user; the Limiter of the host counts

	Verb Verb
}

// Match reports whether the name of a tool matches a pattern of [path.Match]. A slash is a character
// like others, which "*" matches too, because servers choose the names of their tools. An error is
// [path.ErrBadPattern].
func Match(pattern, name string) (bool, error) {
	const other = "\ufffd"
	return path.Match(strings.ReplaceAll(pattern, "/", other), strings.ReplaceAll(name, "/", other))
}

// applies reports whether a rule applies. A call that meets PerDay counts, whatever becomes of it, and
// counts once: when it is resumed, the day has room for it.
func (g *Gate) applies(ctx context.Context, r *Rule, t *Gated, args *arguments, resumed bool) bool {
	if len(r.Tools) > 0 && !slices.ContainsFunc(r.Tools, func(pattern string) bool {
		matched, _ := Match(pattern, t.Name) // judge has refused others
		return matched
	}) || r.ReadOnly && !t.ReadOnly {
		return false
	}
	if (r.Recipients != nil || r.AtMost != 0) && !r.covers(t, args) {
		return false
	}
	if r.PerDay > 0 && !resumed {
		own, _ := json.Marshal(r) // what the rule says, so that each rule has its own count
		key := "gate/" + lookleap.Digest(fmt.Appendf(own, "%q %q", g.options.User, t.Name))
		wait, err := g.host.Take(ctx, key, lookleap.Rate{Limit: r.PerDay, Window: 24 * time.Hour})
		return err == nil && wait == 0
	}
	return true
}

// covers reports whether the conditions about arguments hold.
func (r *Rule) covers(t *Gated, args *arguments) bool {
	recipients, amounts := 0, 0
	for _, l := range args.leaves() {
		kind, text := l.text()
		switch t.argument(l.pointer).Role {
		case Recipient:
			recipients++
			if r.Recipients != nil && !slices.Contains(r.Recipients, text) {
				return false
			}
		case Amount:
			amounts++
			if amount, err := l.value.Float(); r.AtMost != 0 && (kind != "number" || err != nil || !(0 <= amount && amount <= r.AtMost)) {
				return false
			}
		}
	}
	return (r.Recipients == nil || recipients > 0) && (r.AtMost == 0 || amounts > 0) && !r.hasHidden(t, args)
}

// hasHidden reports whether an argument that a condition is about is a list or an object, in which the
// condition would not see a value.
func (r *Rule) hasHidden(t *Gated, args *arguments) (hidden bool) {
	args.walk(func(l leaf, container bool) {
		role := t.argument(l.pointer).Role
		hidden = hidden || container && (role == Recipient && r.Recipients != nil || role == Amount && r.AtMost != 0)
	})
	return hidden
}

// judge says what happens to a call, or returns the error of a call that is refused.
func (g *Gate) judge(ctx context.Context, t *Gated, args *arguments, resumed bool) (Verb, error) {
	if err := args.checkNames(&t.Tool); err != nil {
		return Refuse, err
	}
	verb := Ask
	for i := range g.options.Rules {
		r := &g.options.Rules[i]
		for _, pattern := range r.Tools {
			if _, err := Match(pattern, ""); err != nil {
				return Refuse, usage("a rule of the gate has the malformed pattern "+plaintext.Quote(pattern, 100), "see gate.Match")
			}
		}
		if g.applies(ctx, r, t, args, resumed) {
			verb = min(r.Verb, Refuse)
			break
		}
	}
	if verb == Refuse {
		return Refuse, t.denied("a rule")
	}
	if t.Ask {
		verb = Stricter(verb, Ask)
	}
	if g.options.Decide != nil {
		verb = Stricter(verb, g.decide(ctx, Call{Tool: t.Name, Arguments: args.canonical()}))
	}
	if verb == Refuse {
		return Refuse, t.denied("the policy")
	}
	return verb, nil
}

func (t *Gated) denied(by string) error {
	name := plaintext.Quote(t.Name, 100)
	return &lookleap.Error{Code: lookleap.CodeDenied, Subject: "tool " + name, Message: by + " forbids this call of " + name,
		Fix: "do it in another way, or let the person do it", Err: lookleap.ErrDenied}
}

// decide asks the function of the host. If it fails, the call is refused.
func (g *Gate) decide(ctx context.Context, c Call) (verb Verb) {
	defer func() {
		if recover() != nil {
			verb = Refuse
		}
	}()
	return g.options.Decide(ctx, c)
}

// String returns the verb in lower case.
func (v Verb) String() string {
	return strings.Fields("ask pass refuse")[min(v, Refuse)]
}
