package dvs

// PlatformsDate is the day on which the built-in table was last looked at.
const PlatformsDate = "2026-11-21"

// builtinPlatforms is what is known of hosts where many publish (section 3.1).
// Its entries come before the Public Suffix List, which takes some of these
// hosts for sites of their own.
func builtinPlatforms() []Platform {
	forge := []string{"explore", "user", "users", "org", "orgs", "repo", "api", "assets", "attachments", "avatars", "admin", "notifications", "issues", "pulls", "milestones", "swagger.v1.json", "-"}
	groups := []string{
		"-", "admin", "api", "assets", "dashboard", "explore", "files", "groups", "health_check", "help", "import", "invites", "jwt", "oauth",
		"profile", "projects", "public", "s", "search", "sitemap", "snippets", "unsubscribes", "uploads", "users", "v2",
	}
	gitlab := &Source{Marker: "-", Page: "blob", Raw: []string{"raw"}, Dir: []string{"tree"}}
	gitea := &Source{Page: "src", Raw: []string{"raw"}, Kinds: []string{"branch", "tag", "commit"}}
	return []Platform{
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
			Name: "GitHub Gist", Hosts: []string{"gist.github.com"}, Owner: 1, Fold: 1,
			Reserved: []string{"auth", "discover", "forked", "join", "login", "mine", "search", "starred", "stars"},
			Source:   &Source{Page: "raw", Raw: []string{"raw"}, Flat: true, RawHost: "gist.githubusercontent.com", RawPath: "raw"},
		},
		{Name: "GitHub's files of anybody", Hosts: []string{"*.githubusercontent.com", "api.github.com", "codeload.github.com", "raw.github.com", "uploads.github.com"}, Never: true},
		{Name: "GitLab", Hosts: []string{"gitlab.com", "www.gitlab.com"}, Owner: 1, Reserved: groups, Source: gitlab},
		{Name: "Debian Salsa", Hosts: []string{"salsa.debian.org"}, Owner: 1, Reserved: groups, Source: gitlab},
		{Name: "Framagit", Hosts: []string{"framagit.org"}, Owner: 1, Reserved: groups, Source: gitlab},
		{Name: "freedesktop.org GitLab", Hosts: []string{"gitlab.freedesktop.org"}, Owner: 1, Reserved: groups, Source: gitlab},
		{Name: "GNOME GitLab", Hosts: []string{"gitlab.gnome.org"}, Owner: 1, Reserved: groups, Source: gitlab},
		{Name: "KDE Invent", Hosts: []string{"invent.kde.org"}, Owner: 1, Reserved: groups, Source: gitlab},
		{Name: "Codeberg", Hosts: []string{"codeberg.org", "www.codeberg.org"}, Owner: 1, Reserved: forge, Source: gitea},
		{Name: "Gitea", Hosts: []string{"gitea.com", "www.gitea.com"}, Owner: 1, Reserved: forge, Source: gitea},
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
			Below: []Scope{{"datasets", 2}, {"spaces", 2}},
			Reserved: []string{
				"api", "blog", "brand", "changelog", "chat", "collections", "docs", "enterprise", "front", "hub", "inference", "join", "kernels", "learn",
				"login", "metrics", "models", "new", "notifications", "organizations", "papers", "posts", "press", "pricing", "privacy", "search",
				"settings", "support", "tasks", "terms-of-service",
			},
			Source: &Source{Page: "blob", Raw: []string{"raw", "resolve"}, Dir: []string{"tree"}},
		},
		{Name: "Hugging Face's files of anybody", Hosts: []string{"*.huggingface.co", "*.hf.co"}, Never: true},
		{Name: "jsDelivr", Hosts: []string{"cdn.jsdelivr.net", "fastly.jsdelivr.net", "gcore.jsdelivr.net", "www.jsdelivr.net", "*.jsdelivr.net"}, Below: []Scope{{"gh", 2}, {"npm", 2}}, AtRef: true},
		{Name: "unpkg", Hosts: []string{"unpkg.com", "www.unpkg.com"}, Owner: 1, AtRef: true},
		{Name: "esm.sh", Hosts: []string{"esm.sh", "www.esm.sh"}, Owner: 1, Below: []Scope{{"gh", 2}, {"jsr", 2}}, Reserved: []string{"pr", "x"}, AtRef: true},
		{Name: "Deno Land", Hosts: []string{"deno.land", "www.deno.land"}, Below: []Scope{{"x", 2}}, AtRef: true},
		{Name: "Google Cloud Storage", Hosts: []string{"storage.googleapis.com", "www.storage.googleapis.com", "storage.cloud.google.com"}, Owner: 1, Reserved: []string{"batch", "download", "storage", "upload"}},
		{Name: "Firebase Storage", Hosts: []string{"firebasestorage.googleapis.com", "www.firebasestorage.googleapis.com"}, Below: []Scope{{"v0", 3}}},
		{Name: "Google Sites", Hosts: []string{"sites.google.com", "www.sites.google.com"}, Below: []Scope{{"view", 2}, {"site", 2}, {"a", 3}}},
		{Name: "Medium", Hosts: []string{"medium.com", "www.medium.com"}, Owner: 1, Reserved: []string{"m", "me", "p", "search", "tag", "topic", "_"}},
		{Name: "DEV", Hosts: []string{"dev.to", "www.dev.to"}, Owner: 1, Reserved: []string{"api", "search", "settings", "t", "top"}},
		{Name: "Replit", Hosts: []string{"replit.com", "www.replit.com"}, Owner: 1, Prefix: "@"},
		{Name: "SourceForge", Hosts: []string{"sourceforge.net", "www.sourceforge.net"}, Below: []Scope{{"p", 2}, {"projects", 2}, {"u", 2}}},
		{
			Name: "Kaggle", Hosts: []string{"kaggle.com", "www.kaggle.com"}, Owner: 1,
			Below:    []Scope{{"code", 2}, {"datasets", 2}, {"models", 2}, {"organizations", 2}},
			Reserved: []string{"account", "api", "c", "competitions", "discussions", "docs", "learn", "rankings", "search", "settings"},
		},
		{
			Name: "archives, proxies, translators, paste sites and shared documents", Never: true,
			Hosts: []string{
				"web.archive.org", "archive.org", "*.archive.org", "archive.ph", "archive.is", "archive.today", "archive.md", "archive.fo", "archive.li", "archive.vn",
				"*.translate.goog", "translate.google.com", "webcache.googleusercontent.com",
				"ipfs.io", "*.ipfs.io", "dweb.link", "*.dweb.link", "cf-ipfs.com", "*.cf-ipfs.com", "cloudflare-ipfs.com", "gateway.pinata.cloud", "w3s.link", "*.w3s.link", "nftstorage.link", "*.nftstorage.link",
				"pastebin.com", "www.pastebin.com", "paste.ee", "dpaste.com", "dpaste.org", "hastebin.com", "rentry.co", "rentry.org", "termbin.com", "0x0.st", "transfer.sh",
				"docs.google.com", "drive.google.com", "docs.googleusercontent.com", "dropbox.com", "www.dropbox.com", "dl.dropboxusercontent.com", "onedrive.live.com", "1drv.ms",
				"r.jina.ai", "raw.githack.com", "rawcdn.githack.com", "cdn.statically.io", "gitcdn.link", "corsproxy.io", "api.allorigins.win",
				"ghproxy.com", "*.ghproxy.com", "ghproxy.net", "gh-proxy.com", "raw.gitmirror.com", "raw.fastgit.org", "github1s.com", "hf-mirror.com",
			},
		},
	}
}
