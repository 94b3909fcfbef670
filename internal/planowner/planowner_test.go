package planowner

import (
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
)

func TestCheck(t *testing.T) {
	ann := Mark("ann")
	for name, c := range map[string]struct {
		mark, user string
		ok         bool
	}{
		"same-user":     {ann, "ann", true},
		"no-user":       {Mark(""), "", true},
		"other-user":    {ann, "bob", false},
		"user-of-none":  {"", "ann", false},
		"none-of-user":  {ann, "", false},
		"other-nonce":   {"x" + ann, "ann", false},
		"without-nonce": {ann[strings.Index(ann, "."):], "ann", false},
	} {
		t.Run(name, func(t *testing.T) {
			err := Check(c.mark, c.user, "set it")
			if (err == nil) != c.ok || !c.ok && lookleap.CodeOf(err) != lookleap.CodePlanOtherUser {
				t.Error(err)
			}
		})
	}
	if Mark("ann") == ann || strings.Contains(ann, "ann") {
		t.Error("the mark tells about the user, or is that of another plan")
	}
}
