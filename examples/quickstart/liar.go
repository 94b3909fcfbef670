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
func playLiar(s *stage) error {
	text := strings.Replace(welcome, "Welcome", strings.Repeat("Welcome ", 250), 1)
	liar := s.lab.Site("liar.example")
	liar.HTTP1().File("*", anml.MediaTypeXML, text)
	s.say("A server promises a long document. Told straight, it is read.")
	page, err := s.read(liar.URL("/honest"))
	s.allowed("read it", err, "all of it came, as the type it was promised to be")
	s.fact(err == nil && strings.Count(page.Document().Head().Title(), "Welcome") == 250, "every word is there")

	s.say("And here is what else it can do.")
	for _, lie := range []struct {
		path, what string
		fault      lookleaptest.Fault
		code       lookleap.Code
	}{
		{"/half", "it stops halfway and hangs up", lookleaptest.Truncated(), lookleap.CodeTruncated},
		{"/bomb", "some kilobytes unpack to 64 megabytes", lookleaptest.GzipBomb(64), lookleap.CodeTooLarge},
		{"/endless", "it never stops", lookleaptest.Endless(), lookleap.CodeTooLarge},
		{"/twice", "it packs the text twice, so that a filter sees something else", lookleaptest.GzipTwice(), lookleap.CodeEncoding},
		{"/mislabelled", "it says that plain text is packed", lookleaptest.WrongEncoding("gzip"), lookleap.CodeEncoding},
		{"/header", "it sends a megabyte of header first", lookleaptest.HeaderBomb(1 << 20), lookleap.CodeHeaderTooLarge},
		{"/page", "it sends a web page instead", lookleaptest.ContentType("text/html"), lookleap.CodeMediaType},
		{"/untyped", "it does not say what it sends", lookleaptest.ContentType(), lookleap.CodeMediaType},
	} {
		liar.Fault(lie.path, lie.fault)
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
	s.fact(len(s.lab.Journal().Requests(fake.Name())) == 0, "it learnt nothing but the name")
	return nil
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
