package domain_test

import (
	"errors"
	"fmt"

	"github.com/lookleap/lookleap/internal/domain"
)

func ExampleParse() {
	u, err := domain.Parse("HTTPS://B\u00dcCHER.example:443/%7Eorg/SKILL.md#top")
	fmt.Println(u, u.FragmentDropped(), err)

	_, err = domain.Parse("https://github.com/example-org/%2e%2e/evil/SKILL.md")
	fmt.Println(err)
	var e *domain.Error
	fmt.Println(errors.As(err, &e), e.Code, e.Offset, e.Part)
	// Output:
	// https://xn--bcher-kva.example/~org/SKILL.md true <nil>
	// "%2e%2e": readers differ in which path this segment leads to; write the path without it
	// true dot-segment 31 %2e%2e
}

func ExampleURL_Under() {
	root, _ := domain.Parse("https://github.com/example-org")
	for _, raw := range []string{"https://github.com/example-org/skills/SKILL.md", "https://github.com/example-org-evil/SKILL.md"} {
		u, _ := domain.Parse(raw)
		fmt.Println(u.Under(root), u)
	}
	// Output:
	// true https://github.com/example-org/skills/SKILL.md
	// false https://github.com/example-org-evil/SKILL.md
}

func ExampleURL_Resolve() {
	base, _ := domain.Parse("https://h.example/skills/refund/SKILL.md")
	fmt.Println(base.Resolve("../shared/table.json"))
	fmt.Println(base.Resolve("//h.example@evil.example/"))
	// Output:
	// https://h.example/skills/shared/table.json <nil>
	//  user information hides which host is meant; remove everything up to "@"
}

func ExampleParseHost() {
	fmt.Println(domain.ParseHost("B\u00dcCHER.example"))
	_, err := domain.ParseHost("\uff45xample.com")
	fmt.Println(err)
	// Output:
	// xn--bcher-kva.example <nil>
	// "\uff45xample": a character of the host turns into another one when it is looked up; write the name that is meant, in lower case
}

func ExampleRegistrable() {
	for _, host := range []string{"skills.example.co.uk", "www.alice.github.io", "github.io"} {
		fmt.Println(domain.Registrable(host))
	}
	// Output:
	// example.co.uk true
	// alice.github.io true
	//  false
}
