package agentstxt

import (
	"context"
	"math"
	"slices"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/lookleap/lookleap"
)

// Options are the choices that the draft leaves to clients. The zero value follows the
// draft's letter and denies more, except where that would make ordinary sites unusable.
// [Web] returns the options for the web as it is today.
type Options struct {
	// Strict restricts an origin also if the response is probably not a policy: a web
	// page, a 4xx status other than 404 and 410, or another media type.
	Strict bool

	// Foreign says what a file of another format with the same name means. Most files
	// under this name are of other formats; [Web] returns options that ignore them.
	Foreign Foreign

	// Robots makes the client read robots.txt too and obey the stricter of both files.
	Robots Robots

	// Unlisted decides about paths that no directive matches.
	Unlisted Unlisted

	// DenyUnknownParams denies the paths of an ALLOW line with a parameter other than
	// limit, since the parameter may be a condition.
	DenyUnknownParams bool

	// RefuseHTTP restricts origins with the scheme http. Otherwise that is a finding.
	RefuseHTTP bool

	// UserAgent is the header field of requests for policies; "" names this library, after
	// the token of Robots if there is one.
	UserAgent string

	// Window is the time to which a limit applies; 0 means one hour. The draft does
	// not define the unit.
	Window time.Duration

	Limits Limits
}

// Unlisted says how to decide about a path that no directive matches.
type Unlisted uint8

const (
	// UnlistedByFile denies if the file has an ALLOW line, since the file then lists
	// what is allowed. It allows otherwise.
	UnlistedByFile Unlisted = iota
	// UnlistedDeny always denies.
	UnlistedDeny
	// UnlistedAllow always allows.
	UnlistedAllow
)

// Limits bound the cost of one file, one origin and one process. A zero field takes its
// default. Sizes are in bytes.
type Limits struct {
	Size       int           // of a file after content decoding; default 512 KiB
	Line       int           // of a line, and of a path in Decide; default 8 KiB
	Directives int           // in a file; default 100,000
	Wildcards  int           // DISALLOW lines with "*" or a final "$" in a file; default 1,000
	Params     int           // of a directive; default 64
	Findings   int           // and metadata comments kept for a file; default 64
	Timeout    time.Duration // for one fetch, redirects included; default 10 s
	Redirects  int           // followed for one fetch; default 5
	Origins    int           // policies in memory; default 1,024
	Memory     int           // size of all policies in memory; default 64 MiB
}

func (l Limits) withDefaults() Limits {
	for _, field := range []struct {
		value    *int
		fallback int
	}{
		{&l.Size, 512 << 10},
		{&l.Line, 8 << 10},
		{&l.Directives, 100_000},
		{&l.Wildcards, 1000},
		{&l.Params, 64},
		{&l.Findings, 64},
		{&l.Redirects, 5},
		{&l.Origins, 1024},
		{&l.Memory, 64 << 20},
	} {
		if *field.value <= 0 {
			*field.value = field.fallback
		}
	}
	if l.Timeout <= 0 {
		l.Timeout = 10 * time.Second
	}
	// Positions in a file are stored in 32 bits, lengths of normal paths in 16.
	l.Size = min(l.Size, 256<<20)
	l.Line = min(l.Line, math.MaxUint16/3) // encoding makes three bytes of one
	return l
}

// Client fetches and caches the policies of origins. Concurrent calls for one origin
// share one request. All methods may be called from several goroutines at once.
//
// With a [lookleap.Host.Cache], processes share the files that they fetch; each one
// judges them by its own options. They also share that a file was malformed, so that
// all processes stop within a minute.
type Client struct {
	host     *lookleap.Host
	options  Options
	limits   Limits
	origins  *lru.Cache[originKey, origin] // of recent URLs
	policies *siteFiles[*Policy]
	robots   *siteFiles[*RobotsFile]
	unusable error // why no method can be used
}

// NewClient returns a client that fetches through a host. Without a host, its
// methods return an error with [lookleap.CodeUsage].
func NewClient(host *lookleap.Host, options Options) *Client {
	limits := options.Limits.withDefaults()
	if options.Window <= 0 {
		options.Window = time.Hour
	}
	origins, err := lru.New[originKey, origin](limits.Origins)
	if err != nil {
		panic(err) // only a size below 1 is an error
	}
	var unusable error
	options.Robots.Tokens = slices.DeleteFunc(slices.Clone(options.Robots.Tokens), func(token string) bool { return token == "" })
	if slices.ContainsFunc(options.Robots.Tokens, isNoToken) {
		unusable = usageError("the token of Options.Robots is not a product token",
			"use letters, digits, - and _, without a version, such as ExampleBot")
	}
	c := &Client{host: host, options: options, limits: limits, unusable: unusable, origins: origins}
	c.policies, c.robots = newSiteFiles(c, policyFile), newSiteFiles(c, robotsFile)
	return c
}

// ready returns an error for a client that NewClient did not make, or that has no host.
func (c *Client) ready() error {
	if c == nil || c.host == nil || c.policies == nil {
		return usageError("the client has no host", "make it with NewClient, or a guard with Guard")
	}
	return c.unusable
}

// Policy returns the policy of a URL's origin, cached or fetched. If the origin's policy
// cannot be fetched, it returns a restricted policy and no error. It returns an error
// if the URL has no origin, ctx ended, or the host is closed.
func (c *Client) Policy(ctx context.Context, rawURL string) (*Policy, error) {
	if err := c.ready(); err != nil {
		return nil, err
	}
	asked, err := c.targetOf(rawURL)
	if err != nil {
		return nil, err
	}
	known, err := c.policies.get(ctx, asked.origin)
	if err != nil {
		return nil, err
	}
	return known.value, nil
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
	known, err := c.robots.get(ctx, asked.origin)
	if err != nil {
		return nil, err
	}
	return known.value, nil
}

// Decide reports whether an automated client may send a GET request to a URL. With
// [Options.Robots], it returns the decision of robots.txt if only that file denies the
// request. Unlike [Guard], it does not count the request against a limit.
func (c *Client) Decide(ctx context.Context, rawURL string) (Decision, error) {
	if err := c.ready(); err != nil {
		return Decision{Path: rawURL, Code: lookleap.CodeOf(err)}, err
	}
	asked, err := c.targetOf(rawURL)
	if err != nil {
		return Decision{Path: asked.path, Code: lookleap.CodeOf(err)}, err
	}
	x := decided{target: asked}
	if err := c.consult(ctx, &x); err != nil {
		return Decision{Path: asked.path, Code: lookleap.CodeOf(err)}, err
	}
	if x.robots != nil && !x.byRobots.Allowed {
		x.byRobots.Path, x.byRobots.Generation = x.decision.Path, x.decision.Generation
		return x.byRobots, nil
	}
	return x.decision, nil
}

// Generation returns the number of the cached policy of a URL's origin, 0 if none is
// cached. A decision with another number is outdated.
func (c *Client) Generation(rawURL string) uint64 {
	if c.ready() != nil {
		return 0
	}
	asked, err := c.targetOf(rawURL)
	if err != nil {
		return 0
	}
	if held, _ := c.policies.known.Peek(asked.origin.name); held.Value != nil {
		return held.Value.generation
	}
	return 0
}
