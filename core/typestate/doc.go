// Package typestate is the tool-calling typestate gate: pure functions over a turn's evidence. Section numbers are those of the
// harness typestate contract.
//
//	bytes ──Decode──▶ Input ──Normalize──▶ Normalized ──JoinCheck──▶ Report ──MutationReady──▶ Verdict
//
// Decode is strict about types and exact keys and lets unknown keys be. Normalize brings evidence into its one form and binds it
// with digests (§4). JoinCheck judges whether the turn is closed (§5). MutationReady judges whether a mutation may follow (§6).
// Nothing here reads a clock, a store or the world; the same input gives the same bytes. Whoever gets an error from any of these
// has no evidence and must take that as a no.
//
// Two readers, two strictnesses (decided 2026-11-21). A join check of foreign evidence keeps parity with the reference, byte for
// byte, so that witnesses can be exchanged: JoinCheck asks no more than it does. What the contract says MUST and the reference
// does not enforce is enforced for mutations, by MutationReady, over a closed prefix of the turn:
//
//   - the action mode is code, json or text, and free text calls tools through a named adapter alone (§3.1, §7). A join check
//     accepts any mode;
//   - a pattern other than single, chain and parallel implies decomposition or transfer and needs somebody's judgement of it (§5).
//     A join check asks only where constraints are given: the reference's golden cases accept parallel without any;
//   - a use that names a result's digest names its own result's (§3.2). A join check does not compare them;
//   - the turn is bound to the policy that is active now (§6), else mutation.policy_digest_mismatch, a class that the contract's
//     minimum lacks and its rule needs;
//   - session, trajectory and the join check's witness are linked (§6), else mutation.use_evidence_missing. The reference lets a
//     closed turn without a witness pass;
//   - no action is exempt. The reference spares some of its own (claiming and renewing leases); the contract knows no exemption.
//
// A gate that was recorded without its evidence does not make a mutation ready (decided 2026-11-21), however closed it says it is:
// neither the policy binding nor the linkage can be seen in it, and §6 fails closed. Rejected: to believe it, as the reference does.
//
// Evidence that can't be read or has no normal form ends a join check with an error and no class, as the reference has it. A
// mutation that brings such evidence gets a verdict (decided 2026-11-21): not ready, mutation.use_evidence_missing, for §8 wants a
// class where a gate is shut. Only a question that is none (no mutation, no JSON) is an error there.
//
// Digests are SHA-256 over canonical JSON: keys sorted by bytes, nothing between tokens, strings escaped only where JSON makes us,
// integers of 64 bits in plain decimal. Floats stand as serde_json 1.0.87 writes them (1.0, 100.0, 1e16), with which the recorded
// digests were made; later versions write 1e+16, so nobody should depend on large floats in a payload (decided 2026-11-21).
//
// Where the reader is stricter than the reference: an object written as a list of its values is refused, and so are texts that
// nest beyond 512 levels, hold half a surrogate pair or are not UTF-8, even under keys that nobody reads.
package typestate
