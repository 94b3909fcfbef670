package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lookleap/lookleap/anml"
)

// readers are the packages that read what others wrote.
var readers = []string{"anml", "anml/agent", "anmltrust", "agentstxt", "dvs", "wellknown", "aiuri", "internal/weblink", "internal/dnssec", "internal/plaintext", "contrib/policy"}

// Why an exported function is not measured. A name that ends with an asterisk is
// a prefix.
const (
	ours      = "it takes the words of the caller and not of others"
	through   = "it does what another measured function does"
	oneLookup = "it looks one name up"
	perAnswer = "its result is as large as its work"
	exchanges = "it is an exchange whose bodies are bounded and read by measured functions"
	sealed    = "it takes state that this library sealed"
	packets   = "answers of the DNS have at most 64 KiB, and its tests bound the work on them"
)

var excluded = map[string]string{
	"anml.Problem.Extension": oneLookup, "anml.Flow.Step": oneLookup, "anml.Head.Meta": oneLookup, "anml.Item.Field": oneLookup,
	"anml.Interact.Action": oneLookup, "anml.Node.Attr": oneLookup, "anml.Rules.Rule": oneLookup,
	"anml.Node.Scoped": perAnswer, "anml.Constraints.Rule": through, "anml.Constraints.Rules": through,
	"anml.NewService": ours, "anml.OutcomeOf": through, "anml.Parse": through, "anml.MinimalResponse": ours, "anml.Action.EncodeRandom": ours,
	"anml.Action.Args": through, "anml.Action.ArgsJSON": through, "anml.Param.Check": "patterns are weighed: see TestPatternsCost of package anml",

	"agent.Session.Withdraw": ours, "agent.Session.Discover": through, "agent.Session.ForgetDiscovery": ours, "agent.Session.Resume*": sealed,
	"agent.OpenDisclosureLedger": ours, "dvs.UnreadablePolicy": ours, "dvs.ParseTrustRecord": ours, "dvs.OpenTrustStore": ours, "dvs.FileTrustStore.*": ours, "agent.OpenDirStore": ours, "agent.DirStore.*": ours, "agent.UserPolicy.*": ours, "agent.Session.RefuseDomain": ours,
	"agent.Session.AllowDomain": ours, "agent.Interaction": ours,

	"anmltrust.Authorization.PermitsInform": oneLookup, "anmltrust.BuildManifest": ours, "anmltrust.Record.Zone": ours,
	"anmltrust.NewManifestHandler": ours, "anmltrust.Interaction.VerifyDocument": exchanges,

	"agentstxt.Transport.*": exchanges, "agentstxt.Fetch": exchanges, "agentstxt.Web": ours, "agentstxt.Usage.Of": oneLookup,
	"agentstxt.Format": ours, "agentstxt.NewHandler": ours, "agentstxt.Client.*": exchanges,

	"dvs.Loader.*": exchanges, "dvs.DigestOf": "it is SHA-256", "dvs.Metadata.Value": oneLookup, "dvs.Value.Field": oneLookup, "dvs.Loaded.*": exchanges,
	"dvs.WriteSitemap": ours, "dvs.VerifiedFS.*": ours, "dvs.Roots.*": ours, "dvs.Lockfile.Find": oneLookup,
	"dvs.LockedSkill.*": ours, "dvs.NewHandler": ours, "dvs.Handler.ServeHTTP": exchanges, "dvs.Platforms.Lookup": oneLookup,

	"wellknown.Client.*": exchanges, "wellknown.Registry.LintTree": ours, "wellknown.NewHandler": ours, "wellknown.Handler.ServeHTTP": exchanges,
	"wellknown.Resource.AppliesTo": oneLookup,

	"aiuri.Claims.Has": oneLookup, "aiuri.DNSRecords": ours, "aiuri.NewDescriptorHandler": ours, "aiuri.NewKeySetHandler": ours, "aiuri.SignResult": ours, "aiuri.TokenFunc.Token": ours,
	"aiuri.Discoverer.*": exchanges, "aiuri.Client.*": exchanges, "aiuri.Gateway.*": exchanges, "aiuri.NewGatewayInvoker": exchanges,

	"aiuri.MatchAuthority": ours, "plaintext.Plural": ours, "agentstxt.TraceUsage": ours, "policy.Feed.Verify": through,

	"anml.Write": ours, "anml.WriteProblem": ours, "policy.Load": ours,

	"dnssec.Resolver.*": packets,
}

// TestCoverage fails where an exported function that takes texts, bytes or a
// document of others is neither measured nor excluded with a reason.
func TestCoverage(t *testing.T) {
	covered := map[string]bool{}
	for _, target := range targets() {
		for _, name := range target.covers {
			covered[name] = true
		}
	}
	for _, f := range documents()[:1] {
		walk(read(f.make(100), roomy), func(name string) { covered[name] = true })
	}
	seen := map[string]bool{}
	for _, dir := range readers {
		for _, name := range exported(t, filepath.Join("..", "..", "..", filepath.FromSlash(dir))) {
			if covered[name] {
				continue
			}
			reason := excluded[name]
			seen[name] = true
			for pattern, why := range excluded {
				if prefix, ok := strings.CutSuffix(pattern, "*"); ok && strings.HasPrefix(name, prefix) {
					reason = why
					seen[pattern] = true
				}
			}
			if reason == "" {
				t.Errorf("%s reads what others wrote and is not measured: add it to a target, or to the table with a reason", name)
			}
		}
	}
	for name := range excluded {
		if !seen[name] {
			t.Errorf("%s is excluded and does not exist, or is measured", name)
		}
	}
}

// exported lists the exported functions and methods of a package that take bytes,
// texts or documents. Builders take their caller's words.
func exported(t *testing.T, dir string) (names []string) {
	set := token.NewFileSet()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatal(dir, err, fs.ErrNotExist)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(set, file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || !f.Name.IsExported() || !takes(f.Type.Params) {
				continue
			}
			name := parsed.Name.Name + "."
			if f.Recv != nil {
				receiver := strings.TrimPrefix(types.ExprString(f.Recv.List[0].Type), "*")
				if !ast.IsExported(receiver) || strings.HasSuffix(receiver, "Builder") {
					continue
				}
				name += receiver + "."
			}
			names = append(names, name+f.Name.Name)
		}
	}
	return names
}

// takes reports whether a parameter can hold what others wrote.
func takes(params *ast.FieldList) bool {
	for _, p := range params.List {
		text := types.ExprString(p.Type)
		for _, word := range []string{"byte", "string", "Reader", "RawMessage", "http.", "Document", "fs.FS"} {
			if strings.Contains(text, word) {
				return true
			}
		}
	}
	return false
}

// TestFamilies checks that documents are generated from every element and are read.
func TestFamilies(t *testing.T) {
	made := map[string]bool{}
	for _, f := range documents() {
		made[strings.Split(f.name, "/")[0]] = true
		if strings.HasPrefix(f.name, "everything/") && read(f.make(40), roomy) == nil {
			t.Errorf("%s is not read", f.name)
		}
	}
	for _, shape := range []string{"everything", "wide", "apart", "pair", "unknown-in", "deep"} {
		if !made[shape] {
			t.Errorf("there is no family %s", shape)
		}
	}
	for _, mediaType := range []string{anml.MediaTypeXML, anml.MediaTypeJSON} {
		if _, ok := anml.FormatOf(mediaType); !ok {
			t.Error(mediaType)
		}
	}
}
