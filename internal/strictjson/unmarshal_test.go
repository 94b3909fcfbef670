package strictjson

import (
	"encoding/json"
	"testing"
	"time"
)

// TestUnmarshal: a record has one reading.
func TestUnmarshal(t *testing.T) {
	type record struct {
		Summary string            `json:"summary"`
		Data    []byte            `json:"data,omitempty"`
		At      time.Time         `json:"at,omitzero"`
		For     time.Duration     `json:"for,omitempty"`
		Of      map[string]string `json:"of,omitempty"`
		Raw     json.RawMessage   `json:"raw,omitempty"`
		Inner   []struct {
			N int `json:"n"`
		} `json:"inner,omitempty"`
	}
	for name, text := range map[string]string{
		"two-cases": `{"summary":"a","Summary":"b"}`, "other-case": `{"Summary":"b"}`, "long-s": `{"\u017fummary":"b"}`,
		"unknown": `{"summary":"a","x":1}`, "duplicate": `{"summary":"a","summary":"a"}`, "inner-case": `{"inner":[{"N":1}]}`,
		"inner-unknown": `{"inner":[{"n":1,"m":2}]}`, "trailing": `{"summary":"a"} {}`, "lone-surrogate": `{"summary":"\ud800"}`,
		"invalid-UTF-8": "{\"summary\":\"\xff\"}", "map-twice": `{"of":{"a":"1","a":"2"}}`, "no-value": ``,
	} {
		t.Run("P08/reject-"+name, func(t *testing.T) {
			if err := Unmarshal([]byte(text), new(record)); err == nil {
				t.Errorf("%s was read", text)
			}
		})
	}
	t.Run("P08/accept-what-was-written", func(t *testing.T) {
		want := record{Summary: "a<b", Data: []byte{0, 255}, At: time.Unix(1, 5).UTC(), For: time.Minute, Of: map[string]string{"A": "1", "a": "2"}, Raw: json.RawMessage(`{"X":1,"x":2}`)}
		text, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got record
		if err := Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		if again, _ := json.Marshal(got); string(again) != string(text) {
			t.Errorf("%s became %s", text, again)
		}
	})
}
