package dvs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/coded"
	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/internal/plugin"
)

// trustKeeper is a store as a loader uses it: with errors that have a code, and calls that end.
type trustKeeper struct {
	store plugin.Store
	rules func() Rules // by which skills are compared; nil: they are not
}

func newTrustKeeper(store lookleap.Store) *trustKeeper {
	return &trustKeeper{store: plugin.Store{Store: store, Bound: &plugin.Bound{Limit: 10 * time.Second, Most: 64, Fail: func(reason string) error {
		return &lookleap.Error{Code: CodeTrustStore, Message: "the trust store failed: " + reason}
	}}}}
}

const maxTrustRecord = 8 << 20

// errRecordTooLarge is the error for what cannot be kept. What depends on the record is refused:
// otherwise a later change would be no question.
var errRecordTooLarge = badTrust(fmt.Sprintf("the record has more than %d bytes", maxTrustRecord), nil)

// get returns the bytes of a record, nil if there is none.
func (k *trustKeeper) get(ctx context.Context, key string) ([]byte, error) {
	data, err := k.store.Get(ctx, key)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && data == nil {
		data = []byte{} // there is a record
	}
	return data, storeError(err)
}

// change replaces a record by what edit makes of it; nil stands for no record. If another process
// changes the record meanwhile, edit is called again.
func (k *trustKeeper) change(ctx context.Context, key string, edit func(old []byte) ([]byte, error)) error {
	var edited error
	err := lookleap.UpdateRecord(ctx, k.store, key, time.Time{}, func(old []byte) (updated []byte, err error) {
		updated, edited = edit(old)
		if edited == nil && len(updated) > maxTrustRecord {
			edited = errRecordTooLarge
		}
		return updated, edited
	})
	return cmp.Or(edited, storeError(err))
}

func (k *trustKeeper) delete(ctx context.Context, key string) error {
	return storeError(k.store.Delete(ctx, key))
}

// storeError returns the error of a store with a code.
func storeError(err error) error {
	if err == nil || lookleap.CodeOf(err) == CodeTrustStore || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &lookleap.Error{Code: CodeTrustStore, Message: "the trust store cannot be used", Err: coded.Cause(err), Fix: "repair the store, or delete what is damaged"}
}

// keptAs returns the URL under which decisions about a skill are kept: with HEAD in place of a commit,
// so that the next commit has another version of the same skill.
func (k *trustKeeper) keptAs(skill string) string {
	if k.rules == nil || !slices.ContainsFunc(strings.Split(skill, "/"), isFullCommit) {
		return skill
	}
	rules := k.rules()
	if u, err := rules.urls().Parse(skill); err == nil {
		if commit := rules.placeOf(u).commit; isFullCommit(commit) {
			return strings.Replace(skill, "/"+commit+"/", "/HEAD/", 1)
		}
	}
	return skill
}

// record returns what is kept about a skill: an empty record if nothing is.
func (k *trustKeeper) record(ctx context.Context, skill string) (*TrustRecord, error) {
	skill = k.keptAs(skill)
	data, err := k.get(ctx, trustSkill+skill)
	if err != nil {
		return nil, err
	}
	return recordOf(data, skill)
}

func recordOf(data []byte, skill string) (*TrustRecord, error) {
	if data == nil {
		return &TrustRecord{Type: TrustMediaType, Skill: skill}, nil
	}
	r, err := ParseTrustRecord(data)
	if err == nil && r.Skill != skill {
		err = badTrust("the record is that of another skill: "+plaintext.Quote(r.Skill, 200), nil)
	}
	return r, err
}

// skillSpellings lists under which URLs one skill has records, by the key of its party.
type skillSpellings struct {
	Type   string   `json:"type"` // TrustMediaType
	Skills []string `json:"skills"`
}

// maxSpellings is how many URLs of one skill have records. More would slow down every load.
const maxSpellings = 256

// spellingsKey returns the party of a skill, and the key of the list of its spellings.
func (k *trustKeeper) spellingsKey(skill string) (party skillParty, key string, err error) {
	rules := k.rules()
	u, err := rules.urls().Parse(skill)
	if err != nil {
		return party, "", badURL(skill, err)
	}
	party = rules.skillParty(place{page: u})
	return party, trustSpellings + DigestOf([]byte(party.key())).String(), nil
}

// noteSpelling adds a skill to the list of its spellings, before its first record is written.
func (k *trustKeeper) noteSpelling(ctx context.Context, skill string) error {
	if k.rules == nil {
		return nil
	}
	_, key, err := k.spellingsKey(skill)
	if err != nil {
		return err
	}
	return k.change(ctx, key, func(old []byte) ([]byte, error) {
		list, err := spellingsOf(old)
		if err != nil || slices.Contains(list.Skills, skill) {
			return nil, err
		}
		if len(list.Skills) >= maxSpellings {
			return nil, badTrust(fmt.Sprintf("the skill is known under more than %d URLs", maxSpellings), nil)
		}
		list.Skills = append(list.Skills, skill)
		return json.Marshal(list)
	})
}

func spellingsOf(data []byte) (*skillSpellings, error) {
	list := &skillSpellings{Type: TrustMediaType}
	if data == nil {
		return list, nil
	}
	return list, decodeTrust(data, list)
}

// otherSpellings returns the other URLs of the same skill that have records, and the key of their list.
func (k *trustKeeper) otherSpellings(ctx context.Context, skill string) (others []string, key string, err error) {
	party, key, err := k.spellingsKey(skill)
	if err != nil {
		return nil, "", err
	}
	data, err := k.get(ctx, key)
	if err != nil {
		return nil, "", err
	}
	list, err := spellingsOf(data)
	if err != nil {
		return nil, key, err
	}
	for _, other := range list.Skills {
		at, _, err := k.spellingsKey(other)
		if err != nil {
			return nil, "", err
		}
		if other != skill && at.same(&party) {
			others = append(others, other)
		}
	}
	return others, key, nil
}

// others returns the records that the same skill has under other URLs.
func (k *trustKeeper) others(ctx context.Context, skill string) (all []*TrustRecord, err error) {
	if k.rules == nil {
		return nil, nil
	}
	spellings, _, err := k.otherSpellings(ctx, k.keptAs(skill))
	for _, other := range spellings {
		r, err := k.record(ctx, other)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, err
}

// forget deletes what is kept about a skill, under each of its URLs.
func (k *trustKeeper) forget(ctx context.Context, skill string) error {
	skill = k.keptAs(skill)
	others, damaged, err := k.otherSpellings(ctx, skill)
	switch {
	case err != nil && damaged != "": // the next call finds no list
		return cmp.Or(k.delete(ctx, damaged), k.delete(ctx, trustSkill+skill), err)
	case err != nil:
		return err
	}
	for _, other := range append(others, skill) {
		if err := k.delete(ctx, trustSkill+other); err != nil {
			return err
		}
	}
	return nil
}

func (k *trustKeeper) update(ctx context.Context, skill string, edit func(*TrustRecord) error) error {
	skill = k.keptAs(skill)
	if err := k.noteSpelling(ctx, skill); err != nil {
		return err
	}
	return k.change(ctx, trustSkill+skill, func(old []byte) ([]byte, error) {
		r, err := recordOf(old, skill)
		if err != nil {
			return nil, err
		}
		if err := edit(r); err != nil {
			return nil, err
		}
		return r.encode()
	})
}

// keepRoot stores a root that the user declared, or a withdrawal of trust in it.
func (k *trustKeeper) keepRoot(ctx context.Context, root declaredByUser) error {
	root.Type = TrustMediaType
	return k.change(ctx, trustRoot+root.Root, func(old []byte) ([]byte, error) {
		before, err := rootOf(old, root.Root)
		if err != nil {
			return nil, err
		}
		if before.Revoked && !root.Revoked {
			return nil, refuse(CodeRevoked, root.Root, "trust in this root was revoked", "")
		}
		root.Subdomains = root.Subdomains || before.Subdomains
		return json.Marshal(root)
	})
}

// forgetRoot deletes a root that the user declared. A revocation stays.
func (k *trustKeeper) forgetRoot(ctx context.Context, root string) error {
	data, err := k.get(ctx, trustRoot+root)
	if data == nil || err != nil {
		return err
	}
	if before, err := rootOf(data, root); err != nil || before.Revoked {
		return err
	}
	return k.delete(ctx, trustRoot+root)
}

func (k *trustKeeper) roots(ctx context.Context) ([]declaredByUser, error) {
	keys, err := k.store.Keys(ctx, trustRoot)
	if err != nil {
		return nil, storeError(err)
	}
	var all []declaredByUser
	for _, key := range keys {
		data, err := k.get(ctx, key)
		if err != nil {
			return nil, err
		}
		if data == nil {
			continue // deleted meanwhile
		}
		root, err := rootOf(data, strings.TrimPrefix(key, trustRoot))
		if err != nil {
			return nil, err
		}
		all = append(all, root)
	}
	return all, nil
}

// rootOf reads the record of a root; nil stands for no record.
func rootOf(data []byte, root string) (stored declaredByUser, err error) {
	if data == nil {
		return stored, nil
	}
	err = decodeTrust(data, &stored)
	if err == nil && stored.Root != root {
		err = badTrust("the record is that of another root: "+plaintext.Quote(stored.Root, 200), nil)
	}
	return stored, err
}

// syncAfter is how long a loader uses the roots that it read from the store before it looks again.
const syncAfter = 30 * time.Second

// syncTrust takes the roots of the store into the registry, so that what one process was told, all
// of them follow. A root that was forgotten elsewhere ends here too.
func (l *Loader) syncTrust(ctx context.Context) error {
	leave, err := l.syncing.Wait(ctx, struct{}{})
	if err != nil {
		return err
	}
	defer leave()
	now := l.clock.Now()
	if age := now.Sub(l.synced); age >= 0 && age < syncAfter {
		return nil
	}
	roots, err := l.trust.roots(ctx)
	if err != nil {
		return err
	}
	stored := make(map[string]bool, len(roots))
	for _, r := range roots {
		if r.Revoked && !strings.Contains(r.Root, "://") {
			if err := l.roots.revokeDomain(r.Root, r.Subdomains); err != nil {
				return err
			}
			continue
		}
		root, err := ParseTrustRoot(r.Root, l.roots.Rules())
		switch {
		case err != nil: // the rules became stricter
			continue
		case r.Revoked:
			l.roots.revoke(root)
			continue
		}
		stored[root.String()] = true
		if !l.storedRoots[root.String()] {
			if _, err := l.roots.Register(r.Root, ByUser); err != nil {
				return err
			}
		}
	}
	for before := range l.storedRoots {
		if root, _ := ParseTrustRoot(before, l.roots.Rules()); !stored[before] { // no one has the zero root
			l.roots.forget(root)
		}
	}
	l.storedRoots, l.synced = stored, now
	return nil
}

// noteTrustedRoot notes that the store has a root that the user declared, so that it ends here when it is
// forgotten elsewhere.
func (l *Loader) noteTrustedRoot(ctx context.Context, root string) error {
	leave, err := l.syncing.Wait(ctx, struct{}{})
	if err != nil {
		return err
	}
	defer leave()
	l.storedRoots[root] = true
	return nil
}

// Trusted returns what the user's store keeps about a skill: nil if nothing.
func (l *Loader) Trusted(ctx context.Context, skill string) (*TrustRecord, error) {
	u, err := l.storedSkill(skill)
	if err != nil {
		return nil, err
	}
	id := l.trust.keptAs(u.String())
	data, err := l.trust.get(ctx, trustSkill+id)
	if data == nil || err != nil {
		return nil, err
	}
	return recordOf(data, id)
}

// Forget deletes what the user's store keeps about a skill, in each of its spellings:
// approvals, refusals and what the user was asked. The skill is then asked about as a new one.
func (l *Loader) Forget(ctx context.Context, skill string) error {
	u, err := l.storedSkill(skill)
	if err != nil {
		return err
	}
	l.forgetConsents()
	return l.trust.forget(ctx, u.String())
}

// storedSkill returns the URL of a skill, or an error if the loader keeps nothing.
func (l *Loader) storedSkill(skill string) (SkillURL, error) {
	if err := l.ready(); err != nil {
		return SkillURL{}, err
	}
	if l.trust == nil {
		return SkillURL{}, usageError("the loader has no trust store", "set Options.Trust")
	}
	return ParseSkillURL(skill, l.roots.Rules())
}

// ForgetRoot ends the user's trust in a root and deletes it from the user's store: what the user
// declared, and neither what the program registered, blocked or revoked nor what the user revoked.
// Unlike after [Loader.Revoke], it can be declared again.
func (l *Loader) ForgetRoot(ctx context.Context, root TrustRoot) error {
	if err := l.ready(); err != nil {
		return err
	}
	l.roots.forget(root)
	l.roots.shared().forget(root)
	if l.trust == nil {
		return nil
	}
	return l.trust.forgetRoot(ctx, root.String())
}
