package main

import (
	"bufio"
	"context"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
)

// TestBrowser decides on the page: a client with cookies stands for the browser.
func TestBrowser(t *testing.T) {
	for do, want := range map[string]string{"approve": "Two seats to the island are booked", "refuse": "the user did not agree"} {
		t.Run(do, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			in, out := io.Pipe()
			ended := make(chan error, 1)
			go func() {
				ended <- run(ctx, []string{"--browser"}, strings.NewReader(""), out)
				out.Close()
			}()
			decided := make(chan struct{})
			var told strings.Builder
			for lines := bufio.NewScanner(in); lines.Scan(); {
				told.WriteString(lines.Text() + "\n")
				if link := strings.TrimSpace(lines.Text()); strings.HasPrefix(link, "http://127.0.0.1:") {
					go func() {
						defer close(decided)
						decideAll(ctx, t, link, do)
					}()
				}
			}
			if err := <-ended; err != nil || !strings.Contains(told.String(), want) {
				t.Errorf("%v\n%s", err, &told)
			}
			cancel()
			<-decided
		})
	}
}

var (
	planOnPage  = regexp.MustCompile(`href="(plan/[^"]+)"`)
	fieldOnPage = regexp.MustCompile(`<input type="(?:hidden|checkbox)"(?: id="\w+")? name="(\w+)" value="([^"]*)"`)
)

// decideAll opens the page and decides each request that appears on it, until ctx ends.
func decideAll(ctx context.Context, t *testing.T, link, do string) {
	jar, _ := cookiejar.New(nil)
	client := http.Client{Jar: jar}
	home := link[:strings.Index(link, "open?")]
	send := func(method, target, form string) *http.Response {
		req, _ := http.NewRequestWithContext(ctx, method, target, strings.NewReader(form))
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Origin", "http://"+req.URL.Host)
		resp, err := client.Do(req)
		if err != nil {
			if ctx.Err() == nil {
				t.Error(err)
			}
			return &http.Response{Body: http.NoBody}
		}
		return resp
	}
	read := func(resp *http.Response) string {
		defer resp.Body.Close()
		body, _ := io.ReadAll(resp.Body) // cut when ctx ends
		return string(body)
	}
	read(send("GET", link, ""))
	events := send("GET", home+"events", "")
	defer events.Body.Close()
	for lines := bufio.NewScanner(events.Body); lines.Scan(); {
		if !strings.HasPrefix(lines.Text(), "data: ") {
			continue
		}
		plan := planOnPage.FindStringSubmatch(read(send("GET", home, "")))
		if plan == nil {
			continue
		}
		form := url.Values{"do": {do}}
		for _, m := range fieldOnPage.FindAllStringSubmatch(read(send("GET", home+plan[1], "")), -1) {
			if do == "approve" || m[1] != "item" {
				form.Add(m[1], html.UnescapeString(m[2]))
			}
		}
		read(send("POST", home+plan[1], form.Encode()))
	}
}

// TestInterrupted checks that a user who interrupts the program does not agree, and is not
// waited for.
func TestInterrupted(t *testing.T) {
	plan, err := lookleap.NewPlan(lookleap.ConsentRequest{
		Kind: lookleap.ConsentAct, Origin: "https://shop.example", Summary: "order one lamp",
		Items: []lookleap.ConsentItem{{ID: "order", Summary: "send the order", Recipient: "https://shop.example", Digest: lookleap.Digest(nil)}},
	}, nil, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	in, typing := io.Pipe() // no one types
	defer typing.Close()
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(0, cancel)
	d, err := newTerminal(in, io.Discard).PromptConsent(ctx, plan.Request())
	if err == nil || len(d.Approved) != 0 {
		t.Errorf("%v %v", d, err)
	}
}
