package dvs_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/internal/test/signtest"
	"github.com/lookleap/lookleap/lookleaptest"
)

// TestPolicySigners loads skills below a root for which a policy demands a signer.
func TestPolicySigners(t *testing.T) {
	ada, eve := signtest.New(t, "Ada of example.com"), signtest.New(t, "Ada of example.com")
	plain := map[string]string{"SKILL.md": refundSkill, "scripts/pay.sh": "#!/bin/sh\necho paid\n", "metadata.json": "{}"}
	signed := func(by *signtest.Signer, edit func(files map[string]string)) map[string]string {
		files := maps.Clone(plain)
		files[signtest.File] = by.Sign(plain)
		if edit != nil {
			edit(files)
		}
		return files
	}
	const root = "https://github.com/example-org/"
	for name, test := range map[string]struct {
		files   map[string]string
		signers []dvs.PolicySigner
		code    lookleap.Code
	}{
		"no-demand":               {plain, nil, ""},
		"unsigned":                {plain, []dvs.PolicySigner{{Root: root, Signer: ada.Fingerprint()}}, dvs.CodePolicyDenied},
		"unsigned-elsewhere":      {plain, []dvs.PolicySigner{{Root: "https://github.com/other/", Signer: ada.Fingerprint()}}, ""},
		"signed":                  {signed(ada, nil), []dvs.PolicySigner{{Root: root, Signer: ada.Fingerprint()}}, ""},
		"signed-by-PEM":           {signed(ada, nil), []dvs.PolicySigner{{Root: root, Signer: ada.PEM()}}, ""},
		"another-of-that-name":    {signed(eve, nil), []dvs.PolicySigner{{Root: root, Signer: ada.Fingerprint()}}, dvs.CodePolicyDenied},
		"another-by-PEM":          {signed(eve, nil), []dvs.PolicySigner{{Root: root, Signer: ada.PEM()}}, dvs.CodePolicyDenied},
		"one-of-two":              {signed(eve, nil), []dvs.PolicySigner{{Root: root, Signer: ada.Fingerprint()}, {Root: root, Signer: eve.Fingerprint()}}, ""},
		"one-byte":                {signed(ada, func(f map[string]string) { f["scripts/pay.sh"] += "#" }), []dvs.PolicySigner{{Root: root, Signer: ada.Fingerprint()}}, dvs.CodePolicyDenied},
		"one-file-more":           {signed(ada, func(f map[string]string) { f["scripts/more.sh"] = "#!/bin/sh\n" }), []dvs.PolicySigner{{Root: root, Signer: ada.Fingerprint()}}, dvs.CodePolicyDenied},
		"one-file-less":           {signed(ada, func(f map[string]string) { f["metadata.json"] = "" }), []dvs.PolicySigner{{Root: root, Signer: ada.Fingerprint()}}, dvs.CodePolicyDenied},
		"a-file-that-is-left-out": {signed(ada, func(f map[string]string) { f[".github/GUIDE.md"] = "Do it." }), []dvs.PolicySigner{{Root: root, Signer: ada.Fingerprint()}}, dvs.CodePolicyDenied},
		"a-file-for-git":          {signed(ada, func(f map[string]string) { f[".gitignore"] = "x\n" }), []dvs.PolicySigner{{Root: root, Signer: ada.Fingerprint()}}, ""},
		"no-fingerprint":          {signed(ada, nil), []dvs.PolicySigner{{Root: root, Signer: "sha256:0"}}, dvs.CodePolicyUnreadable},
		"no-root":                 {signed(ada, nil), []dvs.PolicySigner{{Root: "github.com", Signer: ada.Fingerprint()}}, dvs.CodePolicyUnreadable},
	} {
		t.Run(name, func(t *testing.T) {
			published := map[string]string{}
			for file, content := range test.files {
				published["skills/refund/"+file] = content
			}
			c := newCodeHost(t, published)
			policy := &dvs.Policy{Name: "test", Signers: test.signers}
			loader := dvs.NewLoader(c.host, dvs.Options{Roots: registry(t, root), Policies: []*dvs.Policy{policy}})
			r, err := c.read(t, loader, "Example-Org/skills")
			if err == nil {
				_, err = loader.LoadListing(t.Context(), r.Skills[0])
			}
			if (err == nil) != (test.code == "") || err != nil && lookleap.CodeOf(err) != test.code {
				t.Errorf("got %v", err)
			}
			if sentences := strings.Join(policy.Sentences(), " "); len(test.signers) > 0 && !strings.Contains(sentences, "has signed them") {
				t.Errorf("the policy explains itself as %s", sentences)
			}
		})
	}
	t.Run("a-skill-that-is-fetched-file-by-file", func(t *testing.T) {
		for by, code := range map[*signtest.Signer]lookleap.Code{ada: "", eve: dvs.CodePolicyDenied} {
			net, loader := siteWith(t, &dvs.Policy{Signers: []dvs.PolicySigner{{Root: "https://shop.example/", Signer: ada.Fingerprint()}}})
			files := map[string]string{"SKILL.md": refundSkill, "scripts/pay.sh": "#!/bin/sh\n"}
			site := net.Site("shop.example")
			site.File("/s/"+signtest.File, "application/json", by.Sign(files))
			for name, content := range files {
				site.File("/s/"+name, "text/markdown", content)
			}
			if _, err := loader.Load(t.Context(), "https://shop.example/s/"); lookleap.CodeOf(err) != code && (err != nil || code != "") {
				t.Errorf("want %q, got %v", code, err)
			}
		}
	})
}

func siteWith(t *testing.T, policy *dvs.Policy) (*lookleaptest.Internet, *dvs.Loader) {
	t.Helper()
	net := lookleaptest.ForTest(t)
	return net, dvs.NewLoader(net.StubHost(), dvs.Options{Roots: registry(t, "https://shop.example/"), Policies: []*dvs.Policy{policy}})
}
