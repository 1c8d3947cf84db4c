// Package llmtest is what tests use in place of a model. It knows the vendors' wire formats and none of our adapters.
//
//   - Script is a Provider without a network: it gives its steps in order and keeps the requests.
//   - OpenAI and Anthropic are HTTP servers on real sockets. They give scripted answers, faults of the network among
//     them, record every request, and refuse one that the vendor's API would refuse, with the same status and body, so
//     that no test passes on a request that would fail in the world. Refused says what was refused.
//   - Recorder is an HTTP transport that records exchanges with a real server into a file, without keys, and replays
//     them.
package llmtest
