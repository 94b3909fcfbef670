// Package lookleapmcp is an MCP server that puts a web site's ANML actions and verified
// skills into any MCP client, with lookleap between the model and the web. It is also a
// client for the skills that other MCP servers offer, and with [NewProxy] a gate in front of any
// MCP server. The command lookleap-mcp runs it.
//
//	host := &lookleap.Host{Prompter: lookleapmcp.Prompter{}}
//	server, err := lookleapmcp.NewServer(host, lookleapmcp.Options{Site: "https://shop.example"})
//	http.Handle("/mcp", auth.RequireBearerToken(verify, nil)(server.Handler()))
//
// # Actions
//
// Each action that the site's document offers is a tool. The page that an action
// returns replaces the tools. What discloses data of the user or changes something needs
// the user's agreement: the call ends with an input request. The next call brings the
// answer, together with sealed state that binds it to the user, the tool, the arguments
// and the bytes that were shown. A client of a protocol before 2026-07-28 is asked by
// elicitation during the call, once. If a client cannot ask its user, nothing is done.
//
// Fields that the profile does not hold are asked for first, if the client can be asked
// twice.
//
// Verdicts, plan ids and outcomes are in the _meta of results, under "lookleap/".
//
// # Users
//
// One process serves many users. [Server.Handler] takes the user from the token that the
// transport authenticated (auth.TokenInfo.UserID of the SDK) and refuses requests without
// one. Each user has an MCP server and an agent.Session of their own. The SDK binds an MCP
// session to the user that opened it, and pending state is sealed with a key of the user.
//
// # Skills
//
// Skills are offered and loaded by the MCP extension io.modelcontextprotocol/skills
// (SEP-2640): see [Options.Skills] for the server and [SkillClient] for the client.
package lookleapmcp
