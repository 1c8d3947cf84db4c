package metrics

import (
	"context"
	"errors"
	"slices"
	"time"

	"gatehouse/core"
	"gatehouse/storage"
)

// Engine counts the transactions of a store, and its faults; for Store.WithEngine.
func (m *Metrics) Engine(e storage.Engine) storage.Engine { return engine{e, m} }

type engine struct {
	storage.Engine
	metrics *Metrics
}

// Write counts a transaction that changes something.
func (e engine) Write(ctx context.Context, work storage.Work) error {
	began := time.Now()
	err := e.Engine.Write(ctx, work)
	if e.count(ctx, err); err == nil {
		e.metrics.commit.Observe(time.Since(began).Seconds())
	}
	return err
}

// Beat counts a heartbeat.
func (e engine) Beat(ctx context.Context, work storage.Work) error {
	err := e.Engine.Beat(ctx, work)
	e.count(ctx, err)
	return err
}

// Read counts the faults of reading.
func (e engine) Read(ctx context.Context, work storage.Work) error {
	err := e.Engine.Read(ctx, work)
	e.fault(ctx, err)
	return err
}

func (e engine) count(ctx context.Context, err error) {
	how := "committed"
	if err != nil {
		how = "failed"
	}
	e.metrics.commits.WithLabelValues(how).Inc()
	e.fault(ctx, err)
}

// storeFaults are the categories of faults of a database. Each has its counter from the start: an increase shows only
// where there was a number before.
var storeFaults = []core.Category{core.StoreBusy, core.StoreFull, core.StoreGone, core.StoreUnreadable, core.Internal}

// fault counts what is wrong with the database, not with what it was asked for.
func (e engine) fault(ctx context.Context, err error) {
	if err == nil || errors.Is(ctx.Err(), context.Canceled) { // a time limit tells of a database that hangs
		return
	}
	if c := core.CategoryOf(err); slices.Contains(storeFaults, c) {
		e.metrics.faults.WithLabelValues(string(c)).Inc()
	}
}
