package aiuri_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/aiuri"
)

// TestKeysExpireDuringTheCall: a result is verified with keys that have not expired when it
// arrives, however long the call took.
func TestKeysExpireDuringTheCall(t *testing.T) {
	for _, c := range []struct {
		name string
		life time.Duration // KeyLife
		call time.Duration // how long the call takes
		down bool          // the key server fails meanwhile; otherwise it removes the key
		want lookleap.Code // "": the result is accepted
	}{
		{"reject-removed-key", 0, aiuri.DefaultKeyLife, false, aiuri.CodeRejectedKey},
		{"reject-longer-life-than-a-day", 48 * time.Hour, aiuri.MaxKeyLife, false, aiuri.CodeRejectedKey},
	} {
		t.Run("AIU-3.4-12/"+c.name, func(t *testing.T) {
			w := newWorld(t)
			w.net.Clock().Freeze()
			w.options.KeyLife = c.life
			w.answer = func(rw http.ResponseWriter, r *http.Request) {
				w.net.Clock().Advance(c.call)
				if c.down {
					w.bank.Status("/jwks.json", 503)
				} else {
					w.keys(jwk("2", otherKey()))
				}
				receipt("1", true)(rw, r)
			}
			v, err := w.invoke(t, pay)
			if c.want == "" && err != nil || c.want != "" && (v != nil || lookleap.CodeOf(err) != c.want) {
				t.Errorf("%v, %v; want %s", v, err, c.want)
			}
		})
	}
}
