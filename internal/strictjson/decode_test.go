package strictjson

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// decodeBase is embedded in decodeState.
type decodeBase struct {
	ID string `json:"id"`
}

// decodeState has a member of each kind that Decode distinguishes.
type decodeState struct {
	decodeBase
	At      time.Time             `json:"at,omitzero"`
	List    []string              `json:"list"`
	Inner   *decodeBase           `json:"inner,omitempty"`
	Named   map[string]decodeBase `json:"named,omitempty"`
	Several []decodeBase          `json:"several,omitempty"`
	Any     any                   `json:"any,omitempty"`
	Hidden  string                `json:"-"`
	Plain   int
}

// TestDecode: what encoding/json would drop, or read under another name, is refused.
func TestDecode(t *testing.T) {
	t.Run("P08", func(t *testing.T) {
		for name, test := range map[string]struct{ text, code string }{
			"unknown":         {`{"id":"a","more":1}`, CodeType},
			"case":            {`{"ID":"a"}`, CodeType},
			"case-next-to-it": {`{"id":"a","Id":"b"}`, CodeType},
			"kelvin":          {`{"id":"a","\u0130d":"b"}`, CodeType},
			"duplicate":       {`{"id":"a","id":"b"}`, CodeDuplicateName},
			"inner":           {`{"inner":{"ID":"a"}}`, CodeType},
			"in-map":          {`{"named":{"x":{"Id":"a"}}}`, CodeType},
			"in-list":         {`{"several":[{"id":"a"},{"iD":"a"}]}`, CodeType},
			"hidden":          {`{"Hidden":"a"}`, CodeType},
			"null-text":       {`{"id":null}`, CodeType},
			"null-number":     {`{"Plain":null}`, CodeType},
			"null-time":       {`{"at":null}`, CodeType},
			"null":            {`null`, CodeType},
			"trailing":        {`{"id":"a"}{}`, CodeTrailing},
			"empty":           {` `, CodeSyntax},
			"mark":            {"\xEF\xBB\xBF{}", CodeBOM},
			"not-utf-8":       {"{\"id\":\"\xff\"}", CodeNotUTF8},
			"surrogate":       {`{"any":["\ud800"]}`, CodeSurrogate},
			"deep":            {`{"any":` + strings.Repeat("[", DefaultDepth) + strings.Repeat("]", DefaultDepth) + `}`, CodeTooDeep},
			"time":            {`{"at":"2026-05-01T09:00:00,5Z"}`, CodeType},
			"number":          {`{"Plain":1.5}`, CodeType},
		} {
			t.Run("reject-"+name, func(t *testing.T) {
				var e *Error
				if err := Decode([]byte(test.text), new(decodeState)); !errors.As(err, &e) || e.Code != test.code {
					t.Errorf("%s: %v, want %s", test.text, err, test.code)
				}
			})
		}
		t.Run("reject-another-kind", func(t *testing.T) {
			if err := Decode([]byte(`{"list":"none"}`), new(decodeState)); err == nil {
				t.Error("a text is read as a list")
			}
		})
		t.Run("accept-all", func(t *testing.T) {
			text := `{"id":"a","at":"2026-05-01T09:00:00Z","list":null,"inner":null,"named":{"X":{"id":"b"}},"several":[{"id":"c"}],"any":{"Q":[null]},"Plain":3}`
			var s decodeState
			if err := Decode([]byte(text), &s); err != nil || s.ID != "a" || s.Named["X"].ID != "b" || s.Plain != 3 {
				t.Errorf("%+v, %v", s, err)
			}
		})
	})
}
