package chat

import (
	"log/slog"
	"sync"
)

// WarnOnce logs each text only once: what is missing would else be logged with every call. Its zero value is ready.
type WarnOnce struct {
	mu     sync.Mutex
	logged map[string]bool
}

// Warn logs a text, if it is the first time.
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
