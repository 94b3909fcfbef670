// Package planowner binds questions and suspended plans to their user, so that no one else resumes
// a plan or answers for the user.
package planowner

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/lookleap/lookleap"
)

// Mark returns the mark of a user for a plan: a digest of the host's id of the user that differs
// from plan to plan. It is "" without a user.
func Mark(user string) string { return markWith(user, rand.Text()) }

func markWith(user, nonce string) string {
	if user == "" {
		return ""
	}
	mac := hmac.New(sha256.New, []byte("lookleap skill plan owner\x00"+user))
	mac.Write([]byte(nonce))
	return nonce + "." + hex.EncodeToString(mac.Sum(nil))
}

// Check returns an error unless a plan with this mark belongs to the user. Call it before anything
// else is done with the plan. The fix says where the host sets the user.
func Check(mark, user, fix string) error {
	nonce, _, _ := strings.Cut(mark, ".")
	if hmac.Equal([]byte(mark), []byte(markWith(user, nonce))) {
		return nil
	}
	return &lookleap.Error{Code: lookleap.CodePlanOtherUser, Message: "the plan was prepared for another user", Fix: fix}
}

// Context returns a context that names the user to the Host, which keeps the dialogues and
// refusals of its users apart. Without a user, the name that the caller set stays.
func Context(ctx context.Context, user string) context.Context {
	if user == "" {
		return ctx
	}
	return lookleap.WithUser(ctx, user)
}
