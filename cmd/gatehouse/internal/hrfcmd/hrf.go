// Package hrfcmd has the commands for envelopes of the Harmony Response Format.
package hrfcmd

// HRF is gatehouse hrf, a group of commands.
type HRF struct {
	Validate Validate `cmd:"" help:"Check envelopes and print every fault with its place."`
	Run      Run      `cmd:"" help:"Run the script of an envelope with made-up tools, and print what it does."`
	Convert  Convert  `cmd:"" help:"Convert between an envelope in JSON and the token form that models speak."`
	Schema   Schema   `cmd:"" help:"Print the JSON Schema of envelopes."`
}
