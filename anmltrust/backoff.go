package anmltrust

import (
	"context"

	"github.com/lookleap/lookleap"
)

// The backoffs of endpoints, which are what servers ask for with Retry-After or by failing, stand
// in the [lookleap.Host.Limiter] too, so that other processes wait as well. The other backoffs are
// judgements about what this process read. The reason is part of the key, because a 429 ends the
// procedure and a failure opens the other mechanism (rows E8 and E9).

// endpointBackoffs returns the backoffs that an endpoint may have, without their ends.
func endpointBackoffs(m Mechanism) [2]rememberedBackoff {
	if m == Query {
		return [2]rememberedBackoff{{code: CodeQuery429}, {code: CodeQueryUnavailable, temporary: true}}
	}
	return [2]rememberedBackoff{{code: CodeManifest429}, {code: CodeManifestUnavailable, temporary: true}}
}

func sharedBackoffKey(code lookleap.Code, uri string) string {
	return "anmltrust retry " + string(code) + " " + uri
}

// sharedBackoff returns the backoff of an endpoint that another process started. If the Limiter
// fails, there is none: a backoff spares the server, and grants nothing.
func (v *Verifier) sharedBackoff(ctx context.Context, m Mechanism, uri string) (rememberedBackoff, bool) {
	for _, b := range endpointBackoffs(m) {
		if wait, err := v.host.Wait(ctx, sharedBackoffKey(b.code, uri), lookleap.Rate{}); err == nil && wait > 0 {
			return b, true
		}
	}
	return rememberedBackoff{}, false
}

// shareBackoffs tells other processes about the backoffs of endpoints that an outcome starts.
func (v *Verifier) shareBackoffs(ctx context.Context, o *outcome) {
	for _, b := range o.backoffs {
		if b.scope != backoffEndpoint {
			continue
		}
		if err := v.host.Hold(ctx, sharedBackoffKey(b.code, b.uri), b.length); err != nil {
			v.host.Report(ctx, lookleap.Event{Kind: lookleap.EventFinding, Code: lookleap.CodeOf(err), Subject: b.uri, Err: err})
		}
	}
}
