package strictjson_test

import (
	"bytes"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/lookleap/lookleap/internal/strictjson"
)

// A typed decoder ranges over the members and reports what it cannot use.
func ExampleParse() {
	root, err := strictjson.Parse([]byte(`{"domain": "cdn.example.net", "tier": 2.0, "Tier": 3, "ttl": 1e400}`), strictjson.Limits{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for name, v := range root.Members() {
		switch name {
		case "domain":
			domain, err := v.Text()
			fmt.Println(domain, err)
		case "tier":
			tier, err := v.Int()
			fmt.Println(tier, err)
		case "ttl":
			_, err := v.Int()
			fmt.Println(err)
		default:
			fmt.Println(v.Refuse("unknown-member", "the member is not known", ""))
		}
	}
	// Output:
	// cdn.example.net <nil>
	// 2 <nil>
	// 1:52 "/Tier": the member is not known (unknown-member)
	// 1:62 "/ttl": the number is larger than any double (number-overflow); write a number below 1.8e308
}

func ExampleParse_refused() {
	_, err := strictjson.Parse([]byte("{\n  \"tier\": 1,\n  \"ti\\u0065r\": 2\n}"), strictjson.Limits{})
	fmt.Println(err)
	// Output: 3:3 "/tier": the object has two members with the name "tier" (json-duplicate-name); keep one of the members
}

// Writing is jsontext's own: strict, deterministic and without HTML escapes.
func Example_writing() {
	var b bytes.Buffer
	e := jsontext.NewEncoder(&b)
	for _, token := range []jsontext.Token{
		jsontext.BeginObject, jsontext.String("site"), jsontext.String("a<b"), jsontext.String("tier"), jsontext.Int(2), jsontext.EndObject,
	} {
		if err := e.WriteToken(token); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Print(b.String())
	// Output: {"site":"a<b","tier":2}
}
