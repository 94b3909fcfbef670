package agent

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
)

// TestQuestion shows what the user is told about a call before they agree to it.
func TestQuestion(t *testing.T) {
	asked := func(t *testing.T, doc string, c Call) *lookleap.ConsentRequest {
		s := newStage(t, setting{doc: doc, before: func(s *stage) { permit(s, granting(s, "interact", "knowledge")) }})
		s.does(c, lookleap.CodeOK)
		return &s.user.Requests()[0]
	}
	remote := func(r *lookleap.ConsentRequest, label string) lookleap.RemoteText {
		all := r.Items[0].Remote
		if i := slices.IndexFunc(all, func(text lookleap.RemoteText) bool { return text.Label == label }); i >= 0 {
			return all[i]
		}
		return lookleap.RemoteText{}
	}
	t.Run("ANML-13.4-02/accept-both-named", func(t *testing.T) { // who owns the action and who offers it
		r := asked(t, brandSite, Call{Site: "brand.example", Action: "here"})
		hasTexts(t, r.Summary, "for an action of [brand.example], as a document of [shop.example] offers it", "!speaks for")
		if r.TrustRoot != "brand.example" {
			t.Errorf("the root is %q", r.TrustRoot)
		}
		r = asked(t, brandSite, Call{Site: "shop.example", Action: "own"})
		hasTexts(t, r.Summary, "for an action of [shop.example]", "!offers it", "!brand")
		if r.TrustRoot != "" {
			t.Errorf("the root is %q", r.TrustRoot)
		}
	})
	t.Run("ANML-13.4-04/accept-described", func(t *testing.T) {
		doc := strings.Replace(brandSite, `id="here"`, `id="here" description="Puts it into the cart"`, 1)
		r := asked(t, doc, Call{Site: "brand.example", Action: "here"})
		if name := remote(r, "name of the action"); name.Text != "here" || name.Source != "brand.example" {
			t.Errorf("%+v", r.Items[0].Remote)
		}
		if does := remote(r, "what the action does"); does.Text != "Puts it into the cart" || does.Source != "brand.example" {
			t.Errorf("%+v", r.Items[0].Remote)
		}
		if r = asked(t, brandSite, Call{Site: "brand.example", Action: "here"}); len(r.Items[0].Remote) != 1 {
			t.Errorf("%+v", r.Items[0].Remote)
		}
	})
	t.Run("ANML-13.4-04/accept-first-reason", func(t *testing.T) {
		const version = "the document has a version of ANML that is not supported"
		for method, want := range map[string]string{"GET": version, "POST": "!" + version} {
			doc := strings.Replace(service(interact(action("a", method, "/a", ""))), `version="1.0" role`, `version="2.0" role`, 1)
			hasTexts(t, asked(t, doc, Call{Action: "a"}).Items[0].Summary, want, method+" ", ": ")
		}
	})
	t.Run("accept-no-reason-but-the-origin", func(t *testing.T) {
		s := newStage(t, setting{doc: interact(action("a", "GET", "https://api.shop.example/a", "")), before: func(s *stage) {
			s.net.Site("api.shop.example").Status("/a", http.StatusNoContent)
		}})
		s.does(Call{Action: "a"}, lookleap.CodeOK)
		items := s.user.Requests()[0].Items
		if len(items) != 2 || strings.Contains(items[0].Summary, ": ") || items[1].Digest != lookleap.Digest([]byte(`["https://www.shop.example","https://api.shop.example"]`)) {
			t.Errorf("%+v", items)
		}
	})
	t.Run("ANML-13.4-04/accept-whose-choice", func(t *testing.T) { // the user's argument, or the service's default
		doc := interact(`<action id="a" method="POST" endpoint="/a"><param name="seats"/><param name="class" default="first"/></action>`)
		values := asked(t, doc, Call{Action: "a", Args: map[string]string{"seats": "2"}}).Items[0].Values
		if len(values) != 2 {
			t.Fatalf("%+v", values)
		}
		for _, v := range values {
			own := v.Name == "class"
			if own != (v.Source == "shop.example") || own != strings.Contains(v.Label, "service's own choice") {
				t.Errorf("%+v", v)
			}
		}
	})
	t.Run("accept-digest-of-what-is-sent", func(t *testing.T) {
		doc := interact(`<action id="a" method="POST" endpoint="/a"><param name="seats"/></action>`)
		two, three := asked(t, doc, Call{Action: "a", Args: map[string]string{"seats": "2"}}).Items[0], asked(t, doc, Call{Action: "a", Args: map[string]string{"seats": "3"}}).Items[0]
		if !strings.HasPrefix(two.Digest, "sha256:") || two.Digest == three.Digest {
			t.Errorf("%q and %q", two.Digest, three.Digest)
		}
	})
	t.Run("ANML-13.4-04/accept-whole-address", func(t *testing.T) { // if it is longer than the summary shows
		for size, want := range map[int]bool{100: false, shownBytes: false, shownBytes + 1: true, 400: true} {
			endpoint := "/" + strings.Repeat("x", size-len("https://www.shop.example/"))
			values := asked(t, interact(action("a", "POST", endpoint, "")), Call{Action: "a"}).Items[0].Values
			if got := len(values) == 1 && values[0].Text == "https://www.shop.example"+endpoint; got != want {
				t.Errorf("%d bytes: %+v", size, values)
			}
		}
	})
}
