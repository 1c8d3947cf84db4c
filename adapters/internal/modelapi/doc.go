// Package modelapi is what the adapters of model vendors share: how one model behind an HTTP API is asked, whoever's
// API it is.
//
// An Endpoint is a model at an address. The adapter gives it its settings, checks a request with it, sends through
// Send, and makes its errors with it. What is truly the vendor's stays in the adapter: the form of requests and
// answers, and what its words mean.
//
// Send reads an answer up to a limit, at once or as a stream of events (Assembly). A call is given up when nothing at
// all has come for a while, not because it takes long. It follows no redirect, since the key would go along to the
// other address. The errors carry the vendor's own sentence and a cause with the HTTP status, never the request, and no
// text of theirs has the key in it.
//
// An Endpoint keeps nothing between calls and may be used by many goroutines.
//
// Decision (2026-11): the vendors' SDKs are not used. Their types know what the vendor sends, and most servers are not
// the vendor: what such a server says oddly is read here where its meaning is clear. Their encoders change the digits
// of numbers and the order of keys, so that equal requests are not equal bytes, which vendors' caches need. Their
// bodies have no limit and their errors carry the request, with the key. What was left of them was one HTTP call, for a
// third of the program's size.
package modelapi
