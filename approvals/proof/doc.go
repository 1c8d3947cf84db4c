// Package proof makes and verifies proofs of decisions. A caller that asked for an approval gets one with the decision,
// keeps it, and shows it later to whoever carries the action out: that exactly this was decided, by whom, when and
// under which rule.
//
// A proof is a compact JWS (RFC 7515) over Claims, signed with Ed25519. Its header is
// {"alg":"EdDSA","kid":…,"typ":"gatehouse-approval+jwt"}, where kid is the key's thumbprint (RFC 7638). The arguments
// are not in it, only their digest: "sha256:" and the hash of their canonical form (Canonical, which is RFC 8785), so
// that any implementation of that RFC can compute it. The digest has no key: who can guess the arguments can check the
// guess.
//
// Nothing is stored. The keys are derived from the secret keys of the installation, so they are replaced with them: the
// newest one signs, and a proof holds as long as the secret key behind it is listed, or as long as somebody keeps the
// published key. Ed25519 is deterministic: the same approval gives the same proof each time, until the key is replaced.
// An erased approval gives none any more.
//
// The public keys are published as a JWK set, with its issuer: Keys.Handler, ParseSet. Verify needs only that set. It
// accepts one algorithm, takes no key from the proof, and reads a header of exactly those three fields, so a proof
// can't choose how it is verified.
package proof
