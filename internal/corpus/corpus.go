// Package corpus lists real files that sites and repositories publish, with what this
// module makes of each, so that a change of a reader shows where it meets the web. The
// list names a file by repository, path, commit and SHA-256 and does not hold its content.
//
// Program check compares a directory of such files with the list:
//
//	go run ./internal/corpus/check DIR
package corpus

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/agentstxt"
	"github.com/lookleap/lookleap/dvs"
)

// Kind is a kind of published file.
type Kind string

// The kinds of files.
const (
	AgentsTxt Kind = "agents.txt"
	RobotsTxt Kind = "robots.txt"
	Index     Kind = "skill-index"
	SkillMD   Kind = "SKILL.md"
	Sitemap   Kind = "sitemap"
)

// Kinds returns all kinds in the order of the page.
func Kinds() []Kind { return []Kind{AgentsTxt, RobotsTxt, Index, SkillMD, Sitemap} }

// Entry is one file of the list.
type Entry struct {
	Kind   Kind
	Repo   string // owner/name at the code host
	Path   string
	Commit string // 40 hex digits, or "npm:" and package@version
	SHA256 string // of the content, 64 hex digits
	Result Result // what the module makes of it
}

// Result is what the module makes of a file, without positions.
type Result struct {
	Outcome Outcome
	Why     string // a reason code, or what is special; "" if there is nothing to say
}

// Outcome says whether a file is of use to an agent.
type Outcome string

const (
	// Taken: the file is read, and it says what its author meant.
	Taken Outcome = "taken"
	// Foreign: the file has another format, and its site stays open.
	Foreign Outcome = "foreign"
	// Lenient: the file is read only with the lenient profile.
	Lenient Outcome = "lenient"
	// Partly: some entries of the file are skipped.
	Partly Outcome = "partly"
	// Refused: the file or each of its entries is not used, or it closes its site.
	Refused Outcome = "refused"
)

//go:embed corpus.tsv
var list []byte

// Load returns the list in its order.
func Load() ([]Entry, error) { return parse(list) }

const header = "kind\trepo\tpath\tcommit\tsha256\toutcome\twhy"

func parse(data []byte) ([]Entry, error) {
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	if lines[0] != header {
		return nil, fmt.Errorf("the first line is not %q", header)
	}
	var entries []Entry
	for i, line := range lines[1:] {
		f := strings.Split(line, "\t")
		if len(f) != 7 || !slices.Contains(Kinds(), Kind(f[0])) || len(f[4]) != 64 {
			return nil, fmt.Errorf("line %d is not an entry: %q", i+2, line)
		}
		entries = append(entries, Entry{Kind(f[0]), f[1], f[2], f[3], f[4], Result{Outcome(f[5]), f[6]}})
	}
	return entries, nil
}

// Format returns a list in the form that Load reads.
func Format(entries []Entry) []byte {
	var b bytes.Buffer
	b.WriteString(header + "\n")
	for _, e := range entries {
		fmt.Fprintf(&b, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", e.Kind, e.Repo, e.Path, e.Commit, e.SHA256, e.Result.Outcome, e.Result.Why)
	}
	return b.Bytes()
}

// Judge returns what the module makes of a file.
func Judge(kind Kind, content []byte) (Result, error) {
	switch kind {
	case AgentsTxt:
		return judgeAgentsTxt(content), nil
	case RobotsTxt:
		return judgeRobotsTxt(content), nil
	case Index:
		return judgeListings(dvs.ParseIndex(content, siteOf(content)+"/.well-known/agent-skills/index.json",
			dvs.Rules{}, dvs.Limits{})), nil
	case Sitemap:
		return judgeListings(dvs.ReadSitemap(bytes.NewReader(content), siteOf(content)+"/sitemap.xml", dvs.Rules{}, dvs.Limits{})), nil
	case SkillMD:
		return judgeSkill(content), nil
	}
	return Result{}, fmt.Errorf("unknown kind %q", kind)
}

// token is the product token by which robots.txt files are read.
const token = "ExampleBot"

func judgeAgentsTxt(content []byte) Result {
	p := agentstxt.Judge(agentstxt.Response{Status: 200, ContentType: "text/plain", Body: content}, agentstxt.Web(token))
	switch {
	case p.State() == agentstxt.Restricted:
		return Result{Refused, string(p.Reason())}
	case p.State() == agentstxt.Valid:
		return Result{Taken, ""}
	case !p.Decide("/").Allowed:
		return Result{Refused, string(p.Decide("/").Code)}
	}
	return Result{Foreign, string(p.Reason())}
}

// judgeRobotsTxt takes every file. A file that closes the front page to all programs says
// what its author meant, so it is not a refusal of ours.
func judgeRobotsTxt(content []byte) Result {
	f := agentstxt.ParseRobots(content, token)
	switch {
	case !f.Decide("/").Allowed:
		return Result{Taken, "closes the site to all"}
	case f.Len() == 0 && len(f.Sitemaps()) == 0:
		return Result{Taken, "no rules"}
	}
	return Result{Taken, ""}
}

// siteOf returns the origin of the first location of a list, which is that of its site for
// almost every list. The list does not say where it was published.
func siteOf(content []byte) string {
	if found := location.FindSubmatch(content); found != nil {
		return string(found[1])
	}
	return "https://site.example"
}

var location = regexp.MustCompile(`(?:<loc>|"url": *")\s*(https://[a-zA-Z0-9.-]+)`)

func judgeListings(list *dvs.Listings, err error) Result {
	if err != nil {
		return Result{Refused, string(lookleap.CodeOf(err))}
	}
	result := Result{Taken, ""}
	for _, f := range list.Findings {
		if f.Code == dvs.CodeUnknownSchema || f.Severity == lookleap.SeverityInfo { // nothing is skipped for it
			result.Why = cmp.Or(result.Why, string(f.Code))
			continue
		}
		if len(list.Skills) == 0 {
			return Result{Refused, string(f.Code)}
		}
		return Result{Partly, string(f.Code)}
	}
	return result
}

func judgeSkill(content []byte) Result {
	_, _, err := dvs.ParseSkill(content, dvs.AgentSkills, dvs.Limits{})
	if err == nil {
		return Result{Taken, ""}
	}
	if _, _, lenient := dvs.ParseSkill(content, dvs.Lenient, dvs.Limits{}); lenient != nil {
		return Result{Refused, string(lookleap.CodeOf(lenient))}
	}
	return Result{Lenient, string(lookleap.CodeOf(err))}
}
