// Package openharness makes gatehouse a Harness Engine of the OpenHarness protocol, v1.0.0-draft: any Shell can talk to
// the agent. It is a platform like the others: the same inbox, dispatch, approvals and outbox. README.md says how to
// use it.
//
// Inbound. A request message (internal/wire reads it) is one of two things, never both: with a continuation it is a
// decision, a press of a button or a question about a run; otherwise its user_intent is a message, or a control word
// after an exclamation mark, such as !stop. It is committed, then waited for: 25 seconds at most, or less if Prefer:
// wait=N says so. A turn that needs longer goes on, and the answer is a noop with a status token. It has no text, which
// a Shell would take for the answer.
//
// Who. A principal is a name of GATEHOUSE_TOKENS, or local. The actor is openharness:NAME, the conversation
// openharness:oh/NAME/SESSION[/CONVERSATION], each part escaped: a Shell can name only its own. request.auth grants
// nothing.
//
// Events, by their ids:
//
//	request/NAME/DIGEST   a message, a control word or a decision; DIGEST is of its request_id, or random without one:
//	                      then no repetition is known
//	press/again/EVENT, press/new/EVENT, again/APPROVAL/NAME
//	                      the buttons, as on the chat platforms: one event, however often they are pressed
//
// Attachments. An upload's bytes are a blob, kept for a day and an hour; what it is called and holds is
// a value of KV, under the principal's name and its asset_id, for a day. A request that names it has the blob kept
// for its event before that is stored, so the bytes are there when the turn begins, and go with the message. Other
// references are named to the model, and never followed.
//
// Repetition. An answer is not stored: it is drawn from the store whenever it is asked for. The same request_id with
// the same content is the same event, so a lost answer comes again, after a crash too, in its present state: a card
// that was decided meanwhile is drawn decided. With another content it is request_id_conflict. A request that was
// refused for being too many may be repeated under its id, and a message whose turn failed with retryable is tried
// again by it. request_ids are known as long as their events are kept (GATEHOUSE_RETENTION).
//
// Outbound. Delivered means stored in the mailbox (core.Mailboxes), under the post's key: a crash between that and its
// record stores it once more, which changes nothing. Three readers:
//
//   - The answer to a message has its own replies and, before them, all that no answer has given out yet. From then on
//     that is part of this answer alone: repeated with it, in no other one. The answer to a failed message has nothing
//     else.
//   - A status token has what was said in its run after the answer to its message, each time.
//   - The stream of events has everything, in the order of commits, from the Last-Event-ID on. It gives out nothing:
//     what a stream has sent is in the next answer too. Whether a turn runs is told beside the mail, by events that
//     are not kept: it is read from the inbox, so it is true of every process's turns.
//
// Every directive has an id and a place (seq) in extensions["dev.gatehouse"], by which a client drops what it knows.
//
// Approvals. A card is a request_approval while it is open, with a continuation token for each choice, but only if the
// reader may decide. Its message is the whole card as text, from the same document (adapters/internal/doc) as every
// platform's. A Shell that says that it has no openharness.ui.approval gets that text alone, and where to decide;
// nothing that a person types is ever read as a decision. A token is an HMAC of action, approval, changes and
// principal: nothing is stored, it can be drawn again, and a new key does not void it while the old one is kept. What
// is dangerous, or hides something, has a token to review it first, whose answer has the one to approve. Rights are
// checked again when a token is used (adapters/internal/desk), and once more when the decision is made. A forged token
// and one of another principal, session or run have the same answer; one that does not count any more says why, as a
// button of a chat platform does.
//
// Questions. The protocol has no message for them, so a question is a request_approval, too: its message has the
// question and its options, its payload.question the fields of the answer. Of a question with options, a Shell sends
// back the continuation of the chosen one, as of a decision. For all questions, who may answer gets the continuation
// extensions["dev.gatehouse"].answer: beside it, a Shell sends the answer as JSON in
// request.extensions["dev.gatehouse"].answer, or what was typed into a form as the list typed, a text for each field;
// without either, user_intent is read as what a person typed. An answer that does not fit is invalid_request, and
// leaves the tokens as they are.
//
// Decision, 2026-11: environment_state is checked and dropped, whatever its privacy_tier: it reaches no log, no store
// and no model. The tier would allow more for public and restricted; nothing here needs it. Decision: an error of a
// turn is answered 200, since the message was processed; Shells read response.status, and proxies repeat 5xx. Decision:
// undelivered replies are not pushed to Shells without a stream, as v1 has no push.
//
// Limits: of a body (GATEHOUSE_MAX_MESSAGE and 256 KiB), 10 seconds for it to arrive, 64 requests and 32 streams of a
// principal at a time, its part of the process's memory, 20 requests a second, and ten times GATEHOUSE_RATE messages a
// minute, in each process. A principal is authenticated before its body is read.
package openharness

import _ "embed" // the page

// Page is README.md, which gatehouse help prints.
//
//go:embed README.md
var Page string
