package dvs_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/internal/lab"
)

// TestPlanOwner resumes each kind of plan for another user than the one who was asked.
func TestPlanOwner(t *testing.T) {
	pend := &prompter{decide: func(*lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
		return lookleap.ConsentDecision{}, lookleap.ErrConsentPending
	}}
	flows := map[string]func(context.Context, *dvs.Loader) error{
		"admission": func(ctx context.Context, l *dvs.Loader) error {
			_, err := l.Load(ctx, "https://other.example/s/a/SKILL.md")
			return err
		},
		"fetch": func(ctx context.Context, l *dvs.Loader) error {
			skill, err := l.Load(ctx, scriptSkill)
			if err == nil {
				_, err = skill.Resource(ctx, "https://other.example/x")
			}
			return err
		},
		"script": func(ctx context.Context, l *dvs.Loader) error {
			skill, err := l.Load(ctx, scriptSkill)
			if err == nil {
				_, err = skill.Approve(ctx, invocation)
			}
			return err
		},
		"action": func(ctx context.Context, l *dvs.Loader) error {
			skill, err := l.Load(ctx, scriptSkill)
			if err == nil {
				err = skill.Confirm(ctx, dvs.Action{Kind: dvs.FileOp, Command: "rm x"})
			}
			return err
		},
	}
	t.Run("O06", func(t *testing.T) {
		for name, suspend := range flows {
			for who, ids := range map[string][2]string{"two-users": {"ann", "bob"}, "no-user": {"ann", ""}, "user-of-a-plan-without": {"", "bob"}} {
				t.Run("reject-"+name+"-"+who, func(t *testing.T) {
					net := lab.ForTest(t)
					net.Site("shop.example").Body("/s/a/SKILL.md", "text/markdown", refund).Body("/s/a/scripts/x.sh", "text/plain", "echo").Body("/s/a/data/x.csv", "text/csv", "a,b")
					net.Site("other.example").Body("/s/a/SKILL.md", "text/markdown", refund).Body("/x", "text/plain", "x")
					host := net.Host()
					host.Prompter = pend
					of := func(user string) *dvs.Loader {
						return dvs.NewLoader(host, dvs.Options{User: user, Roots: registry(t, "https://shop.example/"), Runner: &runner{}})
					}
					var pending *lookleap.PendingError
					if err := suspend(t.Context(), of(ids[0])); !errors.As(err, &pending) {
						t.Fatal(err)
					}
					if ids[0] != "" && strings.Contains(string(pending.State), ids[0]) {
						t.Error("the plan holds the user's id")
					}
					decision, _ := agree(pending.Request)
					net.Journal().Clear()
					if got, err := of(ids[1]).Resume(t.Context(), pending.State, decision); got != nil || lookleap.CodeOf(err) != lookleap.CodePlanOtherUser {
						t.Errorf("%+v, %v", got, err)
					}
					if sent := net.Journal().Requests(); len(sent) != 0 {
						t.Errorf("sent %v", sent)
					}
					if _, err := of(ids[0]).Resume(t.Context(), pending.State, decision); err != nil { // nothing was claimed
						t.Errorf("its own user: %v", err)
					}
				})
			}
		}
	})
}
