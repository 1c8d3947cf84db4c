// Package hrf reads and checks envelopes of the Harmony Response Format (HRF): a list of messages, one of which may hold a workflow in
// HarmonyScript. Parse checks a text by a profile and returns the envelope with its script compiled, or the report of every finding.
// Expressions are in core/hrf/expr, the interpreter in core/hrf/interp, the token form in core/hrf/native.
//
// # Findings
//
// A finding has a rule (rule.go), and the rule a code: a layer of HRF §5.3. What is wrong with the JSON or with the shape of envelope and
// messages is HRF_SCHEMA_ENVELOPE_FAILED, what is wrong with the shape of a script HRF_SCHEMA_SCRIPT_FAILED, and what is wrong with the meaning
// HRF_SEMANTIC_VALIDATION_FAILED. One mistake gives one finding: a misspelt property is not reported as missing too. All layers are always
// checked; the error has the code of the highest one with a finding, and all findings. A text that is no JSON has one finding.
//
// Warnings never make an envelope invalid. Schema says the same as the profile strict, for other tools; a test compares their verdicts.
//
// # Decisions (2026-11-23)
//
// The text of HRF leaves these open. The profile strict:
//
//   - Names are exact, and unknown properties are errors. Rejected: to ignore them, as a misspelt contentType would change what content is.
//   - null counts as missing for channel, recipient, contentType and termination, and for nothing else.
//   - A misspelt HRFVersion is a version that is missing: of the meaning, not of the shape.
//   - A script needs a step. The first one in a message of the role system is run; others are checked, with a warning that they are not run.
//   - An expression that can't be compiled is HRF_EXECUTION_ERROR, the code that the runtime evaluator's faults have (HRF §5.1), but it is found
//     here. Rejected: to find it when it is evaluated, after effects.
//   - What a variable is at the start is data: "$input.x" in vars is a text, with a warning.
//
// The profile compat also reads what later versions of the reference write, each with a warning: hrfVersion or no version, content_type,
// contentType text, the roles developer and tool, scripts in messages of the roles assistant and developer, a byte order mark.
package hrf
