package dvs

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
)

// refuse reports a verdict and returns it as an error.
func (l *Loader) refuse(ctx context.Context, v *lookleap.Verdict, cause error) error {
	l.host.Report(ctx, lookleap.Event{Kind: lookleap.EventVerdict, Code: v.Code, Subject: v.Subject, Verdict: v, Err: cause})
	return &lookleap.VerifyError{Verdict: v, Err: cause}
}

// refuseConsent returns an error with a verdict that has the missing consent as its last check.
func (l *Loader) refuseConsent(ctx context.Context, v *lookleap.Verdict, err error) error {
	if errors.Is(err, lookleap.ErrConsentPending) {
		return err
	}
	return l.refuseBecause(ctx, v, err, lookleap.CodeOf(err).Title())
}

// refuseTrust returns an error with a verdict that has what the trust store, a policy or a feed
// said as its last check.
func (l *Loader) refuseTrust(ctx context.Context, v *lookleap.Verdict, err error) error {
	return l.refuseBecause(ctx, v, err, sentence(err))
}

// refuseBecause returns an error with a copy of a verdict that has a failed check at its end.
func (l *Loader) refuseBecause(ctx context.Context, v *lookleap.Verdict, err error, summary string) error {
	refused := *v
	refused.OK = false
	refused.Expires = time.Time{}
	refused.Code = lookleap.CodeOf(err)
	refused.Summary = summary
	refused.Checks = append(slices.Clone(v.Checks),
		lookleap.Check{Requirement: "DVS-5.2-08", Code: refused.Code, Status: lookleap.Failed, Message: summary})
	return l.refuse(ctx, &refused, err)
}

// refuseTarget returns an error about a file or another thing that a skill refers to.
func (l *Loader) refuseTarget(ctx context.Context, subject string, err error) error {
	v := l.targetVerdict(subject)
	v.Code, v.Summary = lookleap.CodeOf(err), sentence(err)
	v.Checks = append(v.Checks, lookleap.Check{Requirement: "DVS-5.1-01", Code: v.Code, Status: lookleap.Failed, Message: v.Summary})
	return l.refuse(ctx, v, err)
}

func (l *Loader) targetVerdict(subject string) *lookleap.Verdict {
	return &lookleap.Verdict{Document: Draft, Subject: domain.Redact(subject), Code: lookleap.CodeOK, CheckedAt: l.host.Time()}
}
