// Package agent holds the graphs that gatehouse ships. All keep nothing in their session but messages (a test says so); what a
// paused turn holds lives in its paused record alone.
//
// The loop: a Model answers, its tool calls run one at a time, and the model is asked again, until it answers without a call.
//
//	model ──(no calls)──▶ END
//	  │ calls             ▲
//	  ▼                   │ none left: back to model
//	tools ─(read-only, refused by policy, unknown)─▶ a result row, next call
//	  │ mutating
//	  ├─ ask ──▶ ask (says what waits) ──▶ gate (suspends) ──▶ act
//	  └─ allow ──────────────────────────▶ gate (suspends) ──▶ act ──▶ a result row, next call
//
// The pending message and the pause are two nodes, as harness-chat §8.1 has it. act is the first node after a resume: it hands
// the call to the one executor, and saves the session explicitly with its row, so that no later failure can unsay what was done.
// A crash before that save runs act again, and the executor gives the stored result.
//
// # Evidence
//
// While a turn runs, the loop keeps a record of it in the terms of the typestate contract (core/typestate), a row when each thing
// happens: a request when the model asks, a result with its use and its render when a call has ended, the view when the model is
// asked. The record is a field of the paused state, so it survives a suspension and a crash with everything else, and a re-run of
// a node writes the same rows. It holds ids, names and digests, and of failed calls the sentence, masked.
//
// A mutating call is held out: what stands before it is a closed prefix. The loop has it judged before anybody is asked (what could
// not run is not asked for), binds the approval to it, and gives it to the executor at the run, which judges it again. Calls run
// in order, one at a time, so a call's prefix is the same at both moments, unless somebody changed something in between.
//
// What the turn is bound to, its mutation policy, is a digest over the rules that match its mutating calls and the schemas of
// their tools. Where that is another one at the run, nothing runs: the call is asked for once more under the rules of today, and
// after a second change refused (approval_stale).
//
// At its end the turn is closed by a full join check, at a pause it is open, as it must be; both are handed to Turn.Evidence, and
// kept by the Finish. A turn that fails keeps what its last pause left, but for one whose model did not come to an end.
//
// # Answers that are not whole
//
// A model says why it stopped (Stop). Where it was cut off by its length limit, refused, or stopped for a reason that nobody here
// knows, nothing of its answer is used: no call runs, for the last one may be half of what was meant and read well all the same.
// The turn ends with a sentence of the bucket that the person can do something about. Its evidence is handed over too: every call
// a typed error, discarded; with max_tokens it closes, with the others the join check rejects it, as the protocol policy asks.
//
// Decision (2026-11-21): the turn ends. Rejected: to give the model the typed errors and ask it again, which mostly runs into the
// same limit and leaves a person waiting who could ask for less.
//
// A turn that was paused before evidence was kept has none: its call is refused with a sentence, and can be asked for again
// (decided 2026-11-21; rejected: a new Version, which would end such turns without an answer).
//
// The demo is a Model that needs no vendor: it reads commands such as "calc 2+3*4" and calls tools for them, as a model would.
package agent
