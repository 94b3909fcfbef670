package lookleapmcp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
)

// document is the name of the specification in verdicts.
const document = "SEP-2640"

// judge returns the verdict about a skill whose SKILL.md was checked, and the trust root
// under which its web URL verifies, if it does.
func (c *SkillClient) judge(ctx context.Context, e *Entry, files map[string]File) (dvs.TrustRoot, *lookleap.Verdict) {
	root, check := c.webIdentity(ctx, e, files)
	summary := fmt.Sprintf("the skill is what the MCP server %q lists; only that server vouches for it", c.options.Server)
	if !root.IsZero() {
		summary = fmt.Sprintf("the skill is what the MCP server %q lists, and the same files are published under %s",
			c.options.Server, root)
	}
	main := files[dvs.EntryFile]
	return root, &lookleap.Verdict{
		Document: document, Subject: c.options.Server + " " + e.URI, OK: true, Code: lookleap.CodeOK,
		Summary: summary, CheckedAt: c.host.Time(),
		Checks: []lookleap.Check{
			{Code: lookleap.CodeOK, Status: lookleap.Passed, Message: "the entry is well formed and lists all files with digests"},
			{Code: lookleap.CodeOK, Status: lookleap.Passed,
				Message:  "SKILL.md has the size, digest and header that the entry says",
				Evidence: []lookleap.Evidence{{Digest: main.Digest.String()}}},
			check,
		},
	}
}

// verifyError returns the refusal of a skill with its verdict.
func (c *SkillClient) verifyError(e *Entry, err error) error {
	code, message := lookleap.CodeOf(err), err.Error()
	var detail *lookleap.Error
	if errors.As(err, &detail) {
		message = strings.TrimPrefix(detail.Subject+": ", ": ") + detail.Message
	}
	return &lookleap.VerifyError{Err: err, Verdict: &lookleap.Verdict{
		Document: document, Subject: c.options.Server + " " + e.URI, Code: code, Summary: message, CheckedAt: c.host.Time(),
		Checks: []lookleap.Check{{Code: code, Status: lookleap.Failed, Message: message}},
	}}
}

// webIdentity returns the trust root of a skill if all of its files are those that its web
// URL has, under a root that the user or host registered. The user is not asked: that a
// server names a URL is not a reason to trust a root.
func (c *SkillClient) webIdentity(ctx context.Context, e *Entry, files map[string]File) (dvs.TrustRoot, lookleap.Check) {
	skip := func(code lookleap.Code, message string) (dvs.TrustRoot, lookleap.Check) {
		return dvs.TrustRoot{}, lookleap.Check{Code: code, Status: lookleap.Skipped, Message: message}
	}
	claimed, _ := e.Meta[metaURL].(string)
	if c.options.Loader == nil || claimed == "" {
		return skip(lookleap.CodeSkipped, "the skill has no web URL that could be verified")
	}
	id, err := dvs.ParseSkillURL(claimed, c.options.Loader.Roots().Rules())
	if err != nil || !c.options.Loader.Roots().Find(id).Source.Registered() {
		return skip(dvs.CodeNotRegistered, "the web URL that the server names is under no registered trust root")
	}
	not := func(err error) (dvs.TrustRoot, lookleap.Check) {
		return dvs.TrustRoot{}, lookleap.Check{Code: lookleap.CodeOf(err), Status: lookleap.Noted,
			Message: "the skill is not the one at " + quote(claimed, 300) + ": " + err.Error()}
	}
	loaded, err := c.options.Loader.LoadPinned(ctx, claimed, dvs.Pin{Digest: files[dvs.EntryFile].Digest})
	if err != nil {
		return not(err)
	}
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(files)), func(name string) bool { return name == dvs.EntryFile })
	bundle := dvs.Bundle{Files: map[string][]byte{}}
	if len(names) > 0 {
		refs := make([]string, len(names))
		for i, name := range names {
			refs[i] = escapePath(name)
		}
		if bundle, err = loaded.Bundle(ctx, refs...); err != nil {
			return not(err)
		}
	}
	for _, name := range names {
		if content, ok := bundle.Files[name]; !ok || checkContent(name, content, files[name]) != nil {
			return not(&lookleap.Error{Code: dvs.CodeDigestMismatch, Subject: quote(name, 200),
				Message: "the file at the web URL is another one", Err: errors.New("the digests differ")})
		}
	}
	return loaded.Root, lookleap.Check{Code: lookleap.CodeOK, Status: lookleap.Passed,
		Message: "all files are published under " + loaded.Root.String(), Evidence: []lookleap.Evidence{{URL: loaded.ID.String()}}}
}
