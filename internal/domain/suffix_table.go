package domain

import (
	"strings"
	"sync"
)

// SuffixDate is the day of the Public Suffix List whose private section [PublicSuffix] knows:
// the list in golang.org/x/net/publicsuffix, and the names in newSuffixes.
const SuffixDate = "2026-11-15"

// newSuffixes are the names that the private section of the Public Suffix List has and
// golang.org/x/net/publicsuffix, a list of 2026-02-06, does not have yet. "*" stands for one
// label. A name that appears in a newer version of the package may be removed here; a test
// lists those.
const newSuffixes = `
*.airflow.ap-southeast-7.on.aws *.aivencloud.com *.ap-east-1.cs.amazonlightsail.com *.ap-northeast-1.cs.amazonlightsail.com
*.ap-northeast-2.cs.amazonlightsail.com *.ap-south-1.cs.amazonlightsail.com *.ap-southeast-1.cs.amazonlightsail.com
*.ap-southeast-2.cs.amazonlightsail.com *.ap-southeast-3.cs.amazonlightsail.com *.ap-southeast-5.cs.amazonlightsail.com *.apps.grok.bot
*.atlassian-3p-us-gov-mod.com *.atlassian-3p.com *.atlassian-isolated-3p.com *.azure.databricksapps.com *.begetcdn.cloud *.builtwithrocket.new
*.ca-central-1.cs.amazonlightsail.com *.compute.herokuapp.com *.cursorusercontent.com *.eth.limo *.eth.link *.eu-central-1.cs.amazonlightsail.com
*.eu-north-1.cs.amazonlightsail.com *.eu-south-2.cs.amazonlightsail.com *.eu-west-1.cs.amazonlightsail.com *.eu-west-2.cs.amazonlightsail.com
*.eu-west-3.cs.amazonlightsail.com *.metaaiusercontent.com *.p.azurewebsites.net *.pages.grok.bot *.replit.dev *.sa-east-1.cs.amazonlightsail.com
*.teams.replit.dev *.us-east-1.cs.amazonlightsail.com *.us-east-2.cs.amazonlightsail.com *.us-west-2.cs.amazonlightsail.com *.zerops.zone
*.ztna-dingtalk.com aberdeen.wa.us abyme.dev agilevibes.app ai.studio amazonlightsail.com ams.scw.site ap-south-2.elasticbeanstalk.com
ap-southeast-4.elasticbeanstalk.com ap-southeast-6.elasticbeanstalk.com app.amba.host australiacentral-01.azurewebsites.net
australiacentral2-01.azurewebsites.net australiaeast-01.azurewebsites.net australiasoutheast-01.azurewebsites.net austriaeast-01.azurewebsites.net
auth.ap-east-2.amazoncognito.com auth.ap-southeast-6.amazoncognito.com auth.lovable.app aws-gov.databricksapps.us aws.databricksapps.com
bainbridge-isl.wa.us bearly.sh belgiumcentral-01.azurewebsites.net bellevue.wa.us book.online brazilsouth-01.azurewebsites.net
brazilsoutheast-01.azurewebsites.net bremerton.wa.us ca-west-1.elasticbeanstalk.com canadacentral-01.azurewebsites.net canadaeast-01.azurewebsites.net
canva-code.cn canva.link cdn.amba.host centralia.wa.us centralindia-01.azurewebsites.net centralus-01.azurewebsites.net
centraluseuap-01.azurewebsites.net chatgpt.site chehalis.wa.us chilecentral-01.azurewebsites.net claude.app claudeusercontent.com cloud.modelence.app
cloud.run cloudzyro.app co.fo codepen.app codepen.dev com.fo consent-portal.bedrock-agentcore.ap-northeast-1.amazonaws.com
consent-portal.bedrock-agentcore.ap-northeast-2.amazonaws.com consent-portal.bedrock-agentcore.ap-south-1.amazonaws.com
consent-portal.bedrock-agentcore.ap-south-2.amazonaws.com consent-portal.bedrock-agentcore.ap-southeast-1.amazonaws.com
consent-portal.bedrock-agentcore.ap-southeast-2.amazonaws.com consent-portal.bedrock-agentcore.ap-southeast-5.amazonaws.com
consent-portal.bedrock-agentcore.ap-southeast-7.amazonaws.com consent-portal.bedrock-agentcore.ca-central-1.amazonaws.com
consent-portal.bedrock-agentcore.eu-central-1.amazonaws.com consent-portal.bedrock-agentcore.eu-north-1.amazonaws.com
consent-portal.bedrock-agentcore.eu-south-1.amazonaws.com consent-portal.bedrock-agentcore.eu-south-2.amazonaws.com
consent-portal.bedrock-agentcore.eu-west-1.amazonaws.com consent-portal.bedrock-agentcore.eu-west-2.amazonaws.com
consent-portal.bedrock-agentcore.eu-west-3.amazonaws.com consent-portal.bedrock-agentcore.sa-east-1.amazonaws.com
consent-portal.bedrock-agentcore.us-east-1.amazonaws.com consent-portal.bedrock-agentcore.us-east-2.amazonaws.com
consent-portal.bedrock-agentcore.us-gov-west-1.amazonaws.com consent-portal.bedrock-agentcore.us-west-1.amazonaws.com
consent-portal.bedrock-agentcore.us-west-2.amazonaws.com crbts.app ddns.berlin ddns.ge ddns.wtf ddnssec.de de.object.ncloudstorage.com
denmarkeast-01.azurewebsites.net deployagent.com deployagent.space dev.cv dns.army dns.navy dnshome.at dnshome.cloud dnshome.eu dnshome.it
docsflowy.site drive-platform.com drive-platform.io dyn.now dyndnssec.de eastasia-01.azurewebsites.net eastasiastage-01.azurewebsites.net
eastus-01.azurewebsites.net eastus2-01.azurewebsites.net eastus2euap-01.azurewebsites.net eastus3-01.azurewebsites.net elastic.k2.cloud
eu-central-2.elasticbeanstalk.com eu-west-1.convex.cloud eu-west-1.convex.site exe.xyz fn.amba.host forks.wa.us frame.claudeusercontent.com
francecentral-01.azurewebsites.net francesouth-01.azurewebsites.net fspages.org gcp.databricksapps.com germanynorth-01.azurewebsites.net
germanywestcentral-01.azurewebsites.net gig-harbor.wa.us glideos.app go.amba.host gov.de grok.me heimdns.de heimdns.online here.now home64.de
hoquiam.wa.us hosted-by-files.com hstgr.cloud indiasouthcentral-01.azurewebsites.net indonesiacentral-01.azurewebsites.net intouch.email ipv64.de
ipv64.net iqhs.pl israelcentral-01.azurewebsites.net israelnorthwest-01.azurewebsites.net italynorth-01.azurewebsites.net
japaneast-01.azurewebsites.net japanwest-01.azurewebsites.net jioindiacentral-01.azurewebsites.net jioindiawest-01.azurewebsites.net
jp.jp4.object.ncpstorage.com jp.jp4.object.private.ncpstorage.com jp.jp5.object.ncpstorage.com jp.jp5.object.private.ncpstorage.com
jp.object.ncpstorage.com jp.object.private.ncpstorage.com kdns.fr keyport.wa.us khsj.cn kingston.wa.us koreacentral-01.azurewebsites.net
koreasouth-01.azurewebsites.net kr-naver-dev.ncloudstorage.com kr-naver-dev.website.ncloudstorage.com kr-naver.ncloudstorage.com
kr-naver.website.ncloudstorage.com kr-private.gov-ncloudstorage.com kr-private.ncloudstorage.com kr.gov-ncloudstorage.com kr.ncloudstorage.com
kr.object.fin-ncloudstorage.com kr.object.gov-ncloudstorage.com kr.object.ncloudstorage.com kr.object.ncpstorage.com
kr.object.private.fin-ncloudstorage.com kr.object.private.gov-ncloudstorage.com kr.object.private.ncloudstorage.com kr.object.private.ncpstorage.com
kr.objectstorage.ncloud.com kr.website.ncloudstorage.com krs.object.gov-ncloudstorage.com krs.object.private.gov-ncloudstorage.com lb.ru-msk.k2.cloud
lb.ru-spb.k2.cloud linkyhost.page malaysiawest-01.azurewebsites.net manus.space medusajs.site mexicocentral-01.azurewebsites.net mkm.fan modelence.app
ms.fun ms.show my.be mybox.company mybox.me mybox.page mygov.scot mymagic.page myoxypages.com newzealandnorth-01.azurewebsites.net ninjaneer-sites.com
northcentralus-01.azurewebsites.net northcentralusstage-01.azurewebsites.net northeastus5-01.azurewebsites.net northeurope-01.azurewebsites.net
norwayeast-01.azurewebsites.net norwaywest-01.azurewebsites.net olympia.wa.us omgs.page on.expo.app on.staging.expo.app online-server.cloud
opencloud.me opentunnel.xyz pagelemon.dev payload.dev piebox.site playcode.site polandcentral-01.azurewebsites.net port-angeles.wa.us
port-ludlow.wa.us port-orchard.wa.us port-townsend.wa.us poulsbo.wa.us pplx.app prg1-zerops.zone prod.page puter.app puter.site puter.work
qatarcentral-01.azurewebsites.net redmond.wa.us reliantlabs.dev reliantpreview.dev renton.wa.us resolve.bar retool.app rocketpreview.app rwx.run
s3-website-jp.object.ncpstorage.com s3-website.de.object.ncloudstorage.com s3-website.kr.object.fin-ncloudstorage.com
s3-website.kr.object.gov-ncloudstorage.com s3-website.kr.object.ncloudstorage.com s3-website.krs.object.gov-ncloudstorage.com
s3-website.sg.object.ncloudstorage.com s3-website.us.object.ncloudstorage.com s3.k2.cloud s3.ru-msk.k2.cloud s3.ru-spb.k2.cloud sail.box
sandbox.deno.net sandbox.modelence.app sanity.run sanity.studio sch.ac scw.site sea.wa.us seattle.wa.us seprox.hooc.me sequim.wa.us
sg.object.ncloudstorage.com sg.object.private.ncloudstorage.com sg.objectstorage.ncloud.com shelton.wa.us ship.place silverdale.wa.us
site.hosting-cluster.nl site.webhosting.be sites.reliantlabs.dev sliplane.app sm.run southafricanorth-01.azurewebsites.net
southafricawest-01.azurewebsites.net southcentralus-01.azurewebsites.net southcentralus2-01.azurewebsites.net southeastasia-01.azurewebsites.net
southeastus5-01.azurewebsites.net southindia-01.azurewebsites.net space.fast spaincentral-01.azurewebsites.net srvdns.de sryze.cc store.cv surge.sh
swedencentral-01.azurewebsites.net swedensouth-01.azurewebsites.net switzerlandnorth-01.azurewebsites.net switzerlandwest-01.azurewebsites.net
t3.storage.dev t3.storageapi.dev taiwannorth-01.azurewebsites.net taiwannorthwest-01.azurewebsites.net terramind.io tmp.now
transfer-webapp.ap-east-2.on.aws transfer-webapp.ap-southeast-6.on.aws transfer-webapp.eusc-de-east-1.on.amazonwebservices.eu
uaecentral-01.azurewebsites.net uaenorth-01.azurewebsites.net uksouth-01.azurewebsites.net ukwest-01.azurewebsites.net us-east-1.convex.cloud
us-east-1.convex.site us.object.ncloudstorage.com v6.army v6.navy v6.rocks vibehost.space vibekit.page vicp.fun view.fast vivenushop.com
vivenushop.dev voati.host vps.hrsn.net waw.scw.site website.k2.cloud website.ru-msk.k2.cloud website.ru-spb.k2.cloud
westcentralus-01.azurewebsites.net westeurope-01.azurewebsites.net westindia-01.azurewebsites.net westus-01.azurewebsites.net
westus2-01.azurewebsites.net westus3-01.azurewebsites.net wz.io wz.org xwx.me yarrow-point.wa.us yicp.fun zicp.fun
`

// tenantSuffixes are domains below which anyone can get a host, although their operators have
// not registered them for the Public Suffix List: site builders, tunnels, sandboxes and
// services with a host for each customer. The form is that of newSuffixes.
const tenantSuffixes = `
*.devtunnels.ms *.modal.host *.pinggy.link *.run.app *.webcontainer-api.io *.webcontainer.io 000webhostapp.com 42web.io 4everland.app
4everland.store apidog.io app.github.dev archbee.io archbee.space atlassian.net atwebpages.com beehiiv.com bigcartel.com blot.im boards.net
business.site canva.site claude.site clawcloudrun.com clickfunnels.com codeanyapp.com coze.site crisp.help cyclic.app databutton.app
devtunnels.ms dreamwidth.org e-monsite.com edgeone.app edgeone.site emergentagent.com epizy.com feishu.cn files.wordpress.com free.nf
freeforums.net freshdesk.com genspark.space ghost.io glitch.me godaddysites.com gradio.live great-site.net gumroad.com hashnode.dev
helpjuice.com helpscoutdocs.com hostfree.pw hostingersite.com hostman.site hs-sites.com hubspotpagebuilder.com iceiy.com infinityfreeapp.com
instatus.com is-pro.dev itch.io jimdo.com jimdofree.com jimdosite.com kesug.com kimi.page kinsta.app kinsta.cloud kinsta.page koyeb.app
larksuite.com lhr.life lhr.rocks livejournal.com loca.lt localtunnel.me mailchimpsites.com mataroa.blog mgx.world micro.blog
mintlify.app mintlify.site modal.run my.site.com myfreesites.net mykajabi.com mystrikingly.com narod.ru nekoweb.org neocities.org
oopy.io over-blog.com page.gd part-of.my.id pbworks.com pgs.sh pinggy-free.link pinggy.link pinggy.online podia.com
popsy.site posthaven.com potion.so preview.app.github.dev proboards.com prose.sh qualtrics.com railway.app readme.io rf.gd run.app
sealosbja.site sealosgzg.site sealoshzh.site serveo.net serveousercontent.com service-now.com share.zrok.io sharepoint.com simdif.com
site123.me sitew.com sitew.fr softr.app space.z.ai squarespace.com stackblitz.io statuspage.io strikingly.com substack.com super.site
tana.pub teachable.com thedev.id thinkific.com tiiny.co tiiny.host tiiny.io tiiny.site tilda.ws tistory.com trickle.host tripod.com
tumblr.com typeform.com typepad.com ucoz.com ucoz.net ucoz.ru ucraft.site unaux.com unbouncepages.com usrfiles.com webcontainer-api.io
webcontainer.io webnode.com webnode.cz webnode.fr webnode.page webself.net weebly.com weeblysite.com wifeo.com wordpress.com
wpcomstaging.com wpengine.com wuaze.com wufoo.com x10.mx x10host.com youware.app zendesk.com zohodesk.com zohosites.com zulipchat.com
zyrosite.com
`

// extraSuffixes returns the names of newSuffixes and tenantSuffixes, and the domains below
// which every label makes a suffix. It reads the lists on first use.
var extraSuffixes = sync.OnceValues(func() (names, wildcards map[string]bool) {
	names, wildcards = make(map[string]bool), make(map[string]bool)
	for name := range strings.FieldsSeq(newSuffixes + tenantSuffixes) {
		if parent, ok := strings.CutPrefix(name, "*."); ok {
			wildcards[parent] = true
		} else {
			names[name] = true
		}
	}
	return names, wildcards
})

// extraSuffix returns the longest public suffix of a canonical host in the lists above, "" if
// there is none.
func extraSuffix(host string) string {
	names, wildcards := extraSuffixes()
	for rest := host; rest != ""; {
		_, parent, _ := strings.Cut(rest, ".")
		if names[rest] || wildcards[parent] {
			return rest
		}
		rest = parent
	}
	return ""
}
