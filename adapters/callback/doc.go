// Package callback posts decisions to the programs that asked for them over HTTP: another agent that asks for an
// approval may give a URL, and when the approval is decided, the decision is posted there.
//
// It is a core.Platform that only speaks. A decision is a row of the outbox, a notice to {callback, URL} with the
// approval's id; each row is one request, POST URL, whose body is the approval in the form in which GET
// /v1/approvals/ID answers it, made from the stored state at each attempt. Address.Thread is not sent: with the
// approval's id in it, each decision is retried by itself; without it, the decisions for one URL keep their order, and
// one that its receiver can't take delays those after it.
//
// # At least once
//
// A decision is delivered once the receiver has answered 2xx. Until then it is sent again, with growing pauses of up to
// five minutes, for about a day (package outbox); nobody asks whether a lost answer meant that it arrived. So it may
// come twice, also after a crash between the answer and its commit. All attempts have the same webhook-id, by which the
// receiver knows what it has seen. What a receiver refuses for good, by a redirect or by a status of 4xx other than
// 408, 425 and 429, becomes a dead letter, which an admin can send again.
//
// # Signatures
//
// The headers are those of the Standard Webhooks specification, 1.0.0: webhook-id, webhook-timestamp (of the attempt),
// and webhook-signature with one signature of HMAC-SHA256 for each key, newest first. What a receiver is given as its
// secret is whsec_ and the base64 of a key.
//
// # What is reached
//
// The hosts of GATEHOUSE_CALLBACK_HOSTS alone, over https; over http only a host that is listed by its whole name with
// the port, which may also have a private address (package egress). A URL is checked when it is given (Hosts.Check),
// and again at each attempt. Redirects are not followed, and nothing of an answer is read but its status and
// Retry-After, so that neither a receiver's mistake nor its malice gets into a log or into memory.
package callback
