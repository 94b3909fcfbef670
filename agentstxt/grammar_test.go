package agentstxt

import (
	"strings"
	"testing"
)

// TestLongMetadata: a key has at most 64 bytes and a value at most 256.
func TestLongMetadata(t *testing.T) {
	for name, c := range map[string]struct {
		key, value int
		want       bool
	}{
		"accept-longest": {64, 256, true}, "reject-longer-key": {65, 1, false}, "reject-longer-value": {1, 257, false},
	} {
		t.Run("AGT-4-03/"+name, func(t *testing.T) {
			key, value := strings.Repeat("k", c.key), strings.Repeat("v", c.value)
			p, err := Parse([]byte("# "+key+": "+value+"\n"+vectorFile), Options{})
			if err != nil || (p.Meta()[key] == value) != c.want || (len(p.Meta()) == 1) != c.want {
				t.Errorf("%v, %v", p.Meta(), err)
			}
		})
	}
}
