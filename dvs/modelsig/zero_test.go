package modelsig_test

import (
	"reflect"
	"testing"

	"github.com/lookleap/lookleap/dvs/modelsig"
	"github.com/lookleap/lookleap/internal/test/zerotest"
)

func TestZeroValues(t *testing.T) {
	zerotest.Run(t, []reflect.Type{reflect.TypeFor[modelsig.Kind](), reflect.TypeFor[modelsig.Signature](), reflect.TypeFor[modelsig.Trust]()},
		map[string]any{"Find": modelsig.Find, "ParseTrust": modelsig.ParseTrust, "Verify": modelsig.Verify, "VerifyDir": modelsig.VerifyDir})
}
