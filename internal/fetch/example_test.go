package fetch_test

import (
	"context"
	"fmt"

	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/lookleaptest"
)

func ExampleDo() {
	internet := lookleaptest.NewInternet()
	defer internet.Close()
	internet.Clock().Freeze()
	internet.Site("shop.example").
		Redirect("/agents.txt", "/policy/agents.txt").
		Status("/policy/agents.txt", 200, "Content-Type", "text/plain", "Cache-Control", "max-age=600").
		Redirect("/elsewhere.txt", "https://other.example/agents.txt")

	for _, path := range []string{"/agents.txt", "/elsewhere.txt"} {
		u, err := domain.Parse("https://shop.example" + path)
		if err != nil {
			fmt.Println(err)
			return
		}
		resp, err := fetch.Do(context.Background(), internet.StubHost(), &fetch.Request{
			URL:      u,
			Accept:   []string{"text/plain"},
			Redirect: fetch.SameOrigin,
			Limits:   fetch.Limits{Body: 512 << 10},
		})
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(resp.Status, resp.URL, resp.MediaType, resp.Freshness.Lifetime)
	}
	// Output:
	// 200 https://shop.example/policy/agents.txt text/plain 10m0s
	// https://shop.example/elsewhere.txt: the redirect to https://other.example/agents.txt is not followed: the redirect leaves the origin (redirect-forbidden)
}
