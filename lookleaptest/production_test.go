package lookleaptest_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// No package that agents use imports the kit, or anything that only tests need.
func TestNotInProduction(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "github.com/lookleap/lookleap", "github.com/lookleap/lookleap/dvs",
		"github.com/lookleap/lookleap/anml/...", "github.com/lookleap/lookleap/anmltrust",
		"github.com/lookleap/lookleap/agentstxt",
		"github.com/lookleap/lookleap/aiuri", "github.com/lookleap/lookleap/wellknown").Output()
	if err != nil {
		t.Fatal(err)
	}
	deps := strings.Fields(string(out))
	if !slices.Contains(deps, "github.com/lookleap/lookleap/anml/agent") {
		t.Fatal("the packages were not listed")
	}
	for _, dep := range deps {
		if dep == "testing" || strings.Contains(dep, "/lookleaptest") ||
			strings.HasSuffix(dep, "lookleap/internal/test/zone") {
			t.Errorf("a package that agents use imports %s", dep)
		}
	}
}
