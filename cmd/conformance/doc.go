// Command conformance runs OpenArmature fixtures against core/graph and core/chat:
//
//	conformance [--json] [--strict] DIR|FILE…
//
// It prints a line for each case, "ok capability/file/case" or "FAIL capability/file/case: reason", and a last line with the
// counts. It exits with 1 where a case failed and with 2 where it was called wrongly.
//
// Nothing is skipped. A fixture is YAML whose every key is an instruction or an assertion; each is marked when it is carried out or
// checked, and a key that is left over fails the case (fixture_directive_unknown). A suite that
// we do not run fails with "needs …: not supported yet". An invariant is a name without a definition: those in the registry are checked on what really
// happened in the case (store calls, node bodies, tails, listeners, stored records); one that no rule fits is printed as unchecked,
// counted, and under --strict a failure.
//
// Nothing is simulated: nodes suspend, save and fail through the same calls as the product's, and what is observed comes from
// spies around the stores, the nodes and Graph.Invoke.
//
// One case is a world: a graph, stores, observers and, for the two harness suites, a harness. Its turns run in the order of the
// file and leave facts behind (type turn), which the checkers read.
package main
