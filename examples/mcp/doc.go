// Mcp is an MCP server that puts a web site's ANML actions and verified skills
// into any MCP client, with lookleap between the model and the web.
//
//	go run -C examples/mcp . --site https://shop.example
//	go run -C examples/mcp . --site https://shop.example --http localhost:8080
//	go run -C examples/mcp . --root https://github.com/example-org/ --skill https://github.com/example-org/skills/blob/main/refund/SKILL.md
//
// Each action that the site's document may offer is a tool; what an action
// answers replaces the tools. Each skill that verifies is a resource. Whatever
// would tell something of the user, or change something, needs the user's word:
// the call ends with an input request, and the next one brings the answer
// together with a sealed state that binds it to the very bytes that were shown.
// A client of a protocol before 2026-07-28 is asked by elicitation in the midst
// of the call, once. A client that cannot ask its user gets nothing done.
//
// Fields that the profile (--profile, a JSON object of fields and values) does
// not hold are asked for first, where the client can be asked twice; no other
// client can answer them.
//
// Verdicts, plan ids and outcomes are in the results' _meta under lookleap/.
// One process serves one user.
package main
