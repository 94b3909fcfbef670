package anmltrust

import (
	"fmt"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/coded"
)

// What a fresh verification may take away from an action (row X10).
var (
	// ErrTrustRevoked is an authorization that was withdrawn, or that no longer
	// covers what the action needs.
	ErrTrustRevoked = coded.New("trust-revoked", "the authorization was withdrawn")
	// ErrTrustUnverified is an authorization that could not be verified anew. It
	// may still exist, and the action is refused all the same.
	ErrTrustUnverified = coded.New("trust-unverified", "the authorization could not be verified anew")
)

// Confirm turns the answer of [Verifier.VerifyFresh] into leave for one action
// that needs a section at Tier 2: nil, or an error that is [ErrTrustRevoked] or
// [ErrTrustUnverified] and wraps the cause.
func Confirm(a *Authorization, err error, needs Section, now time.Time) error {
	switch {
	case err != nil && isTemporary(lookleap.CodeOf(err)):
		return fmt.Errorf("%w: %w", ErrTrustUnverified, err)
	case err != nil:
		return fmt.Errorf("%w: %w", ErrTrustRevoked, err)
	case a == nil || a.Tier < Full || !a.Permits(needs, now):
		return fmt.Errorf("%w: %w", ErrTrustRevoked, refuse(CodeTrustRevoked, lookleap.Position{}, "", "the section %s is not granted", needs))
	}
	return nil
}
