// Package sdks has no code of its own: its examples show the lines that connect the ANML actions
// of a page to the bare SDKs openai-go, anthropic-sdk-go and mcp-go. Its tests check the
// schemas with a JSON Schema 2020-12 validator, and by the rules of the vendors.
package sdks
