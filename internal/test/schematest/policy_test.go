package schematest

import (
	"bytes"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/lookleap/lookleap/contrib/policy"
	"github.com/lookleap/lookleap/dvs"
)

// compiled compiles the text of a schema.
func compiled(t *testing.T, name string, data []byte) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(name, doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// validate returns why a document is invalid.
func validate(s *jsonschema.Schema, text string) error {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(text)))
	if err != nil {
		return err
	}
	return s.Validate(doc)
}

const digest = "sha256:2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"

// TestPolicySchema holds the schema and the parser to the same answers.
func TestPolicySchema(t *testing.T) {
	s := schema(t, "policy.json")
	head := `{"type":"` + policy.MediaType + `"`
	for text, ok := range map[string]bool{
		head + `}`: true,
		head + `,"name":"x","skills":{"allow":["https://example.com/"],"deny":["evil.example"],"pins":[{"skill":"https://example.com/s/SKILL.md","digest":"` + digest + `"}],"pinnedOnly":true,"register":"policy","profile":"dvs","scripts":false,"discovery":true,"requireSecure":true,"maxTrustDays":9,"feeds":[{"url":"https://example.com/f","staleHours":1}]}}`: true,
		head + `,"agentsTxt":{"foreign":"restrict","robotsToken":"Bot","refuseHttp":true},"anmlTrust":{"requireSecure":true,"minTier":"full"},"aiuri":{"requireBinding":true,"authorities":["bank.example"],"credentials":[]},"agent":{"neverTell":["ssn"]}}`:                                                                                                         true,
		`{}`:                              false,
		`[]`:                              false,
		`{"type":"other"}`:                false,
		head + `,"skill":{}}`:             false,
		head + `,"name":""}`:              false,
		head + `,"skills":{"allows":[]}}`: false,
		head + `,"skills":{"allow":["http://example.com/"]}}`:                                         false,
		head + `,"skills":{"scripts":"no"}}`:                                                          false,
		head + `,"skills":{"register":"model"}}`:                                                      false,
		head + `,"skills":{"profile":"strict"}}`:                                                      false,
		head + `,"skills":{"maxTrustDays":0}}`:                                                        false,
		head + `,"skills":{"maxTrustDays":1.5}}`:                                                      false,
		head + `,"skills":{"pins":[{"skill":"https://example.com/s/SKILL.md"}]}}`:                     false,
		head + `,"skills":{"pins":[{"skill":"https://example.com/s/SKILL.md","digest":"sha256:1"}]}}`: false,
		head + `,"skills":{"feeds":[{}]}}`:                                                            false,
		head + `,"skills":{"feeds":[{"url":"https://example.com/f","stale":1}]}}`:                     false,
		head + `,"agentsTxt":{"foreign":"ignore"}}`:                                                   false,
		head + `,"agent":{"neverTell":"ssn"}}`:                                                        false,
	} {
		_, err := policy.Parse("p", []byte(text))
		if schemaErr := validate(s, text); (schemaErr == nil) != ok || (err == nil) != ok {
			t.Errorf("%s\nschema: %v\nparser: %v", text, schemaErr, err)
		}
	}
}

// TestWithdrawalsSchema does the same for revocation feeds.
func TestWithdrawalsSchema(t *testing.T) {
	s := schema(t, "withdrawals.json")
	feed := func(entry string) string {
		return `{"type":"` + dvs.WithdrawalsMediaType + `","sequence":1,"updated":"2026-01-01T00:00:00Z","withdrawn":[` + entry + `]}`
	}
	for text, ok := range map[string]bool{
		feed(``): true,
		feed(`{"kind":"digest","value":"` + digest + `","reason":"r","time":"2026-01-01T00:00:00Z"}`): true,
		feed(`{"kind":"key","value":"k","reason":"","time":"2026-01-01T00:00:00Z"}`):                  true,
		feed(`{"kind":"user","value":"k","reason":"","time":"2026-01-01T00:00:00Z"}`):                 false,
		feed(`{"kind":"key","value":"","reason":"","time":"2026-01-01T00:00:00Z"}`):                   false,
		feed(`{"kind":"key","value":"k","reason":"","time":"yesterday"}`):                             false,
		feed(`{"kind":"key","value":"k","time":"2026-01-01T00:00:00Z"}`):                              false,
		`{"type":"` + dvs.WithdrawalsMediaType + `","withdrawn":[]}`:                                  false,
	} {
		_, err := dvs.ParseWithdrawals([]byte(text))
		if schemaErr := validate(s, text); (schemaErr == nil) != ok || (err == nil) != ok {
			t.Errorf("%s\nschema: %v\nparser: %v", text, schemaErr, err)
		}
	}
}
