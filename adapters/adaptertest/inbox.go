package adaptertest

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gatehouse/core"
)

// Inbox takes the place of the store for what a platform receives: it keeps events by id, and the test may decide what becomes of one.
type Inbox struct {
	mu      sync.Mutex
	stored  map[string]core.Event
	calls   []core.Event
	gate    func(context.Context, core.Event) error
	changed chan struct{}
}

// NewInbox makes an empty one.
func NewInbox() *Inbox {
	return &Inbox{stored: map[string]core.Event{}, changed: make(chan struct{})}
}

// Accept is a core.Accept.
func (b *Inbox) Accept(ctx context.Context, e core.Event) (core.Receipt, error) {
	b.mu.Lock()
	gate := b.gate
	b.calls = append(b.calls, e)
	b.notify()
	b.mu.Unlock()
	if gate != nil {
		if err := gate(ctx, e); err != nil {
			return core.Receipt{}, err
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	_, known := b.stored[e.ID]
	if !known {
		b.stored[e.ID] = e
	}
	b.notify()
	return core.Receipt{Seq: int64(len(b.stored)), Fresh: !known}, nil
}

// notify wakes those who wait. The caller holds mu.
func (b *Inbox) notify() {
	close(b.changed)
	b.changed = make(chan struct{})
}

// Gate lets the test decide what becomes of each event; nil: all are stored.
func (b *Inbox) Gate(gate func(context.Context, core.Event) error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.gate = gate
}

// Calls are all events that came to Accept, those that were not stored among them.
func (b *Inbox) Calls() []core.Event {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.calls)
}

// Stored is what is stored now, by id.
func (b *Inbox) Stored() map[string]core.Event {
	b.mu.Lock()
	defer b.mu.Unlock()
	return maps.Clone(b.stored)
}

// Take empties the inbox and gives what was stored.
func (b *Inbox) Take() map[string]core.Event {
	b.mu.Lock()
	defer b.mu.Unlock()
	stored := b.stored
	b.stored, b.calls = map[string]core.Event{}, nil
	return stored
}

// Wait waits until so many events have come to Accept.
func (b *Inbox) Wait(ctx context.Context, calls int) error {
	for {
		b.mu.Lock()
		changed, n := b.changed, len(b.calls)
		b.mu.Unlock()
		if n >= calls {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Poll waits until something holds that nothing announces.
func Poll(ctx context.Context, holds func() bool) error {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// Log is a log that can be read while it is written.
type Log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write is io.Writer's.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// String is what was logged so far.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Warnings are the lines that an admin should read.
func (l *Log) Warnings() []string {
	var found []string
	for line := range strings.Lines(l.String()) {
		if strings.Contains(line, "level=WARN") || strings.Contains(line, "level=ERROR") {
			found = append(found, line)
		}
	}
	return found
}

// Signer makes a signer of keys, the newest first.
func Signer(t testing.TB, keys ...string) *core.Signer {
	t.Helper()
	s, err := core.NewSigner(keys...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
