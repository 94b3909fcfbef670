package agentstxt

import (
	"context"
	"net/http"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/internal/shared"
)

// robotsRecord is what processes tell one another about a robots.txt file: what the server
// answered. Attempts without an answer are not shared.
type robotsRecord struct {
	Fresh     time.Time       `json:"fresh"` // until when the server need not be asked again
	Status    int             `json:"status"`
	URL       string          `json:"url"` // after redirects
	MediaType string          `json:"mediaType,omitempty"`
	Body      []byte          `json:"body,omitempty"`
	Validator fetch.Validator `json:"validator"`
}

const shareRobotsPrefix = "agentstxt/robots/1/"

func (c *Client) sharedRobots() *shared.Cache[robotsRecord] {
	return shared.New[robotsRecord](c.host, shared.Options{Prefix: shareRobotsPrefix, Skew: sharedFor})
}

// recallRobots returns what the shared cache knows, if that is newer than what is held.
// usable reports whether the server need not be asked.
func (c *Client) recallRobots(ctx context.Context, o origin, held *robotsEntry) (e *robotsEntry, usable bool) {
	r, err := c.sharedRobots().Get(ctx, o.name)
	if err == nil && (held == nil || r.Found.After(held.checked)) {
		if adopted := c.adoptRobots(r); adopted != nil {
			held = adopted
		}
	}
	now := c.host.Time()
	return held, held != nil && now.Before(held.until) && !now.Before(held.checked)
}

// adoptRobots judges a record of another process by the options of this one. It returns
// nil for a status that says nothing.
func (c *Client) adoptRobots(r *shared.Entry[robotsRecord]) *robotsEntry {
	v := &r.Value
	file := c.robotsFile(v.Status, v.Body)
	if file == nil {
		return nil
	}
	return &robotsEntry{
		file: file, validator: v.Validator, checked: r.Found, until: earlier(v.Fresh, r.Found.Add(maxFresh)),
		evidence: lookleap.Evidence{URL: v.URL, Status: v.Status, MediaType: v.MediaType},
	}
}

// shareRobots tells other processes what the server answered.
func (c *Client) shareRobots(ctx context.Context, o origin, e *robotsEntry, status int, body []byte, asked time.Time) {
	cache := c.sharedRobots()
	switch {
	case !cache.Active(), e.failures > 0:
		return
	case e.private:
		cache.Delete(ctx, o.name)
		return
	}
	record := robotsRecord{Fresh: e.until, Status: status, URL: e.evidence.URL, MediaType: e.evidence.MediaType, Body: body, Validator: e.validator}
	if status == http.StatusNotModified {
		before, err := cache.Get(ctx, o.name)
		if err != nil || before.Value.Validator != e.validator {
			return // the file is not at hand: other processes read it themselves
		}
		record.Status, record.Body = before.Value.Status, before.Value.Body
	}
	cache.Put(ctx, o.name, shared.Entry[robotsRecord]{Asked: asked, Found: e.checked, Value: record}, e.checked.Add(staleFor))
}

// recheckRobots returns until when an entry is used without a look at the shared cache.
func (c *Client) recheckRobots(e *robotsEntry) time.Time {
	if c.host.Cache == nil || e.private {
		return e.until
	}
	return earlier(e.until, c.host.Time().Add(sharedFor))
}
