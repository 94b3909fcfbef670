package aiuri

import (
	"bytes"
	"encoding/base64"
	"testing"
)

func TestWriteEncoded(t *testing.T) {
	payload := make([]byte, 10<<10)
	for i := range payload {
		payload[i] = byte(i * 7919 >> 3)
	}
	for n := range 100 {
		for _, size := range []int{n, 3<<10 - 50 + n, 6<<10 - 50 + n} {
			var got bytes.Buffer
			if writeEncoded(&got, payload[:size]); got.String() != base64.RawURLEncoding.EncodeToString(payload[:size]) {
				t.Fatalf("%d octets are encoded otherwise", size)
			}
		}
	}
}
