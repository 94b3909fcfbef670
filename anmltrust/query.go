package anmltrust

import (
	"strings"
	"time"

	"github.com/lookleap/lookleap/internal/strictjson"
)

// MaxQueryResponse is the size of the largest response of a query endpoint, in bytes.
const MaxQueryResponse = 64 << 10

// QueryResponse is the response of a query endpoint with status 200 (section 12.4).
type QueryResponse struct {
	Tier    Tier
	Scope   Scope // as returned, before the tier's ceiling
	Expires time.Time
}

// ParseQueryResponse reads the body of a response to a query. Its error is a
// [*lookleap.Error] with the code query-malformed, or query-authorized-false for an
// endpoint that says no with status 200. It does not check whether the response
// has expired.
func ParseQueryResponse(body []byte) (*QueryResponse, error) {
	root, err := strictjson.Parse(body, strictjson.Limits{Size: MaxQueryResponse, Depth: manifestDepth, Values: MaxQueryResponse / 8})
	if err == nil {
		err = root.Expect(strictjson.Object)
	}
	if err != nil {
		return nil, refuseJSON(CodeQueryMalformed, err)
	}
	authorized, err := root.Need("authorized")
	if err != nil {
		return nil, refuseJSON(CodeQueryMalformed, err)
	}
	yes, err := authorized.Bool()
	if err != nil {
		return nil, refuseJSON(CodeQueryMalformed, err)
	}
	if !yes {
		return nil, refuseValue(authorized, CodeQueryAuthorizedFalse, "the endpoint says no with status 200", "answer 404")
	}
	a := &QueryResponse{}
	tier, err := root.Need("tier")
	if err != nil {
		return nil, refuseJSON(CodeQueryMalformed, err)
	}
	var ok bool
	if a.Tier, ok = readTier(tier); !ok {
		return nil, refuseValue(tier, CodeQueryMalformed, "the tier is not the integer 1 or 2", "")
	}
	scope, err := root.Need("scope")
	if err != nil {
		return nil, refuseJSON(CodeQueryMalformed, err)
	}
	if a.Scope, _, ok = readScope(scope); !ok {
		return nil, refuseValue(scope, CodeQueryMalformed, "the scope is not an array of names", "")
	}
	expires, err := root.Need("expires")
	if err != nil {
		return nil, refuseJSON(CodeQueryMalformed, err)
	}
	text, err := expires.Text()
	if err != nil {
		return nil, refuseJSON(CodeQueryMalformed, err)
	}
	if a.Expires, ok = parseTime(text, true); !ok {
		return nil, refuseValue(expires, CodeQueryMalformed, "expires is not a date and time in UTC", "write it like 2026-08-01T00:00:00Z")
	}
	return a, nil
}

// isJSONType reports whether a media type is application/json or of the suffix +json.
func isJSONType(mediaType string) bool {
	return mediaType == "application/json" || strings.HasSuffix(mediaType, "+json")
}

// queryURL adds the parameters of section 12.4 to an advertised URI: the serving
// domain, and always all eight sections, since the answer serves later needs too.
func queryURL(uri, servingDomain string) string {
	sep := "?"
	if strings.Contains(uri, "?") {
		sep = "&"
	}
	return uri + sep + "domain=" + servingDomain + "&scope=" + AllSections.String()
}
