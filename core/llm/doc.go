// Package llm is how the agent talks to a model: the Provider contract (llm-provider §§3–8) and the wrappers around
// one.
//
// A Provider completes a list of messages once. It changes nothing, keeps nothing between calls, runs no tools and
// repeats nothing; it may be called by many goroutines at once. What is wrapped around it (repeating, a list of models,
// a limit of calls at a time) is a Provider again. The vendors' wires stay in the adapters; no type of theirs is in a
// signature here.
//
// The wrappers: Limit bounds the calls at a time, Streamed has answers come as streams, Told tells what was asked, and
// Chain, the only one that makes a call again, asks a list of models: Told(Chain(Limit(Streamed(model)),
// Limit(Streamed(other)))). What waits to be repeated holds no place. Retry is llm-provider §7.1's own, for those who
// use the library without a Chain. What the adapters share is here too: Request.Validate, Names, Canonical, MergeExtra
// and Interrupted.
//
// Errors are *core.Error with one of llm-provider §7's nine categories. Those that may pass by themselves are
// provider_unavailable, provider_rate_limit (with RetryAfter, if the vendor said so) and provider_model_not_loaded.
package llm
