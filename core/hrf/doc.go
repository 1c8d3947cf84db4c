// Package hrf reads and checks envelopes of the Harmony Response Format (HRF): a list of messages, one of which may
// hold a workflow in HarmonyScript. Parse checks a text by a profile and returns the envelope with its script compiled,
// or the report of every finding. Expressions are in core/hrf/expr, the interpreter in core/hrf/interp, the token form
// in core/hrf/native.
//
// # Findings
//
// Each finding breaks one rule (rule.go), and each rule has the code of a layer (HRF §5.3): HRF_SCHEMA_ENVELOPE_FAILED
// for the JSON and the shape of envelope and messages, HRF_SCHEMA_SCRIPT_FAILED for the shape of a script,
// HRF_SEMANTIC_VALIDATION_FAILED for the meaning of either. One mistake gives one finding: a misspelt property is not
// reported as missing too. All layers are always checked; the error has the code of the highest layer with a finding,
// and lists all findings. Text that is not JSON has one finding.
//
// Warnings never make an envelope invalid. Schema describes the strict profile for other tools; a test compares its
// verdicts with those of Parse.
//
// # Decisions (2026-11-23)
//
// The text of HRF leaves these open. In the strict profile:
//
//   - Names are exact, and unknown properties are errors. Rejected: ignoring them, because a misspelt contentType
//     changes how content is read.
//   - null counts as missing for channel, recipient, contentType and termination, and for nothing else.
//   - A misspelt HRFVersion counts as a missing version, which is a fault of the meaning and not of the shape.
//   - A script has at least one step. The first script in a system message is run; others are checked, with a warning
//     that they never run.
//   - An expression that does not compile is HRF_EXECUTION_ERROR, the code for faults of the runtime evaluator (HRF
//     §5.1), but it is found here. Rejected: finding it at run time, after side effects.
//   - The values of vars are data: "$input.x" there is a string, with a warning.
//
// The compat profile also reads what later versions of the reference write, each with a warning: hrfVersion or no
// version, content_type, contentType text, the roles developer and tool, scripts in assistant and developer messages, a
// byte order mark.
package hrf
