package browsertest

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

var update = flag.Bool("update", false, "write the screenshots of docs/images")

const cache = "../../../.cache"

// tab is a tab of a browser of its own, with what happened in it.
type tab struct {
	context.Context
	t *testing.T

	mu       sync.Mutex
	requests []string // URLs
	dialogs  int
	logs     []string // violations, exceptions
}

// newTab starts a browser. The test fails if a page opens a dialog or throws.
func newTab(t *testing.T, dark bool) *tab {
	t.Helper()
	program, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is not installed; .ci/run browser installs it where it can")
	}
	b := &tab{t: t}
	ctx, cancel := chromedp.NewContext(context.Background(), chromedp.WithListener(b.note), chromedp.WithAllocatorOptions(
		chromedp.ExecPath(program), chromedp.WindowSize(960, 1000), chromedp.NoSandbox, chromedp.Flag("disable-dev-shm-usage", true), chromedp.UserDataDir(t.TempDir())))
	b.Context = ctx
	t.Cleanup(func() {
		defer cancel()
		closing, stop := context.WithTimeout(ctx, 30*time.Second)
		defer stop()
		if err := chromedp.Cancel(closing); err != nil { // closes the browser and waits for it
			t.Logf("closing the browser: %v", err)
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.dialogs > 0 || len(b.logs) > 0 {
			t.Errorf("%d dialogs; logged: %s", b.dialogs, strings.Join(b.logs, "; "))
		}
	})
	b.run()
	call(b, network.Enable, network.EnableParams{})
	call(b, log.Enable, cdp.Empty{})
	call(b, runtime.Enable, cdp.Empty{})
	b.prefers(dark)
	return b
}

// prefers lets the user prefer dark colors or light ones.
func (b *tab) prefers(dark bool) {
	b.t.Helper()
	scheme := map[bool]string{false: "light", true: "dark"}[dark]
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
}

// call sends a command of the protocol.
func call[P, R any](b *tab, command cdp.Command[P, R], params P) {
	b.t.Helper()
	if _, err := chromedp.Call(b, command, params); err != nil {
		b.t.Fatal(err)
	}
}

func (b *tab) note(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request.URL)
	case *page.EventJavascriptDialogOpening:
		b.dialogs++
	case *runtime.EventExceptionThrown:
		b.logs = append(b.logs, e.ExceptionDetails.Text)
	case *log.EventEntryAdded:
		if e.Entry.Source == log.EntrySourceSecurity {
			b.logs = append(b.logs, e.Entry.Text)
		}
	}
}

// takeLogs returns what was logged, for a test that expects it.
func (b *tab) takeLogs() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	logs := strings.Join(b.logs, "\n")
	b.logs = nil
	return logs
}

// limit bounds every wait for the browser.
const limit = 20 * time.Second

func (b *tab) run(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx := context.Context(b)
	if len(actions) > 0 { // the first call starts the browser, which ends with its context
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	if err := chromedp.Do(ctx, actions...); err != nil {
		b.t.Fatalf("%v; the page: %.2000s", err, b.textNow())
	}
}

// open opens a one-time link and waits for the page behind it.
func (b *tab) open(link string) {
	b.t.Helper()
	b.run(chromedp.Navigate(link), chromedp.WaitReady(chromedp.CSS("#consent, #report")))
}

func (b *tab) click(selector string) {
	b.t.Helper()
	b.run(chromedp.Click(chromedp.CSS(selector)))
}

func (b *tab) visible(selector string) {
	b.t.Helper()
	b.run(chromedp.WaitVisible(chromedp.CSS(selector)))
}

func (b *tab) press(keys ...string) {
	b.t.Helper()
	for _, key := range keys {
		b.run(chromedp.KeyEvent(key))
	}
}

// tabTo presses the tabulator until an element has the focus.
func (b *tab) tabTo(selector string) {
	b.t.Helper()
	for range 30 {
		if eval[bool](b, fmt.Sprintf("document.activeElement.matches(%q)", selector)) {
			return
		}
		b.press(kb.Tab)
	}
	b.t.Fatalf("%s cannot be reached with the keyboard", selector)
}

// eval returns the value of an expression in the page, also of a promise.
func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b, limit)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatal(err)
	}
	return value
}

// waitText waits until the page contains a text, also if it navigates meanwhile.
func (b *tab) waitText(text string) {
	b.t.Helper()
	end := time.Now().Add(limit)
	for !strings.Contains(b.textNow(), text) {
		if time.Now().After(end) {
			b.t.Fatalf("%q is not on the page: %s", text, b.textNow())
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// textNow returns the text of the page, or "" while there is none.
func (b *tab) textNow() string {
	ctx, cancel := context.WithTimeout(b, 10*time.Second)
	defer cancel()
	text, _ := chromedp.Run(ctx, chromedp.Evaluate[string]("document.body ? document.body.innerText : ''"))
	return text
}

// shoot keeps a screenshot of the whole page.
func (b *tab) shoot(name string) {
	b.t.Helper()
	shot, err := chromedp.Run(b, chromedp.FullScreenshot(100))
	if err != nil {
		b.t.Fatal(err)
	}
	write := func(dir string, content []byte) {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			b.t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name+".png"), content, 0o644); err != nil {
			b.t.Fatal(err)
		}
	}
	write(filepath.Join(cache, "browser"), shot)
	if *update && (name == "consent" || name == "report") {
		small, err := withPalette(shot)
		if err != nil {
			b.t.Fatal(err)
		}
		write("../../../docs/images", small)
	}
}

// withPalette returns a picture with its 64 most frequent colors: pages have few, and the file is a
// third of the size.
func withPalette(content []byte) ([]byte, error) {
	full, err := png.Decode(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	count := make(map[color.Color]int)
	area := full.Bounds()
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			count[full.At(x, y)]++
		}
	}
	colors := slices.SortedFunc(maps.Keys(count), func(a, b color.Color) int { return cmp.Compare(count[b], count[a]) })
	small := image.NewPaletted(area, colors[:min(len(colors), 64)])
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			small.Set(x, y, full.At(x, y))
		}
	}
	var out bytes.Buffer
	err = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, small)
	return out.Bytes(), err
}

// accessible checks the page with axe-core: the rules of WCAG 2.2 A and AA, and its best practices.
func (b *tab) accessible(name string) {
	b.t.Run("axe-"+name, func(t *testing.T) {
		axe, err := os.ReadFile(filepath.Join(cache, "axe-core/package/axe.min.js"))
		if err != nil {
			t.Skip("axe-core is not in .cache; .ci/run browser fetches it")
		}
		type violation struct {
			ID, Help string
			Targets  []string
		}
		result := eval[struct {
			Passes     int
			Violations []violation
		}](b, string(axe)+`; axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}).then((r) => ({
			passes: r.passes.length, violations: r.violations.map((v) => ({id: v.id, help: v.help, targets: v.nodes.map((n) => n.html)}))}))`)
		if result.Passes < 10 {
			t.Errorf("only %d rules applied", result.Passes)
		}
		for _, v := range result.Violations {
			t.Errorf("%s: %s: %s", v.ID, v.Help, v.Targets)
		}
	})
}
