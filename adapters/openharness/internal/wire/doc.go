// Package wire is the message format of OpenHarness 1.x: Decode reads a request, Response writes an answer. It knows
// neither HTTP nor the store.
//
// Requests. A name counts only as it is written in the protocol: REQUEST_ID is an unknown field, and unknown fields are
// ignored at every depth. A declared field is checked even if nothing uses it, and null is never its value. A repeated
// key is refused everywhere, as two readers of one body may take different values. Beyond the schema:
//
//   - The version is checked before the rest: every 1.x.y is accepted, also one with leading zeros or a pre-release. A
//     message of another major version may have another shape, so it is answered with protocol_version_unsupported and
//     not with what its shape lacks.
//   - request_id, correlation_id, session_id and conversation_id have at most 256 bytes. What they hold is not judged:
//     whoever puts one into a header or a log escapes it. An identifier that breaks a rule is refused and not echoed;
//     the other one still is.
//   - There is a user_intent that is not blank, an attachment, or a continuation with a token or a run. A continuation
//     with neither is none.
//   - auth.session_id and context.session_id are the same, or one of them is absent; an empty one is absent.
//   - An attachment is a reference: it has a ref_id, a uri or an asset_id, and no content, in no field at any depth.
//   - Size: 256 levels, 20,000 values, 32 attachments. It is measured before the body is parsed, so a hostile body
//     costs one pass over it.
//   - Only the values of known capabilities are checked, since unknown ones must be ignored. false and "" don't ask for
//     a capability.
//
// environment_state is checked and dropped: what is not kept can be neither logged nor sent to a model, whatever its
// privacy tier.
//
// A Fault tells a developer what is wrong and where. It never repeats what a body says, since that may be a secret.
package wire
