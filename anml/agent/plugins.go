package agent

import (
	"context"
	"fmt"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/plugin"
)

// How long the agent waits for one call of a plug-in, and how many calls of all
// its sessions may not have returned. Beyond the number calls are refused.
const (
	pluginTime  = 10 * time.Second
	policyTime  = 30 * time.Second // a host may ask a model
	pluginCalls = 1024
)

// plugins bound the calls of what the host and its users plug in. Who asks a
// person waits as long as the caller's context lasts.
type plugins struct {
	store, ledger, person, detectors, profile, policy, notify *plugin.Bound
}

func newPlugins() plugins {
	return plugins{
		store: bounded("store", pluginTime), ledger: bounded("ledger", pluginTime),
		person: bounded("authentication", 0), detectors: bounded("detector", detectorTime),
		profile: bounded("profile", pluginTime), policy: bounded("policy", policyTime), notify: bounded("notification", notifyTime),
	}
}

func bounded(part string, limit time.Duration) *plugin.Bound {
	return &plugin.Bound{
		Limit: limit, Most: pluginCalls,
		Fail: func(reason string) error {
			return &lookleap.Error{Code: lookleap.CodeTimeout, Message: "the host's " + part + " gave no answer: " + reason}
		},
		Guard: func(err *error) {
			if p := recover(); p != nil {
				*err = fmt.Errorf("anml/agent: the host's %s panicked: %v", part, p)
			}
		},
	}
}

// do is [plugin.Await] for a call that returns an error alone.
func do(ctx context.Context, b *plugin.Bound, call func(context.Context) error) error {
	_, err := plugin.Await(ctx, b, func(ctx context.Context) (struct{}, error) { return struct{}{}, call(ctx) })
	return err
}
