package main

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
)

// offerSkills verifies skills and offers each one as a resource. The roots are
// those that the user trusts; a skill outside of them is an error, since no one
// can be asked yet.
func (s *service) offerSkills(ctx context.Context, host *lookleap.Host, roots, urls []string) error {
	loader := dvs.NewLoader(host, dvs.Options{})
	for _, root := range roots {
		if _, err := loader.Roots().Register(root, dvs.ByUser); err != nil {
			return err
		}
	}
	for _, url := range urls {
		skill, err := loader.Load(ctx, url)
		if err != nil {
			return err
		}
		s.server.AddResource(&mcp.Resource{
			URI: skill.ID.String(), Name: skill.Name, Description: skill.Description, MIMEType: "text/markdown",
			Meta: mcp.Meta{"lookleap/verdict": skill.Verdict, "lookleap/digest": skill.Digest, "lookleap/root": skill.Root.String()},
		}, readSkill(skill))
	}
	return nil
}

func readSkill(skill *dvs.Loaded) mcp.ResourceHandler {
	return func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		text, err := skill.ContextText()
		if err != nil {
			return nil, err
		}
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{
			URI: skill.ID.String(), MIMEType: "text/markdown", Text: text,
			Meta: mcp.Meta{"lookleap/verdict": skill.Verdict},
		}}}, nil
	}
}
