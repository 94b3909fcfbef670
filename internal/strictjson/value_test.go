package strictjson

import (
	"slices"
	"testing"
)

const sample = `{
  "site": "example.com",
  "entries": [ {"tier": 2}, [], "a\nb", true, null ],
  "Site": false
}`

func TestAccessors(t *testing.T) {
	root := accept(t, sample, Limits{})
	var names []string
	for name, v := range root.Members() {
		names = append(names, name+" is "+v.Kind().String())
	}
	if want := []string{"site is a string", "entries is an array", "Site is a boolean"}; !slices.Equal(names, want) {
		t.Errorf("the members are %q", names)
	}
	entries, err := root.Need("entries")
	if err != nil || entries.Len() != 5 || root.Len() != 3 {
		t.Fatalf("%d entries and %d members, %v", entries.Len(), root.Len(), err)
	}
	items := slices.Collect(entries.Elements())
	if s, err := items[2].Text(); s != "a\nb" || err != nil {
		t.Errorf("the string is %q, %v", s, err)
	}
	if b, err := items[3].Bool(); !b || err != nil {
		t.Errorf("the boolean is %v, %v", b, err)
	}
	if v, ok := root.Member("Site"); !ok || v.Kind() != Bool {
		t.Error("names are matched without regard to case")
	}
	if _, ok := root.Member("SITE"); ok {
		t.Error("a member is found under another name")
	}
	if got := items[0].Source(); got != `{"tier": 2}` {
		t.Errorf("the source is %s", got)
	}
	if got := items[2].Source(); got != `"a\nb"` {
		t.Errorf("the source is %s", got)
	}
}

func TestIterationStops(t *testing.T) {
	root := accept(t, `{"a":[1,2,3],"b":2}`, Limits{})
	for _, v := range root.Members() {
		for range v.Elements() {
			break
		}
		break
	}
}

func TestWrongKind(t *testing.T) {
	root := accept(t, sample, Limits{})
	entries, _ := root.Member("entries")
	kinds := append(slices.Collect(entries.Elements()), Value{})
	for _, v := range kinds {
		_, text := v.Text()
		_, boolean := v.Bool()
		_, integer := v.Int()
		_, float := v.Float()
		_, need := v.Need("tier")
		for kind, err := range map[Kind]error{String: text, Bool: boolean, Number: integer, Object: need} {
			if want := v.Kind() != kind; want != (code(err) == CodeType) {
				t.Errorf("%s read as %s: %v", v.Kind(), kind, err)
			}
		}
		if code(float) != CodeType {
			t.Errorf("%s read as a number: %v", v.Kind(), float)
		}
		for range v.Elements() {
			if v.Kind() != Array {
				t.Errorf("%s has elements", v.Kind())
			}
		}
		for range v.Members() {
			if v.Kind() != Object {
				t.Errorf("%s has members", v.Kind())
			}
		}
	}
	_, err := root.Need("tier")
	if want := `1:1: the object has no member "tier" (json-missing-member); add the member`; err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	list, _ := root.Member("entries")
	_, err = list.Text()
	if want := `3:14 "/entries": a string is expected, found an array (json-type)`; err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestNoValue(t *testing.T) {
	var v Value
	if v.Kind() != None || v.Len() != 0 || v.Source() != "" || v.Offset() != 0 || v.Place() != (Place{}) {
		t.Error("the zero Value is something")
	}
	if got := Kind(99).String(); got != "no value" {
		t.Errorf("an unknown kind is %s", got)
	}
}
