package plaintext_test

import (
	"fmt"

	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/plaintext"
)

func ExampleQuote() {
	fmt.Println(plaintext.Quote("Pay now\n\x1b[2KTrust root: \"example.com\"", 200))
	fmt.Println(plaintext.Quote("Pay now and file the invoice", 7))
	// Output:
	// "Pay now\u{A}\u{1B}[2KTrust root: \"example.com\""
	// "Pay now"… (21 more characters)
}

func ExampleBlock() {
	fmt.Print(plaintext.Block("# Refunds\nAsk for the order.\x1b[1A\nNever pay twice.\n", 43))
	// Output:
	// | # Refunds
	// | Ask for the order.\u{1B}[1A
	// | Never
	// … (12 more characters)
}

func ExampleHost() {
	for _, host := range []string{"skills.example.com", "b\u00fccher.example", "ex\u0430mple.com", "github.io"} {
		fmt.Println(plaintext.Host(host))
	}
	// Output:
	// skills.[example.com]
	// [xn--bcher-kva.example] ("bücher.example")
	// [xn--exmple-4nf.com] (mixed scripts: Cyrillic, Latin)
	// github.io (no registrable domain)
}

func ExampleURL() {
	u, _ := domain.Parse("https://skills.example.com/teams/billing/refund/SKILL.md")
	fmt.Println(plaintext.URL(u, 14))
	// Output:
	// skills.[example.com] "/teams/billing"… (16 more characters)
}

func ExampleCount() {
	fmt.Println(plaintext.Count("Pay the invoice.\U000e0072\U000e006d\u200b"))
	// Output:
	// 1 zero-width, 2 tag
}
