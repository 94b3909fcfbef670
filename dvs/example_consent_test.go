package dvs_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/lookleaptest"
)

// later is a dialogue whose user answers another day.
type later struct{}

func (later) PromptConsent(context.Context, *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
	return lookleap.ConsentDecision{}, lookleap.ErrConsentPending
}

func ExampleLoader_Resume() {
	net, host := hub()
	defer net.Close()
	host.Prompter = later{}
	loader := dvs.NewLoader(host, dvs.Options{})
	_, err := loader.Load(context.Background(), "https://github.com/example-org/skills/blob/main/refund/SKILL.md")
	var pending *lookleap.PendingError
	if !errors.As(err, &pending) {
		fmt.Println(err)
		return
	}
	decision := lookleaptest.Decide(pending.Request) // the user approves
	resumed, err := loader.Resume(context.Background(), pending.State, decision)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(resumed.Loaded.Name, resumed.Loaded.Root)
	// Output: refund https://github.com/example-org/
}

func ExampleLoaded_Resolve() {
	net, host := hub()
	defer net.Close()
	skill, err := loadRefund(host)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, ref := range []string{"ADVANCED.md", "../shared/GUIDE.md", "https://example.net/x.md", "../shared/run.sh", "file:///etc/passwd"} {
		target, err := skill.Resolve(ref)
		if err != nil {
			fmt.Println(ref, lookleap.CodeOf(err))
			continue
		}
		fmt.Println(ref, target.Access)
	}
	// Output:
	// ADVANCED.md bundled
	// ../shared/GUIDE.md under-root
	// https://example.net/x.md needs-consent
	// ../shared/run.sh script-outside-skill
	// file:///etc/passwd bad-scheme
}

func ExampleLoaded_Confirm() {
	net, host := hub()
	defer net.Close()
	skill, err := loadRefund(host)
	if err != nil {
		fmt.Println(err)
		return
	}
	action := dvs.Action{Kind: dvs.Shell, Command: "curl -X POST https://example.com/refund"}
	fmt.Println(lookleap.CodeOf(skill.Confirm(context.Background(), action))) // no one can be asked
	host.Prompter = yes{}
	fmt.Println(skill.Confirm(context.Background(), action))
	// Output:
	// consent-no-prompter
	// <nil>
}

func ExampleLoaded_LoadRef() {
	net, host := hub()
	defer net.Close()
	net.Site("example.net").File("/skills/bank/SKILL.md", "text/markdown", "---\nname: bank\ndescription: Pays.\n---\n# Pay\n")
	roots := dvs.NewRoots(dvs.Rules{})
	for _, root := range []string{"https://example.com/", "https://example.net/"} {
		if _, err := roots.Register(root, dvs.ByUser); err != nil {
			fmt.Println(err)
			return
		}
	}
	tell := func(_ context.Context, x dvs.Crossing) { fmt.Println("crossing from", x.FromRoot, "to", x.ToRoot) }
	skill, err := dvs.NewLoader(host, dvs.Options{Roots: roots, Notify: tell}).Load(context.Background(), "https://example.com/skills/refund/")
	if err != nil {
		fmt.Println(err)
		return
	}
	child, err := skill.LoadRef(context.Background(), "https://example.net/skills/bank/SKILL.md")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(child.Name, child.Root, child.Chain)
	// Output:
	// crossing from https://example.com/ to https://example.net/
	// bank https://example.net/ [https://example.com/skills/refund/SKILL.md]
}

func ExampleLoader_Revoke() {
	net, host := hub()
	defer net.Close()
	roots := dvs.NewRoots(dvs.Rules{})
	root, err := roots.Register("https://example.com/", dvs.ByUser)
	if err != nil {
		fmt.Println(err)
		return
	}
	loader := dvs.NewLoader(host, dvs.Options{Roots: roots})
	skill, err := loader.Load(context.Background(), "https://example.com/skills/refund/")
	if err != nil {
		fmt.Println(err)
		return
	}
	loader.Revoke(root)
	_, err = skill.ContextText() // also for skills in use
	fmt.Println(lookleap.CodeOf(err))
	// Output: revoked
}
