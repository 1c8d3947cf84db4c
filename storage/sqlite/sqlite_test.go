package sqlite_test

import (
	"context"
	"gatehouse/storage/internal/sqlstore"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"gatehouse/storage/sqlite"
	"gatehouse/storage/storagetest"
	"gatehouse/storage/storagetest/property"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// clock is the time of a test: it advances a little on each reading, and by more on request.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func newClock() *clock { return &clock{t: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(time.Microsecond)
	return c.t
}

func (c *clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

// open opens a file and closes it after the test.
func open(t testing.TB, file string, o sqlite.Options) *sqlite.Store {
	t.Helper()
	s, err := sqlite.OpenStore(context.Background(), file, o)
	if err != nil {
		t.Fatalf("opening: %v", err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func opener(t testing.TB) storagetest.Database {
	file := filepath.Join(t.TempDir(), "gatehouse.db")
	c := newClock()
	return storagetest.Database{
		Open:    func(t testing.TB) *sqlstore.Store { return open(t, file, sqlite.Options{Now: c.Now}).Store },
		Advance: c.Advance,
	}
}

// TestProperty runs GATEHOUSE_PROPERTY_ROUNDS rounds.
func TestProperty(t *testing.T) {
	rounds := 10
	if text := os.Getenv("GATEHOUSE_PROPERTY_ROUNDS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatalf("GATEHOUSE_PROPERTY_ROUNDS: %v", err)
		}
		rounds = n
	}
	property.Run(t, opener, rounds)
}
