// Package view is what a provider is shown of a history: messages that are valid for llm-provider §3 and for the APIs
// of all vendors. It is a pure function of the history and of Options; the history itself is never changed.
//
// # What is shown
//
// Of shows messages that are given; OfHistory reads a history backwards, in pages, only as far as the budget needs, and
// shows the same as Of would show of the whole.
//
//   - At most one system message, the first one, from Options.System. System messages of a history are not shown: a
//     prompt is configuration, and nothing that is said in a conversation becomes one.
//   - The first of the others is a user's message. Messages before the first one of a user are left out.
//   - After an assistant message with calls its results follow, one for each call, in the order of the calls. Results
//     that are stored later are moved there. Pairing is by position, then id, as in core.OpenCalls. A result that
//     answers no call is not shown; a note stands in its place, because its call may be among messages that were not
//     read.
//   - A call without a result gets a placeholder: it waits for an approval, or for a call before it that does. A turn
//     that ends early leaves a result for each of its calls, so no other call is without one. What the assistant said
//     about the wait stands after it.
//   - A result that came after later messages of people leaves a note where it came, a user message that says so: what
//     follows there is about this result, and if nothing follows yet, the model is asked to answer it.
//   - The last message is a user's or a tool's. If it would be the assistant's, a note follows.
//   - Call ids are kept where they are valid for every vendor and not used before in the request, and replaced where
//     not: local models reuse ids. Arguments that are no object are shown as an empty one.
//   - Images are replaced by a note for a model that takes texts alone. Texts without a visible character are not sent.
//   - Thinking and signatures are shown to the provider that they are from, byte for byte, and to no other (see Mark).
//
// # Epochs
//
// With Options.Sticky a view is what core.Epoch says: the same first row, the same notes where the conversation went on
// unasked, the same days at the messages that they were told with. So what is shown grows, byte for byte, as the
// history does, except where a result takes the place of its placeholder; the caller compares digests, and begins a new
// epoch if it did not. Without Sticky, what fits is shown, and View says what to remember. Thinking of rows before the
// epoch is left out (core.Kept.Old). What a vendor wants back with its calls, and did not bind to the messages before
// (reasoning_content, signatures, encrypted reasoning), still goes to the model that made it: without it the calls
// would be refused.
//
// # The budget
//
// An exchange is a user's message with everything up to the next one, and with the results of its calls wherever they
// are stored. What does not fit into the budget is left out, the oldest exchange first, and never half of one. The
// newest exchange is always kept, and so are those whose calls got their results in it: a turn that goes on after an
// approval keeps its own question, however old. A line at the end of the system message says how many messages are left
// out.
//
// Options.Fill makes a cut deep, so that the next messages only add to what is shown.
//
// Tokens are estimated, not counted: see Tokens. The budget is for the messages. What the tools and the answer take is
// the caller's to subtract, and some room for the estimate's error.
//
// # Decisions
//
// 2026-11-22: a message of the assistant between a call and its result, in the same exchange, is not shown once the
// result is there. The loop adds it to say that the call needs an approval, and that is over. Rejected: to show it
// after the result, where it would be the last message, which must not be the assistant's, and would deny the result
// before it.
//
// 2026-11-22: the provider of thinking and of signatures is written in front of the stored signature. Rejected: a field
// of core.Block, which would be a key that the spec's JSON does not have.
//
// What the view can't know: Anthropic's API wants thinking in front of the calls that are being answered, if the
// request enables it. A turn that began with another provider, or with thinking disabled, has none to show, so thinking
// must not be enabled in the middle of a turn.
package view
