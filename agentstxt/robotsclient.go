package agentstxt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/coded"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/internal/flight"
	"github.com/lookleap/lookleap/internal/shared"
)

// robotsEntry is what the client knows about the robots.txt file of one origin. It never
// changes.
type robotsEntry struct {
	file      *RobotsFile // in force
	evidence  lookleap.Evidence
	validator fetch.Validator // of a file that was read
	checked   time.Time       // when the server last served or confirmed the file
	until     time.Time       // when the server is asked again
	stale     bool            // the file could not be read again
	failures  int             // attempts in a row without an answer
	private   bool            // the server forbids shared caches to store it
}

// Robots returns the robots.txt file of a URL's origin, cached or fetched, also if
// [Options.Robots] has no token. If the file cannot be read, it returns one that denies
// every path, and no error (RFC 9309, section 2.3.1.4). It returns an error if the URL has
// no origin, ctx ended, or the host is closed.
func (c *Client) Robots(ctx context.Context, rawURL string) (*RobotsFile, error) {
	if err := c.ready(); err != nil {
		return nil, err
	}
	asked, err := c.targetOf(rawURL)
	if err != nil {
		return nil, err
	}
	entry, err := c.robotsOf(ctx, asked.origin)
	if err != nil {
		return nil, err
	}
	return entry.file, nil
}

// robotsOf returns what is known about the robots.txt file of an origin. It asks for the
// file again if that is outdated.
func (c *Client) robotsOf(ctx context.Context, o origin) (*robotsEntry, error) {
	if entry, fresh := c.robots.Fresh(o.name); fresh {
		return entry, nil
	}
	return c.robots.Get(ctx, o.name, func(ctx context.Context) (flight.Loaded[*robotsEntry], error) {
		held, _ := c.robots.Peek(o.name)
		entry, usable := c.recallRobots(ctx, o, held.Value)
		if !usable {
			var err error
			if entry, err = c.readRobots(ctx, o, entry); err != nil {
				return flight.Loaded[*robotsEntry]{}, err
			}
		}
		return flight.Loaded[*robotsEntry]{Value: entry, Until: c.recheckRobots(entry)}, nil
	})
}

// readRobots asks for a robots.txt file once. before is what was known; it may be nil.
func (c *Client) readRobots(ctx context.Context, o origin, before *robotsEntry) (*robotsEntry, error) {
	if before == nil {
		before = &robotsEntry{}
	}
	file, err := o.robots()
	if err != nil {
		return nil, badURL(err)
	}
	// Another process may have been asked to come back later.
	if wait, err := c.host.Wait(ctx, retryRobotsKey(o), lookleap.Rate{}); err == nil && wait > 0 {
		return c.unreadRobots(c.host.Time(), unavailableRobots(http.StatusServiceUnavailable, wait), wait,
			lookleap.Evidence{URL: o.name + robotsPathName}, before), nil
	}
	asked := c.host.Time()
	var body []byte
	resp, err := c.get(ctx, o, file, before.validator, &fetch.Request{
		ReadBody: func(status int) bool { return status == http.StatusOK },
		Stream: func(_ *fetch.Response, r io.Reader) (err error) {
			// One byte more shows that the file is longer. The rest is not read (section 2.5).
			body, err = io.ReadAll(io.LimitReader(r, int64(c.limits.Size)+1))
			return err
		},
		Limits: fetch.Limits{Body: c.limits.Size + 1<<20, Time: c.limits.Timeout, Hops: c.limits.Redirects},
	})
	if fetch.Cancelled(err) || errors.Is(err, lookleap.ErrClosed) {
		return nil, err
	}
	entry := c.judgeRobots(resp, body, err, before)
	entry.evidence.URL = o.displayURL(entry.evidence.URL)
	if entry.evidence.URL == "" {
		entry.evidence.URL = o.name + robotsPathName
	}
	if err == nil {
		if resp.Status >= 500 && resp.RetryAfter > 0 {
			if err := c.host.Hold(ctx, retryRobotsKey(o), min(resp.RetryAfter, maxRetryAfter)); err != nil {
				c.host.Report(ctx, lookleap.Event{Kind: lookleap.EventFinding, Code: lookleap.CodeOf(err),
					Subject: o.name + robotsPathName, Err: err})
			}
		}
		c.shareRobots(ctx, o, entry, resp.Status, body, asked)
	}
	return entry, nil
}

// retryRobotsKey is the key of the time after which robots.txt may be requested again.
func retryRobotsKey(o origin) string { return "agentstxt retry robots " + o.name }

// judgeRobots returns what is known after an attempt to read a robots.txt file (RFC 9309,
// section 2.3.1). It does no I/O.
func (c *Client) judgeRobots(resp *fetch.Response, body []byte, err error, before *robotsEntry) *robotsEntry {
	now := c.host.Time()
	if err != nil {
		if lookleap.CodeOf(err) == lookleap.CodeTooManyRedirects { // section 2.3.1.2: as if there were no file
			return &robotsEntry{file: &RobotsFile{reason: lookleap.CodeTooManyRedirects}, checked: now, until: now.Add(defaultFresh)}
		}
		e := &fetch.Error{}
		_ = errors.As(err, &e)
		return c.unreadRobots(now, err, e.RetryAfter, lookleap.Evidence{URL: e.URL, Status: e.Status, MediaType: e.MediaType}, before)
	}
	entry := &robotsEntry{evidence: resp.Evidence(), checked: resp.Received, until: freshUntil(resp), private: resp.Freshness.OneUser}
	if resp.Status == http.StatusNotModified && before.validator.Confirms(resp) {
		entry.file, entry.validator, entry.private = before.file, before.validator, entry.private || before.private
		return entry
	}
	entry.file = c.robotsFile(resp.Status, body)
	if entry.file == nil {
		return c.unreadRobots(resp.Received, unavailableRobots(resp.Status, resp.RetryAfter), resp.RetryAfter, entry.evidence, before)
	}
	if resp.Status == http.StatusOK {
		entry.validator = resp.Validator()
	}
	return entry
}

// robotsFile returns what a response means, nil if it says nothing about the file.
func (c *Client) robotsFile(status int, body []byte) *RobotsFile {
	switch {
	case status == http.StatusOK:
		return parseRobots(body, robotsOptions{tokens: c.options.Robots.Tokens, size: c.limits.Size})
	case status == http.StatusNoContent, status >= 400 && status < 500: // section 2.3.1.3
		return &RobotsFile{reason: CodeNoPolicy}
	}
	return nil
}

// unavailableRobots returns the error of a response that says nothing about the file.
func unavailableRobots(status int, retryAfter time.Duration) error {
	code := lookleap.CodeBadStatus
	if status >= 500 {
		code = lookleap.CodeUnavailable
	}
	return &lookleap.Error{Code: code, Message: fmt.Sprintf("the server answered %d", status),
		Err: coded.Attach(&lookleap.ResponseError{Status: status, RetryAfter: retryAfter}, nil)}
}

// unreadRobots returns what is known if there was no usable answer: the file that was read
// before, for a day, and otherwise that every path is denied (section 2.3.1.4).
func (c *Client) unreadRobots(now time.Time, err error, retryAfter time.Duration, evidence lookleap.Evidence, before *robotsEntry) *robotsEntry {
	entry := &robotsEntry{evidence: evidence, failures: before.failures + 1}
	entry.until = now.Add(max(min(retryAfter, maxRetryAfter), backoff(entry.failures)))
	if before.file != nil && before.file.err == nil && now.Sub(before.checked) < staleFor && !now.Before(before.checked) {
		entry.file = before.file
		entry.validator = before.validator
		entry.checked = before.checked
		entry.stale = true
		entry.private = before.private
		entry.until = earlier(entry.until, before.checked.Add(staleFor))
		return entry
	}
	entry.file = &RobotsFile{err: &lookleap.Error{
		Code: lookleap.CodeOf(err), Subject: "robots.txt", Message: "the file could not be read, so every path counts as disallowed",
		Fix: "try again later; Options.Robots without a token does not read it", Err: coded.Classify(ErrUnavailable, err),
	}}
	return entry
}

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
	record := robotsRecord{Fresh: e.until, Status: status, URL: e.evidence.URL, MediaType: e.evidence.MediaType,
		Body: body, Validator: e.validator}
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
