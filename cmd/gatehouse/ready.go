package main

import (
	"context"
	"encoding/json"
	"net/http"

	"gatehouse/core"
)

// readiness is the body of /readyz. It holds messages that anybody may read, no addresses and no secrets.
type readiness struct {
	Ready     bool                 `json:"ready"`
	Draining  bool                 `json:"draining,omitempty"`
	Database  string               `json:"database"`
	Platforms map[string]condition `json:"platforms"`
}

// condition is, for each direction, "ok" or what is wrong. Monitors rely on the keys.
type condition struct {
	Inbound  string `json:"inbound"`
	Outbound string `json:"outbound"`
}

// ready answers 200 if every platform can receive and send and the database answers (law 9), else 503.
func (s *server) ready(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), probeTime)
	defer cancel()
	state := readiness{Ready: true, Draining: s.draining.Load(), Platforms: map[string]condition{}}
	report := func(err error) string {
		if err == nil {
			return "ok"
		}
		state.Ready = false
		if text := core.MessageOf(err); text != "" {
			return text
		}
		return "not available"
	}
	_, err := s.gateway.store.LoadIntent(ctx, "")
	state.Database = report(err)
	for _, p := range s.gateway.platforms {
		var inbound, outbound error
		if h, ok := p.(core.Health); ok {
			inbound, outbound = h.Health()
		}
		state.Platforms[p.Name()] = condition{report(inbound), report(outbound)}
	}
	state.Ready = state.Ready && !state.Draining
	w.Header().Set("Content-Type", "application/json")
	if !state.Ready {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_ = json.NewEncoder(w).Encode(state) // the client has disconnected
}
