package dnssec_test

import (
	"context"
	"errors"
	"testing"

	"github.com/miekg/dns"

	"github.com/lookleap/lookleap/internal/dnssec"
	"github.com/lookleap/lookleap/internal/test/zone"
)

// TestPanickingPlugin: a plug-in that panics fails its lookup, in whatever goroutine it runs,
// and not the process.
func TestPanickingPlugin(t *testing.T) {
	for _, at := range []string{"www.example.com.", "com.", "example.com."} { // the question, and what is asked ahead
		t.Run(at, func(t *testing.T) {
			s := newSmall()
			exchange := zone.Exchange(s)
			r := s.resolver(t, s, func(o *dnssec.Options) {
				o.Exchange = func(ctx context.Context, query []byte) ([]byte, error) {
					var m dns.Msg
					if err := m.Unpack(query); err == nil && m.Question[0].Name == at {
						panic("boom")
					}
					return exchange(ctx, query)
				}
			})
			result, err := r.Lookup(t.Context(), "www.example.com", dns.TypeA)
			var bogus *dnssec.BogusError
			if result != nil || err == nil || errors.As(err, &bogus) {
				t.Errorf("got %v, %v", result, err)
			}
		})
	}
}
