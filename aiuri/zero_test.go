package aiuri_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/json"
	"go/ast"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/aiuri"
	"github.com/lookleap/lookleap/internal/test/zerotest"
)

// zeroTypes are all exported types of the package that are not interfaces.
var zeroTypes = map[string]reflect.Type{
	"AuditRecord": reflect.TypeFor[aiuri.AuditRecord](), "Call": reflect.TypeFor[aiuri.Call](), "Candidate": reflect.TypeFor[aiuri.Candidate](),
	"Claims": reflect.TypeFor[aiuri.Claims](), "Client": reflect.TypeFor[aiuri.Client](), "ClientOptions": reflect.TypeFor[aiuri.ClientOptions](),
	"Descriptor": reflect.TypeFor[aiuri.Descriptor](), "Destination": reflect.TypeFor[aiuri.Destination](), "Discoverer": reflect.TypeFor[aiuri.Discoverer](),
	"Discovery": reflect.TypeFor[aiuri.Discovery](), "DiscovererOptions": reflect.TypeFor[aiuri.DiscovererOptions](),
	"Expectation": reflect.TypeFor[aiuri.Expectation](), "Gateway": reflect.TypeFor[aiuri.Gateway](), "GatewayOptions": reflect.TypeFor[aiuri.GatewayOptions](),
	"Grant": reflect.TypeFor[aiuri.Grant](), "KeyRing": reflect.TypeFor[aiuri.KeyRing](), "KeyRingOptions": reflect.TypeFor[aiuri.KeyRingOptions](), "KeySet": reflect.TypeFor[aiuri.KeySet](), "LocalEndpoint": reflect.TypeFor[aiuri.LocalEndpoint](),
	"Kind": reflect.TypeFor[aiuri.Kind](), "Mapping": reflect.TypeFor[aiuri.Mapping](), "EndpointPolicy": reflect.TypeFor[aiuri.EndpointPolicy](),
	"Request": reflect.TypeFor[aiuri.Request](), "SignedResult": reflect.TypeFor[aiuri.SignedResult](),
	"SignOptions": reflect.TypeFor[aiuri.SignOptions](), "SigningKey": reflect.TypeFor[aiuri.SigningKey](), "Source": reflect.TypeFor[aiuri.Source](), "Target": reflect.TypeFor[aiuri.Target](),
	"TokenFunc": reflect.TypeFor[aiuri.TokenFunc](), "URI": reflect.TypeFor[aiuri.URI](), "Verified": reflect.TypeFor[aiuri.Verified](),
}

// argument is a plain value of a parameter's type: the zero one, except for parameters that no
// caller leaves out.
func argument(t reflect.Type) reflect.Value {
	switch t {
	case reflect.TypeFor[context.Context]():
		return reflect.ValueOf(context.Background())
	case reflect.TypeFor[http.ResponseWriter]():
		return reflect.ValueOf(httptest.NewRecorder())
	case reflect.TypeFor[*http.Request]():
		return reflect.ValueOf(httptest.NewRequest("GET", "https://ai.example/", nil))
	}
	return reflect.Zero(t)
}

// callMethods calls every method of a value and returns the errors.
func callMethods(t *testing.T, v reflect.Value, only func(string) bool) {
	for i := range v.NumMethod() {
		m := v.Type().Method(i)
		if !only(m.Name) {
			continue
		}
		var in []reflect.Value
		for j := 1; j < m.Type.NumIn(); j++ {
			in = append(in, argument(m.Type.In(j)))
		}
		func() {
			defer func() {
				if p := recover(); p != nil {
					t.Errorf("%s.%s panics: %v", v.Type(), m.Name, p)
				}
			}()
			call := v.Method(i).Call
			if m.Type.IsVariadic() {
				call = v.Method(i).CallSlice
			}
			for _, out := range call(in) {
				if err, ok := out.Interface().(error); ok && m.Name != "Unwrap" && lookleap.CodeOf(err) == lookleap.CodeInternal {
					t.Errorf("%s.%s: %v has no code of its own", v.Type(), m.Name, err)
				}
			}
		}()
	}
}

func TestZeroValues(t *testing.T) {
	t.Run("O27/accept-table-is-complete", func(t *testing.T) {
		var names []string
		for _, file := range zerotest.Source(t) {
			ast.Inspect(file, func(n ast.Node) bool {
				if spec, ok := n.(*ast.TypeSpec); ok && spec.Name.IsExported() {
					if _, isInterface := spec.Type.(*ast.InterfaceType); !isInterface {
						names = append(names, spec.Name.Name)
					}
				}
				return true
			})
		}
		slices.Sort(names)
		if known := slices.Sorted(maps.Keys(zeroTypes)); !slices.Equal(names, known) {
			t.Errorf("the package has %v\nthe table %v", names, known)
		}
	})
	for name, typ := range zeroTypes {
		t.Run("O27/accept-zero-"+name, func(t *testing.T) {
			callMethods(t, reflect.New(typ), func(string) bool { return true })
			if _, err := json.Marshal(reflect.New(typ).Interface()); err != nil && typ.Kind() != reflect.Func && !strings.Contains(err.Error(), "unsupported type") {
				t.Errorf("writing it: %v", err)
			}
		})
		t.Run("O27/accept-nil-"+name, func(t *testing.T) { // methods of the value itself need one, as everywhere in Go
			callMethods(t, reflect.Zero(reflect.PointerTo(typ)), func(method string) bool {
				_, ofValue := typ.MethodByName(method)
				return !ofValue
			})
		})
	}
	host := &lookleap.Host{}
	t.Cleanup(func() { _ = host.Close() })
	key := aiuri.SigningKey{ID: "1", Private: ecKey()}
	for name, f := range map[string]func() error{
		"client-without-host":     func() error { _, err := aiuri.NewClient(nil, aiuri.ClientOptions{}); return err },
		"gateway-without-host":    func() error { _, err := aiuri.NewGateway(nil, aiuri.GatewayOptions{}); return err },
		"gateway-without-options": func() error { _, err := aiuri.NewGateway(host, aiuri.GatewayOptions{}); return err },
		"discoverer-without-host": func() error {
			_, err := aiuri.NewDiscoverer(nil, aiuri.DiscovererOptions{}).Discover(t.Context(), "")
			return err
		},
		"result-without-keys": func() error {
			_, err := aiuri.VerifyResult(must(aiuri.SignResult(nil, key, aiuri.SignOptions{})), nil, time.Time{}, aiuri.Expectation{})
			return err
		},
		"key-that-is-a-nil-ec-key": func() error {
			_, err := aiuri.SignResult(nil, aiuri.SigningKey{ID: "1", Private: (*ecdsa.PrivateKey)(nil)}, aiuri.SignOptions{})
			return err
		},
		"key-that-is-a-zero-ec-key": func() error {
			_, err := aiuri.SignResult(nil, aiuri.SigningKey{ID: "1", Private: &ecdsa.PrivateKey{}}, aiuri.SignOptions{})
			return err
		},
		"key-that-is-a-curve": func() error {
			_, err := aiuri.SignResult(nil, aiuri.SigningKey{ID: "1", Private: &ecdsa.PrivateKey{PublicKey: ecdsa.PublicKey{Curve: elliptic.P256()}}}, aiuri.SignOptions{})
			return err
		},
		"key-that-is-a-nil-rsa-key": func() error {
			_, err := aiuri.SignResult(nil, aiuri.SigningKey{ID: "1", Private: (*rsa.PrivateKey)(nil)}, aiuri.SignOptions{})
			return err
		},
		"key-that-is-a-zero-rsa-key": func() error {
			_, err := aiuri.SignResult(nil, aiuri.SigningKey{ID: "1", Private: &rsa.PrivateKey{}}, aiuri.SignOptions{})
			return err
		},
		"key-that-is-an-empty-edwards": func() error {
			_, err := aiuri.SignResult(nil, aiuri.SigningKey{ID: "1", Private: ed25519.PrivateKey{}}, aiuri.SignOptions{})
			return err
		},
		"ring-without-key":     func() error { _, err := aiuri.NewKeyRing(aiuri.SigningKey{}, aiuri.KeyRingOptions{}); return err },
		"document-that-is-nil": func() error { _, err := aiuri.NewDescriptorHandler("https://bank.example", nil); return err },
		"document-that-is-zero": func() error {
			_, err := aiuri.NewDescriptorHandler("https://bank.example", &aiuri.Descriptor{})
			return err
		},
	} {
		t.Run("O27/reject-"+name, func(t *testing.T) {
			if err := f(); err == nil || lookleap.CodeOf(err) == lookleap.CodeInternal {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("O27/accept-rest", func(t *testing.T) {
		if got := aiuri.AdvertiseLink(aiuri.URI{}) + aiuri.LinkElement(aiuri.URI{}) + aiuri.RequestDigest(nil); got != "" {
			t.Errorf("got %q", got)
		}
		_ = aiuri.DNSRecords("", aiuri.URI{}, "", 0, 0)
		_, _ = aiuri.LinkTargets(nil), aiuri.ElementTargets(nil)
		if len(aiuri.Lint(nil)) == 0 || len(aiuri.Lint(&aiuri.Discovery{})) == 0 {
			t.Error("nothing advertised is fine")
		}
		w := httptest.NewRecorder()
		aiuri.NewKeyRingHandler(nil).ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
		if w.Body.String() != `{"keys":[]}` {
			t.Errorf("got %s", w.Body)
		}
	})
}
