package dvs

import (
	"slices"
	"strings"

	"github.com/lookleap/lookleap/internal/domain"
)

// PlatformsDate is the day of the last review of the built-in table.
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
	gitlab := &Source{Marker: "-", Page: "blob", Raw: []string{"raw"}, Dir: []string{"tree"}, Views: []string{"plain=1", "plain=0"}}
	gitea := &Source{Page: "src", Raw: []string{"raw"}, Kinds: []string{"branch", "tag", "commit"}, Views: []string{"display=source", "display=rendered"}}
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
			Source: &Source{Page: "blob", Raw: []string{"raw"}, Dir: []string{"tree"}, Default: "HEAD", RawHost: "raw.githubusercontent.com", Views: []string{"plain=1", "raw=true", "raw=1"}},
		},
		{
			Name: "GitHub Gist", Hosts: []string{"gist.github.com"}, Owner: 1, Fold: 1, Of: "github.com#gist",
			Reserved: []string{"auth", "discover", "forked", "join", "login", "mine", "search", "starred", "stars"},
			Source:   &Source{Page: "raw", Raw: []string{"raw"}, Flat: true, RawHost: "gist.githubusercontent.com", RawPath: "raw"},
		},
		{Name: "GitHub's files of all users", Hosts: []string{"*.githubusercontent.com", "api.github.com", "codeload.github.com", "raw.github.com", "uploads.github.com"}, Never: true},
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
		{Name: "Launchpad's files of all users", Hosts: []string{"*.launchpadlibrarian.net", "launchpadlibrarian.net", "*.launchpadcontent.net"}, Never: true},
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
		{Name: "SourceHut Mercurial", Hosts: []string{"hg.sr.ht"}, Owner: 1, Prefix: "~", Of: "git.sr.ht#hg"},
		{Name: "SourceHut's lists, tickets and pastes", Hosts: []string{"*.sr.ht"}, Never: true},
		{
			Name: "Hugging Face", Hosts: []string{"huggingface.co", "www.huggingface.co"}, Aliases: []string{"hf.co", "www.hf.co"}, Owner: 1,
			Below: []Scope{{"datasets", 2, "huggingface.co#datasets"}, {"spaces", 2, "huggingface.co#spaces"}},
			Reserved: []string{
				"api", "blog", "brand", "changelog", "chat", "collections", "docs", "enterprise", "front", "hub", "inference", "join", "kernels", "learn",
				"login", "metrics", "models", "new", "notifications", "organizations", "papers", "posts", "press", "pricing", "privacy", "search",
				"settings", "support", "tasks", "terms-of-service",
			},
			Source: &Source{Page: "blob", Raw: []string{"raw", "resolve"}, Dir: []string{"tree"}},
		},
		{Name: "Hugging Face's files of all users", Hosts: []string{"*.huggingface.co", "*.hf.co"}, Never: true},
		{Name: "ModelScope", Hosts: []string{"modelscope.cn", "www.modelscope.cn", "modelscope.ai", "www.modelscope.ai"},
			Below: []Scope{{"models", 2, "modelscope.cn"}, {"datasets", 2, "modelscope.cn#datasets"}, {"studios", 2, "modelscope.cn#studios"}, {"profile", 2, "modelscope.cn#profile"},
				{"organization", 2, "modelscope.cn#organization"}, {"skills", 2, "modelscope.cn#skills"}}},
	}...)
}

// registryHosts are package registries, hosts of documentation, and hubs of models and data sets,
// where everyone shares one origin.
func registryHosts() []Platform {
	return []Platform{
		{Name: "PyPI", Hosts: []string{"pypi.org", "www.pypi.org", "test.pypi.org"}, Below: []Scope{{"project", 2, ""}, {"simple", 2, "pypi.org/project"}, {"pypi", 2, "pypi.org/project"}, {"user", 2, ""}, {"org", 2, ""}}},
		{Name: "crates.io", Hosts: []string{"crates.io", "www.crates.io", "static.crates.io", "lib.rs"}, Below: []Scope{{"crates", 2, ""}, {"users", 2, ""}, {"teams", 2, ""}}},
		{Name: "docs.rs", Hosts: []string{"docs.rs", "www.docs.rs"}, Owner: 1, Of: "crates.io/crates", Below: []Scope{{"crate", 2, "crates.io/crates"}}, Reserved: []string{"-", "about", "releases"}},
		{Name: "pub.dev", Hosts: []string{"pub.dev", "www.pub.dev", "pub.dartlang.org"}, Below: []Scope{{"packages", 2, ""}, {"documentation", 2, "pub.dev/packages"}, {"publishers", 2, ""}}},
		{Name: "RubyGems", Hosts: []string{"rubygems.org", "www.rubygems.org"}, Below: []Scope{{"gems", 2, ""}, {"profiles", 2, ""}}},
		{Name: "RubyDoc", Hosts: []string{"rubydoc.info", "www.rubydoc.info", "gemdocs.org"}, Below: []Scope{{"gems", 2, "rubygems.org/gems"}, {"github", 2, "github.com"}}},
		{Name: "Packagist", Hosts: []string{"packagist.org", "www.packagist.org", "repo.packagist.org"}, Below: []Scope{{"packages", 2, ""}, {"p2", 2, "packagist.org/packages"}, {"users", 2, ""}}},
		{Name: "NuGet", Hosts: []string{"www.nuget.org", "nuget.org"}, Below: []Scope{{"packages", 2, ""}, {"profiles", 2, ""}}},
		{Name: "NuGet's files", Hosts: []string{"api.nuget.org"}, Below: []Scope{{"v3-flatcontainer", 2, "www.nuget.org/packages"}}},
		{Name: "Hex", Hosts: []string{"hex.pm", "www.hex.pm"}, Below: []Scope{{"packages", 2, ""}, {"users", 2, ""}, {"orgs", 2, ""}}},
		{Name: "HexDocs", Hosts: []string{"hexdocs.pm", "www.hexdocs.pm"}, Owner: 1, Of: "hex.pm/packages"},
		{Name: "Hackage", Hosts: []string{"hackage.haskell.org"}, Below: []Scope{{"package", 2, ""}, {"user", 2, ""}}},
		{Name: "CPAN", Hosts: []string{"metacpan.org", "www.metacpan.org", "fastapi.metacpan.org"}, Below: []Scope{{"release", 2, ""}, {"dist", 2, ""}, {"pod", 2, ""}, {"module", 2, ""}, {"author", 2, ""}}},
		{Name: "CRAN", Hosts: []string{"cran.r-project.org", "cloud.r-project.org"}, Below: []Scope{{"web/packages", 3, ""}}},
		{Name: "Anaconda", Hosts: []string{"anaconda.org", "www.anaconda.org", "conda.anaconda.org"}, Owner: 1, Reserved: []string{"about", "account", "search"}},
		{Name: "Maven Central", Hosts: []string{"repo1.maven.org", "repo.maven.apache.org"}, Below: []Scope{{"maven2", 3, ""}}},
		{Name: "pages about Maven packages", Hosts: []string{"central.sonatype.com", "mvnrepository.com"}, Below: []Scope{{"artifact", 2, ""}}},
		{Name: "JitPack", Hosts: []string{"jitpack.io", "www.jitpack.io"}, Never: true},
		{Name: "Go packages", Hosts: []string{"pkg.go.dev", "godoc.org", "goproxy.io", "goproxy.cn", "sum.golang.org"}, Never: true},
		{Name: "CocoaPods", Hosts: []string{"cocoapods.org", "www.cocoapods.org"}, Below: []Scope{{"pods", 2, ""}, {"owners", 2, ""}}},
		{Name: "Swift Package Index", Hosts: []string{"swiftpackageindex.com"}, Owner: 1, Of: "github.com"},
		{Name: "Puppet Forge", Hosts: []string{"forge.puppet.com"}, Below: []Scope{{"modules", 2, ""}}},
		{Name: "Ansible Galaxy", Hosts: []string{"galaxy.ansible.com"}, Below: []Scope{{"ui/repo/published", 4, ""}}},
		{Name: "Terraform Registry", Hosts: []string{"registry.terraform.io", "registry.opentofu.org"}, Below: []Scope{{"modules", 2, ""}, {"providers", 2, ""}}},
		{Name: "Artifact Hub", Hosts: []string{"artifacthub.io"}, Below: []Scope{{"packages", 4, ""}}},
		{Name: "Docker Hub", Hosts: []string{"hub.docker.com"}, Below: []Scope{{"r", 2, ""}, {"u", 2, "hub.docker.com/r"}, {"_", 2, ""}}},
		{Name: "Docker Hub's files", Hosts: []string{"registry-1.docker.io", "docker.io", "index.docker.io"}, Below: []Scope{{"v2", 2, "hub.docker.com/r"}}},
		{Name: "GitHub Container Registry", Hosts: []string{"ghcr.io"}, Owner: 1, Of: "github.com#packages", Below: []Scope{{"v2", 2, "github.com#packages"}}, Reserved: []string{"token"}},
		{Name: "Quay", Hosts: []string{"quay.io", "www.quay.io"}, Below: []Scope{{"repository", 2, ""}, {"v2", 2, "quay.io/repository"}, {"user", 2, ""}, {"organization", 2, ""}}},
		{Name: "Amazon's public container registry", Hosts: []string{"public.ecr.aws", "gallery.ecr.aws"}, Owner: 1, Below: []Scope{{"v2", 2, "public.ecr.aws"}}},
		{Name: "Open VSX", Hosts: []string{"open-vsx.org", "www.open-vsx.org"}, Below: []Scope{{"extension", 2, ""}, {"namespace", 2, "open-vsx.org/extension"}, {"api", 2, "open-vsx.org/extension"}, {"vscode/unpkg", 3, "open-vsx.org/extension"}}},
		{Name: "stores of extensions", Hosts: []string{"addons.mozilla.org", "chromewebstore.google.com", "chrome.google.com", "microsoftedge.microsoft.com", "plugins.jetbrains.com", "raycast.com", "www.raycast.com"}, Never: true},
		{Name: "Ollama", Hosts: []string{"ollama.com", "www.ollama.com", "registry.ollama.ai"}, Owner: 1, Below: []Scope{{"v2", 2, "ollama.com"}}, Reserved: []string{"api", "blog", "download", "models", "search", "settings", "signin"}},
		{Name: "Replicate", Hosts: []string{"replicate.com", "www.replicate.com"}, Owner: 1, Reserved: []string{"about", "account", "blog", "collections", "docs", "explore", "p", "pricing", "signin"}},
		{Name: "Civitai", Hosts: []string{"civitai.com", "www.civitai.com", "civitai.green", "civitai.red"}, Below: []Scope{{"models", 2, ""}, {"user", 2, ""}, {"articles", 2, ""}, {"api/download/models", 4, ""}}},
		{Name: "Weights & Biases", Hosts: []string{"wandb.ai", "www.wandb.ai"}, Owner: 1, Reserved: []string{"authorize", "fully-connected", "home", "login", "settings", "site"}},
		{Name: "DagsHub", Hosts: []string{"dagshub.com", "www.dagshub.com"}, Owner: 1, Reserved: []string{"api", "blog", "explore", "search", "user"}},
		{Name: "Roboflow Universe", Hosts: []string{"universe.roboflow.com"}, Owner: 1, Reserved: []string{"browse", "search"}},
		{Name: "Zenodo", Hosts: []string{"zenodo.org", "www.zenodo.org", "sandbox.zenodo.org"}, Below: []Scope{{"records", 2, ""}, {"record", 2, "zenodo.org/records"}, {"api/records", 3, "zenodo.org/records"}}},
		{Name: "OSF", Hosts: []string{"osf.io", "www.osf.io"}, Owner: 1, Reserved: []string{"dashboard", "download", "preprints", "project", "registries", "search", "settings"}},
		{Name: "arXiv", Hosts: []string{"arxiv.org", "www.arxiv.org", "export.arxiv.org"}, Below: []Scope{{"abs", 2, ""}, {"html", 2, "arxiv.org/abs"}, {"pdf", 2, "arxiv.org/abs"}, {"src", 2, "arxiv.org/abs"}}},
		{Name: "Mendeley Data", Hosts: []string{"data.mendeley.com"}, Below: []Scope{{"datasets", 2, ""}}},
		{Name: "repositories of papers and data sets", Never: true, Hosts: []string{
			"figshare.com", "*.figshare.com", "dataverse.harvard.edu", "datadryad.org", "data.world", "openml.org", "www.openml.org", "paperswithcode.com", "researchgate.net", "www.researchgate.net",
			"academia.edu", "www.academia.edu", "papers.ssrn.com", "openreview.net", "scribd.com", "www.scribd.com", "slideshare.net", "www.slideshare.net", "speakerdeck.com", "issuu.com",
		}},
	}
}

// sharedHosts are applications that show at one origin what any of their users wrote.
func sharedHosts() []Platform {
	return []Platform{
		{Name: "assistants, whose conversations and artifacts anyone can share", Never: true, Hosts: []string{
			"claude.ai", "www.claude.ai", "chatgpt.com", "www.chatgpt.com", "chat.openai.com", "gemini.google.com", "g.co", "aistudio.google.com", "notebooklm.google.com", "grok.com", "perplexity.ai", "www.perplexity.ai",
			"copilot.microsoft.com", "chat.deepseek.com", "chat.mistral.ai", "chat.qwen.ai", "kimi.com", "www.kimi.com", "poe.com", "manus.im", "www.genspark.ai", "chat.z.ai", "coze.com", "www.coze.com", "www.coze.cn", "gamma.app",
		}},
		{Name: "editors that run anyone's code", Never: true, Hosts: []string{
			"v0.dev", "www.v0.dev", "v0.app", "www.v0.app", "codesandbox.io", "www.codesandbox.io", "stackblitz.com", "www.stackblitz.com", "bolt.new", "lovable.dev", "glitch.com", "playcode.io", "plnkr.co", "run.plnkr.co",
			"jsbin.com", "output.jsbin.com", "null.jsbin.com", "runkit.com", "play.golang.org", "play.rust-lang.org", "godbolt.org", "ideone.com", "onecompiler.com", "websim.ai", "websim.com", "deepnote.com", "mybinder.org", "nbviewer.org", "nbviewer.jupyter.org",
		}},
		{Name: "shared notes, boards and documents", Never: true, Hosts: []string{
			"notion.so", "www.notion.so", "coda.io", "quip.com", "www.evernote.com", "paper.dropbox.com", "docs.zoho.com", "trello.com", "miro.com", "www.figma.com", "figma.com", "www.canva.com", "share.nuclino.com", "craft.do", "workflowy.com",
			"app.clickup.com", "doc.clickup.com", "docs.qq.com", "shimo.im", "kdocs.cn", "www.kdocs.cn", "demo.hedgedoc.org", "demo.codimd.org", "pad.riseup.net", "cryptpad.fr", "etherpad.wikimedia.org", "md.ai", "stackedit.io", "dontpad.com", "onedrive.com",
			"share.evernote.com", "documenter.getpostman.com", "www.postman.com", "app.swaggerhub.com", "api.swaggerhub.com", "publish.obsidian.md",
		}},
		{Name: "forms and tables", Never: true, Hosts: []string{
			"forms.gle", "forms.office.com", "forms.microsoft.com", "tally.so", "jotform.com", "www.jotform.com", "form.jotform.com", "airtable.com", "www.airtable.com", "www.surveymonkey.com", "fillout.com", "form.fillout.com", "www.cognitoforms.com", "formspree.io", "wj.qq.com",
		}},
		{Name: "wikis that anyone can edit", Never: true, Hosts: []string{
			"*.wikipedia.org", "*.wikimedia.org", "*.wikibooks.org", "*.wikiversity.org", "*.wikisource.org", "*.wikivoyage.org", "*.wiktionary.org", "*.wikiquote.org", "*.wikinews.org", "wikidata.org", "www.wikidata.org", "www.mediawiki.org",
			"*.fandom.com", "*.wikia.com", "*.wikia.org", "*.miraheze.org", "*.wikidot.com", "*.wiki.gg", "*.shoutwiki.com", "*.wikitide.org", "*.fextralife.com", "wikihow.com", "www.wikihow.com", "wiki.c2.com", "rosettacode.org",
		}},
		{Name: "forums and networks of anyone's posts", Never: true, Hosts: []string{
			"reddit.com", "www.reddit.com", "old.reddit.com", "redd.it", "stackoverflow.com", "*.stackexchange.com", "superuser.com", "serverfault.com", "askubuntu.com", "mathoverflow.net", "quora.com", "www.quora.com", "news.ycombinator.com", "lobste.rs",
			"x.com", "twitter.com", "facebook.com", "www.facebook.com", "www.linkedin.com", "bsky.app", "www.threads.net", "www.threads.com", "vk.com", "weibo.com", "www.zhihu.com", "zhuanlan.zhihu.com", "juejin.cn", "www.jianshu.com", "hackernoon.com", "www.instructables.com",
		}},
		{Name: "Qiita", Hosts: []string{"qiita.com"}, Owner: 1, Reserved: []string{"api", "organizations", "search", "tags", "trend"}},
		{Name: "Zenn", Hosts: []string{"zenn.dev"}, Owner: 1, Reserved: []string{"api", "articles", "books", "p", "search", "topics"}},
		{Name: "note", Hosts: []string{"note.com"}, Owner: 1, Reserved: []string{"api", "hashtag", "search", "topic"}},
		{Name: "Velog", Hosts: []string{"velog.io"}, Owner: 1, Prefix: "@"},
		{Name: "Hashnode", Hosts: []string{"hashnode.com"}, Owner: 1, Prefix: "@"},
		{Name: "CSDN", Hosts: []string{"blog.csdn.net"}, Owner: 1, Reserved: []string{"article", "nav"}},
		{Name: "cnblogs", Hosts: []string{"www.cnblogs.com", "cnblogs.com"}, Owner: 1},
		{Name: "Yuque", Hosts: []string{"www.yuque.com", "yuque.com"}, Owner: 1, Reserved: []string{"api", "dashboard", "docs", "explore", "login", "r"}},
		{Name: "Naver Blog", Hosts: []string{"blog.naver.com", "m.blog.naver.com"}, Owner: 1},
		{Name: "Angelfire", Hosts: []string{"www.angelfire.com", "angelfire.com"}, Owner: 2},
	}
}

// packageHosts are where packages and collections of skills and models are.
func packageHosts() []Platform {
	return []Platform{
		{Name: "jsDelivr", Hosts: []string{"cdn.jsdelivr.net", "fastly.jsdelivr.net", "gcore.jsdelivr.net", "www.jsdelivr.net", "*.jsdelivr.net", "jsdelivr.com", "*.jsdelivr.com"},
			Below: []Scope{{"gh", 2, "github.com"}, {"npm", 2, "npmjs.com"}}, AtRef: true},
		{Name: "mirrors of jsDelivr", Hosts: []string{"cdn.jsdmirror.com", "cdn.jsdmirror.cn", "*.jsdmirror.com", "*.jsdmirror.cn", "jsd.onmicrosoft.cn", "jsd.cdn.zzko.cn", "jsdelivr.b-cdn.net", "jsd.proxy.aks.moe", "cdn.jsdelivr.ren"},
			Below: []Scope{{"gh", 2, "github.com"}, {"npm", 2, "npmjs.com"}}, AtRef: true},
		{Name: "unpkg", Hosts: []string{"unpkg.com", "*.unpkg.com"}, Owner: 1, AtRef: true, Of: "npmjs.com"},
		{Name: "esm.sh", Hosts: []string{"esm.sh", "www.esm.sh", "cdn.esm.sh", "*.esm.sh"}, Owner: 1, AtRef: true, Of: "npmjs.com",
			Below: []Scope{{"gh", 2, "github.com"}, {"jsr", 2, "jsr.io"}}, Skip: []string{"v#", "stable"},
			Reserved: []string{"pr", "x", "node", "run", "tsx", "uno", "transform", "status.json", "https:", "http:"}},
		{Name: "mirrors of unpkg", Owner: 1, AtRef: true, Of: "npmjs.com",
			Hosts: []string{"npm.elemecdn.com", "unpkg.zhimg.com", "unpkg.onmicrosoft.cn", "npm.onmicrosoft.cn", "npm.webcache.cn", "unpkg.cnpmjs.org", "npmcdn.com", "bundle.run"}},
		{Name: "esm.run", Hosts: []string{"esm.run", "*.esm.run"}, Owner: 1, AtRef: true, Of: "npmjs.com"},
		{Name: "Skypack", Hosts: []string{"cdn.skypack.dev", "www.skypack.dev", "*.skypack.dev"}, Owner: 1, AtRef: true, Of: "npmjs.com", Skip: []string{"pin", "new"}, Reserved: []string{"-", "error"}},
		{Name: "JSPM", Hosts: []string{"ga.jspm.io", "*.jspm.io", "jspm.dev", "*.jspm.dev"}, Owner: 1, AtRef: true, Of: "npmjs.com",
			Below: []Scope{{"npm:", 1, "npmjs.com"}, {"github:", 1, "github.com"}, {"jsr:", 1, "jsr.io"}, {"deno:", 1, ""}, {"denoland:", 1, ""}, {"app:", 1, ""}}},
		{Name: "npm", Hosts: []string{"registry.npmjs.org", "registry.npmjs.com", "registry.yarnpkg.com", "registry.npmmirror.com", "cdn.npmmirror.com", "registry.cnpmjs.org", "r.cnpmjs.org", "registry.npm.taobao.org"}, Owner: 1, Below: []Scope{{"packages", 2, "npmjs.com"}}, AtRef: true, Of: "npmjs.com", Reserved: []string{"-"}},
		{Name: "npm's pages", Hosts: []string{"npmjs.com", "www.npmjs.com", "npmjs.org", "www.npmjs.org", "npmmirror.com", "www.npmmirror.com"}, Below: []Scope{{"package", 2, "npmjs.com"}}, AtRef: true},
		{Name: "JSR", Hosts: []string{"jsr.io", "www.jsr.io", "npm.jsr.io"}, Owner: 1, Prefix: "@", AtRef: true},
		{Name: "Deno Land", Hosts: []string{"deno.land", "www.deno.land"}, Below: []Scope{{"x", 2, ""}}, AtRef: true},
		{Name: "cdnjs", Hosts: []string{"cdnjs.cloudflare.com", "cdnjs.com", "www.cdnjs.com"}, Below: []Scope{{"ajax/libs", 3, "cdnjs.com"}, {"libraries", 2, "cdnjs.com"}}},
		{Name: "mirrors of cdnjs", Hosts: []string{"cdn.bootcdn.net", "lib.baomitu.com", "cdn.staticfile.net", "cdn.staticfile.org"}, Below: []Scope{{"ajax/libs", 3, "cdnjs.com"}, {"cdnjs/ajax/libs", 4, "cdnjs.com"}}, Owner: 1, Of: "cdnjs.com"},
		{Name: "Val Town", Hosts: []string{"esm.town", "www.val.town", "val.town"}, Below: []Scope{{"v", 2, ""}, {"x", 2, ""}}},
		{Name: "ClawHub", Hosts: []string{"clawhub.ai", "www.clawhub.ai", "clawhub.com", "www.clawhub.com"}, Owner: 1,
			Reserved: []string{"admin", "api", "dashboard", "docs", "login", "p", "plugins", "publish", "search", "settings", "skills", "souls", "stars", "u", "upload", "users"}},
		{Name: "Smithery", Hosts: []string{"smithery.ai", "www.smithery.ai"}, Below: []Scope{{"server", 2, ""}, {"servers", 2, ""}, {"skills", 2, ""}}},
		{Name: "LobeHub", Hosts: []string{"lobehub.com", "www.lobehub.com"}, Below: []Scope{{"mcp", 2, ""}, {"agent", 2, ""}, {"skills", 2, ""}, {"plugin", 2, ""}}},
		{
			Name: "Kaggle", Hosts: []string{"kaggle.com", "www.kaggle.com"}, Owner: 1,
			Below:    []Scope{{"code", 2, "kaggle.com#code"}, {"datasets", 2, "kaggle.com#datasets"}, {"models", 2, "kaggle.com#models"}, {"organizations", 2, ""}},
			Reserved: []string{"account", "api", "c", "competitions", "discussions", "docs", "learn", "rankings", "search", "settings"},
		},
		{Name: "SourceForge's project sites", Subdomains: []string{"sourceforge.io", "sourceforge.net"}, Of: "sourceforge.net#web"},
		{Name: "SourceForge", Hosts: []string{"sourceforge.net", "www.sourceforge.net"}, Below: []Scope{{"p", 2, "sourceforge.net"}, {"projects", 2, "sourceforge.net"}, {"u", 2, ""}}},
		{Name: "SourceForge's files", Hosts: []string{"downloads.sourceforge.net", "*.dl.sourceforge.net"}, Below: []Scope{{"project", 2, "sourceforge.net"}}, Reserved: []string{"sourceforge"}},
	}
}

// storageHosts serve files of all users, told apart by a bucket or account.
// A bucket is named in the path or by the host, and is the same either way.
func storageHosts() []Platform {
	return []Platform{
		{Name: "Amazon S3", Owner: 1,
			Hosts:      []string{"s3.amazonaws.com", "s3-*.amazonaws.com", "s3.*.amazonaws.com", "s3-*.*.amazonaws.com", "s3.dualstack.*.amazonaws.com", "s3-*.dualstack.*.amazonaws.com", "s3.*.amazonaws.com.cn", "s3.dualstack.*.amazonaws.com.cn"},
			Subdomains: []string{"s3.amazonaws.com", "s3-*.amazonaws.com", "s3.*.amazonaws.com", "s3-*.*.amazonaws.com", "s3.dualstack.*.amazonaws.com", "s3-*.dualstack.*.amazonaws.com", "s3.*.amazonaws.com.cn", "s3.dualstack.*.amazonaws.com.cn"}},
		{Name: "Google Cloud Storage", Hosts: []string{"storage.googleapis.com", "www.storage.googleapis.com", "storage.cloud.google.com", "commondatastorage.googleapis.com", "storage-download.googleapis.com", "storage.mtls.googleapis.com"}, Owner: 1,
			Reserved:   []string{"batch", "download", "storage", "upload"},
			Subdomains: []string{"storage.googleapis.com", "commondatastorage.googleapis.com"}},
		{Name: "Google Cloud Storage by region", Hosts: []string{"storage.*.rep.googleapis.com"}, Owner: 1, Reserved: []string{"batch", "download", "storage", "upload"},
			Subdomains: []string{"storage.*.rep.googleapis.com"}, Of: "storage.googleapis.com"},
		{Name: "Google's interface to everything", Hosts: []string{"www.googleapis.com", "content.googleapis.com", "drive.googleapis.com"}, Never: true},
		{Name: "Firebase Storage", Hosts: []string{"firebasestorage.googleapis.com", "www.firebasestorage.googleapis.com"}, Below: []Scope{{"v0/b", 3, "storage.googleapis.com"}}},
		{Name: "Backblaze B2's own paths", Hosts: []string{"backblazeb2.com", "*.backblazeb2.com"}, Below: []Scope{{"file", 2, "backblazeb2.com"}}},
		{Name: "Backblaze B2", Hosts: []string{"s3.*.backblazeb2.com"}, Subdomains: []string{"s3.*.backblazeb2.com"}, Owner: 1, Of: "backblazeb2.com"},
		{Name: "Wasabi", Hosts: []string{"s3.wasabisys.com", "s3.*.wasabisys.com"}, Subdomains: []string{"s3.wasabisys.com", "s3.*.wasabisys.com"}, Owner: 1},
		{Name: "Alibaba Cloud OSS", Hosts: []string{"oss.aliyuncs.com", "oss-*.aliyuncs.com"}, Subdomains: []string{"oss.aliyuncs.com", "oss-*.aliyuncs.com"}, Owner: 1},
		{Name: "Alibaba Cloud OSS, S3 endpoints", Hosts: []string{"s3.oss-*.aliyuncs.com"}, Subdomains: []string{"s3.oss-*.aliyuncs.com"}, Owner: 1, Of: "oss.aliyuncs.com"},
		{Name: "Oracle Cloud", Hosts: []string{"objectstorage.*.oraclecloud.com", "objectstorage.*.customer-oci.com"}, Below: []Scope{{"n", 4, ""}}},
		{Name: "Oracle Cloud, tenancy endpoints", Hosts: []string{"*.objectstorage.*.oci.customer-oci.com"}, Below: []Scope{{"n", 4, ""}}},
		{Name: "Oracle Cloud, S3 and Swift endpoints", Hosts: []string{"*.compat.objectstorage.*.oraclecloud.com", "*.compat.objectstorage.*.oci.customer-oci.com"}, Owner: 1},
		{Name: "Oracle Cloud, Swift endpoints", Hosts: []string{"swiftobjectstorage.*.oraclecloud.com"}, Below: []Scope{{"v1", 3, ""}}},
		{Name: "DigitalOcean Spaces", Hosts: []string{"*.digitaloceanspaces.com"}, Subdomains: []string{"*.digitaloceanspaces.com", "*.cdn.digitaloceanspaces.com"}, Owner: 1, Of: "digitaloceanspaces.com"},
		{Name: "Linode Object Storage", Hosts: []string{"*.linodeobjects.com"}, Subdomains: []string{"*.linodeobjects.com"}, Owner: 1, Of: "linodeobjects.com"},
		{Name: "Vultr Object Storage", Hosts: []string{"*.vultrobjects.com"}, Subdomains: []string{"*.vultrobjects.com"}, Owner: 1, Of: "vultrobjects.com"},
		{Name: "Hetzner Object Storage", Hosts: []string{"*.your-objectstorage.com"}, Subdomains: []string{"*.your-objectstorage.com"}, Owner: 1, Of: "your-objectstorage.com"},
		{Name: "Scaleway", Hosts: []string{"s3.*.scw.cloud"}, Subdomains: []string{"s3.*.scw.cloud", "s3-website.*.scw.cloud"}, Owner: 1, Of: "scw.cloud"},
		{Name: "OVHcloud", Hosts: []string{"s3.*.io.cloud.ovh.net", "s3.*.perf.cloud.ovh.net", "s3.*.cloud.ovh.net", "s3.*.io.cloud.ovh.us"}, Subdomains: []string{"s3.*.io.cloud.ovh.net", "s3.*.perf.cloud.ovh.net", "s3.*.cloud.ovh.net", "s3.*.io.cloud.ovh.us"}, Owner: 1, Of: "cloud.ovh.net"},
		{Name: "OVHcloud, Swift endpoints", Hosts: []string{"storage.*.cloud.ovh.net"}, Below: []Scope{{"v1", 3, ""}}},
		{Name: "IBM Cloud", Hosts: []string{"s3.*.cloud-object-storage.appdomain.cloud", "s3.*.*.cloud-object-storage.appdomain.cloud"}, Subdomains: []string{"s3.*.cloud-object-storage.appdomain.cloud"}, Owner: 1, Of: "cloud-object-storage.appdomain.cloud"},
		{Name: "Tencent Cloud", Hosts: []string{"cos.*.myqcloud.com", "cos.*.tencentcos.cn"}, Subdomains: []string{"cos.*.myqcloud.com", "cos.*.tencentcos.cn", "cos-website.*.myqcloud.com", "file.myqcloud.com"}, Owner: 1, Of: "myqcloud.com"},
		{Name: "Huawei Cloud", Hosts: []string{"obs.*.myhuaweicloud.com"}, Subdomains: []string{"obs.*.myhuaweicloud.com", "obs-website.*.myhuaweicloud.com"}, Owner: 1, Of: "myhuaweicloud.com"},
		{Name: "Volcano Engine", Hosts: []string{"tos-*.volces.com", "tos-*.ivolces.com"}, Subdomains: []string{"tos-*.volces.com"}, Owner: 1, Of: "volces.com"},
		{Name: "Baidu Cloud", Hosts: []string{"*.bcebos.com", "bcebos.com"}, Subdomains: []string{"*.bcebos.com"}, Owner: 1, Of: "bcebos.com"},
		{Name: "Yandex Cloud", Hosts: []string{"storage.yandexcloud.net", "s3.yandexcloud.net"}, Subdomains: []string{"storage.yandexcloud.net", "s3.yandexcloud.net", "website.yandexcloud.net"}, Owner: 1},
		{Name: "VK Cloud", Hosts: []string{"hb.*.vkcloud-storage.ru", "hb.bizmrg.com"}, Subdomains: []string{"hb.*.vkcloud-storage.ru", "hb.bizmrg.com"}, Owner: 1, Of: "vkcloud-storage.ru"},
		{Name: "Selectel", Hosts: []string{"s3.storage.selcloud.ru", "s3.*.storage.selcloud.ru"}, Subdomains: []string{"s3.storage.selcloud.ru", "s3.*.storage.selcloud.ru"}, Owner: 1},
		{Name: "Exoscale", Hosts: []string{"sos-*.exo.io"}, Subdomains: []string{"sos-*.exo.io"}, Owner: 1, Of: "exo.io"},
		{Name: "Storj", Hosts: []string{"gateway.storjshare.io", "gateway.*.storjshare.io"}, Subdomains: []string{"gateway.storjshare.io"}, Owner: 1},
		{Name: "Filebase", Hosts: []string{"s3.filebase.com", "s3.filebase.io"}, Subdomains: []string{"s3.filebase.com", "s3.filebase.io"}, Owner: 1},
		{Name: "DreamObjects", Hosts: []string{"objects-*.dream.io", "s3.*.dream.io"}, Subdomains: []string{"objects-*.dream.io", "s3.*.dream.io"}, Owner: 1, Of: "dream.io"},
		{Name: "IDrive e2", Hosts: []string{"*.idrivee2-*.com", "s3.*.idrivee2.com"}, Subdomains: []string{"*.idrivee2-*.com", "s3.*.idrivee2.com"}, Owner: 1, Of: "idrivee2.com"},
		{Name: "Tigris", Hosts: []string{"fly.storage.tigris.dev", "t3.storage.dev", "t3.storageapi.dev"}, Subdomains: []string{"fly.storage.tigris.dev", "t3.storage.dev", "t3.storageapi.dev", "t3.tigrisfiles.io"}, Owner: 1},
		{Name: "Tebi", Hosts: []string{"s3.tebi.io"}, Subdomains: []string{"s3.tebi.io"}, Owner: 1},
		{Name: "Timeweb Cloud", Hosts: []string{"s3.timeweb.cloud", "s3.twcstorage.ru"}, Subdomains: []string{"s3.timeweb.cloud", "s3.twcstorage.ru"}, Owner: 1},
		{Name: "Contabo", Hosts: []string{"*.contabostorage.com"}, Owner: 1, Of: "contabostorage.com"},
		{Name: "Internet Archive, S3 endpoint", Hosts: []string{"s3.us.archive.org"}, Never: true},
		{Name: "Cloudinary", Hosts: []string{"res.cloudinary.com", "res-*.cloudinary.com"}, Subdomains: []string{"res.cloudinary.com"}, Owner: 1},
		{Name: "ImageKit", Hosts: []string{"ik.imagekit.io"}, Owner: 1},
		{Name: "Bytescale", Hosts: []string{"upcdn.io"}, Owner: 1},
		{Name: "Wix files", Hosts: []string{"static.wixstatic.com", "video.wixstatic.com"}, Never: true},
		{Name: "Shopify files", Hosts: []string{"cdn.shopify.com"}, Never: true},
	}
}

// pageHosts serve pages of all users.
func pageHosts() []Platform {
	return []Platform{
		{Name: "GitHub Pages", Subdomains: []string{"github.io"}, Of: "github.com#pages"},
		{Name: "GitLab Pages", Subdomains: []string{"gitlab.io"}, Of: "gitlab.com#pages"},
		{Name: "Codeberg Pages by path", Hosts: []string{"raw.codeberg.page"}, Owner: 1, Of: "codeberg.org#pages"},
		{Name: "Codeberg Pages", Subdomains: []string{"codeberg.page"}, Of: "codeberg.org#pages"},
		{Name: "Bitbucket Cloud sites", Subdomains: []string{"bitbucket.io"}, Of: "bitbucket.org#pages"},
		{Name: "SourceHut pages", Subdomains: []string{"srht.site"}},
		{Name: "zones of content delivery networks", Subdomains: []string{"b-cdn.net", "kxcdn.com", "rsc.cdn77.org", "stackpathcdn.com", "gcdn.co"}},
		{Name: "Gitee Pages", Subdomains: []string{"gitee.io"}, Of: "gitee.com#pages"},
		{Name: "Claude artifacts", Subdomains: []string{"claude.app", "claude.site", "claudeusercontent.com"}},
		{Name: "ChatGPT sites", Subdomains: []string{"chatgpt.site"}},
		{Name: "Grok pages", Subdomains: []string{"grok.me", "*.pages.grok.bot", "*.apps.grok.bot"}},
		{Name: "Perplexity pages", Subdomains: []string{"pplx.app"}},
		{Name: "Manus", Subdomains: []string{"manus.space"}},
		{Name: "Lovable", Subdomains: []string{"lovable.app"}},
		{Name: "Replit apps", Subdomains: []string{"replit.app", "*.replit.dev"}},
		{Name: "Bolt", Subdomains: []string{"bolt.host"}},
		{Name: "v0", Subdomains: []string{"vusercontent.net"}},
		{Name: "Genspark", Subdomains: []string{"genspark.space"}},
		{Name: "Kimi", Subdomains: []string{"kimi.page"}},
		{Name: "Coze", Subdomains: []string{"coze.site"}},
		{Name: "CodePen sites", Subdomains: []string{"codepen.app", "codepen.dev"}},
		{Name: "StackBlitz", Subdomains: []string{"stackblitz.io", "*.webcontainer.io"}},
		{Name: "Glitch", Subdomains: []string{"glitch.me"}},
		{Name: "Deno Deploy", Subdomains: []string{"deno.dev", "deno.net", "sandbox.deno.net"}},
		{Name: "Vercel", Subdomains: []string{"vercel.app", "vercel.dev", "now.sh"}},
		{Name: "Netlify", Subdomains: []string{"netlify.app"}},
		{Name: "Cloudflare Pages and Workers", Subdomains: []string{"pages.dev", "workers.dev"}},
		{Name: "Firebase Hosting", Subdomains: []string{"web.app", "firebaseapp.com"}},
		{Name: "Surge", Subdomains: []string{"surge.sh"}},
		{Name: "Render", Subdomains: []string{"onrender.com"}},
		{Name: "Railway", Subdomains: []string{"up.railway.app", "railway.app"}},
		{Name: "Fly", Subdomains: []string{"fly.dev"}},
		{Name: "Heroku", Subdomains: []string{"herokuapp.com"}},
		{Name: "Convex", Subdomains: []string{"convex.site", "eu-west-1.convex.site", "us-east-1.convex.site"}},
		{Name: "Puter", Subdomains: []string{"puter.site", "puter.app", "puter.work"}},
		{Name: "Expo", Subdomains: []string{"expo.app", "on.expo.app"}},
		{Name: "Framer", Subdomains: []string{"framer.app", "framer.website", "framer.ai"}},
		{Name: "Webflow", Subdomains: []string{"webflow.io"}},
		{Name: "Wix", Subdomains: []string{"wixsite.com", "wixstudio.com"}},
		{Name: "Squarespace", Subdomains: []string{"squarespace.com"}},
		{Name: "Notion sites", Subdomains: []string{"notion.site"}},
		{Name: "Substack", Subdomains: []string{"substack.com"}},
		{Name: "Ghost", Subdomains: []string{"ghost.io"}},
		{Name: "WordPress.com", Subdomains: []string{"wordpress.com", "wpcomstaging.com"}},
		{Name: "Blogger", Subdomains: []string{"blogspot.com"}},
		{Name: "Tumblr", Subdomains: []string{"tumblr.com"}},
		{Name: "Neocities", Subdomains: []string{"neocities.org"}},
		{Name: "tiiny", Subdomains: []string{"tiiny.site", "tiiny.host", "tiiny.co", "tiiny.io"}},
		{Name: "Read the Docs", Subdomains: []string{"readthedocs.io"}},
		{Name: "GitBook", Subdomains: []string{"gitbook.io"}},
		{Name: "Mintlify", Subdomains: []string{"mintlify.app", "mintlify.site"}},
		{Name: "Hugging Face Spaces", Subdomains: []string{"hf.space", "static.hf.space"}},
		{Name: "Streamlit", Subdomains: []string{"streamlit.app"}},
		{Name: "Gradio", Subdomains: []string{"gradio.live"}},
		{Name: "Modal", Subdomains: []string{"modal.run", "*.modal.host"}},
		{Name: "Google Sites", Hosts: []string{"sites.google.com", "www.sites.google.com"}, Below: []Scope{{"view", 2, ""}, {"site", 2, ""}, {"a", 3, ""}}},
		{Name: "Medium", Hosts: []string{"medium.com", "www.medium.com"}, Owner: 1, Reserved: []string{"m", "me", "p", "search", "tag", "topic", "_"}},
		{Name: "DEV", Hosts: []string{"dev.to", "www.dev.to"}, Owner: 1, Reserved: []string{"api", "search", "settings", "t", "top"}},
		{Name: "Replit", Hosts: []string{"replit.com", "www.replit.com"}, Owner: 1, Prefix: "@"},
		{Name: "CodePen", Hosts: []string{"codepen.io", "www.codepen.io", "cdpn.io", "assets.codepen.io"}, Owner: 1, Reserved: []string{"collection", "dashboard", "login", "pen", "pens", "search", "settings", "topic", "trending"}},
		{Name: "JSFiddle", Hosts: []string{"jsfiddle.net", "www.jsfiddle.net", "fiddle.jshell.net"}, Below: []Scope{{"user", 2, ""}}, Owner: 1},
		{Name: "Observable", Hosts: []string{"observablehq.com", "www.observablehq.com", "api.observablehq.com"}, Owner: 1, Prefix: "@"},
		{Name: "HackMD", Hosts: []string{"hackmd.io", "www.hackmd.io"}, Owner: 1, Prefix: "@"},
		{Name: "write.as", Hosts: []string{"write.as", "www.write.as"}, Owner: 1, Reserved: []string{"api", "login", "new", "read"}},
		{Name: "Tilde servers", Hosts: []string{"tilde.club", "tilde.town", "tilde.team", "sdf.org", "www.sdf.org", "ctrl-c.club", "envs.net"}, Owner: 1, Prefix: "~"},
	}
}

// neverHosts are where no path proves who published.
func neverHosts() []Platform {
	return []Platform{
		{Name: "githack, which serves GitHub", Hosts: []string{"raw.githack.com", "rawcdn.githack.com"}, Never: true, Owner: 1, Of: "github.com"},
		{Name: "githack, which serves GitHub Gist", Hosts: []string{"gist.githack.com", "gistcdn.githack.com"}, Never: true, Owner: 1, Of: "github.com#gist"},
		{Name: "githack, which serves GitLab", Hosts: []string{"gl.githack.com", "glcdn.githack.com"}, Never: true, Owner: 1, Of: "gitlab.com"},
		{Name: "githack, which serves Bitbucket", Hosts: []string{"bb.githack.com", "bbcdn.githack.com"}, Never: true, Owner: 1, Of: "bitbucket.org"},
		{Name: "githack, which serves Codeberg", Hosts: []string{"cb.githack.com", "cbcdn.githack.com"}, Never: true, Owner: 1, Of: "codeberg.org"},
		{Name: "githack", Hosts: []string{"githack.com", "*.githack.com"}, Never: true},
		{Name: "Statically", Hosts: []string{"cdn.statically.io", "statically.io", "*.statically.io", "cdn.staticaly.com"}, Never: true,
			Below: []Scope{{"gh", 2, "github.com"}, {"gl", 2, "gitlab.com"}, {"bb", 2, "bitbucket.org"}, {"gist", 2, "github.com#gist"}}},
		{Name: "RawGit and its kind", Hosts: []string{"rawgit.com", "cdn.rawgit.com", "gitcdn.link", "gitcdn.xyz", "combinatronics.com", "raw.gitmirror.com", "raw.fastgit.org", "raw.kkgithub.com"}, Never: true, Owner: 1, Of: "github.com"},
		{Name: "skills.sh, which shows GitHub repositories", Hosts: []string{"skills.sh", "www.skills.sh", "add-skill.vercel.sh"}, Never: true, Owner: 1, Of: "github.com"},
		{Name: "readers of repositories", Never: true, Owner: 1, Of: "github.com", Hosts: []string{
			"github1s.com", "github.dev", "deepwiki.com", "gitingest.com", "uithub.com", "gitmcp.io", "*.gitmcp.io", "context7.com", "www.context7.com", "gitdiagram.com",
			"kkgithub.com", "bgithub.xyz", "hub.fastgit.xyz", "hub.fastgit.org", "githubfast.com", "gitclone.com", "gistpreview.github.io", "htmlpreview.github.io", "gist.run",
		}},
		{Name: "collections of skills that others published", Hosts: []string{"skillsmp.com", "www.skillsmp.com", "agentskills.so", "www.agentskills.so", "mcp.so", "www.mcp.so", "glama.ai", "playbooks.com", "www.playbooks.com",
			"mcpservers.org", "www.mcpservers.org", "cursor.directory", "www.cursor.directory", "prompts.chat", "promptbase.com", "flowgpt.com", "www.flowgpt.com", "awesomeclaude.ai", "tessl.io", "registry.modelcontextprotocol.io"}, Never: true},
		{Name: "files and pages that customers of a service have at its address", Never: true, Hosts: []string{
			"uploadthing.com", "utfs.io", "*.utfs.io", "*.ufs.sh", "cdn.prod.website-files.com", "uploads-ssl.webflow.com", "static1.squarespace.com", "*.squarespace-cdn.com", "cdn.hashnode.com", "cdn.glitch.global", "cdn.glitch.me",
			"substackcdn.com", "*.cdn.ampproject.org", "cdn.ampproject.org", "cors-anywhere.herokuapp.com", "*.infura-ipfs.io", "infura-ipfs.io", "link.storjshare.io", "linktr.ee", "share.streamlit.io", "app.gitbook.com", "readthedocs.org",
		}},
		{
			Name: "archives, proxies, translators, paste sites and shared documents", Never: true,
			Hosts: []string{
				"web.archive.org", "archive.org", "*.archive.org", "archive.ph", "archive.is", "archive.today", "archive.md", "archive.fo", "archive.li", "archive.vn", "perma.cc", "ghostarchive.org", "megalodon.jp",
				"*.translate.goog", "translate.google.com", "webcache.googleusercontent.com", "cc.bingj.com", "12ft.io",
				"ipfs.io", "*.ipfs.io", "dweb.link", "*.dweb.link", "cf-ipfs.com", "*.cf-ipfs.com", "cloudflare-ipfs.com", "gateway.pinata.cloud", "*.mypinata.cloud", "w3s.link", "*.w3s.link", "nftstorage.link", "*.nftstorage.link",
				"trustless-gateway.link", "4everland.io", "*.4everland.io", "ipfs.fleek.co", "inbrowser.link", "*.inbrowser.link", "inbrowser.dev", "*.inbrowser.dev", "eth.limo", "*.eth.limo", "eth.link", "*.eth.link", "arweave.net", "*.arweave.net", "ar-io.net", "*.ar-io.net",
				"pastebin.com", "www.pastebin.com", "paste.ee", "dpaste.com", "dpaste.org", "hastebin.com", "rentry.co", "rentry.org", "termbin.com", "0x0.st", "transfer.sh", "paste.rs", "ix.io", "sprunge.us", "bpa.st", "paste.debian.net",
				"paste.ubuntu.com", "paste.mozilla.org", "pastes.dev", "paste.gg", "paste.centos.org", "paste.opensuse.org", "ghostbin.com", "pastie.org", "snippet.host", "bin.gy", "pastecode.io", "textbin.net", "zerobin.net", "notes.io", "justpaste.it", "controlc.com", "privatebin.net", "telegra.ph", "graph.org", "katb.in", "p.ip.fi",
				"docs.google.com", "drive.google.com", "docs.googleusercontent.com", "drive.usercontent.google.com", "script.google.com", "script.googleusercontent.com", "colab.research.google.com",
				"dropbox.com", "www.dropbox.com", "dl.dropbox.com", "dl.dropboxusercontent.com", "*.dropboxusercontent.com", "onedrive.live.com", "1drv.ms", "box.com", "app.box.com", "*.boxcloud.com", "wetransfer.com", "we.tl", "mega.nz", "mediafire.com", "www.mediafire.com",
				"gofile.io", "*.gofile.io", "pixeldrain.com", "files.catbox.moe", "litter.catbox.moe", "catbox.moe", "tmpfiles.org", "file.io", "temp.sh", "uguu.se", "bashupload.com", "oshi.at", "filebin.net", "send.vis.ee", "disk.yandex.ru", "disk.yandex.com", "yadi.sk", "pan.baidu.com",
				"cdn.discordapp.com", "media.discordapp.net", "cdn.discord.com", "*.discordapp.com", "*.discordapp.net", "files.slack.com", "slack-files.com", "api.telegram.org", "t.me", "i.imgur.com", "imgur.com", "ucarecdn.com", "replicate.delivery",
				"s3.notion-static.com", "*.airtableusercontent.com",
				"r.jina.ai", "s.jina.ai", "corsproxy.io", "api.allorigins.win", "api.codetabs.com", "thingproxy.freeboard.io", "images.weserv.nl", "wsrv.nl", "external-content.duckduckgo.com", "i0.wp.com", "i1.wp.com", "i2.wp.com",
				"ghproxy.com", "*.ghproxy.com", "ghproxy.net", "gh-proxy.com", "ghfast.top", "gh.llkk.cc", "*.ghproxy.net", "ghproxy.cc", "ghps.cc", "gh.con.sh", "ghgo.xyz", "github.moeyy.xyz", "hub.gitmirror.com", "raw.nuaa.cf", "raw.iqiq.io", "raw.staticdn.net", "ghp.ci", "hf-mirror.com", "files.pythonhosted.org", "proxy.golang.org", "sourcegraph.com", "grep.app",
				"bit.ly", "t.co", "tinyurl.com", "is.gd", "git.io", "goo.gl", "rb.gy", "t.ly", "shorturl.at",
			},
		},
	}
}
