package dvs

// registryHosts are package registries, hosts of documentation, and hubs of models and data sets, where
// everyone shares one origin.
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
