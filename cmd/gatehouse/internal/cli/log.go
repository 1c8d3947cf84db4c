package cli

import (
	"io"
	"log/slog"

	"gatehouse/adapters/console"
	"gatehouse/adapters/otel"
)

// NewLogger makes the log: it writes text to a terminal and JSON elsewhere, unless a format is set. Lines that a turn logs carry its ids.
func NewLogger(w io.Writer, level slog.Level, format string) *slog.Logger {
	opts := &slog.HandlerOptions{Level: level, ReplaceAttr: withUnit}
	if format == "text" || format == "auto" && console.IsTerminal(w) {
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
