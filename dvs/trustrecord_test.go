package dvs

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
)

var (
	recordNow = time.Date(2031, 5, 1, 12, 0, 0, 0, time.UTC)
	one, two  = DigestOf([]byte("1")), DigestOf([]byte("2"))
)

// TestParseTrustRecord reads records as a store has them.
func TestParseTrustRecord(t *testing.T) {
	const head = `{"type":"` + TrustMediaType + `","skill":"https://shop.example/SKILL.md"`
	version := func(file, at string) string {
		return `,"versions":[{"file":"` + file + `","header":"","approved":"` + at + `","root":""}]}`
	}
	for name, c := range map[string]struct{ text, want string }{
		"accept-empty":           {head + "}", ""},
		"accept-version":         {head + version(one.String(), "2026-01-01T00:00:00Z"), ""},
		"reject-no-json":         {"approved", "cannot be read"},
		"reject-no-skill":        {`{"type":"` + TrustMediaType + `"}`, "does not name its skill"},
		"reject-no-type":         {`{"skill":"https://shop.example/SKILL.md"}`, `the type of the record is ""`},
		"reject-other-type":      {`{"type":"text/plain","skill":"x"}`, `the type of the record is "text/plain"`},
		"reject-newer":           {strings.Replace(head, "version=1", "version=2", 1) + `,"more":1}`, "newer version of this module"},
		"reject-other-parameter": {strings.Replace(head, "version=1", "v=1", 1) + "}", "newer version of this module"},
		"reject-unknown-member":  {head + `,"more":1}`, "cannot be read"},
		"reject-two-records":     {head + "}" + head + "}", "something follows"},
		"reject-no-digest":       {head + version("", "2026-01-01T00:00:00Z"), "no digest or time"},
		"reject-no-time":         {head + version(one.String(), "0001-01-01T00:00:00Z"), "no digest or time"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := ParseTrustRecord([]byte(c.text))
			if c.want == "" {
				if err != nil || r.Skill == "" {
					t.Error(r, err)
				}
				return
			}
			if r != nil || lookleap.CodeOf(err) != CodeTrustStore || !strings.Contains(err.Error(), c.want) {
				t.Errorf("want %q, got %v, %v", c.want, r, err)
			}
			if newer := strings.Contains(err.Error(), "update this program"); newer != strings.Contains(c.want, "newer") {
				t.Error("the fix is wrong:", err)
			}
		})
	}
}

// TestTrustRecord approves and refuses versions and scripts.
func TestTrustRecord(t *testing.T) {
	files := []LockedFile{{Path: "x", Digest: two}}
	approve := func(r *TrustRecord, file Digest, at time.Time) {
		r.approve(TrustedVersion{File: file, Approved: at, Text: []byte("text")})
	}
	t.Run("DVS-5.2-08/accept-approved-again-keeps-its-files", func(t *testing.T) {
		r := &TrustRecord{}
		r.approve(TrustedVersion{File: one, Approved: recordNow, Files: files, Bundle: two, Capabilities: Capabilities{{Kind: capabilityHost, Value: "a"}}})
		approve(r, two, recordNow)
		approve(r, one, recordNow.Add(time.Hour))
		if len(r.Versions) != 2 || r.last().File != one || !slices.Equal(r.last().Files, files) || r.last().Bundle != two || len(r.last().Capabilities) != 1 {
			t.Errorf("%+v", r)
		}
		if r.version(two).Text != nil || r.last().Text == nil {
			t.Error("the text of another version than the last one is kept")
		}
		r.approve(TrustedVersion{File: one, Approved: recordNow, Files: []LockedFile{{Path: "y", Digest: one}}})
		if r.last().Files[0].Path != "y" || !r.last().Bundle.IsZero() {
			t.Errorf("the files are not those that were approved last: %+v", r.last())
		}
	})
	t.Run("DVS-5.2-08/accept-approval-ends-a-refusal", func(t *testing.T) {
		three := DigestOf([]byte("3"))
		r := &TrustRecord{}
		for _, d := range []Digest{one, two, three} {
			r.refuse(d, false, recordNow)
		}
		r.approve(TrustedVersion{File: one, Bundle: two, Approved: recordNow})
		if r.refused(one) || r.refused(two) || !r.refused(three) || len(r.Refused) != 1 {
			t.Errorf("%+v", r.Refused)
		}
	})
	t.Run("DVS-5.2-08/reject-refusal-ends-an-approval", func(t *testing.T) {
		r := &TrustRecord{}
		approve(r, one, recordNow)
		approve(r, two, recordNow)
		r.refuse(one, false, recordNow)
		r.refuse(one, false, recordNow.Add(time.Minute))
		if r.version(one) != nil || r.version(two) == nil || len(r.Versions) != 1 || !r.refused(one) || r.refused(two) || len(r.Refused) != 1 || !r.Refused[0].At.Equal(recordNow.Add(time.Minute)) {
			t.Errorf("%+v", r)
		}
		r.refuse(one, true, recordNow)
		if !r.refused(two) || !r.refused(Digest{}) {
			t.Error("a refusal of every version refuses one only")
		}
	})
	t.Run("DVS-5.2-08/accept-bounded", func(t *testing.T) {
		r := &TrustRecord{}
		for i := range 300 {
			d := DigestOf([]byte{byte(i), byte(i >> 8)})
			approve(r, d, recordNow)
			r.refuse(DigestOf([]byte{byte(i), byte(i >> 8), 1}), false, recordNow)
			r.approveScript(TrustedScript{Name: d.String(), Digest: d})
		}
		last := DigestOf([]byte{byte(299 & 0xFF), 1})
		if len(r.Versions) != maxTrustedVersions || len(r.Refused) != maxRefusedVersions || len(r.Scripts) != maxTrustedScripts || r.last().File != last || r.script(last.String()) == nil {
			t.Errorf("%d versions, %d refusals, %d scripts", len(r.Versions), len(r.Refused), len(r.Scripts))
		}
	})
	t.Run("DVS-5.2-08/accept-last-script-of-a-name", func(t *testing.T) {
		r := &TrustRecord{}
		for _, s := range []TrustedScript{{Name: "a", Digest: one}, {Name: "b", Digest: one}, {Name: "a", Digest: two}} {
			r.approveScript(s)
		}
		if len(r.Scripts) != 2 || r.script("a").Digest != two || r.script("b").Digest != one || r.script("c") != nil {
			t.Errorf("%+v", r.Scripts)
		}
	})
	t.Run("DVS-5.2-08/accept-one-digest-for-all-files", func(t *testing.T) {
		a := bundleDigest(map[string]Digest{"x": one, "y": two})
		for _, other := range []map[string]Digest{{"x": two, "y": one}, {"x": one}, {"x": one, "z": two}, {}} {
			if bundleDigest(other) == a {
				t.Errorf("%v has the same digest", other)
			}
		}
		if list := lockedFiles(map[string]Digest{"y": one, "x": two, "z": one}); list[0].Path != "x" || list[1].Path != "y" || list[2].Path != "z" {
			t.Error(list)
		}
	})
}

// TestAskedTooOften asks when a skill may be shown again: an hour after a refusal, and at most five
// times in a day.
func TestAskedTooOften(t *testing.T) {
	at := func(ago ...time.Duration) (times []time.Time) {
		for _, d := range ago {
			times = append(times, recordNow.Add(-d))
		}
		return times
	}
	const day = 24 * time.Hour
	for name, c := range map[string]struct {
		refused, asked []time.Time
		wait           time.Duration // 0: it may be shown
	}{
		"accept-first":                  {},
		"reject-refused-just-now":       {refused: at(0), wait: time.Hour},
		"reject-refused-before":         {refused: at(40*time.Minute, 2*time.Hour), wait: 20 * time.Minute},
		"accept-refused-an-hour-ago":    {refused: at(time.Hour)},
		"reject-refused-in-the-future":  {refused: at(-30 * time.Minute), wait: time.Hour},
		"accept-four-times":             {asked: at(0, 1, 2, 3)},
		"reject-five-times":             {asked: at(20*time.Hour, 3, 2, 1, 0), wait: 4 * time.Hour},
		"accept-five-times-in-two-days": {asked: at(day, 3, 2, 1, 0)},
		"reject-five-times-ahead":       {asked: at(-time.Hour, -time.Hour, -time.Hour, -time.Hour, -time.Hour), wait: day},
		"reject-both":                   {refused: at(0), asked: at(4, 3, 2, 1, 0), wait: time.Hour},
	} {
		t.Run("DVS-5.2-08/"+name, func(t *testing.T) {
			r := &TrustRecord{Asked: c.asked}
			for _, at := range c.refused {
				r.Refused = append(r.Refused, RefusedVersion{one, at})
			}
			want := time.Time{}
			if c.wait > 0 {
				want = recordNow.Add(c.wait)
			}
			if got := r.askedTooOften(recordNow); !got.Equal(want) {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

// TestExpired compares the age of an approval with the longest one.
func TestExpired(t *testing.T) {
	for name, c := range map[string]struct {
		age, most time.Duration
		want      bool
	}{
		"accept-any-age":            {1000 * time.Hour, 0, false},
		"accept-the-longest":        {time.Hour, time.Hour, false},
		"reject-older":              {time.Hour + 1, time.Hour, true},
		"accept-a-minute-ahead":     {-time.Minute, time.Hour, false},
		"reject-more-than-a-minute": {-time.Minute - 1, time.Hour, true},
	} {
		t.Run("DVS-5.2-08/"+name, func(t *testing.T) {
			v := &TrustedVersion{Approved: recordNow.Add(-c.age)}
			if v.expired(recordNow, c.most) != c.want {
				t.Errorf("expired: %v", !c.want)
			}
		})
	}
}

// TestApprovedFilesEndARefusal: files that were refused and are approved later are not refused any more.
func TestApprovedFilesEndARefusal(t *testing.T) {
	skill, files, other := DigestOf([]byte("skill")), DigestOf([]byte("files")), DigestOf([]byte("other"))
	r := &TrustRecord{Versions: []TrustedVersion{{File: skill}}, Refused: []RefusedVersion{{Digest: files}, {Digest: other}}}
	if err := (&plannedFiles{File: skill, Bundle: files}).keep(r); err != nil || len(r.Refused) != 1 || r.Refused[0].Digest != other {
		t.Errorf("%+v, %v", r.Refused, err)
	}
}
