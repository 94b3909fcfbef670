// Skillloaders shows how agent frameworks use remote skills: lookleap verifies
// them and returns a read-only file system, and the framework's own loader reads
// that as it would read a directory.
//
//	go run -C examples/skillloaders .
//
// Google's ADK takes an [fs.FS], so nothing is in between. Eino takes an
// interface of its own: einoSkills is one on any [fs.FS].
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	adkskill "google.golang.org/adk/v2/tool/skilltoolset/skill"

	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/lookleaptest"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "skillloaders:", err)
		os.Exit(1)
	}
}

// refund is a header as people write it: strict loaders refuse it for its
// allowed-tools and its metadata.
const refund = `---
name: refund
description: Refunds an order of the shop.
allowed-tools: Bash Read
model: the-most-expensive
metadata:
  tags: [money, shop]
  author: example-org
---
# Refund
1.	Ask for the order.
2.	See references/terms.md.
`

func run(ctx context.Context, out io.Writer) error {
	skills, err := verifiedSkills(ctx)
	if err != nil {
		return err
	}

	source := adkskill.NewFileSystemSource(skills)
	list, err := source.ListFrontmatters(ctx)
	if err != nil {
		return err
	}
	for _, s := range list {
		resources, err := source.ListResources(ctx, s.Name, "")
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "ADK:  %s: %s From %s, with %s\n", s.Name, s.Description, s.Metadata["dvs-source"], resources)
	}

	backend := einoSkills{skills}
	matters, err := backend.List(ctx)
	if err != nil {
		return err
	}
	for _, m := range matters {
		fmt.Fprintf(out, "Eino: %s: %s\n", m.Name, m.Description)
	}
	return nil
}

// verifiedSkills loads skills whose publishers are verified.
func verifiedSkills(ctx context.Context) (*dvs.VerifiedFS, error) {
	net := lookleaptest.NewInternet() // a small internet in this process; an agent uses the real one
	defer net.Close()
	net.Site("shop.example").File("/skills/refund/SKILL.md", "text/markdown", refund).
		File("/skills/refund/references/terms.md", "text/markdown", "Thirty days.\n").
		File("/skills/refund/scripts/check.sh", "text/plain", "echo fine\n")
	roots := dvs.NewRoots(dvs.Rules{})
	if _, err := roots.Register("https://shop.example/", dvs.ByUser); err != nil {
		return nil, err
	}
	skill, err := dvs.NewLoader(net.Host(), dvs.Options{Roots: roots}).Load(ctx, "https://shop.example/skills/refund/")
	if err != nil {
		return nil, err
	}
	bundle, err := skill.Bundle(ctx, "references/terms.md", "scripts/check.sh")
	if err != nil {
		return nil, err
	}
	verified := dvs.NewVerifiedFS([]dvs.Bundle{bundle}, dvs.VerifiedFSOptions{})
	for _, r := range verified.Reports() {
		if r.Err != nil {
			return nil, r.Err
		}
	}
	return verified, nil
}
