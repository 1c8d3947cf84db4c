package metrics

import (
	"context"
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

// fault counts what is wrong with the database, not with what it was asked for.
func (e engine) fault(ctx context.Context, err error) {
	if err == nil || ctx.Err() != nil {
		return
	}
	switch c := core.CategoryOf(err); c {
	case core.StoreBusy, core.StoreFull, core.StoreGone, core.StoreUnreadable, core.Internal:
		e.metrics.faults.WithLabelValues(string(c)).Inc()
	}
}
