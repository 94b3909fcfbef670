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
			if want := strings.LastIndex(object(last), last); e.Code != CodeDuplicateName || e.Offset != want || e.Place().Path != "/outer/0/n0" {
				t.Errorf("%d members and %s: %v", count, last, e)
			}
		}
	}
}
