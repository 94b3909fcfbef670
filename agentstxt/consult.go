package agentstxt

import (
	"context"

	"github.com/lookleap/lookleap"
)

// consulted is what the files of an origin say about a target.
type consulted struct {
	policy   *cachedPolicy
	decision Decision     // of both files
	robots   *robotsEntry // nil if robots.txt was not asked
	byRobots Decision
}

// consult decides about a target by the policy of its origin, and by robots.txt if the
// policy allows it and the options say so.
func (c *Client) consult(ctx context.Context, asked *target) (x consulted, err error) {
	var robots *robotsEntry
	both := c.options.Robots.Token != "" && !asked.isFile()
	if both {
		robots, _ = c.robots.Fresh(asked.origin.name)
	}
	x.policy = c.cache.get(asked.origin.name)
	if !x.policy.isCurrent(c.host.Time()) {
		if both && robots == nil {
			return c.readBoth(ctx, asked)
		}
		if x.policy, err = c.currentPolicy(ctx, asked.origin); err != nil {
			return x, err
		}
	}
	x.decision = x.policy.decide(asked)
	if !both || !x.decision.Allowed {
		return x, nil
	}
	if robots == nil {
		if robots, err = c.currentRobots(ctx, asked.origin); err != nil {
			return x, err
		}
	}
	x.decideRobots(robots, asked)
	return x, nil
}

// readBoth is consult for an origin about which nothing is known. It asks for both files
// at the same time, so that the first request waits once.
func (c *Client) readBoth(ctx context.Context, asked *target) (x consulted, err error) {
	type result struct {
		robots *robotsEntry
		err    error
	}
	done, o := make(chan result, 1), asked.origin
	both, cancel := context.WithCancel(ctx)
	defer cancel() // after a policy that denies, robots.txt does not matter
	go func() {
		robots, err := c.currentRobots(both, o)
		done <- result{robots, err}
	}()
	if x.policy, err = c.currentPolicy(ctx, o); err != nil {
		return x, err
	}
	x.decision = x.policy.decide(asked)
	if !x.decision.Allowed {
		return x, nil
	}
	read := <-done
	if read.err != nil {
		return x, read.err
	}
	x.decideRobots(read.robots, asked)
	return x, nil
}

// decideRobots takes the stricter of both decisions.
func (x *consulted) decideRobots(robots *robotsEntry, asked *target) {
	x.robots, x.byRobots = robots, robots.file.decide(asked.path, asked.query, asked.hasQuery)
	if !x.byRobots.Allowed {
		x.decision.Allowed, x.decision.Code = false, x.byRobots.Code
	}
}

// currentPolicy is current with an error that names the file.
func (c *Client) currentPolicy(ctx context.Context, o origin) (*cachedPolicy, error) {
	entry, err := c.current(ctx, o)
	if err != nil {
		return nil, &lookleap.Error{Code: lookleap.CodeOf(err), Subject: o.name, Message: "the policy could not be read", Err: err}
	}
	return entry, nil
}

// currentRobots is robotsOf with an error that names the file.
func (c *Client) currentRobots(ctx context.Context, o origin) (*robotsEntry, error) {
	entry, err := c.robotsOf(ctx, o)
	if err != nil {
		return nil, &lookleap.Error{Code: lookleap.CodeOf(err), Subject: o.name, Message: "robots.txt could not be read", Err: err}
	}
	return entry, nil
}

// decide returns what the policy says about a request.
func (e *cachedPolicy) decide(t *target) Decision {
	path := t.path
	if e.policy.foreign != nil { // whose rules may be about queries
		path = t.pathAndQuery()
	}
	d := e.policy.decide(path, t.reads)
	d.Path, d.Generation = t.path, e.generation
	return d
}
