package strictjson

import (
	"fmt"
	"strings"
	"testing"
)

func TestDuplicateNames(t *testing.T) {
	for _, count := range []int{2, 12, 13, 100, 1000} {
		var members []string
		for i := range count {
			members = append(members, fmt.Sprintf(`"n%d" : %d`, i, i))
		}
		object := func(last string) string {
			members[count-1] = last
			return `{"outer":[{` + strings.Join(members, ",\n") + `}],"z":1}`
		}
		accept(t, object(`"last":[{"n0":1},{"n0":2}]`), Limits{})
		accept(t, object(`"N0":1`), Limits{})
		accept(t, object(`"":1`), Limits{})
		for _, last := range []string{`"n0":1`, `"\u006e0":1`, `"n\u0030" :1`} {
			e := refusal(t, object(last), Limits{})
			if want := strings.LastIndex(object(last), last); e.Code != CodeDuplicateName || e.Offset != want || e.Place().Pointer != "/outer/0/n0" {
				t.Errorf("%d members and %s: %v", count, last, e)
			}
		}
	}
}

// TestManyEscapedNames has so many names with escapes that some of them meet in the table.
func TestManyEscapedNames(t *testing.T) {
	var members []string
	for i := range 500 {
		members = append(members, fmt.Sprintf(`"\u006e%d":0`, i))
	}
	accept(t, "{"+strings.Join(members, ",")+"}", Limits{Size: 1 << 16})
	for _, again := range []string{`"n7":0`, `"\u006e\u0037":0`} {
		if e := refusal(t, "{"+strings.Join(append(members, again), ",")+"}", Limits{Size: 1 << 16}); e.Code != CodeDuplicateName {
			t.Errorf("%s: %v", again, e)
		}
	}
}

func TestNameSource(t *testing.T) {
	for _, text := range []string{`{"a":1}`, `{ "a" : 1}`, "{\n\"a\"\t:\r\n1}", `{"a":"b"}`, `{"\u0061":":"}`} {
		for name := range accept(t, text, Limits{}).Members() {
			if name != "a" {
				t.Errorf("%q: the name is %q", text, name)
			}
		}
	}
	for name := range accept(t, `{" a:\" ":1}`, Limits{}).Members() {
		if name != ` a:" ` {
			t.Errorf("the name is %q", name)
		}
	}
}
