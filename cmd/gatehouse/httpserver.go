package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"gatehouse/adapters/access"
	"gatehouse/adapters/agents"
	"gatehouse/adapters/otel"
	"gatehouse/adapters/web"
	"gatehouse/cmd/gatehouse/internal/connections"
	"gatehouse/cmd/gatehouse/internal/metrics"
	"gatehouse/core"
)

// Numbers of the HTTP server.
const (
	headerTime   = 10 * time.Second
	requestTime  = 30 * time.Second
	idleTime     = 2 * time.Minute
	shutdownTime = 5 * time.Second // for running requests; platforms repeat requests that were not answered
	probeTime    = 2 * time.Second
	headerBytes  = 16 << 10 // of a request; the platforms send less than 2 KiB, proxies add some
)

// server is the HTTP server: the platforms' webhooks, /healthz, /readyz and /metrics.
type server struct {
	http     *http.Server
	socket   net.Listener
	gateway  *gateway
	gate     *access.Gate
	scrape   http.Handler
	refused  sync.Once // logs the first scrape that is refused
	draining atomic.Bool
}

// newServer opens the address; requests are answered once run runs: those to the platforms, and more.
func newServer(
	address string, g *gateway, gate *access.Gate, pages *web.Web, log *slog.Logger, more ...routes,
) (*server, error) {
	socket, err := net.Listen("tcp", address)
	if err != nil {
		return nil, core.Errorf(core.Invalid, "Can't listen on %s (GATEHOUSE_LISTEN): %v.", address, rootCause(err))
	}
	limit := connections.New(g.memory.Limit(), log)
	s := &server{socket: limit.Watch(socket), gateway: g, gate: gate, scrape: g.metrics.Handler()}
	g.metrics.Add(g)
	ctx, cancel := context.WithTimeout(context.Background(), probeTime)
	defer cancel()
	g.metrics.Add(metrics.NewDatabase(ctx, g.store))
	version, _ := build()
	if g.pushed, err = otel.OpenMetrics(ctx, g.cfg.Traces, version, g.metrics.Gatherer(), log); err != nil {
		_ = socket.Close()
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	mux.HandleFunc("GET /readyz", s.ready)
	mux.HandleFunc("GET /metrics", s.metrics)
	more = append(more, pages.Routes())
	for _, p := range g.platforms {
		webhooks := routesOf(p, g.accept)
		for pattern, handler := range webhooks {
			webhooks[pattern] = g.metrics.Webhook(p.Name(), handler)
		}
		more = append(more, webhooks)
	}
	for _, handlers := range more {
		for pattern, handler := range handlers {
			if _, at, _ := strings.Cut(pattern, "/"); gate.Path != "" && firstPart("/"+at) == firstPart(gate.Path) {
				_ = socket.Close()
				return nil, core.Errorf(core.Invalid,
					"Can't serve at %s (GATEHOUSE_URL): gatehouse has paths of its own "+
						"that begin with %s. Give it another path.", gate.Address, firstPart(gate.Path))
			}
			mux.Handle(pattern, handler)
		}
	}
	s.http = &http.Server{
		Handler:     limit.Handler(connections.Counted(g.memory, gate.Handler(orNowhere(mux, pages)))),
		ConnState:   limit.Follow,
		ConnContext: limit.Know,

		ReadHeaderTimeout: headerTime, ReadTimeout: requestTime, WriteTimeout: requestTime,
		IdleTimeout: idleTime, MaxHeaderBytes: headerBytes,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	return s, nil
}

// orNowhere answers what the mux has no handler for.
func orNowhere(mux *http.ServeMux, pages *web.Web) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, pattern := mux.Handler(r); pattern != "" {
			mux.ServeHTTP(w, r)
			return
		}
		methods := methodsAt(mux, r)
		if firstPart(r.URL.Path) == "/v1" {
			agents.Nowhere(methods...).ServeHTTP(w, r)
		} else {
			pages.Nowhere(methods...).ServeHTTP(w, r)
		}
	})
}

// methodsAt are the methods that the path of a request takes.
func methodsAt(mux *http.ServeMux, r *http.Request) (all []string) {
	other := *r
	for _, other.Method = range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
		if _, pattern := mux.Handler(&other); pattern != "" {
			all = append(all, other.Method)
		}
	}
	return all
}

// firstPart is the first part of a path: /v1 of /v1/approvals.
func firstPart(path string) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return "/" + first
}

// rootCause is the innermost error, such as "address already in use" without the address before it.
func rootCause(err error) error {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return err
}

// run serves until ctx ends, then finishes the running requests. It fails only if the socket does.
func (s *server) run(ctx context.Context) error {
	ended := make(chan error, 1)
	go func() { ended <- s.http.Serve(s.socket) }()
	select {
	case err := <-ended:
		return core.Wrap(core.Internal, err, "The HTTP server failed.")
	case <-ctx.Done():
	}
	s.draining.Store(true)
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTime)
	defer cancel()
	if s.http.Shutdown(last) != nil {
		_ = s.http.Close()
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return core.Wrap(core.Internal, err, "The HTTP server failed.")
	}
	return nil
}
