package htmlreport

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
)

// read returns a verdict that cmd/lookleap has as test data.
func read(t *testing.T, name string) *lookleap.Verdict {
	t.Helper()
	data, err := os.ReadFile("../../cmd/lookleap/testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	v := new(lookleap.Verdict)
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestOfTrust(t *testing.T) {
	for name, c := range map[string]struct {
		want   string // the status of each edge
		server string
	}{
		"trust-retailer.json": {"passed passed passed passed passed passed", "shop.retailer.example"},
		"trust-forger.json":   {"passed passed passed passed failed failed", "shop.brand.example.forger.example"},
	} {
		t.Run(name, func(t *testing.T) {
			v := read(t, name)
			p := OfTrust(v, c.server, "brand.example")
			var got []string
			for _, e := range p.Edges {
				got = append(got, e.Status.String())
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("%v", got)
			}
			if last := p.Edges[len(p.Edges)-1]; last.From != ServingHost || last.To != Site || last.Text != v.Summary {
				t.Errorf("%+v", last)
			}
		})
	}
	t.Run("stopped-at-the-dns", func(t *testing.T) {
		v := &lookleap.Verdict{Checks: []lookleap.Check{
			{Requirement: "A", Status: lookleap.Passed, Message: "claims"},
			{Requirement: "C3", Status: lookleap.Failed, Message: "bogus"},
			{Requirement: "D", Status: lookleap.Skipped, Message: "the record: not needed"},
			{Requirement: "C3", Status: lookleap.Failed, Message: "Tier 0: bogus"},
		}}
		p := OfTrust(v, "a.example", "b.example")
		if e := p.Edges[2]; e.Status != lookleap.Failed || e.Text != "bogus" {
			t.Errorf("%+v", e)
		}
		for _, i := range []int{3, 4} {
			if p.Edges[i].Status != lookleap.Skipped {
				t.Errorf("%+v", p.Edges[i])
			}
		}
	})
}

func TestHTML(t *testing.T) {
	v := read(t, "trust-forger.json")
	r := Report{
		Input: "https://forger.example/", Code: v.Code, Sentence: v.Summary, Picture: OfTrust(v, "forger.example", "brand.example"), Checks: OfVerdict(v), At: time.Unix(0, 0),
		Findings: []lookleap.Finding{{Message: "the manifest is old", Fix: "publish it again", Position: lookleap.Position{Line: 3, Column: 4}}},
		Facts:    []Fact{{"tier", "unlisted"}},
	}
	page, err := HTML(r)
	if err != nil {
		t.Fatal(err)
	}
	text := string(page)
	for _, want := range []string{
		"No:", "does not list the server (not-listed)", "<svg", "5 ✗", "<details open>", "sha256:", "_anml.brand.example TXT",
		"<strong>Fix:</strong> publish it again", "at 3:4", "1970-01-01", "default-src &#39;none&#39;",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in the page", want)
		}
	}
	if loads := regexp.MustCompile(`<script|<iframe|<object|@import|https?://[^<"]*"`).FindString(strings.ReplaceAll(text, "data:,", "")); loads != "" {
		t.Errorf("the page runs or loads %s", loads)
	}
}

// TestHostile puts texts that break out of HTML into every place of a report.
func TestHostile(t *testing.T) {
	for name, bad := range map[string]string{
		"script":  `<script>alert(1)</script>`,
		"text":    `</text></svg><script>alert(1)</script>`,
		"style":   `</style><style>*{display:none}</style>`,
		"quote":   `"><img src=x onerror=alert(1)>`,
		"comment": `<!-- `,
		"E04":     "\x1b[2K",
		"E05":     "x\ny\u202e",
	} {
		t.Run(name, func(t *testing.T) {
			code := lookleap.Code(bad)
			findings := []lookleap.Finding{{Code: code, Message: bad, Fix: bad, Requirement: bad, Position: lookleap.Position{Path: bad}}}
			edges := []Edge{{Agent, DNS, lookleap.Failed, bad}}
			page, err := HTML(Report{
				Input: bad, Code: code, Sentence: bad, Findings: findings, Facts: []Fact{{bad, bad}},
				Picture: &Picture{Names: [nodes]string{bad, bad, bad, bad, bad, bad}, Edges: edges},
				Checks: []Check{{Name: bad, Code: code, Row: bad, Message: bad, Findings: findings, Snippet: bad, Evidence: [][]Fact{{{bad, bad}}, factsOf(lookleap.Evidence{Text: bad, URL: bad})},
					Checks: []Check{{Message: bad}}}},
			})
			if err != nil {
				t.Fatal(err)
			}
			text := string(page)
			if strings.Contains(text, bad) || strings.Contains(text, "<script") || strings.Count(text, "<style") != 1 || strings.Count(text, "</svg>") != 1 || strings.Contains(text, "<img") || strings.Contains(text, "<!--") {
				t.Errorf("%s", text)
			}
			if strings.ContainsAny(text, "\x1b\u202e") {
				t.Error("a control character is on the page")
			}
		})
	}
}
