// Package providers runs the fixtures of llm-provider: calls of a provider, against a fake server of the vendor on a
// real socket.
//
// The provider is the product's adapter, chosen by mapping, inside the product's llm.Retry; a case without a retry has
// one attempt. The fake gives the responses of mock_provider in order, takes every request, valid or not, and keeps its
// bytes: what went over the wire is compared with expected_wire_request, key by key. Values keep the order of the
// fixture's keys until they are sent, so that equal bytes show that the adapter sorts them.
//
// A response with stream_body is a stream of server-sent events. What an answer at once would have been is assembled
// here, without the adapter, and given to it, so that both can be compared.
//
// The bound model is the one of an expected request, else of a response, else test-model or claude-test.
package providers
