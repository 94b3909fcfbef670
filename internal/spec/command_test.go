package spec

import (
	"slices"
	"testing"
)

func TestCommands(t *testing.T) {
	var got []string
	for _, c := range loadSmall(t).Commands(results(t,
		"pass wellknown TestURL/WK-1-01/accept",
		"pass dvs TestRoot/DVS-3.1-04/accept-a",
		"pass dvs TestRoot/DVS-3.1-04#01/accept-b",
		"pass dvs TestOther/DVS-3.1-04/reject",
		"pass dvs TestDeep/hosts/ports/DVS-3.1-04/reject",
		"pass dvs/deep TestRoot/DVS-3.1-04/reject",
		"fail dvs TestRoot/DVS-3.1-05/accept",
		"pass examples/mcp TestFetch/A01",
		"pass examples/mcpother TestFetch/A01",
	)) {
		got = append(got, c.ID+" "+c.shell([]string{"examples/mcp"}))
	}
	got = append(got, Command{"A02", modulePath, "^TestHost$/^A02"}.shell(nil))
	want := []string{
		"WK-1-01 go test ./wellknown -run '^TestURL$/^WK-1-01'",
		`DVS-3.1-04 go test ./dvs -run '^TestDeep$///^DVS-3\.1-04|^(TestOther|TestRoot)$/^DVS-3\.1-04'`,
		`DVS-3.1-04 go test ./dvs/deep -run '^TestRoot$/^DVS-3\.1-04'`,
		"A01 go test -C examples/mcp -run '^TestFetch$/^A01'",
		"A01 go test ./examples/mcpother -run '^TestFetch$/^A01'",
		"go test . -run '^TestHost$/^A02'",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q,\nwant %q", got, want)
	}
}
