package browsertest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/htmlreport"
)

// lookleapProgram builds cmd/lookleap.
func lookleapProgram(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "lookleap")
	if out, err := exec.Command("go", "build", "-C", "../../..", "-o", program, "./cmd/lookleap").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return program
}

// openFile opens a page from a file.
func (b *tab) openFile(path string) {
	b.t.Helper()
	abs, err := filepath.Abs(path)
	if err != nil {
		b.t.Fatal(err)
	}
	b.run(chromedp.Navigate("file://" + abs))
	b.run(chromedp.WaitReady(chromedp.CSS("#report")))
}

func TestReport(t *testing.T) {
	for name, dark := range map[string]bool{"report": false, "report-dark": true} {
		t.Run(name, func(t *testing.T) {
			b := newTab(t, dark)
			program, file := lookleapProgram(t), filepath.Join(t.TempDir(), "report.html")
			if out, err := exec.Command(program, "replay", "../../../cmd/lookleap/testdata/trust-forger.json", "--html", file).CombinedOutput(); err == nil {
				t.Fatalf("a forger was accepted: %s", out)
			}
			b.openFile(file)
			b.accessible(name)
			b.tabTo("summary")
			if eval[bool](b, `document.activeElement.parentElement.open`) {
				t.Error("a check that passed is open")
			}
			b.press(kb.Enter)
			if !eval[bool](b, `document.activeElement.parentElement.open`) {
				t.Error("the tree does not open with the keyboard")
			}
			b.press(kb.Enter)
			b.run(chromedp.Blur(chromedp.CSS("summary")))
			b.shoot(name)
			if !eval[bool](b, `[...document.querySelectorAll("svg text")].every((t) => { const box = t.getBBox(); return box.x >= 0 && box.x + box.width <= 940; })`) {
				t.Error("a text leaves the picture")
			}
			if text := b.textNow(); !strings.Contains(text, "No: Tier 0") || !strings.Contains(text, "Manifest to serving host: ✗ failed") {
				t.Errorf("%s", text)
			}
		})
	}
}

// TestReportHostile puts the hostile texts into every place of a report.
func TestReportHostile(t *testing.T) {
	b := newTab(t, false)
	all := strings.Join(hostile, "")
	verdict := &lookleap.Verdict{Subject: all, Summary: all, Code: lookleap.Code(all), Checks: []lookleap.Check{
		{Requirement: "A" + all, Message: all, Code: lookleap.Code(all), Evidence: []lookleap.Evidence{{Text: all, URL: all, DNSName: all, MediaType: all}}},
	}}
	findings := []lookleap.Finding{{Message: all, Fix: all, Position: lookleap.Position{Path: all}}}
	page, err := htmlreport.HTML(htmlreport.Report{
		Input: all, Sentence: all, Findings: findings, Facts: []htmlreport.Fact{{Label: all, Text: all}},
		Checks: append(htmlreport.OfVerdict(verdict), htmlreport.Check{Name: all, Snippet: all, Findings: findings}), Picture: htmlreport.OfTrust(verdict, all, all),
	})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, page, 0o600); err != nil {
		t.Fatal(err)
	}
	b.openFile(file)
	b.accessible("hostile")
	b.shoot("report-hostile")
	if got := eval[[]int](b, `["script", "style", "form", "img", "svg", "button", "iframe"].map((n) => document.querySelectorAll(n).length)`); fmt.Sprint(got) != "[0 1 0 0 1 0 0]" {
		t.Errorf("elements: %v", got)
	}
	if text := b.textNow(); strings.ContainsAny(text, "\x1b\u202e") || !strings.Contains(text, "<script>") {
		t.Errorf("%q", text)
	}
	for _, url := range b.requests {
		if !strings.HasPrefix(url, "file://") && !strings.HasPrefix(url, "data:,") {
			t.Errorf("the page loads %s", url)
		}
	}
}

// TestServe types a URL on the page of lookleap serve.
func TestServe(t *testing.T) {
	b := newTab(t, false)
	serve := exec.CommandContext(t.Context(), lookleapProgram(t), "serve", "--dns", "127.0.0.1:1", "--timeout", "5s")
	stdout, err := serve.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = serve.Process.Signal(os.Interrupt)
		_, _ = io.Copy(io.Discard, stdout)
		if err := serve.Wait(); err != nil {
			t.Errorf("%v", err)
		}
	}()
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	b.open(strings.Fields(line)[1])
	b.accessible("form")
	b.tabTo("#url")
	for _, c := range "https://shop.example" {
		b.press(string(c))
	}
	b.press(kb.Enter)
	b.waitText("No:")
	b.accessible("result")
	b.shoot("serve")
	typed, _ := json.Marshal("https://shop.example")
	if !eval[bool](b, fmt.Sprintf(`document.querySelector("#url").value === %s`, typed)) {
		t.Error("the form forgot the URL")
	}
}
