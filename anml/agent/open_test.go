package agent

import "testing"

func TestOpenReads(t *testing.T) {
	net := newLab(t)
	s := newSession(t, net, User{}, Options{})
	p := pageFor(t, net, s, "https://shop.example.com/a", "<head><title>Tea</title></head>")
	if p.Document().Head().Title() != "Tea" || p.ServingDomain() != "example.com" {
		t.Error(p.URL(), p.ServingDomain())
	}
}
