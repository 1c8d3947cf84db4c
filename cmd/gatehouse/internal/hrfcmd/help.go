package hrfcmd

import "gatehouse/cmd/gatehouse/internal/cli"

// Help are the longer help texts, by the names that the tags of flags have for them.
var Help = cli.Texts{
	"convert_to": "The form to convert to: json, or native for the token form.",
	"convert_profile": "How strictly the envelope is checked: strict, or compat for what later versions of the " +
		"format write.",
	"run_profile": "How strictly the envelope is read: strict, or compat for what later versions of the format " +
		"write.",
	"run_input": "The script's input, a JSON object. For a chat message it has text, words, args and rest.",
	"run_tools": "The tools: a JSON object that maps each recipient to {\"result\": …} or {\"error\": …}. A " +
		"\"schema\" beside it is the JSON Schema of the arguments.",
	"run_llmreply": "What the model answers, each time it is asked. Without it, a script that asks the model fails.",
	"schema_of":    "What the schema describes: envelope, which includes scripts, or script alone.",
	"validate_profile": "How strictly envelopes are read: strict, or compat for what later versions of the format " +
		"write, with a warning for each.",
}
