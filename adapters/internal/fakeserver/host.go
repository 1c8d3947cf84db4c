package fakeserver

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"
)

// Host runs the listeners and the goroutines of one fake, and wakes waiters when something changes.
type Host struct {
	Platform string          // its name in messages, such as "Slack"
	Ctx      context.Context // ends with Close
	// returns the current state, for the error of a wait that gave up; it takes the lock itself
	Dump func() string

	mu      *sync.Mutex // the fake's
	end     context.CancelFunc
	work    sync.WaitGroup
	webs    []*http.Server
	changed chan struct{} // closed and replaced at each change
}

// NewHost returns a host for the fake of a platform. mu is the lock of the fake's state.
func NewHost(platform string, mu *sync.Mutex) *Host {
	h := &Host{Platform: platform, mu: mu, changed: make(chan struct{})}
	h.Ctx, h.end = context.WithCancel(context.Background())
	return h
}

// Changed wakes all waiters. The caller holds the lock.
func (h *Host) Changed() {
	close(h.changed)
	h.changed = make(chan struct{})
}

// WaitFor waits until holds returns true. It calls holds again after each change. Error: ctx ended; the text contains
// the current state.
func (h *Host) WaitFor(ctx context.Context, holds func() bool) error {
	for {
		h.mu.Lock()
		changed := h.changed
		h.mu.Unlock()
		if holds() {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("gave up waiting: %w; the state of %s:\n%s", ctx.Err(), h.Platform, h.Dump())
		}
	}
}

// WaitFor waits until find finds something, and returns it.
func WaitFor[T any](ctx context.Context, h *Host, find func() (T, bool)) (T, error) {
	var found T
	err := h.WaitFor(ctx, func() (is bool) {
		found, is = find()
		return is
	})
	return found, err
}

// Serve opens a listener on 127.0.0.1 and returns its URL, without a slash at the end. The caller holds the lock,
// unless the fake is still being made.
func (h *Host) Serve(handler http.Handler) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic("fakeserver: " + err.Error())
	}
	counted := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !h.begin() {
			http.Error(w, "closed", http.StatusServiceUnavailable)
			return
		}
		defer h.work.Done()
		handler.ServeHTTP(w, r)
	})
	// faults cut connections
	web := &http.Server{Handler: counted, ReadHeaderTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0)}
	h.webs = append(h.webs, web)
	h.work.Go(func() { _ = web.Serve(listener) })
	return "http://" + listener.Addr().String()
}

// begin counts a request as work, unless the fake is closed. Work begins only under the lock, so that Close waits for
// all of it.
func (h *Host) begin() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.Ctx.Err() != nil {
		return false
	}
	h.work.Add(1)
	return true
}

// Go runs do in a goroutine that Close waits for. The caller holds the lock or is part of such work itself.
func (h *Host) Go(do func()) { h.work.Go(do) }

// Close ends the context, calls drop under the lock to end what does not end with the context, closes the listeners,
// and waits for all work.
func (h *Host) Close(drop func()) {
	h.mu.Lock()
	h.end()
	drop()
	webs := h.webs
	h.mu.Unlock()
	for _, web := range webs {
		_ = web.Close()
	}
	h.work.Wait()
}
