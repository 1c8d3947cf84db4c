// Package interp runs the scripts of HRF envelopes. It is a pure interpreter: Next takes a State and the result of the
// last effect, and gives the next State and the next Effect: call a tool, ask the model, done, or failed. It does
// nothing itself, so the same results always give the same effects. Run is a small driver for callers that do not have
// to stop in between.
//
// # The state
//
// A State is JSON. It holds the input, the variables, the position, the chat for the model, which messages have called
// a tool, the counters and a trace. A run that waits can be stored and goes on in another process. If the script was
// changed in between, and the step that waits is not where it was, the run fails; a caller that must notice every
// change compares the texts itself.
//
// The interpreter does not know whether an effect was carried out. Next of the same state gives the same effect again,
// so a caller that may die between an effect and the next stored state must itself see to it that nothing is done
// twice.
//
// The position is a path: the index of a top-level step, and for each if below it the branch (0 then, 1 else) and the
// index in it.
//
//	begin ──▶ check ──▶ step ──▶ … ──▶ the last step ──▶ is there a final text? ──▶ done
//	                     │  ▲                              │ no: ask for a summary ──▶ done
//	          tool, model▼  │ result
//	                    (waits)
//
// # Before the first effect
//
// What can be known in advance is checked before anything happens: that there is a script, that it is not nested too
// deeply, and that every recipient exists, in all branches and in messages that call. Missing recipients are reported
// together.
//
// # The final text
//
// The chat for the model is the plain system messages in their order, then the first plain user message. A message on
// the channel analysis is added to it as the assistant's, and goes nowhere else. A final message sets the final text; a
// later one replaces it. A text that is blank or "." in the script, or comes out blank, is left to the model. A "."
// that a template inserts is text, so nobody can ask the model by writing it.
//
// A run that ends without a text asks the model once for a summary. It is shown a bounded digest of the variables and
// the input, marked as data.
//
// # Termination
//
// Markers, the terminations of assistant messages, are looked at after each completed top-level step, in the order of
// the messages; that of a message that holds a script is ignored. end ends the run with the text so far, and never asks
// the model. return does so too, but asks for a summary if there is no text. call calls its recipient, once in a run:
// json content is the arguments, as data; a plain text is the argument input; the result is the variable
// last_tool_result. A halt ends the script before any marker is looked at.
//
// Decision (2026-11-23): markers are read as the profile's text has it, "evaluated after each step"; so an end or a
// return anywhere stops a script after its first step, of which the check of an envelope warns. Rejected: looking at
// them after the last step only, which makes end meaningless, and ignoring them, as later versions of the reference do.
package interp
