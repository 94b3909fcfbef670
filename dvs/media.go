package dvs

import (
	"fmt"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// isGeneric reports whether a media type says nothing about the content.
func isGeneric(mediaType string) bool {
	return mediaType == "" || mediaType == "application/octet-stream" || mediaType == "binary/octet-stream"
}

// judgeMedia checks the media type of a Markdown file. It should be text/markdown, but code hosts
// send text/plain (DVS-4.2-03 to DVS-4.2-06). A generic or missing type is accepted if the URL
// that responded ends in .md and lies under a registered root, or if the user agreed to this
// skill.
func judgeMedia(answered string, e Evidence, claim Claim) lookleap.Check {
	mediaType, charset := e.Type, e.Charset
	named, _, _ := strings.Cut(answered, "?")
	confirmed := claim.Source.Registered() || claim.Source == SkillOnly
	shown := lookleap.Evidence{MediaType: mediaType}
	if charset != "" && !strings.EqualFold(charset, "utf-8") {
		return failed(lookleap.CodeNotUTF8, fmt.Sprintf("the declared character set is %s and has to be UTF-8", plaintext.Quote(charset, 40)), shown)
	}
	is := plaintext.Quote(mediaType, 80)
	switch {
	case mediaType == "text/markdown":
		return passed("the media type is text/markdown", shown)
	case claim.Strict:
	case mediaType == "text/plain" || mediaType == "text/x-markdown":
		return noted(lookleap.CodeMediaType, fmt.Sprintf("the media type is %s and should be text/markdown", is), shown)
	case isGeneric(mediaType) && (confirmed && strings.HasSuffix(named, ".md") || claim.Profile == Lenient):
		return noted(lookleap.CodeMediaType, fmt.Sprintf("the media type is %s and should be text/markdown", is), shown)
	}
	message := fmt.Sprintf("the media type is %s and has to be text/markdown", is)
	if !claim.Strict && isGeneric(mediaType) {
		message += "; the profile Lenient accepts it"
	}
	return failed(lookleap.CodeMediaType, message, shown)
}

// judgeArchiveMedia checks the media type of an archive. The bytes decide about the format, so only
// a page in its place is refused, and under Strict what is no type of an archive.
func judgeArchiveMedia(e Evidence, claim Claim) lookleap.Check {
	shown := lookleap.Evidence{MediaType: e.Type}
	switch is := plaintext.Quote(e.Type, 80); {
	case e.Type == TarGzip.MediaType() || e.Type == Zip.MediaType():
		return passed("the media type is that of an archive", shown)
	case isHTML(e.Type), claim.Strict:
		return failed(lookleap.CodeMediaType, "the media type is "+is+" and has to be application/gzip or application/zip", shown)
	default:
		return noted(lookleap.CodeMediaType, "the media type is "+is+" and should be application/gzip or application/zip", shown)
	}
}
