package dispatch

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"gatehouse/core"
)

type busyOnce struct {
	Store
	calls int
}

func (b *busyOnce) Finish(context.Context, core.Finish) error {
	if b.calls++; b.calls == 1 {
		return core.Errorf(core.StoreBusy, "busy")
	}
	return nil
}

func TestFinishIsRetriedAfterALongTurn(t *testing.T) {
	b := &busyOnce{}
	o := Options{Store: b, Outbox: noOutbox{}, Log: slog.New(slog.DiscardHandler)}
	o.defaults()
	d := &Dispatcher{Options: o}
	turn := newTurn(d, core.Claim{}, nil)
	turn.began = time.Now().Add(-2 * time.Minute)
	turn.finish(t.Context(), &core.Finish{End: core.End{Kind: core.EndReplied}})
	if b.calls < 2 {
		t.Errorf("Finish was tried %d time", b.calls)
	}
}

type lateOnce struct {
	Store
	calls int
}

func (b *lateOnce) Finish(context.Context, core.Finish) error {
	if b.calls++; b.calls == 1 {
		return context.DeadlineExceeded // what sqlite gives when the writer's queue is longer than the heartbeat
	}
	return nil
}

func TestFinishIsRetriedAfterATimeout(t *testing.T) {
	b := &lateOnce{}
	o := Options{Store: b, Outbox: noOutbox{}, Log: slog.New(slog.DiscardHandler)}
	o.defaults()
	d := &Dispatcher{Options: o}
	newTurn(d, core.Claim{}, nil).finish(t.Context(), &core.Finish{End: core.End{Kind: core.EndReplied}})
	if b.calls < 2 {
		t.Errorf("Finish was tried %d time", b.calls)
	}
}
