package install_test

import (
	"reflect"
	"testing"

	"github.com/lookleap/lookleap/dvs/install"
	"github.com/lookleap/lookleap/internal/test/zerotest"
)

func TestZeroValues(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("HOME", t.TempDir())
	zerotest.Run(t, []reflect.Type{
		reflect.TypeFor[install.Agent](), reflect.TypeFor[install.Candidate](), reflect.TypeFor[install.Check](), reflect.TypeFor[install.Found](),
		reflect.TypeFor[install.Options](), reflect.TypeFor[install.Place](), reflect.TypeFor[install.Result](), reflect.TypeFor[install.Scope](),
		reflect.TypeFor[install.Skill](), reflect.TypeFor[install.Source](), reflect.TypeFor[install.Store](), reflect.TypeFor[install.Synced](),
		reflect.TypeFor[install.Updater](), reflect.TypeFor[install.Wanted](),
	}, map[string]any{
		"Agents": install.Agents, "Credentials": install.Credentials, "DefaultStore": install.DefaultStore, "Find": install.Find, "FindAgent": install.FindAgent,
		"NewUpdater": install.NewUpdater, "Open": install.Open, "OpenNearest": install.OpenNearest, "ParseMigration": install.ParseMigration, "ParseSource": install.ParseSource, "WriteLock": install.WriteLock,
	})
}
