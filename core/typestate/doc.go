// Package typestate is the tool-calling typestate gate: pure functions over a turn's evidence. Section numbers are
// those of the harness typestate contract.
//
//	bytes ──Decode──▶ Input ──Normalize──▶ Normalized ──JoinCheck──▶ Report ──MutationReady──▶ Verdict
//
// Decode is strict about types and exact keys and ignores unknown keys. Normalize gives evidence its normal form and
// binds it with digests (§4). JoinCheck judges whether the turn is closed (§5). MutationReady judges whether a mutation
// may follow (§6). Nothing here reads a clock, a store or anything else outside; the same input gives the same bytes. A
// caller that gets an error from any of these has no evidence and must treat that as a refusal.
//
// Two levels of strictness (decided 2026-11-21). A join check of foreign evidence gives the same result as the
// reference, byte for byte, so that witnesses can be exchanged: JoinCheck requires no more than the reference. What the
// contract requires (MUST) and the reference does not enforce is enforced for mutations, by MutationReady, over a
// closed prefix of the turn:
//
//   - the action mode is code, json or text, and free text calls tools only through a named adapter (§3.1, §7). A join
//     check accepts any mode;
//   - an execution pattern other than single, chain and parallel implies decomposition or transfer and must have been
//     judged (§5). A join check requires that only if constraints are given: the reference's golden cases accept
//     parallel without any;
//   - a use that names a result's digest names the digest of its own result (§3.2). A join check does not compare them;
//   - the turn is bound to the active policy (§6), otherwise mutation.policy_digest_mismatch, a class that the
//     contract's minimum does not have and its rule needs;
//   - session, trajectory and the join check's witness are linked (§6), otherwise mutation.use_evidence_missing. The
//     reference accepts a closed turn without a witness;
//   - no action is exempt. The reference exempts some of its own (claiming and renewing leases); the contract has no
//     exemption.
//
// A gate that was recorded without its evidence does not make a mutation ready (decided 2026-11-21), even if it is
// recorded as closed: it shows neither the policy binding nor the linkage, and §6 fails closed. Rejected: to trust it,
// as the reference does.
//
// Evidence that can't be read or has no normal form ends a join check with an error and no class, as in the reference.
// A mutation with such evidence gets a verdict (decided 2026-11-21): not ready, mutation.use_evidence_missing, because
// §8 requires a class when a gate is closed. Only input without a mutation to judge (no mutation, no JSON) is an error
// there.
//
// Digests are SHA-256 over canonical JSON: keys sorted by bytes, nothing between tokens, strings escaped only where
// JSON requires it, 64-bit integers in plain decimal. Floats are written as serde_json 1.0.87 writes them (1.0, 100.0,
// 1e16), which made the recorded digests; later versions write 1e+16, so do not depend on large floats in a payload
// (decided 2026-11-21).
//
// The reader is stricter than the reference in these cases: it refuses an object written as a list of its values, and
// texts that nest beyond 512 levels, hold half a surrogate pair or are not UTF-8, even under keys that are ignored.
package typestate
