package dvs

import (
	"slices"
	"strings"

	"github.com/lookleap/lookleap/internal/domain"
)

// PlatformsDate is the day on which the built-in table was last looked at.
const PlatformsDate = "2026-11-22"

// PublicSuffixDate is the day of the built-in list of public suffixes. A
// [Platform] with Subdomains adds a suffix that is newer.
const PublicSuffixDate = domain.SuffixDate

// builtinPlatforms is what is known of hosts where many publish (section 3.1).
// Its entries come before the Public Suffix List, which takes some of these
// hosts for sites of their own.
func builtinPlatforms() []Platform {
	return slices.Concat(codeHosts(), packageHosts(), registryHosts(), storageHosts(), pageHosts(), sharedHosts(), neverHosts())
}

// codeHosts are where repositories are.
func codeHosts() []Platform {
	forge := []string{"explore", "user", "users", "org", "orgs", "repo", "api", "assets", "attachments", "avatars", "admin", "notifications", "issues", "pulls", "milestones", "swagger.v1.json", "-"}
	groups := []string{
		"-", "admin", "api", "assets", "dashboard", "explore", "files", "groups", "health_check", "help", "import", "invites", "jwt", "oauth",
		"profile", "projects", "public", "s", "search", "sitemap", "snippets", "unsubscribes", "uploads", "users", "v2",
	}
	gitlab := &Source{Marker: "-", Page: "blob", Raw: []string{"raw"}, Dir: []string{"tree"}}
	gitea := &Source{Page: "src", Raw: []string{"raw"}, Kinds: []string{"branch", "tag", "commit"}}
	var public []Platform // instances of GitLab and Forgejo where anyone, or all of a large institution, can have repositories
	for _, host := range strings.Fields(`code.europa.eu git.ligo.org git.rwth-aachen.de gitlab.cern.ch gitlab.e.foundation gitlab.linphone.org gitlab.lrz.de gitlab.ow2.org gitlab.postmarketos.org
		gitlab.xiph.org source.puri.sm`) {
		public = append(public, Platform{Name: "GitLab at " + host, Hosts: []string{host}, Owner: 1, Reserved: groups, Source: gitlab})
	}
	for _, host := range strings.Fields("codefloe.com demo.gitea.com git.fsfe.org git.gay git.tchncs.de projects.blender.org try.gitea.io v11.next.forgejo.org") {
		public = append(public, Platform{Name: "Forgejo at " + host, Hosts: []string{host}, Owner: 1, Reserved: forge, Source: gitea})
	}
	return append(public, []Platform{
		{
			Name: "GitHub", Hosts: []string{"github.com", "www.github.com"}, Owner: 1, Fold: 2,
			Reserved: []string{
				"about", "account", "advisories", "apps", "assets", "blog", "codespaces", "collections", "contact", "copilot", "customer-stories",
				"dashboard", "discussions", "downloads", "edu", "enterprise", "enterprises", "events", "explore", "features", "gist", "import",
				"issues", "join", "login", "logout", "marketplace", "mobile", "models", "new", "notifications", "open-source", "organizations",
				"orgs", "partners", "pricing", "pulls", "raw", "readme", "resources", "search", "security", "sessions", "settings", "signup",
				"site", "solutions", "sponsors", "stars", "static", "team", "topics", "trending", "user-attachments", "users", "watching", "wiki",
			},
			Source: &Source{Page: "blob", Raw: []string{"raw"}, Dir: []string{"tree"}, Default: "HEAD", RawHost: "raw.githubusercontent.com"},
		},
		{
			Name: "GitHub Gist", Hosts: []string{"gist.github.com"}, Owner: 1, Fold: 1, Of: "github.com#gist",
			Reserved: []string{"auth", "discover", "forked", "join", "login", "mine", "search", "starred", "stars"},
			Source:   &Source{Page: "raw", Raw: []string{"raw"}, Flat: true, RawHost: "gist.githubusercontent.com", RawPath: "raw"},
		},
		{Name: "GitHub's files of anybody", Hosts: []string{"*.githubusercontent.com", "api.github.com", "codeload.github.com", "raw.github.com", "uploads.github.com"}, Never: true},
		{Name: "GitLab", Hosts: []string{"gitlab.com", "www.gitlab.com"}, Owner: 1, Reserved: groups, Source: gitlab},
		{Name: "0xacab", Hosts: []string{"0xacab.org"}, Owner: 1, Reserved: groups, Source: gitlab},
		{Name: "Alpine GitLab", Hosts: []string{"gitlab.alpinelinux.org"}, Owner: 1, Reserved: groups, Source: gitlab},
		{Name: "Arch Linux GitLab", Hosts: []string{"gitlab.archlinux.org"}, Owner: 1, Reserved: groups, Source: gitlab},
		{Name: "Debian Salsa", Hosts: []string{"salsa.debian.org"}, Owner: 1, Reserved: groups, Source: gitlab},
		{Name: "Drupal GitLab", Hosts: []string{"git.drupalcode.org"}, Owner: 1, Reserved: groups, Source: gitlab},
		{Name: "Eclipse GitLab", Hosts: []string{"gitlab.eclipse.org"}, Owner: 1, Reserved: groups, Source: gitlab},
		{Name: "Framagit", Hosts: []string{"framagit.org"}, Owner: 1, Reserved: groups, Source: gitlab},
		{Name: "freedesktop.org GitLab", Hosts: []string{"gitlab.freedesktop.org"}, Owner: 1, Reserved: groups, Source: gitlab},
		{Name: "GNOME GitLab", Hosts: []string{"gitlab.gnome.org"}, Owner: 1, Reserved: groups, Source: gitlab},
		{Name: "Haskell GitLab", Hosts: []string{"gitlab.haskell.org"}, Owner: 1, Reserved: groups, Source: gitlab},
		{Name: "Heptapod", Hosts: []string{"foss.heptapod.net"}, Owner: 1, Reserved: groups, Source: gitlab},
		{Name: "Inria GitLab", Hosts: []string{"gitlab.inria.fr"}, Owner: 1, Reserved: groups, Source: gitlab},
		{Name: "JihuLab", Hosts: []string{"jihulab.com", "www.jihulab.com"}, Owner: 1, Reserved: groups, Source: gitlab},
		{Name: "KDE Invent", Hosts: []string{"invent.kde.org"}, Owner: 1, Reserved: groups, Source: gitlab},
		{Name: "Kitware GitLab", Hosts: []string{"gitlab.kitware.com"}, Owner: 1, Reserved: groups, Source: gitlab},
		{Name: "openCode", Hosts: []string{"gitlab.opencode.de"}, Owner: 1, Reserved: groups, Source: gitlab},
		{Name: "Tor GitLab", Hosts: []string{"gitlab.torproject.org"}, Owner: 1, Reserved: groups, Source: gitlab},
		{Name: "VideoLAN GitLab", Hosts: []string{"code.videolan.org"}, Owner: 1, Reserved: groups, Source: gitlab},
		{Name: "Wikimedia GitLab", Hosts: []string{"gitlab.wikimedia.org"}, Owner: 1, Reserved: groups, Source: gitlab},
		{Name: "Codeberg", Hosts: []string{"codeberg.org", "www.codeberg.org"}, Owner: 1, Reserved: forge, Source: gitea},
		{Name: "Disroot", Hosts: []string{"git.disroot.org"}, Owner: 1, Reserved: forge, Source: gitea},
		{Name: "Forgejo", Hosts: []string{"code.forgejo.org"}, Owner: 1, Reserved: forge, Source: gitea},
		{Name: "Gitea", Hosts: []string{"gitea.com", "www.gitea.com"}, Owner: 1, Reserved: forge, Source: gitea},
		{Name: "OpenDev", Hosts: []string{"opendev.org", "www.opendev.org"}, Owner: 1, Reserved: forge, Source: gitea},
		{Name: "NotABug", Hosts: []string{"notabug.org", "www.notabug.org"}, Owner: 1, Reserved: forge},
		{Name: "GitFlic", Hosts: []string{"gitflic.ru", "www.gitflic.ru"}, Below: []Scope{{"project", 2, ""}, {"company", 2, ""}, {"user", 2, ""}}},
		{Name: "GitVerse", Hosts: []string{"gitverse.ru", "www.gitverse.ru"}, Owner: 1, Reserved: []string{"api", "explore", "login", "search", "settings"}},
		{Name: "Launchpad", Hosts: []string{"launchpad.net", "www.launchpad.net", "git.launchpad.net", "code.launchpad.net", "bazaar.launchpad.net"}, Owner: 1, Prefix: "~"},
		{Name: "Launchpad's files of anybody", Hosts: []string{"*.launchpadlibrarian.net", "launchpadlibrarian.net", "*.launchpadcontent.net"}, Never: true},
		{Name: "Pagure", Hosts: []string{"pagure.io", "www.pagure.io"}, Owner: 1, Below: []Scope{{"fork", 2, ""}, {"group", 2, ""}, {"user", 2, ""}},
			Reserved: []string{"about", "api", "dashboard", "groups", "login", "my", "new", "search", "settings", "static", "ui", "users"}},
		{Name: "Tangled", Hosts: []string{"tangled.org", "www.tangled.org", "tangled.sh", "www.tangled.sh"}, Owner: 1, Reserved: []string{"explore", "login", "search", "settings", "signup", "timeline"}},
		{Name: "CNB", Hosts: []string{"cnb.cool", "www.cnb.cool"}, Owner: 1, Reserved: []string{"explore", "login", "search", "settings", "u", "-"}},
		{Name: "GitCode", Hosts: []string{"gitcode.com", "www.gitcode.com", "raw.gitcode.com", "gitcode.net", "www.gitcode.net"}, Owner: 1,
			Reserved: []string{"api", "dashboard", "explore", "groups", "help", "login", "org", "search", "setting", "topics", "users", "-"}},
		{Name: "AtomGit", Hosts: []string{"atomgit.com", "www.atomgit.com", "raw.atomgit.com"}, Owner: 1, Reserved: []string{"api", "dashboard", "explore", "login", "org", "search", "setting"}},
		{Name: "Azure DevOps", Hosts: []string{"dev.azure.com"}, Owner: 1, Fold: 2, Subdomains: []string{"visualstudio.com"},
			Reserved: []string{"_apis", "_signin", "_signout", "_static"}},
		{Name: "Azure DevOps's interface to everything", Hosts: []string{"*.dev.azure.com", "*.vsassets.io", "marketplace.visualstudio.com"}, Never: true},
		{Name: "googlesource.com", Subdomains: []string{"googlesource.com"}},
		{Name: "repo.or.cz", Hosts: []string{"repo.or.cz", "www.repo.or.cz"}, Owner: 1, Below: []Scope{{"r", 2, ""}, {"w", 2, ""}, {"h", 2, ""}}, Reserved: []string{"m", "c", "gitweb.cgi"}},
		{Name: "GNU Savannah", Hosts: []string{"git.savannah.gnu.org", "git.savannah.nongnu.org", "cgit.git.savannah.gnu.org"}, Below: []Scope{{"cgit", 2, ""}, {"gitweb", 2, ""}, {"git", 2, ""}, {"r", 2, ""}}},
		{
			Name: "Bitbucket", Hosts: []string{"bitbucket.org", "www.bitbucket.org"}, Owner: 1,
			Reserved: []string{"account", "api", "blog", "dashboard", "product", "repo", "search", "site", "snippets", "socialauth", "xhr", "!api"},
			Source:   &Source{Page: "src", Raw: []string{"raw"}},
		},
		{Name: "Bitbucket's interface to everything", Hosts: []string{"api.bitbucket.org"}, Never: true},
		{
			Name: "Gitee", Hosts: []string{"gitee.com", "www.gitee.com"}, Owner: 1,
			Reserved: []string{"api", "enterprises", "explore", "help", "login", "search", "signup"},
			Source:   &Source{Page: "blob", Raw: []string{"raw"}, Dir: []string{"tree"}},
		},
		{
			Name: "SourceHut", Hosts: []string{"git.sr.ht"}, Owner: 1, Prefix: "~",
			Source: &Source{Page: "tree", Raw: []string{"blob"}, After: "item"},
		},
		{Name: "SourceHut Mercurial", Hosts: []string{"hg.sr.ht"}, Owner: 1, Prefix: "~"},
		{Name: "SourceHut's lists, tickets and pastes", Hosts: []string{"*.sr.ht"}, Never: true},
		{
			Name: "Hugging Face", Hosts: []string{"huggingface.co", "www.huggingface.co", "hf.co", "www.hf.co"}, Owner: 1,
			Below: []Scope{{"datasets", 2, "huggingface.co#datasets"}, {"spaces", 2, "huggingface.co#spaces"}},
			Reserved: []string{
				"api", "blog", "brand", "changelog", "chat", "collections", "docs", "enterprise", "front", "hub", "inference", "join", "kernels", "learn",
				"login", "metrics", "models", "new", "notifications", "organizations", "papers", "posts", "press", "pricing", "privacy", "search",
				"settings", "support", "tasks", "terms-of-service",
			},
			Source: &Source{Page: "blob", Raw: []string{"raw", "resolve"}, Dir: []string{"tree"}},
		},
		{Name: "Hugging Face's files of anybody", Hosts: []string{"*.huggingface.co", "*.hf.co"}, Never: true},
		{Name: "ModelScope", Hosts: []string{"modelscope.cn", "www.modelscope.cn", "modelscope.ai", "www.modelscope.ai"},
			Below: []Scope{{"models", 2, "modelscope.cn"}, {"datasets", 2, "modelscope.cn#datasets"}, {"studios", 2, "modelscope.cn#studios"}, {"profile", 2, "modelscope.cn#profile"},
				{"organization", 2, "modelscope.cn#organization"}, {"skills", 2, "modelscope.cn#skills"}}},
	}...)
}
