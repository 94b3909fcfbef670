package dvs

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/internal/strictjson"
)

// TrustMediaType is the type of a [TrustRecord] in JSON.
const TrustMediaType = "application/vnd.lookleap.dvs-trust+json;version=1"

// TrustRecord is what a user's store keeps about one skill: what the user approved and refused.
type TrustRecord struct {
	Type     string           `json:"type"`               // TrustMediaType
	Skill    string           `json:"skill"`              // canonical URL
	Versions []TrustedVersion `json:"versions,omitempty"` // approved, the last one approved last
	Scripts  []TrustedScript  `json:"scripts,omitempty"`  // approved, one for each name
	Refused  []RefusedVersion `json:"refused,omitempty"`  // versions that the user refused
	Never    time.Time        `json:"never,omitzero"`     // when the user refused every version
	Asked    []time.Time      `json:"asked,omitempty"`    // when the user was asked, the last times
}

// TrustedVersion is a version of a skill that the user approved.
type TrustedVersion struct {
	File         Digest       `json:"file"`                // of the SKILL.md, or of the archive
	Header       Digest       `json:"header"`              // of the header
	Bundle       Digest       `json:"bundle,omitzero"`     // of all files; zero: they were not loaded yet
	Approved     time.Time    `json:"approved"`            // when
	Root         string       `json:"root"`                // trust root at that time
	SkillOnly    bool         `json:"skillOnly,omitempty"` // approved without the publisher's root
	Files        []LockedFile `json:"files,omitempty"`     // those that were loaded, sorted by path
	Capabilities Capabilities `json:"capabilities,omitempty"`
	Text         []byte       `json:"text,omitempty"` // the SKILL.md, to show the next change; of the last version only
}

// TrustedScript is a script that the user approved last under its name.
type TrustedScript struct {
	Name     string    `json:"name"`
	Digest   Digest    `json:"digest"`
	Approved time.Time `json:"approved"`
	Text     []byte    `json:"text,omitempty"` // to show the next change; not of large scripts
}

// RefusedVersion is a version that the user refused.
type RefusedVersion struct {
	Digest Digest    `json:"digest"` // of the SKILL.md or, if the user refused its files, of the bundle
	At     time.Time `json:"at"`
}

// declaredByUser is a root that the user declared and that is kept, or a root or host in which the user
// revoked trust.
type declaredByUser struct {
	Type    string     `json:"type"` // TrustMediaType
	Root    string     `json:"root"` // trust root, or a revoked host without a scheme
	By      RootSource `json:"by"`
	At      time.Time  `json:"at"`
	Revoked bool       `json:"revoked,omitempty"` // trust in it was withdrawn

	Subdomains bool `json:"subdomains,omitempty"` // of a host: trust in its subdomains was withdrawn too
}

// What one record holds at most; the oldest entries leave first.
const (
	maxTrustedVersions = 8
	maxTrustedScripts  = 64
	maxScriptText      = 64 << 10
	maxRefusedVersions = 256
	maxAskedTimes      = 16
)

// The words of the keys in a store.
const (
	trustSkill = "skill/"
	trustRoot  = "root/"
	// trustSpellings is followed by a digest of what the URLs of one skill have in common.
	trustSpellings = "spellings/"
)

// ParseTrustRecord reads the record of a skill from a user's store. A record of a newer version of
// this module and a record that is not complete are errors with the code trust-store.
func ParseTrustRecord(data []byte) (*TrustRecord, error) {
	r := new(TrustRecord)
	if err := decodeTrust(data, r); err != nil {
		return nil, err
	}
	if r.Skill == "" {
		return nil, badTrust("the record does not name its skill", nil)
	}
	for i := range r.Versions {
		if r.Versions[i].File.IsZero() || r.Versions[i].Approved.IsZero() {
			return nil, badTrust("a version in the record has no digest or time", nil)
		}
	}
	return r, nil
}

func decodeTrust(data []byte, into any) error {
	v, err := strictjson.Parse(data, strictjson.Limits{Size: math.MaxInt32})
	if err != nil {
		return badTrust("the record cannot be read", err)
	}
	member, _ := v.Member("type")
	kind, _ := member.Text()
	name, _, _ := strings.Cut(TrustMediaType, ";")
	base, version, _ := strings.Cut(kind, ";")
	switch {
	case base == name && ";"+version != TrustMediaType[len(name):]:
		refused := badTrust("the record was written by a newer version of this module: "+plaintext.Quote(kind, 100), nil)
		refused.Fix = "update this program"
		return refused
	case kind != TrustMediaType:
		return badTrust("the type of the record is "+plaintext.Quote(kind, 100), nil)
	}
	if err := strictjson.Decode(data, into); err != nil {
		return badTrust("the record cannot be read", err)
	}
	return nil
}

func badTrust(message string, err error) *lookleap.Error {
	return &lookleap.Error{Code: CodeTrustStore, Message: message, Err: err,
		Fix: "delete the record with Loader.Forget; the user is then asked as for a new skill"}
}

// version returns the approved version with this SKILL.md, or nil.
func (r *TrustRecord) version(file Digest) *TrustedVersion {
	for i := range r.Versions {
		if r.Versions[i].File == file {
			return &r.Versions[i]
		}
	}
	return nil
}

func (r *TrustRecord) last() *TrustedVersion {
	if len(r.Versions) == 0 {
		return nil
	}
	return &r.Versions[len(r.Versions)-1]
}

// refused reports whether the user refused a version, or every version.
func (r *TrustRecord) refused(digest Digest) bool {
	return !r.Never.IsZero() || slices.ContainsFunc(r.Refused, func(v RefusedVersion) bool { return v.Digest == digest })
}

// negatives returns the refusals and questions of a skill in all its spellings: those of r, and of
// the records that it has under other URLs. A refusal under another URL ends with a later approval.
func (r *TrustRecord) negatives(others []*TrustRecord) *TrustRecord {
	all := &TrustRecord{Never: r.Never, Refused: slices.Clone(r.Refused), Asked: slices.Clone(r.Asked)}
	for _, other := range others {
		if all.Never.IsZero() {
			all.Never = other.Never
		}
		all.Asked = append(all.Asked, other.Asked...)
		for _, refused := range other.Refused {
			if v := r.version(refused.Digest); v == nil || !v.Approved.After(refused.At) {
				all.Refused = append(all.Refused, refused)
			}
		}
	}
	return all
}

// changedFrom returns the version that the user approved last under another URL of the skill, if this
// one is a change of it.
func changedFrom(others []*TrustRecord, file, header Digest, to level) (last *TrustedVersion) {
	for _, r := range others {
		for i := range r.Versions {
			v := &r.Versions[i]
			if v.File == file || to == registered && v.Header == header {
				return nil
			}
			if last == nil || v.Approved.After(last.Approved) {
				last = v
			}
		}
	}
	return last
}

// approve notes that the user approved a version, which ends a refusal of it.
func (r *TrustRecord) approve(v TrustedVersion) {
	for i := range r.Versions {
		r.Versions[i].Text = nil // only the last version's is needed
	}
	if known := r.version(v.File); known != nil && v.Files == nil {
		v.Files, v.Bundle, v.Capabilities = known.Files, known.Bundle, known.Capabilities
	}
	r.Versions = slices.DeleteFunc(r.Versions, func(o TrustedVersion) bool { return o.File == v.File })
	r.Refused = slices.DeleteFunc(r.Refused, func(o RefusedVersion) bool { return o.Digest == v.File || o.Digest == v.Bundle })
	r.Versions = lastOf(append(r.Versions, v), maxTrustedVersions)
}

// refuse notes that the user refused a version, or every version. It ends the approval of that
// version.
func (r *TrustRecord) refuse(digest Digest, all bool, now time.Time) {
	if all {
		r.Never = now
	}
	r.Refused = slices.DeleteFunc(r.Refused, func(o RefusedVersion) bool { return o.Digest == digest })
	r.Refused = lastOf(append(r.Refused, RefusedVersion{digest, now}), maxRefusedVersions)
	r.Versions = slices.DeleteFunc(r.Versions, func(o TrustedVersion) bool { return o.File == digest })
}

// encode writes the record in JSON. Of one that is too large it leaves out the texts of scripts, which only
// serve to show a change, and then the oldest approvals, after which the user is asked again.
func (r *TrustRecord) encode() ([]byte, error) {
	for {
		data, err := json.Marshal(r)
		switch {
		case err != nil || len(data) <= maxTrustRecord:
			return data, err
		case slices.ContainsFunc(r.Scripts, func(s TrustedScript) bool { return s.Text != nil }):
			for i := range r.Scripts {
				r.Scripts[i].Text = nil
			}
		case len(r.Versions) > 1:
			r.Versions = r.Versions[1:]
		default: // change refuses it
			return data, nil
		}
	}
}

func (r *TrustRecord) approveScript(s TrustedScript) {
	r.Scripts = slices.DeleteFunc(r.Scripts, func(o TrustedScript) bool { return o.Name == s.Name })
	r.Scripts = lastOf(append(r.Scripts, s), maxTrustedScripts)
}

func (r *TrustRecord) script(name string) *TrustedScript {
	i := slices.IndexFunc(r.Scripts, func(s TrustedScript) bool { return s.Name == name })
	if i < 0 {
		return nil
	}
	return &r.Scripts[i]
}

func lastOf[T any](list []T, most int) []T { return list[max(len(list)-most, 0):] }

// When a skill is not asked about again.
const (
	quietAfterRefusal = time.Hour      // no other version is shown after a refusal
	askedInterval     = 24 * time.Hour // in which one skill is shown at most askedMost times
	askedMost         = 5
)

// askedTooOften returns until when the skill is not shown again; zero: it may be shown. A time in
// the future, which a clock that was set back leaves, counts as recent.
func (r *TrustRecord) askedTooOften(now time.Time) (until time.Time) {
	for _, refused := range r.Refused {
		if now.Sub(refused.At).Abs() < quietAfterRefusal {
			until = now.Add(min(quietAfterRefusal, refused.At.Add(quietAfterRefusal).Sub(now)))
		}
	}
	recent := slices.DeleteFunc(slices.Clone(r.Asked), func(at time.Time) bool { return now.Sub(at).Abs() >= askedInterval })
	if len(recent) >= askedMost && until.IsZero() {
		until = now.Add(min(askedInterval, slices.MinFunc(recent, time.Time.Compare).Add(askedInterval).Sub(now)))
	}
	return until
}

// expired reports whether an approval is older than allowed; 0 allows any age. The age of one from
// the future is not known, because a clock was set back.
func (v *TrustedVersion) expired(now time.Time, most time.Duration) bool {
	age := now.Sub(v.Approved)
	return most > 0 && (age < -time.Minute || age > most)
}

// comparable returns what the next version is compared with.
func (v *TrustedVersion) comparable() skillVersion {
	s := skillVersion{text: v.Text, capabilities: v.Capabilities}
	if v.Files != nil {
		s.files = make(map[string]Digest, len(v.Files))
		for _, f := range v.Files {
			s.files[f.Path] = f.Digest
		}
	}
	return s
}

func bundleDigest(files map[string]Digest) Digest {
	var b bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(files)) {
		b.WriteString(files[name].String() + " " + name + "\n")
	}
	return DigestOf(b.Bytes())
}

func lockedFiles(files map[string]Digest) []LockedFile {
	list := make([]LockedFile, 0, len(files))
	for name, digest := range files {
		list = append(list, LockedFile{Path: name, Digest: digest})
	}
	slices.SortFunc(list, func(a, b LockedFile) int { return cmp.Compare(a.Path, b.Path) })
	return list
}
