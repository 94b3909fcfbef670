package dvs_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/lookleap/lookleap/dvs"
)

func TestDirectoryNames(t *testing.T) {
	pay := func(id string) dvs.Bundle { return bundle(id, "name: pay\ndescription: b\n") }
	bank, rival := pay("bank"), pay("rival")
	id := dvs.DigestOf([]byte(bank.ID))
	derived := fmt.Sprintf("pay-%x", id[:6])
	thief := bundle("thief", "name: "+derived+"\ndescription: b\n")
	directories := func(t *testing.T, options dvs.VerifiedFSOptions, bundles ...dvs.Bundle) map[string]string {
		t.Helper()
		names := map[string]string{}
		for _, r := range dvs.NewVerifiedFS(bundles, options).Reports() {
			if r.Err != nil {
				t.Fatal(r.Err)
			}
			names[r.ID] = r.Directory
		}
		return names
	}
	t.Run("O37/reject-name-of-a-derived-one", func(t *testing.T) {
		for _, bundles := range [][]dvs.Bundle{{thief, bank, rival}, {rival, bank, thief}} {
			names := directories(t, dvs.VerifiedFSOptions{}, bundles...)
			if names[bank.ID] != derived || len(names[thief.ID]) <= len(derived) {
				t.Errorf("%v", names)
			}
		}
	})
	t.Run("O37/reject-given-name", func(t *testing.T) {
		before := skillsFS(t, dvs.DVS, bank).Lock()
		names := directories(t, dvs.VerifiedFSOptions{Named: before}, rival, bank)
		if names[bank.ID] != "pay" || names[rival.ID] == "pay" {
			t.Errorf("%v", names)
		}
		if names = directories(t, dvs.VerifiedFSOptions{Named: before}, rival); names[rival.ID] == "pay" {
			t.Errorf("the name of a skill that is gone was given again: %v", names)
		}
	})
	t.Run("O37/accept-frozen-without-rival", func(t *testing.T) {
		lock := skillsFS(t, dvs.DVS, bank, rival, thief).Lock()
		for _, bundles := range [][]dvs.Bundle{{bank}, {bank, thief}, {thief, bank, rival}} {
			v := dvs.NewVerifiedFS(bundles, dvs.VerifiedFSOptions{Frozen: lock})
			i := slices.IndexFunc(v.Reports(), func(r dvs.SkillReport) bool { return r.ID == bank.ID })
			if r := v.Reports()[i]; r.Directory != derived || r.Err != nil {
				t.Errorf("%+v", r)
			}
			data, _ := v.ReadFile(derived + "/SKILL.md")
			if err := lock.Find(bank.ID).VerifyWritten(map[string][]byte{"SKILL.md": data}); err != nil {
				t.Error(err)
			}
		}
	})
	t.Run("O37/reject-unsafe-name-of-a-lock", func(t *testing.T) {
		lock := &dvs.Lockfile{Skills: []dvs.LockedSkill{{URL: bank.ID, Root: root, Directory: "../evil"}}}
		if names := directories(t, dvs.VerifiedFSOptions{Named: lock}, bank); names[bank.ID] != "pay" {
			t.Errorf("%v", names)
		}
	})
	t.Run("O37/accept-alone", func(t *testing.T) {
		if names := directories(t, dvs.VerifiedFSOptions{}, bank, thief); names[bank.ID] != "pay" || names[thief.ID] != derived {
			t.Errorf("%v", names)
		}
	})
}
