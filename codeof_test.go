package lookleap_test

import (
	"context"
	"errors"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/agentstxt"
	"github.com/lookleap/lookleap/aiuri"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anml/agent"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/dvs"
)

// second returns the error of a call with a result.
func second[T any](_ T, err error) error { return err }

// TestCodeOfBadInput calls exported functions of all packages with bad input:
// each error has a code of the table, and none is "internal".
func TestCodeOfBadInput(t *testing.T) {
	host := &lookleap.Host{}
	defer host.Close()
	for name, err := range map[string]error{
		"lookleap.Seal":                  second(lookleap.Seal(nil, nil)),
		"lookleap.Open":                  second(lookleap.Unseal(nil, "")),
		"lookleap.Open broken":           second(lookleap.Unseal(resumeKey, "x")),
		"lookleap.SealedCache":           second(lookleap.SealedCache(nil, resumeKey)),
		"lookleap.SealedCache key":       second(lookleap.SealedCache(lookleap.NewMemoryCache(1), nil)),
		"lookleap.FileLedger":            lookleap.FilePlanLedger("").Claim(t.Context(), "", planTime),
		"lookleap.ParsePlan":             second(lookleap.ParsePlan([]byte("{"))),
		"lookleap.NewPlan":               second(lookleap.NewPlan(lookleap.ConsentRequest{}, nil, planTime)),
		"lookleap.NewPlan without parts": second(lookleap.NewPlan(lookleap.ConsentRequest{Kind: lookleap.ConsentAct}, nil, planTime)),
		"lookleap.Host.RoundTrip":        second(host.RoundTrip(nil)),
		"lookleap.Host.Ask":              second(host.Ask(t.Context(), nil)),
		"lookleap.Host.Commit":           host.Commit(t.Context(), nil, nil),
		"agentstxt":                      &lookleap.Error{Code: lookleap.CodeNotUTF8, Err: agentstxt.ErrMalformed},
		"aiuri.Parse":                    second(aiuri.Parse("x")),
		"aiuri.FromIRI":                  second(aiuri.FromIRI("\xff")),
		"anml.Parse xml":                 second(anml.Parse("", []byte("<x>"), anml.ReadOptions{})),
		"anml.Parse nothing":             second(anml.Parse("", nil, anml.ReadOptions{})),
		"anml.CheckValue":                anml.CheckValue(anml.TypeNumber, "x"),
		"anmltrust":                      second(anmltrust.NewVerifier(host, anmltrust.Options{}).Verify(cancelled(t), anmltrust.Claim{})),
		"dvs.ParseSkillURL":              second(dvs.ParseSkillURL("x", dvs.Rules{})),
		"dvs.ParseTrustRoot":             second(dvs.ParseTrustRoot("x", dvs.Rules{})),
		"agent.ErrNoValue":               agent.ErrNoValue,
		"agent.ErrUsage":                 agent.ErrUsage,
		"agent.ErrBusy":                  agent.ErrBusy,
	} {
		t.Run(name, func(t *testing.T) {
			if code := lookleap.CodeOf(err); err == nil || !code.Known() || code == lookleap.CodeInternal || code == lookleap.CodeOK {
				t.Errorf("%q: %v", code, err)
			}
		})
	}
	for _, err := range []error{anml.ErrType, anml.ErrParamMissing, anml.ErrParamInvalid, anml.ErrParamUnknown, anml.ErrUnsupportedEncType, anml.ErrProblem, anml.ErrRoleUnset, anml.ErrRoleContent,
		anml.ErrNoAction, anml.ErrAmbiguousAction, anml.ErrEmptyResponse, anml.ErrFlowCycle, anmltrust.ErrTrustRevoked, anmltrust.ErrTrustUnverified, aiuri.ErrNoSession} {
		if code := lookleap.CodeOf(errors.Join(err)); !code.Known() || code == lookleap.CodeInternal {
			t.Errorf("%q: %v", code, err)
		}
	}
}

func cancelled(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}
