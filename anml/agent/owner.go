package agent

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/lookleap/lookleap"
)

// ownerMark is the mark of a session's user in the effect of a plan: a keyed digest
// of [User.ID] that differs from plan to plan. It is "" for a user of whom the host
// gives neither an ID nor a LedgerKey.
func (s *Session) ownerMark() string {
	return s.ownerMarkWith(rand.Text())
}

func (s *Session) ownerMarkWith(nonce string) string {
	if s.user.ID == "" && len(s.user.LedgerKey) == 0 {
		return ""
	}
	key := hmac.New(sha256.New, s.user.LedgerKey)
	key.Write([]byte("lookleap plan owner\x00" + s.user.ID))
	mac := hmac.New(sha256.New, key.Sum(nil))
	mac.Write([]byte(nonce))
	return nonce + "." + hex.EncodeToString(mac.Sum(nil))
}

// owns returns an error unless a plan with this mark belongs to the session's user.
// It is asked before anything else is done with the plan.
func (s *Session) owns(mark string) error {
	nonce, _, _ := strings.Cut(mark, ".")
	if hmac.Equal([]byte(mark), []byte(s.ownerMarkWith(nonce))) {
		return nil
	}
	return &lookleap.Error{Code: lookleap.CodePlanOtherUser, Message: "the plan was prepared in the session of another user; resume it in a session with that user's ID and LedgerKey"}
}

// asUser names the session's user for the host's dialogues, of which each user
// has one at a time. A session without [User.ID] and LedgerKey leaves the name
// that the caller gave.
func (s *Session) asUser(ctx context.Context) context.Context {
	if user := s.ownerMarkWith("dialogue"); user != "" {
		return lookleap.WithUser(ctx, user)
	}
	return ctx
}
