// Package agent holds the graphs that gatehouse ships. They keep nothing in their session but messages (a test checks this); the state of
// a paused turn is in its paused record only.
//
// The loop: a Model answers, its tool calls run, and the model is asked again, until it answers without a call. Calls that only read run at the
// same time, up to the first one that changes something; those run one at a time. Limits end a turn that comes to no answer.
//
//	model ──(no calls)──▶ END
//	  │ calls             ▲
//	  ▼                   │ none left: back to model
//	tools ─(read-only, refused by policy, unknown)─▶ a result row, next call
//	  │ mutating
//	  ├─ ask ──▶ ask (pending message) ────▶ gate (suspends) ──▶ act
//	  └─ allow ──────────────────────────▶ gate (suspends) ──▶ act ──▶ a result row, next call
//
// A call of a tool that asks people (Tool.Ask) takes the same way as a mutating one that needs an approval, but nothing runs at its end: act makes
// the stored answer the call's result, or says that nobody answered. Who may answer is what the policy says of the asking (Asks); of the rules for
// tools only one that denies the call counts, since an approval to ask would be a question about a question.
//
// The pending message and the suspension are two nodes, as harness-chat §8.1 requires. act is the first node after a resume: it passes
// the call to the executor, and saves the session explicitly with the result, so that a later failure can't lose what was done. After a
// crash before that save act runs again, and the executor returns the stored result.
//
// # Evidence
//
// While a turn runs, the loop records it in the terms of the typestate contract (core/typestate): a request when the model requests a
// call, a result with its use and its render when a call has ended, the view when the model is asked. The record is a field of the
// paused state, so it survives a suspension and a crash, and a node that runs again writes the same rows. It holds ids, names and
// digests, and the masked message of a failed call.
//
// A mutating call is left out of the evidence that it is judged by, so that the evidence is a closed prefix. The loop has the prefix
// judged before it requests an approval, binds the approval to it, and gives it to the executor, which judges it again before the call
// runs. Results are added in the order of the calls, so both prefixes are the same unless something was changed in between.
//
// A turn is bound to its mutation policy, a digest over the rules that match its mutating calls and the schemas of their tools. If the
// digest is another one when the call is to run, nothing runs: approval is requested once more under the new rules, and after a second
// change the call is refused (approval_stale).
//
// At its end a turn's evidence is judged by a full join check; at a suspension it is open. Both go to Turn.Evidence and are stored by
// Finish. A turn that fails keeps the evidence of its last suspension, unless it failed because the model's answer was incomplete.
//
// # Incomplete answers
//
// A model reports why it stopped (Stop). If its answer was cut off at the length limit, refused, or ended for an unknown reason, nothing
// of the answer is used: no call runs, because the last one may be cut off and still be valid JSON. The turn ends with a message of the
// user-correctable bucket. Its evidence has every call with a typed error, discarded; with max_tokens it is closed, with other reasons
// the join check rejects it, as the protocol policy requires.
//
// Decision (2026-11-21): the turn ends. Rejected: to give the model the typed errors and ask it again, which mostly hits the same limit
// and delays a person who could reword the request.
//
// A turn that was paused by a build without evidence has none: its call is refused with a message and can be requested again (decided
// 2026-11-21; rejected: a new Version, which would end such turns without an answer).
//
// # Models
//
// A model may keep a memory of its turn. It is a field of the graph and not of the session: it is stored while the turn is paused, and gone when the
// turn has ended.
//
// ProviderModel is a Model that asks a provider (core/llm): it shows it a view of the conversation and the tools, and counts the tokens. The
// demo is a Model that needs no vendor: it parses commands such as "calc 2+3*4" and requests tools for them, as a model would.
//
// Script is a Model that runs a script (core/hrf/interp). Its memory is where the run is. Each tool call of the script is an answer with that call;
// what the script leaves to a model is asked within Next. If the process dies within a turn, the script goes on from the turn's last pause, or
// begins again. A paused turn is bound to the script's text: the digest is part of the graph's version (Loop.Release), so that a turn whose
// script was changed can't be resumed, and doctor lists it.
package agent
