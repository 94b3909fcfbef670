package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/contrib/gate"
	"github.com/lookleap/lookleap/contrib/receipt"
)

// work commits the orders of the user until no worker can do more.
func work(ctx context.Context, url, name, site, key string) error {
	e, err := open(ctx, url, name)
	if err != nil {
		return err
	}
	ring, err := ringOf(key)
	if err != nil {
		return err
	}
	store := e.Store(user)
	// What a worker cannot put on record, it does not send.
	host := &lookleap.Host{Plans: e.Plans(), Limiter: e.Limiter(), Record: receipt.NewLog(store, ring).Record}
	defer host.Close()
	g, _, err := gated(host, func(ctx context.Context, c gate.Call) ([]byte, error) { return send(ctx, site, c) })
	if err != nil {
		return err
	}
	for {
		keys, err := retry(ctx, func() ([]string, error) { return store.Keys(ctx, "order/") })
		if err != nil {
			return err
		}
		open := 0
		rand.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
		for _, key := range keys {
			data, err := retry(ctx, func() ([]byte, error) { return store.Get(ctx, key) })
			if err != nil {
				return err
			}
			settled, err := commit(ctx, host, g, data)
			if err != nil {
				return err
			}
			if !settled {
				open++
			}
		}
		if open == 0 {
			return nil
		}
		if err := pause(ctx, time.Second); err != nil {
			return err
		}
	}
}

// commit commits one order. It reports whether nothing more can be done about it.
func commit(ctx context.Context, host *lookleap.Host, g *gate.Gate, data []byte) (settled bool, err error) {
	var o order
	if err := json.Unmarshal(data, &o); err != nil {
		return false, err
	}
	plan, err := lookleap.ParsePlan(o.State)
	if err != nil {
		return false, err
	}
	// Most orders are settled by another worker: ask before claiming.
	r, err := retry(ctx, func() (lookleap.PlanRecord, error) { return host.PlanRecord(ctx, plan.ID()) })
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return false, err
	case r.State == lookleap.PlanDone, r.State == lookleap.PlanUnknown:
		return true, nil
	case r.State == lookleap.PlanSent && time.Since(r.At) > 10*time.Second:
		return true, nil // its worker died: no one can know, so the user has to be asked
	case r.State == lookleap.PlanSent:
		return false, nil
	}
	// The whole fleet sends at most 100 orders in a second.
	wait, err := retry(ctx, func() (time.Duration, error) {
		return host.Take(ctx, "orders "+user, lookleap.Rate{Limit: 100, Window: time.Second})
	})
	if err != nil || wait > 0 {
		return false, errors.Join(err, pause(ctx, wait))
	}
	_, err = g.Resume(ctx, o.State, o.Decision)
	return err == nil, ctx.Err() // an error of the engine or of a race: look again
}

// send is the function of the tool.
func send(ctx context.Context, site string, c gate.Call) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, site, bytes.NewReader(c.Arguments))
	if err != nil {
		return nil, lookleap.NothingSent(err)
	}
	req.Header.Set(lookleap.IdempotencyHeader, c.Key)
	req.GetBody = nil // so that net/http does not send it again by itself
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	_ = resp.Body.Close()
	return fmt.Appendf(nil, `{"status":%d}`, resp.StatusCode), nil
}

// retry repeats a call while the engine restarts.
func retry[T any](ctx context.Context, call func() (T, error)) (value T, err error) {
	for range 60 {
		value, err = call()
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			return value, err
		}
		if err := pause(ctx, 500*time.Millisecond); err != nil {
			return value, err
		}
	}
	return value, err
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
