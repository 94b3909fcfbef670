package wellknown_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing/fstest"
	"time"

	"github.com/lookleap/lookleap/lookleaptest"
	"github.com/lookleap/lookleap/wellknown"
)

func ExampleURL() {
	uri, err := wellknown.URL("https://example.com", "security.txt")
	fmt.Println(uri, err)
	_, err = wellknown.URL("ftp://example.com", "security.txt")
	fmt.Println(err)
	// Output:
	// https://example.com/.well-known/security.txt <nil>
	// ftp://example.com: well-known URIs are not defined for this scheme (scheme-unsupported)
}

func ExampleParse() {
	uri, err := wellknown.Parse("https://example.com/.well-known/skills/refund/SKILL.md")
	fmt.Println(uri.Origin, uri.Name, uri.Rest, err)
	// Output: https://example.com skills refund/SKILL.md <nil>
}

func ExampleClient_Fetch() {
	net := lookleaptest.NewInternet() // an internet in one process; in an agent: host := &lookleap.Host{}
	defer net.Close()
	net.Site("example.com").File("/.well-known/security.txt", "text/plain", "Contact: https://example.com/security\n")
	client := wellknown.NewClient(net.Host(), wellknown.Options{})
	for _, name := range []string{"security.txt", "change-password"} {
		result, err := client.Fetch(context.Background(), "https://example.com", name)
		if err != nil {
			fmt.Println(err) // a name or URL that cannot be asked for, or a guard's refusal
			return
		}
		fmt.Println(name, result.State, len(result.Body))
	}
	// Output:
	// security.txt present 38
	// change-password absent 0
}

func ExampleNewHandler() {
	files := fstest.MapFS{"security.txt": {Data: []byte("Contact: https://example.com/\n")}} // or os.DirFS
	h, err := wellknown.NewHandler(files, []wellknown.Document{{Name: "security.txt", File: "security.txt"}}, wellknown.HandlerOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	mux := http.NewServeMux()
	mux.Handle(wellknown.Prefix, h)
	fmt.Println("findings:", len(h.Findings()))
	// Output: findings: 0
}

func ExampleRegistry_Lookup() {
	registry := wellknown.Builtin()
	for _, name := range []string{"acme-challenge", "skills"} {
		entry := registry.Lookup(name)
		fmt.Println(name, entry.Status, entry.Reference)
	}
	// Output:
	// acme-challenge permanent RFC8555
	// skills unregistered draft-zzn-dvs-00
}

func ExampleLoadRegistry() {
	file := strings.NewReader("URI Suffix,Change Controller,Reference,Status,Related Information,Date Registered,Date Modified\n" +
		"security.txt,IETF,[RFC9116],permanent,,2018-08-20,2022-04-27\n")
	registry, err := wellknown.LoadRegistry(file, time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC))
	if err != nil {
		fmt.Println(err) // with the line of the file
		return
	}
	fmt.Println(registry.Lookup("security.txt").Status, registry.Lookup("nodeinfo").Status)
	// Output: permanent unregistered
}

func ExampleLint() {
	findings, err := wellknown.Lint("metadata")
	if err != nil {
		fmt.Println(err) // it can be no name at all
		return
	}
	for _, f := range findings {
		fmt.Println(f.Code, f.Fix)
	}
	// Output:
	// unregistered-name register the name, or use a registered one
	// generic-name put the application's name before it
}

func ExampleResource_AppliesTo() {
	net := lookleaptest.NewInternet()
	defer net.Close()
	net.Site("example.com").File("/.well-known/security.txt", "text/plain", "Contact: https://example.com/security\n")
	result, err := wellknown.NewClient(net.Host(), wellknown.Options{}).Fetch(context.Background(), "https://example.com", "security.txt")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, origin := range []string{"https://example.com", "https://www.example.com", "https://example.com/~alice"} {
		fmt.Println(origin, result.AppliesTo(origin))
	}
	// Output:
	// https://example.com true
	// https://www.example.com false
	// https://example.com/~alice false
}
