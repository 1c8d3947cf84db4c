package modelapi

import (
	"context"
	"errors"
	"io"
	"time"
)

// errSilent is the cause of a call's context that ended because the vendor sent nothing.
var errSilent = errors.New("no byte came")

// watch is a call that is given up when not one byte has come for as long as Silence, or after Timeout, if there is
// one. A healthy model may think for minutes without a word, but then its server sends pings, which are bytes too.
type watch struct {
	ctx   context.Context //nolint:containedctx // of the one call that this belongs to
	timer *time.Timer
	after time.Duration
}

// watch begins a call, which lasts until end.
func (e *Endpoint) watch(ctx context.Context) (w *watch, end func()) {
	stop := context.CancelFunc(func() {})
	if e.Timeout > 0 {
		ctx, stop = context.WithTimeout(ctx, e.Timeout)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	w = &watch{ctx: ctx, after: e.Silence}
	w.timer = time.AfterFunc(w.after, func() { cancel(errSilent) })
	return w, func() {
		w.timer.Stop()
		cancel(nil)
		stop()
	}
}

// silent reports whether the call was given up because nothing came.
func (w *watch) silent() bool { return errors.Is(context.Cause(w.ctx), errSilent) }

// over reads from a body: each byte is a sign of life.
func (w *watch) over(body io.Reader) io.Reader {
	w.timer.Reset(w.after) // the head came
	return &living{w, body}
}

type living struct {
	watch *watch
	body  io.Reader
}

func (l *living) Read(p []byte) (int, error) {
	n, err := l.body.Read(p)
	if n > 0 {
		l.watch.timer.Reset(l.watch.after)
	}
	return n, err
}
