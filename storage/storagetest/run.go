package storagetest

import (
	"gatehouse/storage/internal/sqlstore"
	"testing"
	"time"
)

// Database is a database of one test.
type Database struct {
	// Open gives one more view of it, as another process would have. The test closes it; Close may be called twice.
	Open func(t testing.TB) *sqlstore.Store
	// Advance moves its clock on. The clock never stands still: two events never have the same time.
	Advance func(time.Duration)
	// Orphans says that the engine can't prove a death: what a dead process held comes back when its leases are over, no sooner.
	Orphans bool
}

// Opener makes an empty database for one test.
type Opener func(t testing.TB) Database

// example is one sentence of the contract.
type example struct {
	name string
	test func(w *world)
}

// Run tells whether an engine keeps the contract.
func Run(t *testing.T, open Opener) {
	for _, room := range []struct {
		name     string
		examples []example
	}{
		{"inbox", inboxExamples}, {"amend", amendExamples}, {"claim", claimExamples}, {"lease", leaseExamples}, {"finish", finishExamples},
		{"session", sessionExamples}, {"abandon", abandonExamples}, {"approval", approvalExamples}, {"decision", decisionExamples},
		{"intent", intentExamples}, {"evidence", evidenceExamples}, {"outbox", outboxExamples}, {"delivery", deliveryExamples}, {"schedule", scheduleExamples},
		{"undelivered", undeliveredExamples}, {"prune", pruneExamples}, {"admin", adminExamples}, {"kv", kvExamples}, {"crash", crashExamples},
	} {
		t.Run(room.name, func(t *testing.T) {
			for _, e := range room.examples {
				t.Run(e.name, func(t *testing.T) {
					t.Parallel()
					e.test(newWorld(t, open))
				})
			}
		})
	}
}
