// Package llm is how the agent talks to a model: the Provider contract (llm-provider §§3–8) and the wrappers around one.
//
// A Provider completes a list of messages once. It changes nothing, keeps nothing between calls, runs no tools and repeats nothing; it may be
// called by many goroutines at once. What is wrapped around it (repeating, a list of models, a limit of calls at a time) is a Provider again.
// The vendors' SDKs stay in the adapters; no type of theirs is in a signature here.
//
// The wrappers: Retry repeats what may pass by itself, Limit bounds the calls at a time, Fallback asks another model. They are put together as
// Fallback(Retry(Limit(model)), Retry(Limit(other))): what waits to be repeated holds no place, and the next model is asked when the attempts at
// this one are used up. What the adapters share is here too: Request.Validate, Names, Canonical, MergeExtra and Interrupted.
//
// Errors are *core.Error with one of llm-provider §7's nine categories. Those that may pass by themselves are provider_unavailable,
// provider_rate_limit (with RetryAfter, if the vendor said so) and provider_model_not_loaded.
package llm
