package aiuri_test

import (
	"fmt"

	"github.com/lookleap/lookleap/aiuri"
)

func ExampleParse() {
	u, err := aiuri.Parse("AI://factory.example/%7epay?amount=10&currency=USD")
	fmt.Println(u.Normalize(), err)
	_, err = aiuri.Parse("ai://user@bank/x")
	fmt.Println(err)
	// Output:
	// ai://factory.example/~pay?amount=10&currency=USD <nil>
	// aiuri: octet 5: the authority has user information (userinfo); remove everything up to the @
}

func ExampleFromIRI() {
	u, err := aiuri.FromIRI("ai://bücher.example/é")
	fmt.Println(u, err)
	// Output: ai://xn--bcher-kva.example/%C3%A9 <nil>
}

func ExampleMapping() {
	gateway, err := aiuri.NewMapping("https://ai.example/gateway")
	if err != nil {
		fmt.Println(err)
		return
	}
	u, _ := aiuri.Parse("ai://bank/service/payments?amount=10")
	url, err := gateway.URL(u)
	fmt.Println(url, err)
	back, err := gateway.Split(url)
	fmt.Println(back, err)
	// Output:
	// https://ai.example/gateway/bank/service/payments?amount=10 <nil>
	// ai://bank/service/payments?amount=10 <nil>
}
