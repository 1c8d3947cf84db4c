// Package prompts runs the fixtures of prompt-management against core/llm/prompt.
//
// A fixture declares backends, managers (manager, or a name that ends in _manager), label resolvers (likewise) and
// calls (calls, or a name that ends in _calls), at the root of the file, where they serve every case, or in a case.
// Each case has backends and managers of its own. Calls run in the order of the file, through the same functions as the
// product's. A backend with simulate_unavailable answers as one that can't be reached; all others are prompt.Static.
//
// What a call returned, or the error that it failed with, is compared below the call, or under its name (capture_as) at
// the end of the case. A call that fails although nothing expects it fails the case, and so does a key that nothing
// reads.
package prompts
