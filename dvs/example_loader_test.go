package dvs_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/agentstxt"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/lookleaptest"
)

const refund = "---\nname: refund\ndescription: Refunds an order.\n---\nAsk for the order number. See [more](ADVANCED.md).\n"

// yes is a dialogue whose user agrees to everything. It exists in tests alone.
type yes struct{}

func (yes) PromptConsent(_ context.Context, req *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
	return lookleaptest.Decide(req), nil
}

// hub is a code host with one skill, and its agent's host.
func hub() (*lookleaptest.Internet, *lookleap.Host) {
	net := lookleaptest.NewInternet()
	net.Site("raw.githubusercontent.com").File("/example-org/skills/main/refund/SKILL.md", "text/plain; charset=utf-8", refund)
	net.Site("example.com").File("/skills/refund/SKILL.md", "text/markdown; charset=utf-8", refund).
		File("/skills/refund/ADVANCED.md", "text/markdown; charset=utf-8", "Large sums need a second look.\n").
		File("/skills/refund/scripts/check.sh", "text/plain", "#!/bin/sh\necho fine\n").
		File("/.well-known/skills/index.json", "application/json", `[{"name":"refund","description":"Refunds an order.","path":"/skills/refund/"}]`)
	return net, net.Host()
}

func Example() {
	net, host := hub() // an internet in one process; in an agent: host := &lookleap.Host{Prompter: ui}
	defer net.Close()
	ctx, ui := context.Background(), yes{}

	host.Prompter = ui
	client := &http.Client{Transport: agentstxt.NewClient(host, agentstxt.Web("ExampleBot")).Guard()} // an SSRF-safe client that obeys agents.txt
	skill, err := dvs.NewLoader(host, dvs.Options{}).Load(ctx, "https://github.com/example-org/skills/blob/main/refund/SKILL.md")
	var no *lookleap.VerifyError
	if errors.As(err, &no) {
		fmt.Println(no.Verdict) // why not, as a short tree
		return
	}
	fmt.Println(skill.Name, skill.Root, skill.ServingHost(), skill.Verdict.Expires.IsZero(), client.Transport != nil)
	// Output: refund https://github.com/example-org/ raw.githubusercontent.com false true
}

func ExampleLoader_Load() {
	net, host := hub()
	defer net.Close()
	loader := dvs.NewLoader(host, dvs.Options{})
	if _, err := loader.Roots().Register("https://github.com/example-org/", dvs.ByHost); err != nil {
		fmt.Println(err)
		return
	}
	skill, err := loader.Load(context.Background(), "https://github.com/example-org/skills/blob/main/refund/SKILL.md") // no one is asked
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(skill.Name, skill.Source)
	// Output: refund registered by the host program
}

func ExampleParseTrustRoot() {
	root, err := dvs.ParseTrustRoot("https://GitHub.com/Example-Org", dvs.Rules{})
	fmt.Println(root, err)
	_, err = dvs.ParseTrustRoot("https://github.com/", dvs.Rules{})
	fmt.Println(err)
	// Output:
	// https://github.com/example-org/ <nil>
	// https://github.com/: many publish on GitHub, so the host cannot be a trust root (ugc-bare-root); add the path of one publisher
}

func ExampleParseSkillURL() {
	u, err := dvs.ParseSkillURL("https://github.com/example-org/skills/tree/main/refund", dvs.Rules{})
	fmt.Println(u, err)
	fmt.Println(u.ServedFrom())
	root, _ := dvs.ParseTrustRoot("https://github.com/example-org/", dvs.Rules{})
	lookalike, _ := dvs.ParseSkillURL("https://github.com/example-org-evil/skills/tree/main/refund", dvs.Rules{})
	fmt.Println(root.Covers(u), root.Covers(lookalike))
	// Output:
	// https://github.com/example-org/skills/blob/main/refund/SKILL.md <nil>
	// https://raw.githubusercontent.com/example-org/skills/main/refund/SKILL.md
	// true false
}

func ExampleDecide() {
	v := dvs.Decide(dvs.Claim{URL: "https://example.com.evil.example/SKILL.md", Root: "https://example.com/", Source: dvs.ByUser}, dvs.Evidence{}, time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC), dvs.Rules{})
	fmt.Println(v.OK, v.Code)
	fmt.Println(v.Checks[3].Message)
	// Output:
	// false outside-trust-root
	// the skill URL does not lie under the trust root
}

func ExampleRoots() {
	roots := dvs.NewRoots(dvs.Rules{})
	_, _ = roots.Register("https://example.com/skills/", dvs.ByUser)
	_, _ = roots.Block("https://example.com/skills/old/")
	for _, raw := range []string{"https://example.com/skills/a", "https://example.com/skills/old/b", "https://example.net/c"} {
		u, _ := dvs.ParseSkillURL(raw, dvs.Rules{})
		d := roots.Find(u)
		fmt.Println(d.Root, d.Source, d.Blocked)
	}
	// Output:
	// https://example.com/skills/ confirmed by the user false
	// https://example.com/skills/old/ confirmed by the user true
	// https://example.net/ default origin false
}

func ExampleLoader_Register() {
	net, host := hub()
	defer net.Close()
	roots := dvs.NewRoots(dvs.Rules{})
	_, _ = roots.Register("https://example.com/", dvs.ByHost)
	r, err := dvs.NewLoader(host, dvs.Options{Roots: roots}).Register(context.Background(), "https://example.com/skills/refund/")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.ContextText()) // level 1: for the model's list of skills
	skill, err := r.Activate(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	more, err := skill.Resource(context.Background(), "ADVANCED.md") // level 3
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(more.Kind, len(more.Bytes()))
	_, err = skill.Resource(context.Background(), "https://example.net/x.md") // no one can be asked
	fmt.Println(lookleap.CodeOf(err))
	// Output:
	// refund: Refunds an order.
	// instructions 31
	// outside-trust-root
}

func ExampleLoader_Discover() {
	net, host := hub()
	defer net.Close()
	for listing, err := range dvs.NewLoader(host, dvs.Options{}).Discover(context.Background(), "https://example.com/") {
		if err != nil {
			fmt.Println(err) // an entry that was skipped; the rest goes on
			continue
		}
		fmt.Println(listing.Name, listing.Skill)
	}
	// Output: refund https://example.com/skills/refund/SKILL.md
}

func ExampleLoader_RegisterListing() {
	net, host := hub()
	defer net.Close()
	roots := dvs.NewRoots(dvs.Rules{})
	_, _ = roots.Register("https://example.com/", dvs.ByUser)
	loader := dvs.NewLoader(host, dvs.Options{Roots: roots})
	for listing, err := range loader.Discover(context.Background(), "https://example.com/") {
		if err != nil {
			continue
		}
		r, err := loader.RegisterListing(context.Background(), listing) // nothing is fetched
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(r.ContextText())
		skill, err := r.Activate(context.Background()) // the file is fetched, and decides
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(skill.Verdict.OK)
	}
	// Output:
	// refund: Refunds an order.
	// true
}

// container stands for the sandbox of a real agent, which runs the command in a container.
type container struct{}

func (container) Sandbox() dvs.Sandbox {
	return dvs.Sandbox{Name: "a sandbox", NoNetwork: true, ReadOnlyFS: true, WorkDir: true, Bounded: true}
}

func (container) Run(context.Context, *dvs.Command) (*dvs.RunResult, error) {
	return &dvs.RunResult{Output: []byte("done\n")}, nil
}

func ExampleLoaded_Approve() {
	net, host := hub()
	defer net.Close()
	host.Prompter = yes{}
	skill, err := dvs.NewLoader(host, dvs.Options{Runner: container{}}).Load(context.Background(), "https://example.com/skills/refund/")
	if err != nil {
		fmt.Println(err)
		return
	}
	script, err := skill.Approve(context.Background(), dvs.Invocation{Script: "scripts/check.sh"}) // asks the user
	if err != nil {
		fmt.Println(err)
		return
	}
	out, err := script.Run(context.Background()) // the approved bytes, once
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(out.ContextText())
	_, err = script.Run(context.Background())
	fmt.Println(errors.Is(err, lookleap.ErrAlreadyDone))
	// Output:
	// output of "scripts/check.sh" of the skill "https://example.com/skills/refund/SKILL.md" (exit code 0):
	// | done
	// true
}
