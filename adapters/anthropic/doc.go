// Package anthropic is a llm.Provider of models behind Anthropic's Messages API (llm-provider §8.2).
//
// How a call is made, its limits and its errors are those of every vendor (adapters/internal/modelapi). The body is the
// same bytes for equal requests: llm.Canonical sorts the keys at every depth and keeps the digits of numbers, so a
// vendor's cache of prefixes holds and no id in a call's arguments is rounded.
//
// What is sent is what the API admits, whatever the history is:
//   - messages of one role in a row are one turn, since the API joins them itself and other servers of this API want
//     strict alternation; results of calls come first in it, next to their calls. A call whose result does not follow
//     at once is refused before it is sent.
//   - texts without anything visible are left out, and so is thinking that nothing follows in its message; a user's
//     turn of which nothing is left says that it is blank.
//   - ids of calls that the API would refuse (of other providers, or used twice) are replaced. Names of tools, and of
//     arguments at the root of a schema, are mapped by llm.Names: one that the API does not admit would make it refuse
//     the request, with all other tools in it.
//   - thinking goes back byte for byte, in its place between the calls (core.Kept); without a signature it is another
//     provider's and is left out. It is bound to all before it, so the API is asked to leave out what does not fit any
//     more (form.go).
//   - seed, penalties, and a request without max_tokens are refused before anything is sent. temperature, top_p and a
//     forced choice are left out for models that refuse them, by the model's name (family.go) or after the first
//     refusal.
//
// An answer keeps the vendor's bytes in Raw. A usage counter that is malformed is not reported. Arguments that are no
// object are null. From a model that says it was done, such a call is provider_invalid_response with llm.BadCalls, and
// so, without it, is one that lacks its id or name, and an answer with nothing to read in it. A connection that breaks
// off, also in the middle of an answer, is provider_unavailable: it may pass.
//
// A call holds one goroutine of the caller and one connection. Between calls only what the model has refused is kept,
// so nothing is lost in a crash; a request that was sent may have cost tokens though nobody reads its answer.
package anthropic
