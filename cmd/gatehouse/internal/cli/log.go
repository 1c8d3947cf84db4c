package cli

import (
	"bytes"
	"io"
	"log/slog"

	"gatehouse/adapters/console"
	"gatehouse/adapters/otel"
)

// NewLogger makes the log: it writes text to a terminal and JSON elsewhere, unless a format is set. Lines that a turn logs carry its ids.
func NewLogger(w io.Writer, level slog.Level, format string) *slog.Logger {
	opts := &slog.HandlerOptions{Level: level, ReplaceAttr: withUnit}
	if format == "text" || format == "auto" && console.IsTerminal(underlying(w)) {
		return slog.New(otel.LogHandler{Handler: slog.NewTextHandler(w, opts)})
	}
	return slog.New(otel.LogHandler{Handler: slog.NewJSONHandler(w, opts)})
}

// withUnit logs durations as 1.5s in JSON too, not as a number of nanoseconds.
func withUnit(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		a.Value = slog.StringValue(a.Value.Duration().String())
	}
	return a
}

// RawTerminal writes log lines to a terminal that a prompt has put into raw mode: each line replaces the prompt's line and ends with
// a carriage return. The prompt is drawn again with the next key.
type RawTerminal struct{ io.Writer }

// Write writes one record; slog writes a record in one call.
func (t RawTerminal) Write(p []byte) (int, error) {
	line := append([]byte("\r\x1b[K"), bytes.ReplaceAll(p, []byte("\n"), []byte("\r\n"))...)
	if _, err := t.Writer.Write(line); err != nil {
		return 0, err
	}
	return len(p), nil
}

// underlying is the writer to ask whether it is a terminal.
func underlying(w io.Writer) io.Writer {
	if t, ok := w.(RawTerminal); ok {
		return t.Writer
	}
	return w
}
