// Package agent holds the graphs that gatehouse ships. They keep nothing in their session but messages (a test checks
// this); the state of a paused turn is in its paused record only.
//
// The loop: a Model answers, its tool calls run, and the model is asked again, until it answers without a call. Calls
// that only read run at the same time, up to the first one that changes something; those run one at a time. Limits end
// a turn that comes to no answer.
//
//	model ──(no calls)──▶ END
//	  │ calls             ▲
//	  ▼                   │ none left: back to model
//	tools ─(read-only, refused by policy, unknown)─▶ a result row, next call
//	  │ mutating
//	  ├─ ask ──▶ ask (pending message) ────▶ gate (suspends) ──▶ act
//	  └─ allow ──────────────────────────▶ gate (suspends) ──▶ act ──▶ a result row, next call
//
// A call of a tool that asks people (Tool.Ask) takes the same way as a mutating one that needs an approval, but nothing
// runs at its end: act makes the stored answer the call's result, or says that nobody answered. Who may answer is what
// the policy says of the asking (Asks); of the rules for tools only one that denies the call counts, since an approval
// to ask would be a question about a question.
//
// The pending message and the suspension are two nodes, as harness-chat §8.1 requires. act is the first node after a
// resume: it passes the call to the executor, and saves the session explicitly with the result, so that a later failure
// can't lose what was done. After a crash before that save act runs again, and the executor returns the stored result.
//
// A round is the model's answer with the results of all its calls. Once it is finished it is saved, before the model is
// asked again. The next attempt of the turn, after a crash, a failure of the store or by "Try again", goes through the
// saved rounds without asking the model and without running a tool; so they count as rounds and calls, but not as
// tokens and time of this attempt. A round that was not saved is made again. A model with a memory, such as a script,
// begins again: its memory is not in the conversation.
//
// # Evidence
//
// While a turn runs, the loop records it in the terms of the typestate contract (core/typestate): a request when the
// model requests a call, a result with its use and its render when a call has ended, the view when the model is asked.
// The record is a field of the paused state, so it survives a suspension and a crash, and a node that runs again writes
// the same rows. It holds ids, names and digests, and the masked message of a failed call.
//
// A mutating call is left out of the evidence that it is judged by, so that the evidence is a closed prefix. The loop
// has the prefix judged before it requests an approval, binds the approval to it, and gives it to the executor, which
// judges it again before the call runs. Results are added in the order of the calls, so both prefixes are the same
// unless something was changed in between.
//
// Its facts are those that happened. The execution pattern is set when evidence is judged: parallel once a call of an
// answer began before another one of it had ended, which is measured as they run and kept with the evidence; single for
// one call; else chain. So what an approval holds is the digest of the call spec without the pattern. Where calls
// overlapped, it is recorded that their results are in order and that overlapping was admissible; of a result that was
// cut, the digests of the whole and of the cut, and whether what was shown is that cut; of a call that people decide,
// what was handed to whom, and the way back; and which tools the turn was bound to, and which there are at its end. A
// model that makes its calls of anything but a vendor's native ones names its mode and normalizer (see Model). Free
// text is trusted through the demo's alone. core/dispatch's tests list the classes of the gate that a turn can't bring
// about.
//
// The digest of a whole result is not stored with an intent (decided 2026-11-25; rejected: a column of its own). If the
// process dies after a mutating call's result is stored and before its turn is, the row has the digest of what was
// shown alone.
//
// Of the rounds that an earlier attempt saved, the evidence has what their messages say: not whether calls overlapped,
// nor the whole of a cut result.
//
// A turn is bound to its mutation policy, a digest over the rules that match its mutating calls and the schemas of
// their tools. If the digest is another one when the call is to run, nothing runs: approval is requested once more
// under the new rules, and after a second change the call is refused (approval_stale).
//
// At its end a turn's evidence is judged by a full join check; at a suspension it is open. Both go to
// Progress.Evidence and are stored by Finish. A turn that fails keeps the evidence of its last suspension, unless it
// failed because the model's answer was incomplete.
//
// # What a model says oddly
//
// A model reports why it stopped (Finish). Servers give other reasons than their API has, or none ("eos", null). Such
// an answer is used if it is whole: text is shown, and calls run if the arguments of each are a whole JSON object. What
// it holds then says how it ended: the evidence has tool_use for calls, end_turn without.
//
// No call runs of an answer that was cut off at the length limit or refused, because the last one may be cut off and
// still be valid JSON. In the evidence each is a typed error, discarded; with max_tokens it is closed, with other
// reasons the join check rejects it, as the protocol policy requires. The text of an answer that was cut at the limit
// is shown and stored, and a mark says so. Of any other nothing is used: the turn ends with a message of the
// user-correctable bucket.
//
// An answer with nothing in it, or with calls that are only written as text, is asked for once more, with a line that
// says why and is not stored. After a call was decided in this turn, an answer without a word is the turn's good end
// (Anthropic documents it): people read what became of the call, and are never asked to try again what is done.
//
// Decision (2026-11-21): a cut call ends the turn. Rejected: to give the model the typed errors and ask it again, which
// mostly hits the same limit and delays a person who could reword the request.
//
// A turn that was paused by a build without evidence has none: its call is refused with a message and can be requested
// again (decided 2026-11-21; rejected: a new Version, which would end such turns without an answer).
//
// # Models
//
// A model may keep a memory of its turn. It is a field of the graph and not of the session: it is stored while the turn
// is paused, and gone when the turn has ended.
//
// ProviderModel is a Model that asks a provider (core/llm): it shows it a view of the conversation and the tools, and
// counts the tokens. The demo is a Model that needs no vendor: it parses commands such as "calc 2+3*4" and requests
// tools for them, as a model would.
//
// Script is a Model that runs a script (core/hrf/interp). Its memory is where the run is. Each tool call of the script
// is an answer with that call; what the script leaves to a model is asked within Next. If the process dies within a
// turn, the script goes on from the turn's last pause, or begins again. A paused turn is bound to the script's text:
// the digest is part of the graph's version (Loop.Release), so that a turn whose script was changed can't be resumed,
// and doctor lists it.
package agent

import _ "embed" // the page

// Page is README.md, which gatehouse help prints.
//
//go:embed README.md
var Page string
