package wellknown_test

import (
	"reflect"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/test/zerotest"
	"github.com/lookleap/lookleap/wellknown"
)

func TestZeroValues(t *testing.T) {
	zerotest.Run(t, []reflect.Type{
		reflect.TypeFor[wellknown.Client](), reflect.TypeFor[wellknown.Document](), reflect.TypeFor[wellknown.Entry](),
		reflect.TypeFor[wellknown.Handler](), reflect.TypeFor[wellknown.HandlerOptions](), reflect.TypeFor[wellknown.Limits](),
		reflect.TypeFor[wellknown.Options](), reflect.TypeFor[wellknown.Registry](), reflect.TypeFor[wellknown.Resource](),
		reflect.TypeFor[wellknown.State](), reflect.TypeFor[wellknown.Status](), reflect.TypeFor[wellknown.URI](),
	}, map[string]any{
		"Builtin": wellknown.Builtin, "CheckName": wellknown.CheckName, "IsWellKnown": wellknown.IsWellKnown, "Lint": wellknown.Lint,
		"LoadRegistry": wellknown.LoadRegistry, "NewClient": wellknown.NewClient, "NewHandler": wellknown.NewHandler,
		"NewRegistry": wellknown.NewRegistry, "Parse": wellknown.Parse, "ParseStatus": wellknown.ParseStatus,
		"SchemeSupported": wellknown.SchemeSupported, "URL": wellknown.URL,
	})
}

// TestNoHost uses clients that have no host.
func TestNoHost(t *testing.T) {
	for name, c := range map[string]*wellknown.Client{"nil-client": nil, "zero-client": {}, "nil-host": wellknown.NewClient(nil, wellknown.Options{})} {
		t.Run("O27/reject-"+name, func(t *testing.T) {
			c.Forget("https://example.com", "security.txt")
			if _, err := c.Fetch(t.Context(), "https://example.com", "security.txt"); lookleap.CodeOf(err) != lookleap.CodeUsage {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("O27/reject-no-files", func(t *testing.T) {
		if _, err := wellknown.NewHandler(nil, []wellknown.Document{{Name: "security.txt", File: "a"}}, wellknown.HandlerOptions{}); lookleap.CodeOf(err) != lookleap.CodeUsage {
			t.Errorf("got %v", err)
		}
	})
}
