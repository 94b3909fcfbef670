// Package adapter is the Open of the adapters for agent frameworks below contrib.
package adapter

import (
	"context"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml/agent"
)

// Open discovers the ANML service of a site in a session of its own. The profile has the user's
// data by ANML field, and may be nil.
func Open(ctx context.Context, host *lookleap.Host, site string, profile map[string]string) (*agent.Page, error) {
	fields := make(agent.Fields)
	for field, text := range profile {
		fields[field] = agent.Value{Text: text}
	}
	session, err := agent.New(host, agent.Options{}).NewSession(agent.User{Profile: fields})
	if err != nil {
		return nil, err
	}
	page, err := session.Discover(ctx, site)
	if err != nil {
		_ = session.Close()
		return nil, err
	}
	return page, nil
}
