package anml

import (
	"fmt"
	"testing"

	"github.com/lookleap/lookleap"
)

// TestRowsAccepted shows for rules that refuse or drop something that what obeys
// them is read.
func TestRowsAccepted(t *testing.T) {
	r := rows{t}
	head := "<head><title>T</title></head>"
	good := head + `<constraints><disclosure field="email" requires="none"/></constraints><interact><action id="a" method="POST" endpoint="/a" confirm="true"/></interact><knowledge><ask field="email" action="a" purpose="p"/></knowledge>`
	seen := func(d *Document) any {
		k := d.Knowledge()
		return fmt.Sprint(count(d.Interact().Actions()), " ", count(k.Asks()), " ", count(d.Constraints().Disclosures()), " ", d.Head().Title())
	}
	for _, id := range []string{"ANML-1.2.2-01", "ANML-11.4-01", "ANML-11.4-02", "ANML-11.4-03", "ANML-11.4-09", "ANML-13.5-01", "ANML-13.10-01", "ANML-5.3.1-01", "ANML-6.2.1-01", "ANML-8-01", "ANML-8.1-26", "ANML-8.7.2-03", "ANML-16.6-01"} {
		r.returns(id+"/accept-faultless", good, "1 1 1 T", seen)
		r.clean(id+"/accept-clean", XML, service(good))
	}
	for _, id := range []string{"ANML-7.1-02", "ANML-7.2.1-01", "ANML-7.5-05", "ANML-7.5-06", "ANML-7.5-09", "ANML-7.5-10", "ANML-7.5-11"} {
		r.clean(id+"/accept-faultless", JSON, `{"anml":"1.0","role":"service","head":{"title":"é\u00e9\ud83d\ude00"}}`)
	}
	r.returns("ANML-7.5-08/accept-exact", `<anml xmlns="`+Namespace+`" ttl="86400"/>`, "24h0m0s", func(d *Document) any { ttl, _ := d.TTL(); return ttl })
	r.clean("ANML-5-01/accept-prefixes", XML, service(head+`<x:y xmlns:x="urn:x" x:a="1" a="2"/>`))
	for _, id := range []string{"ANML-5.3.4-02", "ANML-5.3.4-03"} {
		r.clean(id+"/accept-qualified", XML, service(`<head xmlns:x="urn:x" x:a="1"><title>T</title><x:y/></head>`))
	}
	r.returns("ANML-10.3-02/accept-lang", `<body lang="ar"/>`, "ar", func(d *Document) any { return d.Body().Lang() })
	t.Run("ANML-11.1-09/accept-knowledge", func(t *testing.T) {
		in(t, response(`<answer field="f" value="v"/>`), func(t *testing.T, d *Document) {
			if _, err := MarshalXML(d, WriteOptions{}); err != nil {
				t.Error(err)
			}
		})
	})
	claims := func(d *Document) any { return fmt.Sprint(d.Claims()) }
	r.returns("ANML-12.5-04/accept-domain", `<head><trust domain="example.com"/></head>`, "[{example.com trust }]", claims)
	sites := `<site domain="example.com"><head/></site><site domain="a.example.com"><head/></site>`
	for _, id := range []string{"ANML-12.7-03", "ANML-12.7-16", "ANML-8.2-11", "ANML-8.2-12"} {
		r.returns(id+"/accept-sites", sites, "[{example.com site } {a.example.com site }]", claims)
	}
	r.returns("ANML-8.2-13/accept-inside-one-site", `<site domain="example.com"><constraints><disclosure field="email" requires="authentication"/></constraints><interact><action id="a" method="GET" endpoint="/"/></interact><knowledge><ask field="email" action="a" purpose="p"/></knowledge></site>`, "authentication false",
		func(d *Document) any {
			s := first(d.Sites())
			return fmt.Sprint(s.Constraints().Rule("email", nil).Requires, " ", first(s.Knowledge().Asks()).Dangling())
		})
	for id, tag := range map[string]string{"ANML-8.10.2-02": `img src="/x"`, "ANML-8.10.3-02": `audio src="/x"`, "ANML-8.10.4-02": `video src="/x"`, "ANML-8.10.7-02": `link href="/x"`} {
		r.returns(id+"/accept-target", "<body><"+tag+"/></body>", "/x true", func(d *Document) any {
			c := first(d.Body().Content())
			if l, ok := c.As().(Link); ok {
				return fmt.Sprint(l.Href(), " ", l.Followable())
			}
			return fmt.Sprint(Media(c).Src(), " ", count(d.Body().Content()) == 1)
		})
	}
	r.clean("ANML-8.6-01/accept-empty-unreported", XML, service(head+"<interact/>"))
	r.returns("ANML-8.6-01/accept-empty-read", "<interact/>", true, func(d *Document) any { return d.Interact().Exists() })
	r.returns("ANML-8.13-03/accept-success", `<status code="1" result="success"/>`, ResultSuccess, func(d *Document) any { return d.Status().Result() })
	r.returns("ANML-8.7.3-02/accept-field", response(`<answer field="f" value="v"/>`), "f", func(d *Document) any { return first(d.Knowledge().Answers()).Field() })
	r.returns("ANML-8.7.4-01/accept-field", response(`<refuse field="f" reason="user-denied"/>`), "f", func(d *Document) any { return first(d.Knowledge().Refuses()).Field() })
	r.returns("ANML-8.8.2-01/accept-fixed", `<persona><language policy="fixed" value="fr"/></persona>`, LanguageFixed, func(d *Document) any { return d.Persona().Language().Policy() })
	r.clean("ANML-8.9.2-01/accept-src", XML, service(head+`<aesthetic><logo src="/l"/></aesthetic>`))
	r.clean("ANML-8.9.4-01/accept-color", XML, service(head+`<aesthetic><colors><color value="rgb(1, 2, 3)"/></colors></aesthetic>`))
	long := ""
	for range 1000 {
		long += "word "
	}
	r.finds("ANML-4-04/accept-lint", "<body>"+long+"</body>", lookleap.SeverityInfo, CodeLint)
	r.clean("ANML-4-04/accept-structured", XML, service(head+"<body><section>"+long+"</section></body>"))
}
