// Package hrfcmd has the commands for envelopes of the Harmony Response Format.
package hrfcmd

// HRF is the group of commands.
type HRF struct {
}
