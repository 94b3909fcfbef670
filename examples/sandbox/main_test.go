package main

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/lookleap/lookleap/examples/sandbox/confine"
)

func TestMain(m *testing.M) {
	confine.Enter()
	os.Exit(m.Run())
}

func TestStory(t *testing.T) {
	var out bytes.Buffer
	err := run(t.Context(), &out)
	if errors.Is(err, confine.ErrUnconfined) {
		t.Skipf("this kernel cannot confine: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(out.String(), "\n\n")
	if len(parts) != 4 {
		t.Fatalf("got\n%s", &out)
	}
	for i, want := range []string{"3 files as they are locked", "| sold: 2+3", "did not run: ", "exit code 1"} {
		if !strings.Contains(parts[i], want) {
			t.Errorf("%q is not in\n%s", want, parts[i])
		}
	}
	if got := strings.Count(parts[3], "Permission denied") + strings.Count(parts[3], "Operation not permitted"); got < 3 {
		t.Errorf("the script was stopped %d times:\n%s", got, parts[3])
	}
	if strings.Contains(out.String(), "root:") {
		t.Error("the script read /etc/passwd")
	}
}
