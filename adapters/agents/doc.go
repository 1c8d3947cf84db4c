// Package agents lets other agents ask people: for approvals of what they are about to do, and questions. They come
// over HTTP (/v1/approvals) or as clients of an MCP server (/mcp); a program that speaks MCP on its standard streams
// can be put before the HTTP interface (Client). Every request is an approval of the same kind as those of gatehouse's
// own turns: the policy says who decides, people see the same cards, and the same audit log records it. Nothing waits
// for it here: the agent asks for the state until it is decided, or is told at its URL.
//
// A request belongs to the principal of its token, and nobody else's id is found. Its id is made from the principal and
// the idempotency key, so a repetition, on whatever replica, after whatever crash, is the same request. The same key
// with another request is refused. Without a key every request is a new one.
//
//	ask.go       what is requested, and its limits
//	state.go     what is answered
//	door.go      what one principal may do
//	waits.go     how many of its requests may wait
//	http.go      /v1/approvals
//	openapi.go   its description
//	mcp.go       the tools of the MCP server
//	client.go    the same tools, over HTTP
package agents

import _ "embed" // the page

// Page is README.md, which gatehouse help prints.
//
//go:embed README.md
var Page string
