package dvs_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/lookleap/lookleap/dvs"
)

// pageHosts has one host of a publisher for each domain below which publishers have hosts of their
// own. A new platform of this kind in the table needs a host here.
const pageHosts = `
alice.googlesource.com alice.sourceforge.io alice.sourceforge.net alice.github.io alice.gitlab.io alice.codeberg.page alice.bitbucket.io
alice.srht.site alice.gitee.io alice.claude.app alice.claude.site alice.claudeusercontent.com alice.chatgpt.site alice.grok.me alice.x.pages.grok.bot
alice.x.apps.grok.bot alice.pplx.app alice.manus.space alice.lovable.app alice.replit.app alice.x.replit.dev alice.bolt.host alice.vusercontent.net
alice.genspark.space alice.kimi.page alice.coze.site alice.codepen.app alice.codepen.dev alice.stackblitz.io alice.x.webcontainer.io alice.glitch.me
alice.deno.dev alice.deno.net alice.sandbox.deno.net alice.vercel.app alice.vercel.dev alice.now.sh alice.netlify.app alice.pages.dev
alice.workers.dev alice.web.app alice.firebaseapp.com alice.surge.sh alice.onrender.com alice.up.railway.app alice.railway.app alice.fly.dev
alice.herokuapp.com alice.convex.site alice.eu-west-1.convex.site alice.us-east-1.convex.site alice.puter.site alice.puter.app alice.puter.work
alice.expo.app alice.on.expo.app alice.framer.app alice.framer.website alice.framer.ai alice.webflow.io alice.wixsite.com alice.wixstudio.com
alice.squarespace.com alice.notion.site alice.substack.com alice.ghost.io alice.wordpress.com alice.wpcomstaging.com alice.blogspot.com
alice.tumblr.com alice.neocities.org alice.tiiny.site alice.tiiny.host alice.tiiny.co alice.tiiny.io alice.readthedocs.io alice.gitbook.io
alice.mintlify.app alice.mintlify.site alice.hf.space alice.static.hf.space alice.streamlit.app alice.gradio.live alice.modal.run alice.x.modal.host
alice.b-cdn.net alice.kxcdn.com alice.rsc.cdn77.org alice.stackpathcdn.com alice.gcdn.co
`

// TestPageHosts asks for a publisher's host of every platform that has them.
func TestPageHosts(t *testing.T) {
	asked := strings.Fields(pageHosts)
	for p := range dvs.Builtin().All() {
		if len(p.Hosts) > 0 {
			continue // TestPathPlatforms
		}
		for _, domain := range p.Subdomains {
			if !slices.ContainsFunc(asked, func(host string) bool {
				_, parent, _ := strings.Cut(host, ".")
				return matchesLabels(domain, parent)
			}) {
				t.Errorf("no test asks for a host below %s of %s", domain, p.Name)
			}
		}
	}
	for _, host := range asked {
		t.Run("O25/"+host, func(t *testing.T) {
			_, parent, _ := strings.Cut(host, ".")
			if root, err := dvs.ParseTrustRoot("https://"+parent+"/", dvs.Rules{}); err == nil {
				t.Errorf("%s is accepted: %s", parent, root)
			}
			u := skillURL(t, "https://"+host+"/SKILL.md")
			root, source, err := dvs.DefaultRoot(u, dvs.Rules{})
			if err != nil || source != dvs.DefaultOrigin || root.String() != "https://"+host+"/" || root.Covers(skillURL(t, "https://bob."+parent+"/SKILL.md")) {
				t.Errorf("got %s, %s, %v", root, source, err)
			}
			if p, ok := dvs.Builtin().Lookup(host); !ok || len(p.Subdomains) == 0 {
				t.Errorf("the platform of %s is %q", host, p.Name)
			}
		})
	}
}

// matchesLabels reports whether a host matches a pattern, in which "*" is one label or a part
// of one.
func matchesLabels(pattern, host string) bool {
	want, got := strings.Split(pattern, "."), strings.Split(host, ".")
	return len(want) == len(got) && slices.EqualFunc(want, got, func(w, g string) bool {
		before, after, star := strings.Cut(w, "*")
		return w == g || star && strings.HasPrefix(g, before) && strings.HasSuffix(g, after)
	})
}
