package dvs_test

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/lookleaptest"
)

// withdrawals are the ways in which trust ends, and the code of what is used
// afterwards.
var withdrawals = map[string]struct {
	end  func(t *testing.T, l *dvs.Loader, root string)
	want lookleap.Code
}{
	"unregister": {func(t *testing.T, l *dvs.Loader, root string) {
		l.Roots().Unregister(must(dvs.ParseTrustRoot(root, dvs.Rules{})))
	}, dvs.CodeNeedsRoot},
	"block": {func(t *testing.T, l *dvs.Loader, root string) {
		if _, err := l.Roots().Block(root); err != nil {
			t.Fatal(err)
		}
	}, dvs.CodeBlockedRoot},
	"block-in-other-letters": {func(t *testing.T, l *dvs.Loader, root string) {
		if _, err := l.Roots().Block(strings.Replace(root, "/own", "/OWN", 1)); err != nil {
			t.Fatal(err)
		}
	}, dvs.CodeBlockedRoot},
	"revoke": {func(t *testing.T, l *dvs.Loader, root string) { l.Revoke(must(dvs.ParseTrustRoot(root, dvs.Rules{}))) }, dvs.CodeRevoked},
	"revoke-in-registry": {func(t *testing.T, l *dvs.Loader, root string) {
		l.Roots().Revoke(must(dvs.ParseTrustRoot(root, dvs.Rules{})))
	}, dvs.CodeRevoked},
	"revoke-domain": {func(t *testing.T, l *dvs.Loader, root string) {
		if err := l.RevokeDomain(must(dvs.ParseTrustRoot(root, dvs.Rules{})).HostingDomain(), false); err != nil {
			t.Fatal(err)
		}
	}, dvs.CodeRevoked},
}

// usesOfLoaded are the uses of a loaded skill, each by the name of its method.
var usesOfLoaded = map[string]func(context.Context, *dvs.Loaded) error{
	"Resource": func(ctx context.Context, s *dvs.Loaded) error { _, err := s.Resource(ctx, "ADVANCED.md"); return err },
	"Resource-elsewhere": func(ctx context.Context, s *dvs.Loaded) error {
		_, err := s.Resource(ctx, "https://other.example/x.md")
		return err
	},
	"Approve": func(ctx context.Context, s *dvs.Loaded) error {
		_, err := s.Approve(ctx, dvs.Invocation{Script: "x.sh"})
		return err
	},
	"Confirm": func(ctx context.Context, s *dvs.Loaded) error {
		return s.Confirm(ctx, dvs.Action{Kind: dvs.Shell, Command: "ls"})
	},
	"LoadRef":     func(ctx context.Context, s *dvs.Loaded) error { _, err := s.LoadRef(ctx, "../b/SKILL.md"); return err },
	"Bundle":      func(ctx context.Context, s *dvs.Loaded) error { _, err := s.Bundle(ctx); return err },
	"ContextText": func(_ context.Context, s *dvs.Loaded) error { _, err := s.ContextText(); return err },
	"File":        func(_ context.Context, s *dvs.Loaded) error { _, err := s.File(); return err },
	"Skill":       func(_ context.Context, s *dvs.Loaded) error { _, err := s.Skill(); return err },
}

// TestWithdrawn ends trust in a root while a skill is in use, on a host of its
// own and on a platform.
func TestWithdrawn(t *testing.T) {
	for host, c := range map[string]struct{ root, url string }{
		"own-host": {"https://shop.example/own/", "https://shop.example/own/a/SKILL.md"},
		"platform": {"https://github.com/owner/", "https://github.com/owner/r/blob/main/a/SKILL.md"},
	} {
		for name, w := range withdrawals {
			world := func(t *testing.T) (*dvs.Loader, *dvs.Loaded, *runner) {
				net := lookleaptest.ForTest(t)
				net.Site("shop.example").File("*", "text/markdown", refund)
				net.Site("raw.githubusercontent.com").File("*", "text/markdown", refund)
				net.Site("other.example").File("*", "text/markdown", "more")
				h, run := net.StubHost(), &runner{}
				h.Prompter = &prompter{decide: agreeForAnHour}
				loader := dvs.NewLoader(h, dvs.Options{Roots: registry(t, c.root), Runner: run})
				skill, err := loader.Load(t.Context(), c.url)
				if err != nil {
					t.Fatal(err)
				}
				return loader, skill, run
			}
			for step, use := range usesOfLoaded {
				t.Run("O45/reject-"+host+"-"+name+"-"+step, func(t *testing.T) {
					loader, skill, run := world(t)
					if err := use(t.Context(), skill); err != nil {
						t.Fatalf("before: %v", err)
					}
					w.end(t, loader, c.root)
					if err := use(t.Context(), skill); lookleap.CodeOf(err) != w.want || len(run.ran) > 0 {
						t.Errorf("want %s, got %v", w.want, err)
					}
				})
			}
			t.Run("O45/reject-"+host+"-"+name+"-run", func(t *testing.T) {
				loader, skill, run := world(t)
				script, err := skill.Approve(t.Context(), dvs.Invocation{Script: "x.sh"})
				if err != nil {
					t.Fatal(err)
				}
				w.end(t, loader, c.root)
				if out, err := script.Run(t.Context()); lookleap.CodeOf(err) != w.want || out != nil || len(run.ran) > 0 {
					t.Errorf("want %s, got %v", w.want, err)
				}
			})
			t.Run("O45/reject-"+host+"-"+name+"-activate", func(t *testing.T) {
				loader, _, _ := world(t)
				r, err := loader.Register(t.Context(), c.url)
				if err != nil {
					t.Fatal(err)
				}
				w.end(t, loader, c.root)
				if skill, err := r.Activate(t.Context()); lookleap.CodeOf(err) != w.want || skill != nil {
					t.Errorf("want %s, got %v", w.want, err)
				}
			})
			t.Run("O45/reject-"+host+"-"+name+"-open", func(t *testing.T) {
				loader, skill, _ := world(t)
				b, err := skill.Bundle(t.Context(), "ADVANCED.md")
				if err != nil {
					t.Fatal(err)
				}
				skills := dvs.NewVerifiedFS([]dvs.Bundle{b, bundle("b", "name: other\ndescription: d\n")}, dvs.VerifiedFSOptions{})
				if names := entries(t, skills); !slices.Equal(names, []string{"other", "refund"}) {
					t.Fatalf("before: %v", names)
				}
				w.end(t, loader, c.root)
				for _, file := range []string{"refund", "refund/SKILL.md", "refund/ADVANCED.md"} {
					_, err := skills.Open(file)
					var where *fs.PathError
					if lookleap.CodeOf(err) != w.want || !errors.As(err, &where) {
						t.Errorf("%s: want %s, got %v", file, w.want, err)
					}
				}
				if err := skills.Materialize(t.TempDir()); lookleap.CodeOf(err) != w.want {
					t.Errorf("materialize: %v", err)
				}
				if names := entries(t, skills); !slices.Equal(names, []string{"other"}) {
					t.Errorf("after: %v", names)
				}
			})
		}
	}
	t.Run("O45/accept-under-the-root-of-the-caller", func(t *testing.T) {
		net := lookleaptest.ForTest(t)
		net.Site("shop.example").File("*", "text/markdown", refund)
		loader := dvs.NewLoader(net.StubHost(), dvs.Options{})
		skill, err := loader.LoadUnder(t.Context(), "https://shop.example/own/a/", must(dvs.ParseTrustRoot("https://shop.example/own/", dvs.Rules{})))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := skill.Resource(t.Context(), "ADVANCED.md"); err != nil {
			t.Error(err)
		}
		loader.Revoke(skill.Root)
		if _, err := skill.Resource(t.Context(), "ADVANCED.md"); lookleap.CodeOf(err) != dvs.CodeRevoked {
			t.Error(err)
		}
	})
	t.Run("O45/reject-during-the-dialogue", func(t *testing.T) {
		net := lookleaptest.ForTest(t)
		net.Site("shop.example").File("*", "text/markdown", refund)
		net.Site("other.example").File("*", "text/markdown", "more")
		host := net.StubHost()
		loader := dvs.NewLoader(host, dvs.Options{Roots: registry(t, "https://shop.example/own/")})
		host.Prompter = &prompter{decide: func(req *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
			loader.Roots().Unregister(must(dvs.ParseTrustRoot("https://shop.example/own/", dvs.Rules{})))
			return agree(req)
		}}
		for name, use := range map[string]func(*dvs.Loaded) error{
			"confirm":  func(s *dvs.Loaded) error { return s.Confirm(t.Context(), dvs.Action{Kind: dvs.Shell, Command: "ls"}) },
			"external": func(s *dvs.Loaded) error { _, err := s.Resource(t.Context(), "https://other.example/x.md"); return err },
		} {
			if _, err := loader.Roots().Register("https://shop.example/own/", dvs.ByHost); err != nil {
				t.Fatal(err)
			}
			skill, err := loader.Load(t.Context(), "https://shop.example/own/a/")
			if err != nil {
				t.Fatal(err)
			}
			if err := use(skill); lookleap.CodeOf(err) != dvs.CodeNeedsRoot {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
	t.Run("O45/reject-external-of-a-blocked-owner", func(t *testing.T) {
		ui := &prompter{decide: agree}
		_, _, loader, skill := scriptWorld(t, ui)
		if _, err := loader.Roots().Block("https://github.com/evil/"); err != nil {
			t.Fatal(err)
		}
		for _, ref := range []string{"https://raw.githubusercontent.com/evil/r/main/x.md", "https://raw.githack.com/Evil/r/main/x.md", "https://cdn.jsdelivr.net/gh/evil/r@main/x.md"} {
			if _, err := skill.Resource(t.Context(), ref); lookleap.CodeOf(err) != dvs.CodeBlockedRoot || ui.count() > 0 {
				t.Errorf("%s: %v, asked %d times", ref, err, ui.count())
			}
		}
	})
	t.Run("DVS-5.1-04/reject-external-with-its-reason", func(t *testing.T) {
		_, _, _, skill := scriptWorld(t, &prompter{decide: decline})
		_, err := skill.Resource(t.Context(), "https://other.example/x.md")
		var refused *lookleap.VerifyError
		if !errors.As(err, &refused) || !errors.Is(err, lookleap.ErrConsentRefused) || len(refused.Verdict.Checks) != 1 {
			t.Fatal(err)
		}
		if c := refused.Verdict.Checks[0]; c.Requirement != "DVS-5.1-04" || c.Code != dvs.CodeOutsideTrustRoot || c.Status != lookleap.Failed {
			t.Errorf("%+v", c)
		}
	})
	t.Run("O45/reject-revision-at-a-proxy", func(t *testing.T) {
		_, _, loader, skill := scriptWorld(t, &prompter{decide: agree})
		if _, err := loader.Roots().Block("https://github.com/o/r/blob/v1/"); err != nil {
			t.Fatal(err)
		}
		for path, blocked := range map[string]bool{"https://cdn.jsdelivr.net/gh/o/r": true, "https://cdn.jsdelivr.net/gh/o/r2": false, "/o/r/v1/x.md": true, "/o/r/HEAD/x.md": true, "/o/r/refs/tags/v1/x.md": true, "/o/r/tags/v1/x.md": true, "/o/r.git/v1/x.md": true,
			"/o/r/v2/x.md": false, "/o/r/refs/x/v1/x.md": false, "/o/r/refs/heads": false, "/o/r/heads": false, "/o/r": false} {
			if path[0] == '/' {
				path = "https://raw.githack.com" + path
			}
			target, err := skill.Resolve(path)
			if got := lookleap.CodeOf(err) == dvs.CodeBlockedRoot; got != blocked || !blocked && (err != nil || target.Access != dvs.NeedsConsent) {
				t.Errorf("%s: %s, %v", path, target.Access, err)
			}
		}
	})
	t.Run("O45/accept-announced", func(t *testing.T) {
		net := lookleaptest.ForTest(t)
		host := net.StubHost()
		var events lookleaptest.Events
		host.Observe = events.Observe
		loader := dvs.NewLoader(host, dvs.Options{})
		loader.Revoke(must(dvs.ParseTrustRoot("https://shop.example/", dvs.Rules{})))
		if err := loader.RevokeDomain("other.example", true); err != nil {
			t.Fatal(err)
		}
		if seen := events.All(); len(seen) != 2 || seen[0].Code != dvs.CodeRevoked || seen[0].Subject != "https://shop.example/" || seen[1].Subject != "other.example" {
			t.Errorf("%+v", seen)
		}
		if err := loader.RevokeDomain("a b", true); lookleap.CodeOf(err) != lookleap.CodeBadHost || len(events.All()) != 2 {
			t.Error(err)
		}
	})
}

func entries(t *testing.T, skills fs.FS) (names []string) {
	t.Helper()
	list, err := fs.ReadDir(skills, ".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

// TestResumeStricter suspends each kind of plan in a lax loader, and resumes it
// in one that demands more.
func TestResumeStricter(t *testing.T) {
	const root, url = "https://shop.example/", "https://shop.example/s/a/SKILL.md"
	steps := map[string]func(context.Context, *dvs.Loader) error{
		"admit": func(ctx context.Context, l *dvs.Loader) error { _, err := l.Load(ctx, url); return err },
		"script": func(ctx context.Context, l *dvs.Loader) error {
			return withSkill(ctx, l, func(s *dvs.Loaded) error { _, err := s.Approve(ctx, dvs.Invocation{Script: "x.sh"}); return err })
		},
		"fetch": func(ctx context.Context, l *dvs.Loader) error {
			return withSkill(ctx, l, func(s *dvs.Loaded) error { _, err := s.Resource(ctx, "https://other.example/x.md"); return err })
		},
		"action": func(ctx context.Context, l *dvs.Loader) error {
			return withSkill(ctx, l, func(s *dvs.Loaded) error { return s.Confirm(ctx, dvs.Action{Kind: dvs.Shell, Command: "ls"}) })
		},
	}
	type loaderOf = func(t *testing.T) dvs.Options
	blocked := func(t *testing.T, raw string) *dvs.Roots {
		r := registry(t, root)
		if _, err := r.Block(raw); err != nil {
			t.Fatal(err)
		}
		return r
	}
	for name, c := range map[string]struct {
		stricter loaderOf
		want     map[string]lookleap.Code // "" is the default
	}{
		"strict-without-the-root": {func(*testing.T) dvs.Options { return dvs.Options{Profile: dvs.Lenient, Strict: true} }, map[string]lookleap.Code{"": dvs.CodeNeedsRoot}},
		"strict-with-the-root": {func(t *testing.T) dvs.Options {
			return dvs.Options{Profile: dvs.Lenient, Strict: true, Roots: registry(t, root)}
		}, map[string]lookleap.Code{"": lookleap.CodeOK}},
		"same-options": {func(*testing.T) dvs.Options { return dvs.Options{Profile: dvs.Lenient} }, map[string]lookleap.Code{"": lookleap.CodeOK}},
		"blocked": {func(t *testing.T) dvs.Options {
			return dvs.Options{Profile: dvs.Lenient, Roots: blocked(t, "https://shop.example/S/")}
		}, map[string]lookleap.Code{"": dvs.CodeBlockedRoot}},
		"profile":        {func(t *testing.T) dvs.Options { return dvs.Options{Roots: registry(t, root)} }, map[string]lookleap.Code{"": lookleap.CodePlanInvalid, "admit": dvs.CodeBadFrontmatter}},
		"require-secure": {func(t *testing.T) dvs.Options { return dvs.Options{Profile: dvs.Lenient, RequireSecure: true} }, map[string]lookleap.Code{"": dvs.CodeDNSSECInsecure}},
		"policy":         {func(*testing.T) dvs.Options { return dvs.Options{Profile: dvs.Lenient, Policies: []*dvs.Policy{nil}} }, map[string]lookleap.Code{"": dvs.CodePolicyUnreadable}},
		"lockfile":       {func(*testing.T) dvs.Options { return dvs.Options{Profile: dvs.Lenient, Lock: &dvs.Lockfile{}} }, map[string]lookleap.Code{"": dvs.CodeNotLocked}},
		"lockfile-of-other-bytes": {func(*testing.T) dvs.Options {
			return dvs.Options{Profile: dvs.Lenient, Lock: lockOf(url, root, dvs.LockedFile{Path: "SKILL.md", Digest: dvs.DigestOf(nil)})}
		}, map[string]lookleap.Code{"": dvs.CodeDigestMismatch}},
		"lockfile-without-the-script": {func(*testing.T) dvs.Options {
			skill := strings.Replace(refund, "Refunds an", "Refunds: an", 1)
			return dvs.Options{Profile: dvs.Lenient, Lock: lockOf(url, root, dvs.LockedFile{Path: "SKILL.md", Digest: dvs.DigestOf([]byte(skill))})}
		}, map[string]lookleap.Code{"": lookleap.CodeOK, "script": dvs.CodeNotLocked}},
		"platform": {func(t *testing.T) dvs.Options {
			r := registry(t)
			if _, err := r.AddPlatform(dvs.Platform{Name: "ours", Hosts: []string{"shop.example"}, Owner: 1}); err != nil {
				t.Fatal(err)
			}
			return dvs.Options{Profile: dvs.Lenient, Roots: r}
		}, map[string]lookleap.Code{"": dvs.CodeUGCBareRoot, "admit": dvs.CodeConsentStale}},
	} {
		for step, suspend := range steps {
			want, ok := c.want[step]
			if !ok {
				want = c.want[""]
			}
			side := "reject-"
			if want == lookleap.CodeOK {
				side = "accept-"
			}
			t.Run("O65/"+side+name+"-"+step, func(t *testing.T) {
				net := lookleaptest.ForTest(t)
				net.Site("shop.example").File("*", "text/markdown", strings.Replace(refund, "Refunds an", "Refunds: an", 1))
				net.Site("other.example").File("*", "text/markdown", "more")
				host := net.StubHost()
				host.Prompter = &prompter{decide: func(req *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
					if step != "admit" && req.Kind == lookleap.ConsentSkill {
						return agree(req)
					}
					return lookleap.ConsentDecision{}, lookleap.ErrConsentPending
				}}
				var pending *lookleap.PendingError
				if err := suspend(t.Context(), dvs.NewLoader(host, dvs.Options{Profile: dvs.Lenient})); !errors.As(err, &pending) {
					t.Fatal(err)
				}
				options := c.stricter(t)
				run := &runner{}
				options.Runner = run
				loader := dvs.NewLoader(host, options)
				decision, _ := agree(pending.Request)
				requests := len(net.Journal().Requests("other.example"))
				got, err := loader.Resume(t.Context(), pending.State, decision)
				if lookleap.CodeOf(err) != want || (got != nil) != (want == lookleap.CodeOK) {
					t.Fatalf("want %s, got %v", want, err)
				}
				if want != lookleap.CodeOK && len(net.Journal().Requests("other.example")) != requests {
					t.Error("something was sent")
				}
			})
		}
	}
}

// lockOf returns a lockfile of one skill.
func lockOf(url, root string, files ...dvs.LockedFile) *dvs.Lockfile {
	return &dvs.Lockfile{Skills: []dvs.LockedSkill{{URL: url, Root: root, Directory: "a", Files: files}}}
}

func withSkill(ctx context.Context, l *dvs.Loader, use func(*dvs.Loaded) error) error {
	s, err := l.Load(ctx, "https://shop.example/s/a/SKILL.md")
	if err != nil {
		return err
	}
	return use(s)
}
