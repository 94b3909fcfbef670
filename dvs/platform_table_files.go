package dvs

// packageHosts are where packages and collections of skills and models are.
func packageHosts() []Platform {
	return []Platform{
		{Name: "jsDelivr", Hosts: []string{"cdn.jsdelivr.net", "fastly.jsdelivr.net", "gcore.jsdelivr.net", "www.jsdelivr.net", "*.jsdelivr.net", "jsdelivr.com", "*.jsdelivr.com"},
			Below: []Scope{{"gh", 2, "github.com"}, {"npm", 2, "npmjs.com"}}, AtRef: true},
		{Name: "unpkg", Hosts: []string{"unpkg.com", "www.unpkg.com", "app.unpkg.com"}, Owner: 1, AtRef: true, Of: "npmjs.com"},
		{Name: "esm.sh", Hosts: []string{"esm.sh", "www.esm.sh", "cdn.esm.sh", "*.esm.sh"}, Owner: 1, AtRef: true, Of: "npmjs.com",
			Below: []Scope{{"gh", 2, "github.com"}, {"jsr", 2, "jsr.io"}}, Skip: []string{"v#", "stable"},
			Reserved: []string{"pr", "x", "node", "run", "tsx", "uno", "transform", "status.json", "https:", "http:"}},
		{Name: "esm.run", Hosts: []string{"esm.run", "www.esm.run"}, Owner: 1, AtRef: true, Of: "npmjs.com"},
		{Name: "Skypack", Hosts: []string{"cdn.skypack.dev", "www.skypack.dev", "*.skypack.dev"}, Owner: 1, AtRef: true, Of: "npmjs.com", Skip: []string{"pin", "new"}, Reserved: []string{"-", "error"}},
		{Name: "JSPM", Hosts: []string{"ga.jspm.io", "*.jspm.io", "jspm.dev", "*.jspm.dev"}, Owner: 1, AtRef: true},
		{Name: "npm", Hosts: []string{"registry.npmjs.org", "registry.npmjs.com", "registry.yarnpkg.com", "registry.npmmirror.com", "cdn.npmmirror.com"}, Owner: 1, AtRef: true, Of: "npmjs.com", Reserved: []string{"-", "packages"}},
		{Name: "npm's pages", Hosts: []string{"npmjs.com", "www.npmjs.com", "npmjs.org", "www.npmjs.org", "npmmirror.com", "www.npmmirror.com"}, Below: []Scope{{"package", 2, "npmjs.com"}}, AtRef: true},
		{Name: "JSR", Hosts: []string{"jsr.io", "www.jsr.io", "npm.jsr.io"}, Owner: 1, Prefix: "@", AtRef: true},
		{Name: "Deno Land", Hosts: []string{"deno.land", "www.deno.land"}, Below: []Scope{{"x", 2, ""}}, AtRef: true},
		{Name: "cdnjs", Hosts: []string{"cdnjs.cloudflare.com", "cdnjs.com", "www.cdnjs.com"}, Below: []Scope{{"ajax/libs", 3, "cdnjs.com"}, {"libraries", 2, "cdnjs.com"}}},
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

// storageHosts are where files of anybody are, told apart by a bucket or account.
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
		{Name: "Internet Archive, S3 endpoint", Hosts: []string{"s3.us.archive.org"}, Never: true},
		{Name: "Cloudinary", Hosts: []string{"res.cloudinary.com", "res-*.cloudinary.com"}, Subdomains: []string{"res.cloudinary.com"}, Owner: 1},
		{Name: "ImageKit", Hosts: []string{"ik.imagekit.io"}, Owner: 1},
		{Name: "Bytescale", Hosts: []string{"upcdn.io"}, Owner: 1},
		{Name: "Wix files", Hosts: []string{"static.wixstatic.com", "video.wixstatic.com"}, Never: true},
		{Name: "Shopify files", Hosts: []string{"cdn.shopify.com"}, Never: true},
	}
}

// pageHosts are where pages of anybody are.
func pageHosts() []Platform {
	return []Platform{
		{Name: "GitHub Pages", Subdomains: []string{"github.io"}, Of: "github.com#pages"},
		{Name: "GitLab Pages", Subdomains: []string{"gitlab.io"}, Of: "gitlab.com#pages"},
		{Name: "Codeberg Pages", Subdomains: []string{"codeberg.page"}, Of: "codeberg.org#pages"},
		{Name: "Bitbucket Cloud sites", Subdomains: []string{"bitbucket.io"}, Of: "bitbucket.org#pages"},
		{Name: "SourceHut pages", Subdomains: []string{"srht.site"}},
		{Name: "Gitee Pages", Subdomains: []string{"gitee.io"}, Of: "gitee.com#pages"},
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
		{Name: "Statically", Hosts: []string{"cdn.statically.io", "statically.io", "*.statically.io"}, Never: true,
			Below: []Scope{{"gh", 2, "github.com"}, {"gl", 2, "gitlab.com"}, {"bb", 2, "bitbucket.org"}, {"gist", 2, "github.com#gist"}}},
		{Name: "RawGit and its kind", Hosts: []string{"rawgit.com", "cdn.rawgit.com", "gitcdn.link", "gitcdn.xyz", "combinatronics.com", "raw.gitmirror.com", "raw.fastgit.org", "raw.kkgithub.com"}, Never: true, Owner: 1, Of: "github.com"},
		{Name: "skills.sh, which shows GitHub repositories", Hosts: []string{"skills.sh", "www.skills.sh", "add-skill.vercel.sh"}, Never: true, Owner: 1, Of: "github.com"},
		{Name: "readers of repositories", Never: true, Owner: 1, Of: "github.com", Hosts: []string{
			"github1s.com", "github.dev", "deepwiki.com", "gitingest.com", "uithub.com", "gitmcp.io", "*.gitmcp.io", "context7.com", "www.context7.com", "gitdiagram.com",
			"kkgithub.com", "bgithub.xyz", "hub.fastgit.xyz", "gitclone.com",
		}},
		{Name: "collections of skills that others published", Hosts: []string{"skillsmp.com", "www.skillsmp.com", "agentskills.so", "www.agentskills.so", "mcp.so", "www.mcp.so", "glama.ai", "playbooks.com", "www.playbooks.com"}, Never: true},
		{
			Name: "archives, proxies, translators, paste sites and shared documents", Never: true,
			Hosts: []string{
				"web.archive.org", "archive.org", "*.archive.org", "archive.ph", "archive.is", "archive.today", "archive.md", "archive.fo", "archive.li", "archive.vn", "perma.cc", "ghostarchive.org", "megalodon.jp",
				"*.translate.goog", "translate.google.com", "webcache.googleusercontent.com", "cc.bingj.com", "12ft.io",
				"ipfs.io", "*.ipfs.io", "dweb.link", "*.dweb.link", "cf-ipfs.com", "*.cf-ipfs.com", "cloudflare-ipfs.com", "gateway.pinata.cloud", "*.mypinata.cloud", "w3s.link", "*.w3s.link", "nftstorage.link", "*.nftstorage.link",
				"trustless-gateway.link", "4everland.io", "*.4everland.io", "ipfs.fleek.co", "inbrowser.link", "*.inbrowser.link", "inbrowser.dev", "*.inbrowser.dev", "eth.limo", "*.eth.limo", "eth.link", "*.eth.link", "arweave.net", "*.arweave.net", "ar-io.net", "*.ar-io.net",
				"pastebin.com", "www.pastebin.com", "paste.ee", "dpaste.com", "dpaste.org", "hastebin.com", "rentry.co", "rentry.org", "termbin.com", "0x0.st", "transfer.sh", "paste.rs", "ix.io", "sprunge.us", "bpa.st", "paste.debian.net",
				"paste.ubuntu.com", "paste.mozilla.org", "pastes.dev", "justpaste.it", "controlc.com", "privatebin.net", "telegra.ph", "graph.org", "katb.in", "p.ip.fi",
				"docs.google.com", "drive.google.com", "docs.googleusercontent.com", "drive.usercontent.google.com", "script.google.com", "script.googleusercontent.com", "colab.research.google.com",
				"dropbox.com", "www.dropbox.com", "dl.dropbox.com", "dl.dropboxusercontent.com", "*.dropboxusercontent.com", "onedrive.live.com", "1drv.ms", "box.com", "app.box.com", "*.boxcloud.com", "wetransfer.com", "we.tl", "mega.nz", "mediafire.com", "www.mediafire.com",
				"gofile.io", "*.gofile.io", "pixeldrain.com", "files.catbox.moe", "litter.catbox.moe", "catbox.moe", "tmpfiles.org", "file.io", "temp.sh", "uguu.se", "bashupload.com", "oshi.at", "filebin.net", "send.vis.ee", "disk.yandex.ru", "disk.yandex.com", "yadi.sk", "pan.baidu.com",
				"cdn.discordapp.com", "media.discordapp.net", "cdn.discord.com", "*.discordapp.com", "*.discordapp.net", "files.slack.com", "slack-files.com", "api.telegram.org", "t.me", "i.imgur.com", "imgur.com", "ucarecdn.com", "replicate.delivery",
				"s3.notion-static.com", "*.airtableusercontent.com",
				"r.jina.ai", "s.jina.ai", "corsproxy.io", "api.allorigins.win", "api.codetabs.com", "thingproxy.freeboard.io", "images.weserv.nl", "wsrv.nl", "external-content.duckduckgo.com", "i0.wp.com", "i1.wp.com", "i2.wp.com",
				"ghproxy.com", "*.ghproxy.com", "ghproxy.net", "gh-proxy.com", "ghfast.top", "gh.llkk.cc", "hf-mirror.com", "files.pythonhosted.org", "proxy.golang.org", "sourcegraph.com", "grep.app",
				"bit.ly", "t.co", "tinyurl.com", "is.gd", "git.io", "goo.gl", "rb.gy", "t.ly", "shorturl.at",
			},
		},
	}
}
