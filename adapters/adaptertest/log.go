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

// Logger returns a logger that writes all levels to the log.
func (l *Log) Logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// Write appends to the log.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// String returns everything that was logged.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Warnings returns the lines that an admin should see.
func (l *Log) Warnings() []string {
	var found []string
	for line := range strings.Lines(l.String()) {
		if strings.Contains(line, "level=WARN") || strings.Contains(line, "level=ERROR") {
			found = append(found, line)
		}
	}
	return found
}

// Hides fails the test if the log contains one of the secrets.
func (l *Log) Hides(t testing.TB, secrets ...string) {
	t.Helper()
	text := l.String()
	for _, secret := range secrets {
		if strings.Contains(text, secret) {
			t.Errorf("the log shows %q:\n%s", secret, text)
		}
	}
}
