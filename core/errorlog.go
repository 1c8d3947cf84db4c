package core

import "log/slog"

// Trouble tells the log of a fault that lasts in something that is tried again and again: once when it begins, once when it
// becomes another one, once when it is over. It belongs to one goroutine.
type ErrorLog struct {
	log  *slog.Logger
	what string
	last Category
}

// NewTrouble tells log of trouble with what ("looking for work").
func NewErrorLog(log *slog.Logger, what string) *ErrorLog { return &ErrorLog{log: log, what: what} }

// Met takes the result of a try; nil is a success.
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
