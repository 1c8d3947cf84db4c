// Package interp runs the scripts of HRF envelopes. It is a pure interpreter: Next takes a State and the result of the last effect, and gives the
// next State and the next Effect: call a tool, ask the model, done, or failed. It does nothing itself, so the same results always give the
// same effects. Run is a small driver for callers that do not have to stop in between.
//
// # The state
//
// A State is JSON. It holds the input, the variables, the position, the chat for the model, which messages have acted, the counters and a trace.
// A script that waits for an approval is stored as it is, and goes on in another process. A script may have been changed meanwhile: if the
// step that waits is not where it was, the run fails; a caller that must notice every change compares the texts.
//
// The position is a path: the index of a top-level step, and for each if below it the branch (0 then, 1 else) and the index in it.
//
//	begin ──▶ check ──▶ step ──▶ … ──▶ the last step ──▶ is there a final text? ──▶ done
//	                     │  ▲                              │ no: ask for a summary ──▶ done
//	          tool, model▼  │ result
//	                    (waits)
//
// # Before the first effect
//
// All that can be known is checked before anything has happened: that there is a script, that it is not nested too deeply, and that every
// recipient exists, in all branches and in messages that call. All that are missing are listed.
//
// # What is said
//
// The chat for the model is the plain system messages in their order, then the first plain user message. A message on the channel analysis is
// added to it as the assistant's, and goes nowhere else. A final message sets the text that is said; a later one replaces it. A text that is
// blank or "." in the script, or comes out blank, is left to the model. A "." that a template inserts is text: what people write can't ask the
// model.
//
// A run that ends without a text asks the model once for a summary. It is shown a bounded digest of the variables and the input, marked as data.
//
// # Termination
//
// Markers of assistant messages are looked at after each completed top-level step, in the order of the messages; the message that holds a
// script has none. end ends the run with the text so far, and never asks the model. return does so too, but asks for a summary if there is no
// text. call calls its recipient, once in a run: json content is the arguments, as data; a plain text is the argument input; the result is the
// variable last_tool_result. A halt ends the script before any marker is looked at.
//
// Decision (2026-11-23): markers are read as the profile's text has it, "evaluated after each step"; so an end or a return anywhere stops a
// script after its first step, of which the check of an envelope warns. Rejected: to look at them after the last step only, which makes end
// meaningless, and to ignore them, as later versions of the reference do.
package interp
