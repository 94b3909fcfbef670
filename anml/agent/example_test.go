package agent_test

import (
	"context"
	"fmt"
	"net/http"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anml/agent"
	"github.com/lookleap/lookleap/lookleaptest"
)

// serve puts a document with a title at a path of a site.
func serve(site *lookleaptest.Site, path, title string) {
	doc, err := anml.NewService(title).Build()
	if err != nil {
		panic(err)
	}
	xml, err := anml.MarshalXML(doc, anml.WriteOptions{})
	if err != nil {
		panic(err)
	}
	site.File(path, anml.MediaTypeXML, string(xml))
}

func ExampleSession_Discover() {
	net := lookleaptest.NewInternet() // in production: &lookleap.Host{}
	defer net.Close()
	serve(net.Site("shop.example"), "/.well-known/anml", "The tea shop")

	session, err := agent.New(net.Host(), agent.Options{}).NewSession(agent.User{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer session.Close()
	page, err := session.Discover(context.Background(), "https://shop.example")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s says: %q\n", page.ServingDomain(), page.Document().Head().Title())
	_, err = session.Discover(context.Background(), "https://nobody.example")
	fmt.Println(lookleap.CodeOf(err))
	// Output:
	// shop.example says: "The tea shop"
	// inconclusive
}

// A host that has a web page of the origin at hand passes it on: what it
// advertises is looked at where the well-known URI has nothing.
func ExampleSession_Discover_webPage() {
	net := lookleaptest.NewInternet()
	defer net.Close()
	serve(net.Site("shop.example"), "/menu", "The menu")

	session, err := agent.New(net.Host(), agent.Options{}).NewSession(agent.User{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer session.Close()
	page, err := session.Discover(context.Background(), "https://shop.example", agent.WebPage{
		URL:    "https://shop.example/",
		Header: http.Header{"Link": {`</menu>; rel="alternate"; type="application/anml+xml"`}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(page.URL())
	// Output:
	// https://shop.example/menu
}

func ExampleSession_Open() {
	net := lookleaptest.NewInternet()
	defer net.Close()
	serve(net.Site("shop.example"), "/tea", "Green tea")
	net.Site("shop.example").File("/oops", anml.MediaTypeXML, "<anml>")

	session, err := agent.New(net.Host(), agent.Options{}).NewSession(agent.User{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer session.Close()
	page, err := session.Open(context.Background(), "https://shop.example/tea")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(page.Document().Head().Title())

	_, err = session.Open(context.Background(), "https://shop.example/oops")
	fmt.Println(lookleap.CodeOf(err))
	for _, notice := range session.Notices() {
		fmt.Println(notice.Kind, notice.Text)
	}
	// Output:
	// Green tea
	// unexpected-end
	// invalid-document The service returned an invalid document.
}
