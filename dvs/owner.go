package dvs

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/lookleap/lookleap"
)

// ownerMark returns the mark of the loader's user for a plan: a digest of [Options.User] that
// differs from plan to plan. It is "" without a user.
func (l *Loader) ownerMark() string { return l.ownerMarkWith(rand.Text()) }

func (l *Loader) ownerMarkWith(nonce string) string {
	if l.options.User == "" {
		return ""
	}
	mac := hmac.New(sha256.New, []byte("lookleap skill plan owner\x00"+l.options.User))
	mac.Write([]byte(nonce))
	return nonce + "." + hex.EncodeToString(mac.Sum(nil))
}

// owns returns an error unless a plan with this mark belongs to the loader's user. It is called
// before anything else is done with the plan.
func (l *Loader) owns(mark string) error {
	nonce, _, _ := strings.Cut(mark, ".")
	if hmac.Equal([]byte(mark), []byte(l.ownerMarkWith(nonce))) {
		return nil
	}
	return &lookleap.Error{Code: lookleap.CodePlanOtherUser, Message: "the plan was prepared for another user", Fix: "resume it with a loader that has the user's id in Options.User"}
}
