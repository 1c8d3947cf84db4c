// Package modelapi is what the adapters of model vendors share: how one model behind an HTTP API is asked, whoever's API it is.
//
// An Endpoint is a model at an address. The adapter gives it its settings, checks a request with it, sends with the vendor's SDK through Send,
// and makes its errors with it. What is truly the vendor's stays in the adapter: the form of requests and answers, and what its words mean.
//
// Send reads the answer itself, up to a limit, before the SDK does, whose own reading has none. It follows no redirect, since the key would go
// along to the other address. The errors carry the vendor's own sentence and a cause with the HTTP status, never the request, and no text of
// theirs has the key in it.
//
// An Endpoint keeps nothing between calls and may be used by many goroutines.
package modelapi
