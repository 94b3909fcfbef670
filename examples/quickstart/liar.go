package main

import (
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/internal/lab"
)

// playLiar reads from a server that cheats about what it sends. Nothing
// half-read comes back.
func playLiar(s *stage) error {
	text := strings.Repeat("a policy that goes on\n", 100)
	liar := s.lab.Site("liar.example")
	liar.HTTP1().Body("*", "text/plain; charset=utf-8", text)
	s.say("A server promises text of 2,200 bytes. Told straight, it is read.")
	answer, err := s.get(liar.URL("/honest"), nil)
	s.allowed("read it", err, "all of it came, as the type it was promised to be")
	s.fact(err == nil && string(answer.Body) == text, "every byte is there")

	s.say("And here is what else it can do.")
	for _, lie := range []struct {
		path, what string
		fault      lab.Fault
		code       lookleap.Code
	}{
		{"/half", "it stops halfway and hangs up", lab.Truncated(), lookleap.CodeTruncated},
		{"/bomb", "some kilobytes unpack to 64 megabytes", lab.GzipBomb(64), lookleap.CodeTooLarge},
		{"/endless", "it never stops", lab.Endless(), lookleap.CodeTooLarge},
		{"/twice", "it packs the text twice, so that a filter sees something else", lab.GzipTwice(), lookleap.CodeEncoding},
		{"/mislabelled", "it says that plain text is packed", lab.LyingEncoding("gzip"), lookleap.CodeEncoding},
		{"/header", "it sends a megabyte of header first", lab.HeaderBomb(1 << 20), lookleap.CodeHeaderTooLarge},
		{"/page", "it sends a web page instead", lab.ContentType("text/html"), lookleap.CodeMediaType},
		{"/untyped", "it does not say what it sends", lab.ContentType(), lookleap.CodeMediaType},
	} {
		liar.Fault(lie.path, lie.fault)
		answer, err := s.read(liar.URL(lie.path), "text/plain")
		s.refused("read it when "+lie.what, err, lie.code)
		if answer != nil {
			s.wrong("something half-read came back from %s", lie.path)
		}
	}

	s.say("A server that is not who it says it is gets no request at all.")
	fake := s.lab.Site("bank.example").Certificate(lab.UnknownCA).Body("*", "text/plain", text)
	_, err = s.get(fake.URL("/"), nil)
	s.refused("read from a bank.example whose certificate no authority vouches for", err, lookleap.CodeTLS)
	s.fact(len(s.lab.Journal().Requests(fake.Name())) == 0, "it learnt nothing but the name")
	return nil
}

// read is get for a document of one media type.
func (s *stage) read(url, mediaType string) (*fetch.Response, error) {
	return s.fetch(&fetch.Request{Accept: []string{mediaType}}, url)
}
