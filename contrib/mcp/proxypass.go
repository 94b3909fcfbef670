//lint:file-ignore SA1019 servers and clients of protocols before 2026-07-28 still use logging, sampling and roots

package lookleapmcp

import (
	"context"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// pass answers requests of the client with the answers of the upstream server.
func (p *proxy) pass(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, request mcp.Request) (_ mcp.Result, err error) {
		defer p.malformed(&err)
		switch r := request.(type) {
		case *mcp.ListToolsRequest:
			return p.list(ctx) // one page
		case *mcp.CallToolRequest:
			c, ok := ctx.Value(own{}).(*gatedCall)
			if !ok {
				return nil, errors.New("the call did not pass the gate")
			}
			return p.call(ctx, c, r)
		}
		limited, stop := context.WithTimeout(ctx, p.options.Timeout)
		defer stop()
		result, passed, err := p.read(limited, request)
		switch {
		case !passed:
			return next(ctx, method, request)
		case err != nil:
			return nil, p.failed(err)
		}
		return result, nil
	}
}

// read answers a request that reads. Passed is false for requests that the SDK answers.
func (p *proxy) read(ctx context.Context, request mcp.Request) (_ mcp.Result, passed bool, err error) {
	switch r := request.(type) {
	case *mcp.ListPromptsRequest:
		params := new(mcp.ListPromptsParams)
		if r.Params != nil {
			params.Cursor = r.Params.Cursor
		}
		out := &mcp.ListPromptsResult{Prompts: []*mcp.Prompt{}}
		var in *mcp.ListPromptsResult
		if in, err = p.session.ListPrompts(ctx, params); err == nil {
			out.NextCursor, out.CacheScope = in.NextCursor, "private"
			for _, prompt := range in.Prompts {
				out.Prompts = append(out.Prompts, shownPrompt(prompt))
			}
		}
		return out, true, err
	case *mcp.GetPromptRequest:
		out := newResult[mcp.GetPromptResult](r.Session, "complete")
		out.Messages = []*mcp.PromptMessage{}
		var in *mcp.GetPromptResult
		if in, err = p.session.GetPrompt(ctx, &mcp.GetPromptParams{Name: r.Params.Name, Arguments: r.Params.Arguments}); err == nil {
			bounds := newBounder()
			out.Description = bounds.cut(in.Description)
			for _, m := range in.Messages {
				for _, c := range bounds.contents([]mcp.Content{m.Content}) {
					out.Messages = append(out.Messages, &mcp.PromptMessage{Role: m.Role, Content: c})
				}
			}
		}
		return out, true, err
	case *mcp.ListResourcesRequest:
		params := new(mcp.ListResourcesParams)
		if r.Params != nil {
			params.Cursor = r.Params.Cursor
		}
		out := &mcp.ListResourcesResult{Resources: []*mcp.Resource{}}
		var in *mcp.ListResourcesResult
		if in, err = p.session.ListResources(ctx, params); err == nil {
			out.NextCursor, out.CacheScope = in.NextCursor, "private"
			for _, resource := range in.Resources {
				out.Resources = append(out.Resources, shownResource(resource))
			}
		}
		return out, true, err
	case *mcp.ListResourceTemplatesRequest:
		params := new(mcp.ListResourceTemplatesParams)
		if r.Params != nil {
			params.Cursor = r.Params.Cursor
		}
		out := &mcp.ListResourceTemplatesResult{ResourceTemplates: []*mcp.ResourceTemplate{}}
		var in *mcp.ListResourceTemplatesResult
		if in, err = p.session.ListResourceTemplates(ctx, params); err == nil {
			out.NextCursor, out.CacheScope = in.NextCursor, "private"
			for _, t := range in.ResourceTemplates {
				out.ResourceTemplates = append(out.ResourceTemplates, &mcp.ResourceTemplate{URITemplate: t.URITemplate,
					Name: word(t.Name), Title: word(t.Title), Description: aboutText(t.Description), MIMEType: word(t.MIMEType),
					Annotations: annotations(t.Annotations, word), Meta: serverMeta(t.Meta)})
			}
		}
		return out, true, err
	case *mcp.ReadResourceRequest:
		var in *mcp.ReadResourceResult
		if in, err = p.session.ReadResource(ctx, &mcp.ReadResourceParams{URI: r.Params.URI}); err != nil {
			return nil, true, err
		}
		out := newResult[mcp.ReadResourceResult](r.Session, "complete")
		err = boundResource(out, in)
		return out, true, err
	case *mcp.CompleteRequest:
		in, err := p.session.Complete(ctx, &mcp.CompleteParams{Argument: r.Params.Argument, Context: r.Params.Context, Ref: r.Params.Ref})
		if err != nil {
			return nil, true, err
		}
		out := &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{HasMore: in.Completion.HasMore, Total: in.Completion.Total, Values: []string{}}}
		for _, value := range in.Completion.Values[:min(len(in.Completion.Values), 100)] { // as the protocol allows
			out.Completion.Values = append(out.Completion.Values, visible(plaintext.Clip(value, maxNotice)))
		}
		return out, true, nil
	case *mcp.ServerRequest[*mcp.SetLoggingLevelParams]:
		// The SDK keeps the level of the client, so this request is also answered there. A server of the
		// newest protocol has no such request: it gets the level with each call.
		p.level.Store(r.Params.Level)
		if p.session.InitializeResult().ProtocolVersion >= manyRounds {
			return nil, false, nil
		}
		err := p.session.SetLoggingLevel(ctx, &mcp.SetLoggingLevelParams{Level: r.Params.Level})
		return nil, err != nil, err
	}
	return nil, false, nil
}

func shownPrompt(in *mcp.Prompt) *mcp.Prompt {
	out := &mcp.Prompt{Name: in.Name, Title: word(in.Title), Description: aboutText(in.Description)}
	for _, a := range in.Arguments {
		out.Arguments = append(out.Arguments, &mcp.PromptArgument{Name: a.Name, Title: word(a.Title),
			Description: aboutText(a.Description), Required: a.Required})
	}
	return out
}

func shownResource(in *mcp.Resource) *mcp.Resource {
	return &mcp.Resource{URI: in.URI, Name: word(in.Name), Title: word(in.Title), Description: aboutText(in.Description),
		MIMEType: word(in.MIMEType), Size: in.Size, Annotations: annotations(in.Annotations, word), Meta: serverMeta(in.Meta)}
}

// boundResource fills in the contents of a resource as they are, because a client may compare their digest.
// It counts hidden characters in the metadata, and refuses contents that are too large, since a part of
// them would be taken for all.
func boundResource(out, in *mcp.ReadResourceResult) error {
	out.Contents, out.CacheScope = []*mcp.ResourceContents{}, "private"
	size := 0
	for _, c := range in.Contents {
		size += len(c.Text) + len(c.Blob)
		if size > maxBinary {
			return &lookleap.Error{Code: lookleap.CodeTooLarge, Message: fmt.Sprintf("the resource has more than %d bytes", maxBinary)}
		}
		own := *c
		own.Meta = serverMeta(c.Meta)
		if hidden := plaintext.Count(c.Text); hidden.Total() > 0 {
			if own.Meta == nil {
				own.Meta = mcp.Meta{}
			}
			own.Meta["lookleap/hidden"] = hidden.String()
		}
		out.Contents = append(out.Contents, &own)
	}
	return nil
}

// passSkills passes the methods of the skills extension on. A client of it checks digests itself.
func (p *proxy) passSkills(server *mcp.Server) error {
	return errors.Join(
		passCustom[*listParams, *listResult](p, server, methodList),
		passCustom[*uriParams, *getResult](p, server, methodGet),
		passCustom[*uriParams, *directoryResult](p, server, methodDirectory),
	)
}

func passCustom[P interface {
	*T
	mcp.Params
}, R mcp.Result, T any](p *proxy, server *mcp.Server, method string,
) error {
	if err := mcp.AddSendingCustomMethod[P, R](p.client, method); err != nil {
		return err
	}
	return mcp.AddReceivingCustomMethod(server, method, func(ctx context.Context, _ *mcp.ServerSession, params P) (R, error) {
		result, err := mcp.CallCustomMethod[P, R](ctx, p.session, method, params)
		if err != nil {
			return result, p.failed(err)
		}
		result.SetMeta(serverMeta(result.GetMeta()))
		switch r := any(result).(type) {
		case *listResult:
			for i := range r.Skills {
				r.Skills[i].Meta = serverMeta(r.Skills[i].Meta)
			}
		case *getResult:
			r.Skill.Meta = serverMeta(r.Skill.Meta)
		case *directoryResult:
			for _, resource := range r.Resources {
				resource.Meta = serverMeta(resource.Meta)
			}
		}
		return result, nil
	})
}
