package filestore

import (
	"bytes"
	"testing"
)

func FuzzRecord(f *testing.F) {
	f.Add(append(recordHead("a/b", []byte("v")), "a/bv"...))
	f.Add([]byte("lookleap record 1 1 00\nab"))
	f.Fuzz(func(t *testing.T, data []byte) {
		key, value, err := parseRecord(data)
		if err == nil && !bytes.HasSuffix(data, append([]byte("\n"+key), value...)) {
			t.Fatalf("%q %q", key, value)
		}
	})
}
