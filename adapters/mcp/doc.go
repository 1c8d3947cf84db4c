// Package mcp brings the tools of MCP servers to the agent, on the official SDK.
//
// Config is what an mcp.json says. Servers runs the servers and is a tool.Source: each of their tools is called
// server.tool.
//
// # A server's life
//
// One goroutine a server starts it, or connects to it, shakes hands, lists its tools, and then watches it: a ping every
// half minute while no call runs, a second one right after one without an answer, and the list again when the server
// says that it changed (at most every two seconds, however often it says so), or every five minutes. When the server
// dies, breaks a limit or does not answer, all that is left of it is ended, its process group too, and it is started
// again with backoff. Its tools stay in the list meanwhile. The last list is stored under mcp.list/SERVER, so its tools
// are there from the first second of the next start: nothing waits for a server but a call of it, five seconds; then
// the call fails with a sentence that says so. A server that was never seen has no tools until it answers. Servers.Use
// puts another configuration in force: an entry that is as before goes on, one that is gone or another ends once its
// calls have ended.
//
// Answers are read tolerantly: a byte order mark, numbers where a text is due, and parts of types that nobody knows
// harm no other part. An answer whose id is not the request's, but a text of it, ends the connection at once.
//
// A server is asked by server/discover whether it speaks protocol 2026-07-28, which has no handshake, session or ping:
// it is asked for the first page of its tools in place of a ping. One that
// refuses that, or does not answer within three seconds, gets the older handshake, which offers 2025-11-25; a server
// that answers with an older version is spoken to in that one. One that ends at server/discover is started again with
// the older handshake.
//
// # What a server is trusted with
//
// Nothing. A process gets a handful of harmless variables and those of its entry, and no other of gatehouse's. An
// endpoint alone gets its headers: no redirect is followed. Everything that a server sends passes the package gate
// before anything parses it: one message has 4 MiB at most, or the connection is ended; what is no message, a batch, or
// a notification that gatehouse has no use for, is dropped; so nothing can fill a queue. A list has 256 tools at most,
// a tool 64 KiB and 64 levels; what it costs to check arguments against its schema is bounded by core/tool, and no
// other document is read for it. A result is cut at 256 KiB. Descriptions are cut, and what is invisible in them is
// shown. Instructions of a server are not used.
//
// # Secrets
//
// What an entry holds is hidden in all that its server says, however it is encoded, and before it is cut, if it is
// named like a secret (API_TOKEN, Cookie, --password, ?key=) or looks like one; package mask has the one rule, which
// the commands of adapters/tools follow, too. A variable of gatehouse's environment is judged by its own name and by
// the name that it stands under. "secret" and "public" of the entry correct a wrong guess; what has the full form of a
// vendor's token is hidden even so. A default, an enum or another value of a schema that holds a secret is left out, so
// the server alone checks it; a tool with one in its name, or in a name in its schema, is left out.
//
// # Definitions
//
// A schema is read as one of 2020-12, see internal/schema: models are sent that one, and calls are checked with it.
// What of it can't be checked is left out: the server alone checks it, and the tool's description and gatehouse doctor
// say so. A tool's digest is that of all that the server says, however gatehouse reads it. Where another gatehouse
// reads a definition differently, an open approval of the tool is asked for again.
//
// A tool keeps its name, with _ for what names here can't have. Where several would have the same, the one whose own
// name it is gets it, and the others get theirs with _ and 8 hexadecimal digits of the SHA-256 of their own; so does
// one of which nothing is left, or too much. What was given out is stored under mcp.name/server/name and never becomes
// another tool's, so that a rule which names a tool means that tool.
//
// # Logins
//
// A remote server may want a login by OAuth 2.1; the package login has how. A person makes it with gatehouse mcp login
// NAME; each request of every process has its token from then on, and a server that is away for want of it is started
// again within five seconds. The entry's own header Authorization is used instead of a login. That a login is missing,
// refused or ended is said to the admin, in log, doctor and report, with the command; the person whose call fails reads
// that an admin must log in. A server refuses for want of a login before it acts, so such a call failed.
//
// # Risk
//
// Every tool changes something, whatever its server says: readOnlyHint changes nothing here, destructiveHint: true
// makes a tool dangerous. A tool without annotations is ordinary: that destructiveHint counts as true where it is
// missing (as the protocol says) would let readOnlyHint and destructiveHint: false lower a risk, and have approvers
// asked twice for nearly every call. That a call needs no person is a rule of the policy. That a tool only reads is the
// admin's word: "readOnly" of the server in mcp.json, a gatehouse key with globs. It counts for the definition (name,
// description, schemas, annotations) that was seen first; its digest is stored under mcp.pin/server/tool, and whether
// it said that it destroys. If the definition changes, or the store can't say what it was, the tool changes something
// again, until the admin confirms the new definition by an entry NAME@DIGEST, with the digest that gatehouse doctor
// prints. A destructiveHint: true is overruled by such an entry alone.
//
// Annotations go with a tool's calls to the policy, as long as the definition is the one that was seen first, or is
// confirmed in "readOnly" or "tools". Decision, 2026-11: they are variables of a rule's condition, and such a rule
// names the server. Rejected: a list of trusted servers, whose word would make tools read: their calls would run
// without the decision that the policy's record has of every call that changes something.
//
// # Calls
//
// A call holds the definition that it was checked with: if the server's is another one when the call is to be sent, it
// is not sent. A call of which surely nothing was written (the connection was refused) is sent again, once, on a new
// connection. A call of a tool that only reads is sent again, too, where the server does not know the session any more.
// A status of HTTP never has a call of a tool that changes something sent again: the server may have run it, and the
// status be another's. By a few statuses, such as 401, 403 and 429, a server refuses a call before it acts: such a call
// failed, and nothing is said about the world. With any other, and where a call was sent and not answered, the outcome
// of a tool that changes something is unknown. An error that the server itself reports is a failed call.
//
// # Rounds and tasks
//
// A server of 2026-07-28 may answer a call that changes something by questions (input_required). Each becomes a
// question to people, for which the turn is paused as for any (core/tool's Paused); it names the server and the tool.
// Their answers go back with the server's requestState and the same arguments. That they answer approves nothing. A
// question that nobody may be asked, or that leads to an address, is declined; one that expired, was withdrawn, or
// can't be shown, is answered as cancelled. There are ten rounds at most. Or it makes a task of the call
// (io.modelcontextprotocol/tasks), which is polled as often as it says, from a second to a minute, for a day at most in
// one process. A call that only reads has its task polled, too, but asks nobody.
//
// All that runs under the call's one intent, which keeps where it is: what is asked, or the task's id. Killed while a
// task is polled or a question is open, the call goes on in the next process. Killed while a round is on its way, its
// outcome is unknown. A person who stops the turn has the task cancelled.
//
// The call's key goes as _meta["gatehouse/call-key"], and never as the header Idempotency-Key: net/http takes that for
// leave to send a request again by itself. A killed gatehouse leaves what it had sent as core/tool describes it; a
// server's process ends when its standard input does.
package mcp

import _ "embed" // the page

// Page is README.md, which gatehouse help prints.
//
//go:embed README.md
var Page string
