package main

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"

	"github.com/lookleap/lookleap/lookleaptest"
)

// TestWellKnown asks the sites of a lab through the flags of a test bed.
func TestWellKnown(t *testing.T) {
	n := lookleaptest.ForTest(t)
	const at = "/.well-known/security.txt"
	n.Site("shop.example").File(at, "text/plain", "Contact: https://shop.example/\n")
	n.Site("quiet.example")
	n.Site("lazy.example").Redirect(at, "https://shop.example"+at)
	n.Site("printer.example").At("192.168.0.9").File(at, "text/plain", "x")

	args := append(opened(t, n).Args(), "--json", "wellknown")
	want := []struct {
		site, code, state string
		ok                bool
	}{
		{"shop.example", "ok", "present", true},
		{"quiet.example", "absent", "absent", false},
		{"lazy.example", "redirect-cross-origin", "unavailable", false},
		{"printer.example", "blocked-address", "", false},
	}
	for _, w := range want {
		args = append(args, "https://"+w.site+at)
	}
	var stdout, stderr bytes.Buffer
	if exit := run(context.Background(), args, nil, &stdout, &stderr); exit != 1 {
		t.Errorf("exit %d: %s", exit, &stderr)
	}
	lines := json.NewDecoder(&stdout)
	for _, w := range want {
		var got struct {
			OK      bool
			Code    string
			Value   struct{ Name, Status, State, Digest string }
			Verdict *struct{ Subject string }
		}
		if err := lines.Decode(&got); err != nil {
			t.Fatal(err)
		}
		if got.OK != w.ok || got.Code != w.code || got.Value.State != w.state || got.Value.Name != "security.txt" || got.Value.Status != "permanent" {
			t.Errorf("%s: %+v", w.site, got)
		}
		if got.Verdict == nil || got.Verdict.Subject != "https://"+w.site+at {
			t.Errorf("%s has no verdict", w.site)
		}
		if (got.Value.Digest != "") != w.ok {
			t.Errorf("%s: digest %q", w.site, got.Value.Digest)
		}
	}
}
