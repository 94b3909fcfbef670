package agentstxt_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/agentstxt"
	"github.com/lookleap/lookleap/lookleaptest"
)

const file = `# version: 1.0
*e37fd0bbf5b647010a78772b8755ffa92efe6aa07b2bb0d373b2a61adfc9435a
/status ALLOW
/dashboard ALLOW limit=50
/admin DISALLOW
`

func ExampleParse() {
	policy, err := agentstxt.Parse([]byte(file), agentstxt.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, path := range []string{"/status", "/dashboard?tab=1", "/status/..%2Fadmin", "/elsewhere"} {
		fmt.Println(policy.Decide(path))
	}
	// Output:
	// "/status" is allowed: a directive allows the path (allowed), line 3
	// "/dashboard?tab=1" is allowed: a directive allows the path (allowed), line 4, at most 50 requests in the window
	// "/status/..%2Fadmin" is denied: a directive disallows the path (disallowed), line 5
	// "/elsewhere" is denied: no directive matches the path (unlisted)
}

func ExampleParse_malformed() {
	_, err := agentstxt.Parse([]byte("*fb57f0382f1008779100fa63ea57a582812fcd929db8ba821e398e3f688e13c8\n/status ALLOW\n/dashboard ALLOW limit=50\n/admin DISALLOW\n"), agentstxt.Options{})
	fmt.Println(err)
	var mismatch *agentstxt.HashMismatch
	if errors.As(err, &mismatch) {
		fmt.Println(mismatch.Hint)
	}
	// Output:
	// agents.txt: 1:1: the hash was made with a line end after the last directive: the file declares fb57f0382f1008779100fa63ea57a582812fcd929db8ba821e398e3f688e13c8 (hash-mismatch); put *e37fd0bbf5b647010a78772b8755ffa92efe6aa07b2bb0d373b2a61adfc9435a in its place if the directives are right
	// trailing-newline
}

func ExampleJudge() {
	page := agentstxt.Response{Status: 200, ContentType: "text/html", Body: []byte("<!doctype html><title>App</title>")}
	fmt.Println(agentstxt.Judge(page, agentstxt.Options{}).State())
	fmt.Println(agentstxt.Judge(page, agentstxt.Options{Strict: true}).State())
	// Output:
	// absent
	// restricted
}

// A client that obeys the policies of whatever it talks to, redirects included.
func ExampleGuard() {
	net := lookleaptest.NewInternet() // an internet in this process
	defer net.Close()
	net.Site("shop.example").
		File("/agents.txt", "text/plain; charset=utf-8", file).
		File("/status", "text/plain", "all is well").
		Redirect("/dashboard", "/admin")
	host := net.Host()

	client := &http.Client{Transport: agentstxt.Guard(host)}
	for _, path := range []string{"/status", "/dashboard"} {
		resp, err := client.Get("https://shop.example" + path)
		var no *lookleap.VerifyError
		switch {
		case errors.As(err, &no):
			fmt.Println("denied:", no.Verdict.Subject, no.Verdict.Code, errors.Is(err, lookleap.ErrDenied))
		case err != nil:
			fmt.Println(err)
		default:
			resp.Body.Close()
			fmt.Println("allowed:", resp.Request.URL)
		}
	}
	// Output:
	// allowed: https://shop.example/status
	// denied: https://shop.example/admin disallowed true
}

// Every package runs behind a guard when the guard is the Fetcher of its Host.
func ExampleGuard_host() {
	net := lookleaptest.NewInternet()
	defer net.Close()
	net.Site("shop.example").File("/agents.txt", "text/plain; charset=utf-8", file)

	network := net.Host() // reaches the web
	host := &lookleap.Host{Fetcher: agentstxt.Guard(network), Resolver: network, Now: network.Now}

	req, _ := http.NewRequest("GET", "https://shop.example/.well-known/skills/index.json", nil)
	_, err := host.RoundTrip(req)
	fmt.Println(err)
	// Output:
	// https://shop.example/.well-known/skills/index.json: no directive matches the path (unlisted); set Options.Unlisted to request paths that the file does not list
}

func ExampleClient() {
	net := lookleaptest.NewInternet()
	defer net.Close()
	net.Site("shop.example").File("/agents.txt", "text/plain; charset=utf-8", file)

	client := agentstxt.NewClient(net.Host(), agentstxt.Options{})
	for _, url := range []string{"https://shop.example/status", "https://shop.example/admin"} {
		decision, err := client.Decide(context.Background(), url)
		fmt.Println(decision, err)
	}
	// Output:
	// "/status" is allowed: a directive allows the path (allowed), line 3 <nil>
	// "/admin" is denied: a directive disallows the path (disallowed), line 5 <nil>
}

func ExampleFetch() {
	net := lookleaptest.NewInternet()
	defer net.Close()
	net.Site("shop.example").File("/agents.txt", "text/plain; charset=utf-8", "/status ALLOW\n")

	policy, err := agentstxt.Fetch(context.Background(), net.Host(), "https://shop.example/status")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(policy.State(), policy.Reason())
	fmt.Println(policy.Err())
	// Output:
	// restricted hash-missing
	// agents.txt: 1:1: the first line that is neither comment nor blank is not a hash line (hash-missing); write "*" and 64 lower-case hex digits, with nothing after them
}

func ExampleFormat() {
	file, err := agentstxt.Format([]agentstxt.Directive{
		{Path: "/status", Action: agentstxt.Allow},
		{Path: "/dashboard", Action: agentstxt.Allow, Params: []agentstxt.Param{{Key: "limit", Value: "50"}}},
		{Path: "/admin", Action: agentstxt.Disallow},
	}, map[string]string{"version": "1.0"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(string(file))
	// Output:
	// # version: 1.0
	// *e37fd0bbf5b647010a78772b8755ffa92efe6aa07b2bb0d373b2a61adfc9435a
	// /status ALLOW
	// /dashboard ALLOW limit=50
	// /admin DISALLOW
}

func ExampleSign() {
	signed, err := agentstxt.Sign([]byte("# our rules\n/status ALLOW\n/dashboard ALLOW limit=50\n/admin DISALLOW\n"))
	fmt.Print(string(signed), err)
	// Output:
	// # our rules
	// *e37fd0bbf5b647010a78772b8755ffa92efe6aa07b2bb0d373b2a61adfc9435a
	// /status ALLOW
	// /dashboard ALLOW limit=50
	// /admin DISALLOW
	// <nil>
}

func ExampleLint() {
	for _, finding := range agentstxt.Lint([]byte("/status ALLOW\n/admin DENY\n"), "application/json", agentstxt.Options{}) {
		fmt.Println(finding)
	}
	// Output:
	// 1:1: error: the first line that is neither comment nor blank is not a hash line (hash-missing); write "*" and 64 lower-case hex digits, with nothing after them
	// 2:8: error: the action is "DENY", neither ALLOW nor DISALLOW (bad-directive); write ALLOW or DISALLOW
	// error: the server declares the media type "application/json" (media-type); serve the file as "text/plain; charset=utf-8"
}

func ExampleNewHandler() {
	_, err := agentstxt.NewHandler([]byte("/status ALLOW\n"))
	fmt.Println(lookleap.CodeOf(err))

	handler, err := agentstxt.NewHandler([]byte(file))
	if err != nil {
		fmt.Println(err)
		return
	}
	mux := http.NewServeMux()
	mux.Handle("/agents.txt", handler)
	// Output:
	// hash-missing
}

// A program that indexes what a loader reads learns what the site states about that use.
func ExampleTraceUsage() {
	net := lookleaptest.NewInternet() // an internet in this process
	defer net.Close()
	net.Site("shop.example").
		File("/robots.txt", "text/plain", "User-agent: *\nContent-Signal: search=yes, ai-train=no\n").
		File("/guide", "text/plain", "all is well")
	guard := agentstxt.NewClient(net.Host(), agentstxt.Web("ExampleBot")).Guard()

	ctx := agentstxt.TraceUsage(context.Background(), func(url string, u agentstxt.Usage) {
		fmt.Println(url, u)
	})
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://shop.example/guide", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	resp, err := (&lookleap.Host{Fetcher: guard}).RoundTrip(req) // or whatever sends through the guard
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	// Output:
	// https://shop.example/guide search=yes, ai-train=no
}
