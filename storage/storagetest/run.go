// Package storagetest states the contract of *sqlstore.Store as tests that every engine runs.
//
//	Run       named examples, one for each rule of the contract
//	Property  random histories of several workers, compared with a model in memory after each step
//
// An engine provides an empty Database for each test. It can be opened several times at once (as several processes do),
// closed and opened again (as after a crash between two calls), and its clock can be advanced. Nothing sleeps: a claim
// of zero is over at once, and Advance passes any other time.
package storagetest

import (
	"context"
	"sync"
	"testing"
	"time"

	"gatehouse/storage/internal/sqlstore"
)

// Database is a database of one test.
type Database struct {
	// Open opens the database once more, as another process would. The test closes it; Close may be called twice.
	Open func(t testing.TB) *sqlstore.Store
	// Advance advances the database's clock. The clock never stands still: two events never have the same time.
	Advance func(time.Duration)
	// Orphans is set if the engine can't prove a process's death, so that its heartbeats have to be missed.
	Orphans bool
}

// Opener creates an empty database for one test.
type Opener func(t testing.TB) Database

// example is one rule of the contract.
type example struct {
	name string
	test func(w *world)
}

// Run checks that an engine keeps the contract.
func Run(t *testing.T, open Opener) {
	for _, group := range []struct {
		name     string
		examples []example
	}{
		{"inbox", inboxExamples}, {"amend", amendExamples}, {"fetched", fetchedExamples}, {"claim", claimExamples},
		{"begin", beginExamples}, {"heartbeat", heartbeatExamples}, {"finish", finishExamples},
		{"session", sessionExamples}, {"blob", blobExamples}, {"abandon", abandonExamples},
		{"approval", approvalExamples}, {"readers", readerExamples}, {"decision", decisionExamples},
		{"question", questionExamples},
		{"intent", intentExamples}, {"audit", auditExamples}, {"evidence", evidenceExamples},
		{"outbox", outboxExamples}, {"delivery", deliveryExamples}, {"twin", twinExamples}, {"mail", mailExamples},
		{"conversation", conversationExamples},
		{"schedule", scheduleExamples},
		{"undelivered", undeliveredExamples}, {"fallback", fallbackExamples}, {"prune", pruneExamples},
		{"retention", retentionExamples},
		{"admin", adminExamples}, {"figures", figureExamples}, {"kv", kvExamples},
		{"crash", crashExamples}, {"restored", restoredExamples}, {"setback", setbackExamples},
	} {
		t.Run(group.name, func(t *testing.T) {
			for _, e := range group.examples {
				t.Run(e.name, func(t *testing.T) {
					t.Parallel()
					e.test(newWorld(t, open))
				})
			}
		})
	}
}

// ManyOpen opens a new database several times at once, as processes that start together do. Each must be able to use
// it.
func ManyOpen(t *testing.T, open func(ctx context.Context) (*sqlstore.Store, error)) {
	ctx := context.Background()
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			s, err := open(ctx)
			if err != nil {
				t.Errorf("opening: %v", err)
				return
			}
			if err := s.AddNote(ctx, "ann", "x"); err != nil {
				t.Errorf("writing: %v", err)
			}
			s.Close()
		})
	}
	wg.Wait()
	s, err := open(ctx)
	if err != nil {
		t.Fatalf("opening once more: %v", err)
	}
	defer s.Close()
	if notes, err := s.Notes(ctx, "ann"); err != nil || len(notes) != 6 {
		t.Errorf("%d notes, want 6 (%v)", len(notes), err)
	}
}
