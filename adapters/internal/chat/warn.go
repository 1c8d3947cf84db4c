package chat

import (
	"log/slog"
	"sync"
)

// WarnOnce logs each text only once, so that something missing is not logged with every call. Its zero value is ready.
type WarnOnce struct {
	mu     sync.Mutex
	logged map[string]bool
}

// Warn logs a text the first time it is called with it.
func (w *WarnOnce) Warn(log *slog.Logger, text string, args ...any) {
	w.mu.Lock()
	known := w.logged[text]
	if w.logged == nil {
		w.logged = map[string]bool{}
	}
	w.logged[text] = true
	w.mu.Unlock()
	if !known {
		log.Warn(text, args...)
	}
}
