package cli

import (
	"io"
	"log/slog"

	"gatehouse/adapters/console"
	"gatehouse/adapters/otel"
	"gatehouse/core/mask"
)

// NewLogger makes the log: it writes text to a terminal and JSON elsewhere, unless a format is set. Lines that a turn
// logs carry its ids.
func NewLogger(w io.Writer, level slog.Level, format string) *slog.Logger {
	opts := &slog.HandlerOptions{Level: level, ReplaceAttr: readable}
	if format == "text" || format == "auto" && console.IsTerminal(w) {
		return slog.New(otel.LogHandler{Handler: slog.NewTextHandler(w, opts)})
	}
	return slog.New(otel.LogHandler{Handler: slog.NewJSONHandler(w, opts)})
}

// readable logs errors without secrets: others may have written what is in them. Durations are logged as 1.5s in JSON
// too, not as a number of nanoseconds.
func readable(_ []string, a slog.Attr) slog.Attr {
	if err, ok := a.Value.Any().(error); ok {
		a.Value = slog.StringValue(mask.Text(err.Error()))
	}
	if a.Value.Kind() == slog.KindDuration {
		a.Value = slog.StringValue(a.Value.Duration().String())
	}
	return a
}
