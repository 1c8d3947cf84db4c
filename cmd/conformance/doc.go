// Command conformance runs OpenArmature fixtures against core/graph, core/chat, core/llm/prompt and the adapters of
// models:
//
//	conformance [--json] [--strict] [--product] DIR|FILE…
//
// It prints a line per case, "ok capability/file/case" or "FAIL capability/file/case: reason", and a last line with the
// counts. It exits with 1 if a case failed and with 2 if its arguments are wrong.
//
// Nothing is skipped. Every key of a fixture's YAML is an instruction or an assertion. Each is marked when it is
// carried out or checked, and a key that is left over fails the case (fixture_directive_unknown). A suite that is not
// supported fails with "needs …: not supported yet". An invariant is a name without a definition. Published names that
// are known have predicates (internal/invariant). Any other name is printed as unchecked and counted; under --strict it
// is a failure.
//
// Nothing is simulated: nodes suspend, save and fail through the same calls as the product's. Checks read evidence
// (internal/evidence): store calls, nodes, events, spans and log lines, recorded while the case runs.
//
// By default a case runs on stores in memory: invocations through Graph.Invoke, chats through the chat harness,
// transmissions through the abstract harness (internal/harness). Prompts and providers have no graph and no turns:
// internal/prompts and internal/providers run their fixtures. The models of observability's graphs are an adapter over
// a fake server. With --product, chats and everything else with a counterpart run through the dispatcher, the
// approvals, the outbox and SQLite (internal/product). Cases and assertions without a counterpart are listed, and such
// cases are counted on the last line.
package main
