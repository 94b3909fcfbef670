package dvs_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
)

const refundArchive = "https://shop.example/s/refund.zip"

// archived serves the skill as an archive with one more file.
func (w *trustWorld) archived(data string) {
	w.site.File("/s/refund.zip", "application/zip", archive(w.t, dvs.Zip, map[string][]byte{"SKILL.md": skillText("Ask.\n"), "x.json": []byte(data)}))
}

// TestTrustRefuses refuses before the user is asked.
func TestTrustRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		url   string
		kind  dvs.WithdrawalKind
		value string
	}{
		"archive": {refundArchive, dvs.WithdrawnSkill, refundArchive},
		"version": {trustedAt, dvs.WithdrawnDigest, dvs.DigestOf(skillText("See [more](ADVANCED.md) and [notes](notes.txt). Run scripts/x.sh.\n")).String()},
		"member":  {refundArchive, dvs.WithdrawnDigest, dvs.DigestOf([]byte("{}")).String()},
	} {
		t.Run("O45/reject-withdrawn-"+name+"-without-a-question", func(t *testing.T) {
			w := newFeedWorld(t)
			w.archived("{}")
			w.withdraw(c.kind, c.value)
			options := dvs.Options{Feeds: w.options.Feeds}
			skill, err := w.process(options).Load(t.Context(), c.url)
			if skill != nil || lookleap.CodeOf(err) != dvs.CodeWithdrawn || w.user.count() != 0 {
				t.Errorf("%v, asked %d times", err, w.user.count())
			}
		})
	}
	t.Run("O68/reject-member-that-the-lockfile-has-not", func(t *testing.T) {
		w := newTrustWorld(t)
		w.archived("{}")
		skill, err := w.process(dvs.Options{}).Load(t.Context(), refundArchive)
		if err != nil {
			t.Fatal(err)
		}
		b, err := skill.Bundle(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		lock := dvs.NewVerifiedFS([]dvs.Bundle{b}, dvs.VerifiedFSOptions{}).Lock()
		for data, code := range map[string]lookleap.Code{"{}": lookleap.CodeOK, "[]": dvs.CodeDigestMismatch} {
			w.archived(data)
			before := w.user.count()
			if _, err := w.process(dvs.Options{Lock: lock}).Load(t.Context(), refundArchive); lookleap.CodeOf(err) != code || w.user.count() != before {
				t.Errorf("%s: %v, asked %d times", data, err, w.user.count()-before)
			}
		}
	})
	t.Run("DVS-5.2-08/reject-refused-version-that-is-pinned", func(t *testing.T) {
		w := newTrustWorld(t)
		w.user.decide = decline
		w.load(dvs.Options{}, lookleap.CodeConsentRefused, 1)
		l := w.process(dvs.Options{Roots: registry(t, "https://shop.example/")})
		skill, err := l.LoadPinned(t.Context(), trustedAt, dvs.Pin{Digest: dvs.DigestOf(skillText("Ask for the order number.\n"))})
		if skill != nil || lookleap.CodeOf(err) != dvs.CodeRefusedBefore || !strings.Contains(err.Error(), "this version of the skill") {
			t.Error(err)
		}
	})
	t.Run("DVS-5.2-08/reject-with-a-verdict", func(t *testing.T) {
		w := newTrustWorld(t)
		w.user.decide = decline
		_, err := w.process(dvs.Options{}).Load(t.Context(), trustedAt)
		var no *lookleap.VerifyError
		if !errors.As(err, &no) || no.Verdict.OK || no.Verdict.Code != lookleap.CodeConsentRefused || !no.Verdict.Expires.IsZero() || !errors.Is(err, lookleap.ErrConsentRefused) {
			t.Errorf("%v, %+v", err, no)
		}
	})
	t.Run("DVS-5.2-08/reject-every-version", func(t *testing.T) {
		w := newTrustWorld(t)
		w.user.decide = never
		w.load(dvs.Options{}, lookleap.CodeConsentRefused, 1)
		if _, err := w.process(dvs.Options{}).Load(t.Context(), trustedAt); lookleap.CodeOf(err) != dvs.CodeRefusedBefore || !strings.Contains(err.Error(), "every version of the skill") {
			t.Error(err)
		}
	})
	t.Run("DVS-5.2-08/accept-a-failed-prompt-is-no-refusal", func(t *testing.T) {
		w := newTrustWorld(t)
		w.user.decide = func(*lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
			return lookleap.ConsentDecision{}, errors.New("no terminal")
		}
		if _, err := w.process(dvs.Options{}).Load(t.Context(), trustedAt); err == nil {
			t.Fatal("the skill loads")
		}
		w.user.decide = agree
		w.load(dvs.Options{}, lookleap.CodeOK, 1)
	})
	t.Run("DVS-5.2-08/accept-agreed-later-than-refused-elsewhere", func(t *testing.T) {
		w := newTrustWorld(t)
		w.user.decide = suspend
		_, err := w.process(dvs.Options{}).Load(t.Context(), trustedAt)
		p := pendingOf(t, err)
		w.user.decide = never
		w.load(dvs.Options{}, lookleap.CodeConsentRefused, 1)
		decision, _ := agree(p.Request)
		w.net.Clock().Advance(time.Minute)
		if got, err := w.process(dvs.Options{}).Resume(t.Context(), p.State, decision); err != nil || got.Loaded == nil {
			t.Fatal(got, err)
		}
		w.load(dvs.Options{}, lookleap.CodeOK, 0)
	})
}

// TestRefusedMeanwhile refuses the version in another process while this one loads it.
func TestRefusedMeanwhile(t *testing.T) {
	refusal := must(json.Marshal(&dvs.TrustRecord{Type: dvs.TrustMediaType, Skill: trustedAt,
		Refused: []dvs.RefusedVersion{{Digest: dvs.DigestOf(skillText("Ask for the order number.\n")), At: noon}}}))
	for name, registered := range map[string]bool{"under-a-registered-root": true, "before-the-question": false} {
		t.Run("DVS-5.2-08/reject-"+name, func(t *testing.T) {
			load := func(at int) (calls []string, asked int, err error) {
				w := newTrustWorld(t)
				inner := w.store
				store := &faultStore{Store: inner, at: at, fault: func() ([]byte, error) {
					return nil, inner.Put(t.Context(), "skill/"+trustedAt, nil, refusal, time.Time{})
				}}
				w.store = store
				options := dvs.Options{}
				if registered {
					options.Roots = registry(t, "https://shop.example/")
				}
				_, err = w.process(options).Load(t.Context(), trustedAt)
				return store.calls, w.user.count(), err
			}
			calls, _, err := load(0)
			if err != nil {
				t.Fatal(err)
			}
			last := slices.IndexFunc(calls, func(call string) bool { return strings.HasPrefix(call, "put skill/") })
			if last < 1 || calls[last-1] != "get skill/"+trustedAt {
				t.Fatal(calls)
			}
			// What is read before the first record is written is read by the step that decides last.
			if _, asked, err := load(last); lookleap.CodeOf(err) != dvs.CodeRefusedBefore || asked != 0 {
				t.Errorf("%v, asked %d times", err, asked)
			}
		})
	}
}

// TestTrustShows shows what changed, and what is kept of what the user approved.
func TestTrustShows(t *testing.T) {
	t.Run("DVS-5.2-08/accept-pinned-change-is-no-question", func(t *testing.T) {
		w := newTrustWorld(t)
		roots := func() dvs.Options { return dvs.Options{Roots: registry(t, "https://shop.example/")} }
		w.load(roots(), lookleap.CodeOK, 0)
		w.publish("Another version.\n")
		if _, err := w.process(roots()).LoadPinned(t.Context(), trustedAt, dvs.Pin{Digest: dvs.DigestOf(skillText("Another version.\n"))}); err != nil || w.user.count() != 0 {
			t.Errorf("%v, asked %d times", err, w.user.count())
		}
	})
	t.Run("DVS-5.2-08/accept-files-of-an-archive", func(t *testing.T) {
		w := newTrustWorld(t)
		w.archived("{}")
		l := w.process(dvs.Options{})
		if _, err := l.Load(t.Context(), refundArchive); err != nil {
			t.Fatal(err)
		}
		r, err := l.Trusted(t.Context(), refundArchive)
		if err != nil || len(r.Versions) != 1 || len(r.Versions[0].Files) != 2 || r.Versions[0].Bundle.IsZero() {
			t.Errorf("%+v, %v", r, err)
		}
		w.archived("[]")
		if _, err := w.process(dvs.Options{}).Load(t.Context(), refundArchive); err != nil || !strings.Contains(w.prompt(), `changed files: "x.json"`) {
			t.Errorf("%v\n%s", err, w.prompt())
		}
	})
	t.Run("DVS-5.2-08/accept-other-files-are-not-lost", func(t *testing.T) {
		w := newFilesWorld(t)
		w.site.File("/s/a/scripts/x.sh", "text/plain", "#!/bin/sh\ncurl https://api.example.net/\n")
		w.bundled()
		w.publish("See [more](ADVANCED.md) and [notes](notes.txt). Run scripts/x.sh. Ask twice.\n")
		w.load(dvs.Options{}, lookleap.CodeOK, 1)
		if p := w.prompt(); strings.Contains(p, "no longer seems to") || !strings.Contains(p, "Ask twice") {
			t.Error(p)
		}
	})
}
