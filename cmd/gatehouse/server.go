package main

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"gatehouse/core"
)

// listener is a platform that hears over HTTP. Routes are patterns of net/http's ServeMux.
type listener interface {
	Routes(accept core.Accept) map[string]http.Handler
}

// Numbers of the HTTP server.
const (
	headerTime   = 10 * time.Second
	requestTime  = 30 * time.Second
	idleTime     = 2 * time.Minute
	shutdownTime = 5 * time.Second // for requests that run; platforms send again what was not answered
	probeTime    = 2 * time.Second
)

// server is the one HTTP server: what platforms post to, and what tells whether the process lives and is ready.
type server struct {
	http     *http.Server
	socket   net.Listener
	gateway  *gateway
	draining atomic.Bool
}

// newServer opens the address; requests are answered once Run runs.
func newServer(address string, g *gateway, log *slog.Logger) (*server, error) {
	socket, err := net.Listen("tcp", address)
	if err != nil {
		return nil, core.Wrap(core.Invalid, err, "The address %s of GATEHOUSE_LISTEN can't be listened on.", address)
	}
	s := &server{socket: socket, gateway: g}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	mux.HandleFunc("GET /readyz", s.ready)
	for _, p := range g.platforms {
		if l, ok := p.(listener); ok {
			for pattern, handler := range l.Routes(g.accept) {
				mux.Handle(pattern, handler)
			}
		}
	}
	s.http = &http.Server{
		Handler: mux, ReadHeaderTimeout: headerTime, ReadTimeout: requestTime, WriteTimeout: requestTime, IdleTimeout: idleTime,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	return s, nil
}

// run serves until ctx ends, then answers what was begun. It fails only where the socket does.
func (s *server) run(ctx context.Context) error {
	ended := make(chan error, 1)
	go func() { ended <- s.http.Serve(s.socket) }()
	select {
	case err := <-ended:
		return core.Wrap(core.Internal, err, "The HTTP server has failed.")
	case <-ctx.Done():
	}
	s.draining.Store(true)
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTime)
	defer cancel()
	if s.http.Shutdown(last) != nil {
		_ = s.http.Close()
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return core.Wrap(core.Internal, err, "The HTTP server has failed.")
	}
	return nil
}

// readiness is what /readyz answers: nothing but words that an admin may see, no addresses and no secrets.
type readiness struct {
	Ready     bool                 `json:"ready"`
	Draining  bool                 `json:"draining,omitempty"`
	Database  string               `json:"database"`
	Platforms map[string]condition `json:"platforms"`
}

type condition struct {
	Hears  string `json:"hears"`
	Speaks string `json:"speaks"`
}

const fine = "ok"

// ready says whether every platform hears and speaks and the database answers (law 9): 200, or 503.
func (s *server) ready(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), probeTime)
	defer cancel()
	state := readiness{Ready: true, Draining: s.draining.Load(), Platforms: map[string]condition{}}
	told := func(err error) string {
		if err == nil {
			return fine
		}
		state.Ready = false
		if text := core.MessageOf(err); text != "" {
			return text
		}
		return "not now"
	}
	_, err := s.gateway.store.LoadIntent(ctx, "")
	state.Database = told(err)
	for _, p := range s.gateway.platforms {
		var inbound, outbound error
		if h, ok := p.(core.Health); ok {
			inbound, outbound = h.Health()
		}
		state.Platforms[p.Name()] = condition{told(inbound), told(outbound)}
	}
	state.Ready = state.Ready && !state.Draining
	w.Header().Set("Content-Type", "application/json")
	if !state.Ready {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_ = json.NewEncoder(w).Encode(state) // whoever asked has gone
}
