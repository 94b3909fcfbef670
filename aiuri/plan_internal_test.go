package aiuri

import (
	"errors"
	"reflect"
	"testing"

	"github.com/lookleap/lookleap"
)

func TestEffect(t *testing.T) {
	u, err := Parse("ai://bank/pay?a=1#f")
	if err != nil {
		t.Fatal(err)
	}
	for name, body := range map[string][]byte{"none": nil, "empty": {}, "text": []byte("{}"), "lines": []byte("\n{\n\x00\xff")} {
		t.Run("AIU-5-02/accept-"+name, func(t *testing.T) {
			in := effect{Request: Request{URI: u, Method: "POST", Body: body, MediaType: "text/plain", Scopes: []string{"a"}}, URI: u, Recipient: "r", Origin: "o", Document: "d"}
			data := in.marshal()
			if digest := in.digest(); digest != lookleap.Digest(data) {
				t.Errorf("the digest is %s", digest)
			}
			in.HasBody = body != nil
			if out, err := unmarshalEffect(data); err != nil || !reflect.DeepEqual(out, in) {
				t.Errorf("got %+v, %v", out, err)
			}
		})
	}
	for name, data := range map[string]string{
		"nothing": "", "no-line": `{"hasBody":true}`, "no-json": "x\n", "body-of-none": "{}\nx", "two-bodies": `{"hasBody":true,"request":{"body":"eA=="}}` + "\nx",
	} {
		t.Run("AIU-5-02/reject-"+name, func(t *testing.T) {
			if e, err := unmarshalEffect([]byte(data)); !errors.Is(err, lookleap.ErrPlanInvalid) || !reflect.DeepEqual(e, effect{}) {
				t.Errorf("got %+v, %v", e, err)
			}
		})
	}
}
