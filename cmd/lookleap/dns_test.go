package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap/internal/test/zone"
)

// TestDNS asks a server with signed, unsigned and expired zones.
func TestDNS(t *testing.T) {
	root := zone.New(".").Sign(zone.Signing{})
	listener, err := zone.Listen(zone.NewServer(time.Now, root,
		zone.New("example").Sign(zone.Signing{}),
		zone.New("signed.example").Sign(zone.Signing{}).TXT("txt", "a\x1b[2K").RR("txt MX 10 mail").SRV("_aiip._tcp", 1, 2, 443, "ai.signed.example."),
		zone.New("unsigned.example").TXT("txt", "b"),
		zone.New("expired.example").Sign(zone.Signing{From: -48 * time.Hour, Till: -24 * time.Hour}).TXT("txt", "c"),
	))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	anchor := writeFile(t, filepath.Join(t.TempDir(), "root.ds"), "; the root of this test\n"+root.Anchor())
	for _, c := range []struct {
		args         []string
		exit         int
		code, dnssec string
		records      []string
		exists       bool
	}{
		{[]string{"txt.signed.example", "TXT"}, 0, "ok", "secure", []string{"a\x1b[2K"}, true},
		{[]string{"_aiip._tcp.signed.example", "srv"}, 0, "ok", "secure", []string{"1 2 443 ai.signed.example."}, true},
		{[]string{"none.signed.example", "TXT"}, 0, "ok", "secure", []string{}, false},
		{[]string{"txt.signed.example"}, 0, "ok", "secure", []string{}, true},
		{[]string{"txt.unsigned.example.", "TXT"}, 0, "ok", "insecure", []string{"b"}, true},
		{[]string{"txt.signed.example", "mx"}, 0, "ok", "secure", []string{"10 mail.signed.example."}, true},
		{[]string{"txt.signed.example", "TYPE15"}, 0, "ok", "secure", []string{"10 mail.signed.example."}, true},
		{[]string{"signed.example", "CAA"}, 0, "ok", "secure", []string{}, true},
		{[]string{"txt.expired.example", "TXT"}, 1, "dnssec-bogus", "", nil, false},
		{[]string{".", "TXT"}, 0, "ok", "secure", []string{}, true},
		{[]string{"*.signed.example", "TXT"}, 0, "ok", "secure", []string{}, false},
		{[]string{"not a name", "TXT"}, 1, "bad-host", "", nil, false},
	} {
		t.Run(strings.Join(c.args, "_"), func(t *testing.T) {
			got := judged[struct {
				Records []string
				Exists  bool
				DNSSEC  string
				Chain   []struct{ Zone string }
				Zone    string
				EDE     int
			}](t, append([]string{"dns", "--dns", listener.Addr, "--anchor", anchor}, c.args...)...)
			if got.exit != c.exit {
				t.Errorf("exit %d", got.exit)
			}
			v := got.Value
			if got.Code != c.code || v.DNSSEC != c.dnssec || v.Exists != c.exists || strings.Join(v.Records, "|") != strings.Join(c.records, "|") {
				t.Errorf("got %s", got.text)
			}
			if c.code == "ok" && (len(v.Chain) < 2 && c.args[0] != "." || v.Chain[0].Zone != ".") {
				t.Errorf("chain %v", v.Chain)
			}
			if c.code == "dnssec-bogus" && (v.Zone != "expired.example" || v.EDE != 7) {
				t.Errorf("got %s", got.text)
			}
		})
	}
	t.Run("shown", func(t *testing.T) {
		_, out := trial([]string{"dns", "txt.signed.example", "TXT", "--dns", listener.Addr, "--anchor", anchor}, false)
		if strings.Contains(out, "\x1b") || !strings.Contains(out, "secure") {
			t.Errorf("got %q", out)
		}
	})
	for _, args := range [][]string{{"dns"}, {"dns", "a", "b", "c"}, {"dns", "example.com", "TYPE"}, {"dns", "example.com", "TYPE65536"}} {
		if exit, _ := trial(args, false); exit != exitUsage {
			t.Errorf("%q: exit %d", args, exit)
		}
	}
}
