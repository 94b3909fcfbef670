package wellknown_test

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/lookleaptest"
	"github.com/lookleap/lookleap/wellknown"
)

// TestOtherHosts: a result says when another origin answered, and no other host is asked unless the
// options say so.
func TestOtherHosts(t *testing.T) {
	for name, c := range map[string]struct {
		location string
		allow    bool
		crossed  bool
		asked    string // the other host
	}{
		"reject-host-of-a-redirect":         {"https://other.example/x", false, false, ""},
		"accept-host-of-an-allowed-one":     {"https://other.example/x", true, true, "other.example"},
		"accept-port-of-an-allowed-one":     {"https://site.example:8443/x", true, true, "site.example"},
		"accept-same-origin-of-an-allowed":  {"https://site.example/x", true, false, "site.example"},
		"accept-default-port-of-an-allowed": {"https://site.example:443/x", true, false, "site.example"},
	} {
		check := func(t *testing.T) {
			net := lookleaptest.ForTest(t)
			net.Site("site.example").Ports(443, 8443).Redirect(at, c.location).File("/x", "text/plain", "x")
			net.Site("other.example").File("/x", "text/plain", "x")
			host := net.StubHost()
			host.Fetcher = net.Fetcher(lookleap.FetcherOptions{Resolver: host, Ports: []uint16{443, 8443}})
			r, err := wellknown.NewClient(host, wellknown.Options{AllowCrossOriginRedirect: c.allow}).Fetch(t.Context(), "https://site.example", "security.txt")
			if err != nil || r.CrossOrigin != c.crossed || (r.State == wellknown.Present) != c.allow || r.Origin != "https://site.example" {
				t.Errorf("got %+v, %v", r, err)
			}
			for _, q := range net.Journal().Queries() {
				if name := strings.TrimSuffix(q.Name, "."); name != "site.example" && name != c.asked {
					t.Errorf("%s was asked for", name)
				}
			}
			if n := len(net.Journal().Requests("other.example")); (n == 1) != (c.asked == "other.example") {
				t.Errorf("the other host saw %d requests", n)
			}
		}
		t.Run("WK-3-16/"+name, check)
		t.Run("WK-3-21/"+name, check)
	}
}

// TestOutages: which results replace a good document that has expired, and which clients wait
// after a Retry-After.
func TestOutages(t *testing.T) {
	fetch := func(t *testing.T, c *wellknown.Client) *wellknown.Resource {
		t.Helper()
		r, err := c.Fetch(t.Context(), "https://site.example", "security.txt")
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for name, c := range map[string]struct {
		set  func(*lookleaptest.Site)
		want wellknown.State
	}{
		"accept-500":          {func(s *lookleaptest.Site) { s.Handle(at, lookleaptest.Status(500)) }, wellknown.Present},
		"accept-599":          {func(s *lookleaptest.Site) { s.Handle(at, lookleaptest.Status(599)) }, wellknown.Present},
		"accept-reset":        {func(s *lookleaptest.Site) { s.Fault(at, lookleaptest.Reset()) }, wellknown.Present},
		"reject-429":          {func(s *lookleaptest.Site) { s.Handle(at, lookleaptest.Status(429)) }, wellknown.Unavailable},
		"reject-304-unasked":  {func(s *lookleaptest.Site) { s.Handle(at, lookleaptest.Status(304)) }, wellknown.Unavailable},
		"reject-no-location":  {func(s *lookleaptest.Site) { s.Handle(at, lookleaptest.Status(302)) }, wellknown.Unavailable},
		"reject-other-origin": {func(s *lookleaptest.Site) { s.Redirect(at, "https://other.example/") }, wellknown.Unavailable},
		"reject-403":          {func(s *lookleaptest.Site) { s.Handle(at, lookleaptest.Status(403)) }, wellknown.Forbidden},
	} {
		t.Run("WK-3-19/"+name, func(t *testing.T) {
			net := lookleaptest.ForTest(t)
			net.Clock().Freeze()
			site := net.Site("site.example").File(at, "text/plain", "x")
			client := wellknown.NewClient(net.StubHost(), wellknown.Options{})
			fetch(t, client)
			net.Clock().Advance(time.Hour + time.Second)
			c.set(site)
			if r := fetch(t, client); r.State != c.want || (string(r.Body) == "x") != (c.want == wellknown.Present) {
				t.Errorf("%s (%s) %q, want %s", r.State, r.Code, r.Body, c.want)
			}
		})
	}
	t.Run("WK-3-19/accept-good-copy-for-as-long-as-the-outage-is-remembered", func(t *testing.T) {
		net := lookleaptest.ForTest(t)
		net.Clock().Freeze()
		site := net.Site("site.example").File(at, "text/plain", "x")
		client := wellknown.NewClient(net.StubHost(), wellknown.Options{})
		good := fetch(t, client)
		net.Clock().Advance(time.Hour + time.Second)
		site.Fault(at, lookleaptest.Reset())
		defer func() {
			if len(good.Findings) != 0 || len(good.Verdict.Findings) != 0 {
				t.Errorf("the earlier result changed: %v, %v", good.Findings, good.Verdict.Findings)
			}
		}()
		for _, c := range []struct {
			after time.Duration
			asked int
		}{{0, 2}, {59 * time.Second, 2}, {time.Second, 3}} {
			net.Clock().Advance(c.after)
			r := fetch(t, client)
			if n := len(net.Journal().Requests("site.example")); n != c.asked || r.State != wellknown.Present || !r.Expires.Equal(r.Verdict.Expires) {
				t.Errorf("%s later: %s after %d requests, want %d", c.after, r.State, n, c.asked)
			}
			if len(r.Findings) != 1 || r.Findings[0].Code != lookleap.CodeStale || !slices.Equal(r.Findings, r.Verdict.Findings) {
				t.Errorf("%s later: the findings are %v, those of the verdict %v", c.after, r.Findings, r.Verdict.Findings)
			}
		}
	})
	t.Run("WK-3-19/reject-until-retry-after-in-other-clients", func(t *testing.T) {
		net := lookleaptest.ForTest(t)
		net.Clock().Freeze()
		net.Site("site.example").Handle(at, lookleaptest.Sequence(lookleaptest.Status(503, "Retry-After", "86400"), lookleaptest.Body("text/plain", "x")))
		host := net.StubHost()
		fetch(t, wellknown.NewClient(host, wellknown.Options{}))
		if r := fetch(t, wellknown.NewClient(host, wellknown.Options{})); r.State != wellknown.Unavailable || r.RetryAfter <= 0 || len(net.Journal().Requests("site.example")) != 1 {
			t.Errorf("%s after %d requests", r.State, len(net.Journal().Requests("site.example")))
		}
		net.Clock().Advance(5 * time.Minute) // the longest that is waited
		if r := fetch(t, wellknown.NewClient(host, wellknown.Options{})); r.State != wellknown.Present {
			t.Errorf("%s after the wait", r.State)
		}
	})
	t.Run("WK-4.3-03/reject-over-the-rate-of-one-host-only", func(t *testing.T) {
		net := lookleaptest.ForTest(t)
		net.Clock().Freeze()
		net.Site("site.example")
		net.Site("other.example")
		client := wellknown.NewClient(net.StubHost(), wellknown.Options{Limits: wellknown.Limits{PerMinute: 1}})
		for _, c := range []struct {
			origin string
			want   lookleap.Code
		}{{"https://site.example", lookleap.CodeOK}, {"https://site.example", wellknown.CodeProbeRate}, {"https://other.example", lookleap.CodeOK}} {
			name := "example-" + string(c.want)
			if _, err := client.Fetch(t.Context(), c.origin, name); lookleap.CodeOf(err) != c.want {
				t.Errorf("%s: %v, want %s", c.origin, err, c.want)
			}
		}
	})
}

// cancels is a part of a host that was cancelled by others than the caller.
type cancels struct{ lookleap.Limiter }

var errCancelled = &lookleap.Error{Code: lookleap.CodeCancelled, Message: "cancelled elsewhere"}

func (cancels) RoundTrip(*http.Request) (*http.Response, error) { return nil, errCancelled }

func (cancels) Wait(context.Context, string, lookleap.Rate) (time.Duration, error) { return 0, nil }

func (cancels) Take(context.Context, string, lookleap.Rate) (time.Duration, error) {
	return 0, errCancelled
}

// TestCancelledElsewhere: a cancellation says nothing about the document, so it is neither a result
// nor a refusal, and it is not kept.
func TestCancelledElsewhere(t *testing.T) {
	for name, part := range map[string]func(*lookleap.Host){
		"fetcher": func(h *lookleap.Host) { h.Fetcher = cancels{} },
		"limiter": func(h *lookleap.Host) { h.Limiter = cancels{} },
	} {
		t.Run(name, func(t *testing.T) {
			net := lookleaptest.ForTest(t)
			net.Site("site.example").File(at, "text/plain", "x")
			host := net.StubHost()
			part(host)
			client := wellknown.NewClient(host, wellknown.Options{})
			for range 2 {
				r, err := client.Fetch(t.Context(), "https://site.example", "security.txt")
				var refused *lookleap.VerifyError
				if r != nil || lookleap.CodeOf(err) != lookleap.CodeCancelled || errors.As(err, &refused) {
					t.Errorf("got %+v, %v", r, err)
				}
			}
		})
	}
}

// TestLintTreeErrors: a tree that cannot be read is an error, and one that is missing is not.
func TestLintTreeErrors(t *testing.T) {
	if _, err := wellknown.Builtin().LintTree(nil); lookleap.CodeOf(err) != lookleap.CodeUsage {
		t.Error(err)
	}
	if _, err := wellknown.Builtin().LintTree(unreadable{}); !errors.Is(err, fs.ErrPermission) || lookleap.CodeOf(err) != lookleap.CodeIO {
		t.Errorf("a directory that cannot be read: %v", err)
	}
	for name, want := range map[string]error{".well-known": fs.ErrPermission, ".well-known/deep": fs.ErrPermission, ".well-known/deep/x": nil} {
		tree := unlistable{fstest.MapFS{".well-known/deep/x": {Data: []byte("x")}}, name, fs.ErrPermission}
		if _, err := wellknown.Builtin().LintTree(tree); !errors.Is(err, want) || want != nil && lookleap.CodeOf(err) != lookleap.CodeIO {
			t.Errorf("%s: %v", name, err)
		}
	}
	gone := unlistable{fstest.MapFS{".well-known/deep/x": {Data: []byte("x")}}, ".well-known/deep", fs.ErrNotExist}
	if _, err := wellknown.Builtin().LintTree(gone); lookleap.CodeOf(err) != lookleap.CodeIO {
		t.Errorf("a directory that went away: %v", err)
	}
	findings, err := wellknown.Builtin().LintTree(fstest.MapFS{".well-known/security.txt/more": {Data: []byte("x")}})
	if err != nil || !slices.ContainsFunc(findings, func(f lookleap.Finding) bool {
		return f.Code == wellknown.CodeExtraPath && strings.Contains(f.Message, "security.txt")
	}) {
		t.Errorf("%v, %v", findings, err)
	}
}

// unlistable is a file system of which one directory cannot be listed.
type unlistable struct {
	fstest.MapFS
	name string
	err  error
}

func (u unlistable) ReadDir(name string) ([]fs.DirEntry, error) {
	if name == u.name {
		return nil, u.err
	}
	return u.MapFS.ReadDir(name)
}

// unreadable is a file system that returns an error for each file.
type unreadable struct{}

func (unreadable) Open(string) (fs.File, error) { return nil, fs.ErrPermission }
