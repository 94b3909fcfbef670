package aiuri

import (
	"errors"
	"reflect"
	"strconv"
	"strings"
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

// TestShownBody: what is shown of a long text ends with a whole character.
func TestShownBody(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		want int
	}{
		"short":            {"abc", 3},
		"exact":            {strings.Repeat("a", lookleap.MaxShown), lookleap.MaxShown},
		"long":             {strings.Repeat("a", lookleap.MaxShown+1), lookleap.MaxShown},
		"character-at-end": {strings.Repeat("a", lookleap.MaxShown-1) + "\u00e9", lookleap.MaxShown - 1},
		"longer-character": {strings.Repeat("a", lookleap.MaxShown-3) + "\U0001f600", lookleap.MaxShown - 3},
		"binary":           {strings.Repeat("a", lookleap.MaxShown-1) + "\xc3\xa9\xff", lookleap.MaxShown},
	} {
		if got := (&Call{Body: []byte(c.body)}).head(); got != c.body[:c.want] {
			t.Errorf("%s: %d bytes, want %d", name, len(got), c.want)
		}
	}
}

// TestCallSummary: what the user reads about a call.
func TestCallSummary(t *testing.T) {
	for want, c := range map[string]*Call{
		"POST to the AI endpoint, without scopes":     {Method: "POST"},
		"GET to the AI endpoint, scopes: a":           {Method: "GET", Scopes: []string{"a"}},
		"POST to the AI endpoint, scopes: pay refund": {Method: "POST", Scopes: []string{"pay", "refund"}},
	} {
		if got := c.summary(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	long := strings.Repeat("a", lookleap.MaxShown)
	for want, body := range map[string]string{
		"text": "text", long: long, long + "\u2026 (4097 bytes in all)": long + "b", "2 bytes of text/plain, which is not text": "\xff\xfe",
	} {
		c := &Call{Body: []byte(body), MediaType: "text/plain"}
		want = strings.Replace(want, "4097", strconv.Itoa(lookleap.MaxShown+1), 1)
		if got := c.bodyText(); got != want {
			t.Errorf("%.60q, want %.60q", got, want)
		}
		v := c.bodyValue()
		if whole := len(body) <= lookleap.MaxShown; v.Label != `body, "text/plain"` || v.Text != c.head() || whole != (v.Size == 0 && v.Digest == "") ||
			!whole && (v.Size != len(body) || v.Digest != lookleap.Digest(c.Body)) {
			t.Errorf("%.60q: %d bytes, %s", v.Text, v.Size, v.Digest)
		}
	}
}

// TestUserMark: a mark needs a user and a key, and differs by each of the three.
func TestUserMark(t *testing.T) {
	key, other := []byte("0123456789abcdef0123456789abcdef"), []byte("fedcba9876543210fedcba9876543210")
	if userMark(nil, "ada", "bank") != "" || userMark([]byte{}, "ada", "bank") != "" || userMark(key, "", "bank") != "" {
		t.Error("a mark without a key or a user")
	}
	marks := map[string]bool{}
	for _, k := range [][]byte{key, other} {
		for _, user := range []string{"ada", "bob"} {
			for _, use := range []string{"bank", "shop"} {
				marks[userMark(k, user, use)] = true
			}
		}
	}
	again := userMark(key, "ada", "bank")
	if len(marks) != 8 || marks[""] || !marks[again] {
		t.Errorf("%d marks", len(marks))
	}
}
