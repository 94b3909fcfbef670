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
	"sync"
	"testing"
)

var (
	linkOnPage  = regexp.MustCompile(`href="(plan/[^"]+)"`)
	fieldOnPage = regexp.MustCompile(`<input type="(?:hidden|checkbox)"(?: id="\w+")? name="(\w+)" value="([^"]*)"`)
)

// TestBrowser plays the scenes that ask a user, with a client in the place of the browser.
func TestBrowser(t *testing.T) {
	for name, c := range map[string]struct {
		scene, do string
		items     int // how many are ticked
		want      string
	}{
		"accept-consent": {"consent", "approve", 1, "the shop got one order"},
		"accept-both":    {"consent", "approve", 2, "the shop got one order"},
		"reject-consent": {"consent", "refuse", 0, "you said no"},
		"accept-short":   {"agree", "approve", 2, "the shop got one order"},
		"reject-short":   {"agree", "refuse", 0, "you said no"},
		"accept-booking": {"booking", "approve", 9, "the trip is booked"},
		"reject-booking": {"booking", "refuse", 0, "you said no"},
	} {
		t.Run(name, func(t *testing.T) {
			in, out := io.Pipe()
			var user sync.WaitGroup
			ended := make(chan int, 1)
			go func() {
				ended <- run(context.Background(), []string{"--browser", "--scene", c.scene}, strings.NewReader(""), out, out)
				out.Close()
			}()
			var told strings.Builder
			lines := bufio.NewScanner(in)
			for lines.Scan() {
				told.WriteString(lines.Text() + "\n")
				if link := strings.TrimSpace(lines.Text()); strings.HasPrefix(link, "http://127.0.0.1:") {
					user.Go(func() { decideOnPage(t, link, c.do, c.items) })
				}
			}
			user.Wait()
			if code := <-ended; code != exitAsTold || !strings.Contains(told.String(), c.want) {
				t.Errorf("exit code %d\n%s", code, &told)
			}
		})
	}
	if code, _, errs := tell("--browser", "--scripted"); code != exitUsage || !strings.Contains(errs, "--browser") {
		t.Errorf("%d %s", code, errs)
	}
}

// decideOnPage opens the link, waits for a request and decides it.
func decideOnPage(t *testing.T, link, do string, items int) {
	jar, _ := cookiejar.New(nil)
	client := http.Client{Jar: jar}
	read := func(resp *http.Response, err error) string {
		if err != nil {
			t.Error(err)
			return ""
		}
		defer resp.Body.Close()
		body, _ := io.ReadAll(resp.Body)
		return string(body)
	}
	read(client.Get(link))
	home := link[:strings.Index(link, "open?")]
	events, err := client.Get(home + "events")
	if err != nil {
		t.Error(err)
		return
	}
	defer events.Body.Close()
	for lines := bufio.NewScanner(events.Body); lines.Scan(); {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok && data != `""` {
			break
		}
	}
	plan := linkOnPage.FindStringSubmatch(read(client.Get(home)))
	if plan == nil {
		t.Error("no request on the page")
		return
	}
	form := url.Values{"do": {do}}
	for _, m := range fieldOnPage.FindAllStringSubmatch(read(client.Get(home+plan[1])), -1) {
		if m[1] != "item" || items > 0 {
			form.Add(m[1], html.UnescapeString(m[2]))
		}
		if m[1] == "item" {
			items--
		}
	}
	req, _ := http.NewRequest("POST", home+plan[1], strings.NewReader(form.Encode()))
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Origin", home[:strings.Index(home, "1:")+2]+strings.Split(home[strings.Index(home, "1:")+2:], "/")[0])
	read(client.Do(req))
}
