package core

import (
	"bytes"
	"os"
)

// WithoutBOM is the text of a file without the byte order mark with which some editors begin it.
func WithoutBOM(text []byte) []byte { return bytes.TrimPrefix(text, []byte("\ufeff")) }

// ReadText reads a file that a person has written, without a byte order mark. The errors are those of os.ReadFile.
func ReadText(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	return WithoutBOM(text), err
}
