package main

import (
	"context"
	"fmt"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/agentstxt"
	"github.com/lookleap/lookleap/dvs"
)

func main() {
	ctx := context.Background()
	web := theLab(&lookleap.Host{})
	host := theLab(&lookleap.Host{Fetcher: agentstxt.Guard(web)})
	loader := dvs.NewLoader(host, dvs.Options{})
	loader.Roots().Register("https://github.com/example-org/", dvs.ByUser)

	skill, err := loader.Load(ctx, "https://github.com/example-org/skills/blob/main/refund/SKILL.md")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(skill.Name, "from", skill.Root, "served by", skill.ServingHost())
	_, err = loader.Load(ctx, "https://github.com/example-0rg/skills/blob/main/refund/SKILL.md")
	fmt.Println(lookleap.CodeOf(err), "-", lookleap.CodeOf(err).Title())
}
