package main

import (
	"bytes"
	"io"
	"log/slog"

	"gatehouse/adapters/console"
	"gatehouse/adapters/otel"
)

// newLogger writes lines of text to a terminal and JSON elsewhere, unless a format is asked for. Lines from inside a turn say which.
func newLogger(w io.Writer, level slog.Level, format string) *slog.Logger {
	opts := &slog.HandlerOptions{Level: level}
	if format == "text" || format == "auto" && console.IsTerminal(underlying(w)) {
		return slog.New(otel.LogHandler{Handler: slog.NewTextHandler(w, opts)})
	}
	return slog.New(otel.LogHandler{Handler: slog.NewJSONHandler(w, opts)})
}

// besidePrompt writes log lines to a terminal that a prompt has in raw mode: over the prompt's line, each ending at the margin.
// The prompt comes back with the next key.
type besidePrompt struct{ io.Writer }

// Write writes one record, which slog gives whole.
func (b besidePrompt) Write(p []byte) (int, error) {
	line := append([]byte("\r\x1b[K"), bytes.ReplaceAll(p, []byte("\n"), []byte("\r\n"))...)
	if _, err := b.Writer.Write(line); err != nil {
		return 0, err
	}
	return len(p), nil
}

// underlying is the writer that tells whether it is a terminal.
func underlying(w io.Writer) io.Writer {
	if b, ok := w.(besidePrompt); ok {
		return b.Writer
	}
	return w
}
