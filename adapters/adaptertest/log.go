package adaptertest

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"
)

// Log is a log that can be read while it is written.
type Log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Logger is a logger of every level that writes into the log.
func (l *Log) Logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// Write adds to the log.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// String is all that was logged.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Warnings are its lines that an admin should see.
func (l *Log) Warnings() []string {
	var found []string
	for line := range strings.Lines(l.String()) {
		if strings.Contains(line, "level=WARN") || strings.Contains(line, "level=ERROR") {
			found = append(found, line)
		}
	}
	return found
}

// Hides fails the test where the log shows one of the secrets.
func (l *Log) Hides(t testing.TB, secrets ...string) {
	t.Helper()
	text := l.String()
	for _, secret := range secrets {
		if strings.Contains(text, secret) {
			t.Errorf("the log shows %q:\n%s", secret, text)
		}
	}
}
