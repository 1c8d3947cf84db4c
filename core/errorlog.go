package core

import "log/slog"

// ErrorLog logs the errors of an operation that is retried: once when an error first occurs, once when its category changes, and once
// when the operation succeeds again. It belongs to one goroutine.
type ErrorLog struct {
	log  *slog.Logger
	what string
	last Category
}

// NewErrorLog logs to log the errors of what ("looking for work").
func NewErrorLog(log *slog.Logger, what string) *ErrorLog { return &ErrorLog{log: log, what: what} }

// Report takes the result of a try; nil is a success.
func (t *ErrorLog) Report(err error) {
	category := CategoryOf(err)
	if category == t.last {
		return
	}
	t.last = category
	if err != nil {
		t.log.Warn(t.what+" fails; retrying", "category", category, "err", err)
		return
	}
	t.log.Info(t.what + " works again")
}
