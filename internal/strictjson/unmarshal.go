package strictjson

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// exact are the rules of encoding/json, without its second readings: a member has to have the name
// of a field in its own letter case, at most once, and no other member is accepted.
var exact = json.JoinOptions(jsonv1.DefaultOptionsV1(), json.MatchCaseInsensitiveNames(false), json.RejectUnknownMembers(true),
	jsontext.AllowDuplicateNames(false), jsontext.AllowInvalidUTF8(false))

// Unmarshal decodes a record that this module wrote, such as a plan, a line of a ledger or an entry
// of a cache. It is [encoding/json.Unmarshal] for texts that two readers must not read differently:
// unknown, duplicate and differently-cased members, invalid UTF-8 and trailing data are errors.
func Unmarshal(data []byte, to any) error { return json.Unmarshal(data, to, exact) }
