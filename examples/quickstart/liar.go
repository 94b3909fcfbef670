package main

import (
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anml/agent"
	"github.com/lookleap/lookleap/lookleaptest"
)

// playLiar reads from a server that cheats about what it sends. Nothing
// half-read comes back.
func playLiar(s *stage) {
	text := strings.Replace(welcome, "Welcome", strings.Repeat("Welcome ", 250), 1)
	liar := s.lab.Site("liar.example")
	liar.HTTP1().File("*", anml.MediaTypeXML, text)
	s.say("A server promises a long document. Told straight, it is read.")
	page, err := s.read(liar.URL("/honest"))
	s.allowed("read it", err, "all of it came, as the type it was promised to be")
	s.fact(strings.Count(page.Document().Head().Title(), "Welcome") == 250, "every word is there")

	s.say("And here is what else it can do.")
	type faults []lookleaptest.Fault
	for _, lie := range []struct {
		path, what string
		code       lookleap.Code
		faults     faults
	}{
		{"/half", "it stops halfway and hangs up", lookleap.CodeTruncated, faults{lookleaptest.Truncated()}},
		{"/bomb", "some kilobytes unpack to 64 megabytes", lookleap.CodeTooLarge, faults{lookleaptest.GzipBomb(64)}},
		{"/endless", "it never stops", lookleap.CodeTooLarge, faults{lookleaptest.Endless()}},
		{"/twice", "it packs the text twice, so that a filter sees something else", lookleap.CodeEncoding, faults{lookleaptest.Gzip(), lookleaptest.Gzip()}},
		{"/mislabelled", "it says that plain text is packed", lookleap.CodeEncoding, faults{lookleaptest.Header("Content-Encoding", "gzip")}},
		{"/header", "it sends a megabyte of header first", lookleap.CodeHeaderTooLarge, faults{lookleaptest.HeaderBomb(1 << 20)}},
		{"/page", "it sends a web page instead", lookleap.CodeMediaType, faults{lookleaptest.Header("Content-Type", "text/html")}},
		{"/untyped", "it does not say what it sends", lookleap.CodeMediaType, faults{lookleaptest.Header("Content-Type")}},
	} {
		liar.Fault(lie.path, lie.faults...)
		page, err := s.read(liar.URL(lie.path))
		s.refused("read it when "+lie.what, err, lie.code)
		if page != nil {
			s.wrong("something half-read came back from %s", lie.path)
		}
	}

	s.say("A server that is not who it says it is gets no request at all.")
	fake := s.lab.Site("bank.example").Certificate(lookleaptest.CertificateUnknownCA).File("*", "text/plain", text)
	err = s.get(fake.URL("/"), nil)
	s.refused("read from a bank.example whose certificate no authority vouches for", err, lookleap.CodeTLS)
	s.fact(len(s.got(fake)) == 0, "it learnt nothing but the name")
}

// read opens an ANML document.
func (s *stage) read(url string) (*agent.Page, error) {
	session, err := agent.New(s.host, agent.Options{}).NewSession(agent.User{})
	if err != nil {
		return nil, err
	}
	defer session.Close()
	return session.Open(s.ctx, url)
}
