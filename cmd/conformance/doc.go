// Command conformance runs OpenArmature fixtures against core/graph and core/chat:
//
//	conformance [--json] [--strict] [--product] DIR|FILE…
//
// It prints a line for each case, "ok capability/file/case" or "FAIL capability/file/case: reason", and a last line with the
// counts. It exits with 1 where a case failed and with 2 where its arguments are wrong.
//
// Nothing is skipped. A fixture is YAML whose every key is an instruction or an assertion; each is marked when it is carried out or
// checked, and a key that is left over fails the case (fixture_directive_unknown). A suite that is not supported fails with
// "needs …: not supported yet". An invariant is a name without a definition: the published names that we know have predicates
// (internal/invariant); any other name is printed as unchecked, counted, and under --strict a failure.
//
// Nothing is simulated: nodes suspend, save and fail through the same calls as the product's. What a check looks at is evidence
// (internal/evidence): calls of the stores, nodes, events, spans and log lines, recorded while the case runs.
//
// By default a case runs on stores in memory: invocations through Graph.Invoke, chats through the chat harness, transmissions through
// the abstract harness (internal/harness). With --product, chats, and what else has a counterpart, run through the dispatcher, the
// approvals, the outbox and SQLite (internal/product). What has no counterpart there is printed as such: a case, and then it is counted
// on the last line, or a single assertion of it.
package main
