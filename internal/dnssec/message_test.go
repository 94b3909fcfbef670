package dnssec

import (
	"encoding/binary"
	"runtime"
	"strings"
	"testing"

	"github.com/miekg/dns"
)

// bomb is a message of which every record is made of pointers to one long name, as small on the
// wire and as large in memory as can be.
func bomb(records int) []byte {
	m := binary.BigEndian.AppendUint16(nil, 1)
	m = append(m, 0x80, 0, 0, 1, byte(records>>8), byte(records), 0, 0, 0, 0)
	for range 3 {
		m = append(m, 63)
		m = append(m, strings.Repeat("\x01", 63)...)
	}
	m = append(m, 61)
	m = append(m, strings.Repeat("\x01", 61)...)
	m = append(m, 0, 0, 1, 0, 1)
	for range records {
		m = append(m, 0xc0, 12, 0, byte(dns.TypeSOA), 0, 1, 0, 0, 0, 60, 0, 24, 0xc0, 12, 0xc0, 12)
		m = append(m, make([]byte, 20)...)
	}
	return m
}

// TestMemory: what one message can make us hold.
func TestMemory(t *testing.T) {
	wire := bomb(maxRecords)
	if _, err := unpack(wire); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	m, err := unpack(wire)
	if err != nil {
		t.Fatal(err)
	}
	sorted := newMessage(m)
	runtime.GC()
	runtime.ReadMemStats(&after)
	if held := int64(after.HeapAlloc) - int64(before.HeapAlloc); held > 1<<20 {
		t.Errorf("%d bytes of a message hold %d", len(wire), held)
	} else {
		t.Logf("%d bytes of a message hold %d", len(wire), held)
	}
	runtime.KeepAlive(sorted)
	runtime.KeepAlive(m)
	if _, err := unpack(bomb(maxRecords + 1)); err == nil {
		t.Error("one record more was read")
	}
}

func TestUnpack(t *testing.T) {
	for _, wire := range []string{"", "short", strings.Repeat("\xff", 12), strings.Repeat("\x00", 5) + "\x01" + strings.Repeat("\x00", 6)} {
		if m, err := unpack([]byte(wire)); err == nil || m != nil {
			t.Errorf("%q: %v", wire, m)
		}
	}
}

// TestUnpackHeader: a header that announces nothing is a whole message, and a byte less is none.
func TestUnpackHeader(t *testing.T) {
	header := make([]byte, 12)
	if m, err := unpack(header); err != nil || len(m.Answer) != 0 {
		t.Error(m, err)
	}
	if m, err := unpack(header[:11]); err == nil || !strings.Contains(err.Error(), "too short") {
		t.Error(m, err)
	}
}

// TestBrokenOff: a message that ends between two records is refused, not read as a smaller set.
func TestBrokenOff(t *testing.T) {
	t.Run("G19", func(t *testing.T) {
		m := new(dns.Msg).SetQuestion("www.example.com.", dns.TypeA)
		m.Response = true
		for _, line := range []string{"www.example.com. 60 IN A 192.0.2.1", "www.example.com. 60 IN A 192.0.2.2"} {
			rr, err := dns.NewRR(line)
			if err != nil {
				t.Fatal(err)
			}
			m.Answer = append(m.Answer, rr)
		}
		wire, err := m.Pack()
		if err != nil {
			t.Fatal(err)
		}
		t.Run("accept-whole", func(t *testing.T) {
			if m, err := unpack(wire); err != nil || len(m.Answer) != 2 {
				t.Error(m, err)
			}
		})
		t.Run("reject-part", func(t *testing.T) {
			for end := range len(wire) {
				if m, err := unpack(wire[:end]); err == nil || m != nil {
					t.Errorf("%d of %d bytes were read", end, len(wire))
				}
			}
		})
	})
}

// TestSections: what counts as part of an answer at all.
func TestSections(t *testing.T) {
	t.Run("RFC1035-3.2.4", func(t *testing.T) {
		for name, c := range map[string]struct {
			line string
			want bool
		}{
			"accept-internet":     {"www.z. 60 IN A 192.0.2.1", true},
			"reject-other-class":  {"www.z. 60 CH TXT \"x\"", false},
			"reject-hesiod-class": {"www.z. 60 HS TXT \"x\"", false},
		} {
			t.Run(name, func(t *testing.T) {
				rr, err := dns.NewRR(c.line)
				if err != nil {
					t.Fatal(err)
				}
				if got := len(newMessage(&dns.Msg{Answer: []dns.RR{rr}}).answer.order) == 1; got != c.want {
					t.Error(got)
				}
			})
		}
	})
}
