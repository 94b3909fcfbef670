package browsertest

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"

	"github.com/lookleap/lookleap"
)

// screen makes the page as wide as a screen, and lets it prefer dark colors or light ones.
func (b *tab) screen(width int64, dark bool) {
	b.t.Helper()
	call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 780, DeviceScaleFactor: 1})
	b.prefers(dark)
}

// fits looks at the page on a phone and on a desk, light and dark: nothing is wider than the screen,
// also where what is folded is open, and axe finds nothing.
func (b *tab) fits(page string, more func(t *testing.T)) {
	b.t.Helper()
	for _, width := range []int64{360, 1280} {
		for _, dark := range []bool{false, true} {
			name := fmt.Sprintf("%s-%d-%s", page, width, map[bool]string{false: "light", true: "dark"}[dark])
			b.screen(width, dark)
			b.accessible(name)
			b.shoot(name)
			more(b.t)
			eval[int](b, `document.querySelectorAll("details").forEach((d) => { d.dataset.was = d.open ? "open" : ""; d.open = true; }) || 0`)
			if got := eval[[]int64](b, `[document.scrollingElement.scrollWidth, innerWidth]`); got[0] > width || got[1] != width {
				b.t.Errorf("%s: the page is %d wide, on a screen of %d", name, got[0], got[1])
				b.t.Log(eval[[]string](b, `[...document.querySelectorAll("main *")].filter((e) => e.getBoundingClientRect().right > innerWidth).map((e) => e.outerHTML.slice(0, 100))`))
			}
			b.accessible(name + "-unfolded")
			b.shoot(name + "-unfolded")
			eval[int](b, `document.querySelectorAll("details").forEach((d) => { d.open = d.dataset.was === "open"; }) || 0`)
		}
	}
}

// hit checks that a finger hits each of so many controls.
func (b *tab) hit(t *testing.T, selector string, number int) {
	t.Helper()
	type control struct {
		Text          string
		Height, Width float64
		Visible       bool
	}
	controls := eval[[]control](b, fmt.Sprintf(`[...document.querySelectorAll(%q)].map((e) => {
		const box = e.getBoundingClientRect();
		return {text: e.innerText, height: box.height, width: box.width, visible: e.checkVisibility() && box.left >= 0 && box.right <= innerWidth};
	})`, selector))
	if len(controls) != number {
		t.Errorf("%d controls: %v", len(controls), controls)
	}
	for _, c := range controls {
		if !c.Visible || c.Height < 44 || c.Width < 44 {
			t.Errorf("a finger does not hit %+v", c)
		}
	}
}

// TestConsentScreens shows a request with texts that have no place to break.
func TestConsentScreens(t *testing.T) {
	d, b := newDesk(t), newTab(t, false)
	label := strings.Repeat("a", 60)
	asked := d.ask(t.Context(), t, func(r *lookleap.ConsentRequest) {
		r.Origin = "https://" + label + "." + label + ".pay.shop.example:8443"
		r.Items[0].ID = strings.Repeat("id", 100)
		r.Items[0].Values = append(r.Items[0].Values,
			lookleap.ConsentValue{Label: "token", Name: strings.Repeat("n", 200), Text: strings.Repeat("0123456789", 40)},
			lookleap.ConsentValue{Label: "address", Text: "https://shop.example/" + strings.Repeat("path/", 100), Detail: true},
			lookleap.ConsentValue{Label: "script", Text: "#!/bin/sh\n" + strings.Repeat("x", 400) + "\n", Command: true})
		r.Items[2].Recipient = "https://" + label + "." + label + "." + label + ".xn--80ak6aa92e.com"
		r.Verdict = &lookleap.Verdict{Subject: strings.Repeat("s", 200), Summary: strings.Repeat("w", 200)}
	})
	b.open(d.link())
	b.waitText("order one lamp")
	b.fits("list", func(t *testing.T) { b.hit(t, ".plans a", 1) })
	b.review()
	b.fits("plan", func(t *testing.T) {
		b.hit(t, "form .buttons button, form .item label", 5)
		if open := eval[int](b, `document.querySelectorAll("details[open]").length`); open != 0 {
			t.Errorf("%d details are open", open)
		}
		if text := b.textNow(); strings.Contains(text, "idid") || strings.Contains(text, "sha256:") || !strings.Contains(text, "+1 555 0100") {
			t.Errorf("an id or a digest is not folded, or a value is: %s", text)
		}
	})
	b.click("button[value=refuse]")
	<-asked
	b.waitText("Refused")
	b.fits("decided", func(*testing.T) {})
}

// TestReportScreens shows a report with its picture.
func TestReportScreens(t *testing.T) {
	b := newTab(t, false)
	program, file := lookleapProgram(t), filepath.Join(t.TempDir(), "report.html")
	if out, err := exec.Command(program, "replay", "../../../cmd/lookleap/testdata/trust-forger.json", "--html", file).CombinedOutput(); err == nil {
		t.Fatalf("a forger was accepted: %s", out)
	}
	b.openFile(file)
	b.fits("report", func(*testing.T) {})
}
