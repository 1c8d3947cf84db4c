// Package hrfcmd has the commands for envelopes of the Harmony Response Format.
package hrfcmd

// HRF is the group of commands.
type HRF struct {
	Convert Convert `cmd:"" help:"Convert between an envelope in JSON and the token form that models speak."`
}
