// Package native reads and writes the token form of HRF messages, as gpt-oss models speak it.
package native

import "gatehouse/core/hrf"

// Read reads frames and returns the text of an envelope in JSON.
func Read(text []byte) ([]byte, error) { return nil, nil }

// Write writes an envelope in the token form; the error names everything that the form cannot hold.
func Write(e *hrf.Envelope) ([]byte, error) { return nil, nil }
