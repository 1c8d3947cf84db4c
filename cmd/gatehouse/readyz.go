package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"gatehouse/cmd/gatehouse/internal/connections"
	"gatehouse/core"
)

// readiness is the body of /readyz. It holds messages that anybody may read, no addresses and no secrets.
type readiness struct {
	Ready     bool                 `json:"ready"`
	Draining  bool                 `json:"draining,omitempty"`
	Database  string               `json:"database"`
	Turns     string               `json:"turns"`
	Clock     string               `json:"clock"`
	Platforms map[string]condition `json:"platforms"`
	Notes     []string             `json:"notes,omitempty"` // what is wrong but does not stop gatehouse
}

// condition is, for each direction, "ok" or what is wrong. Monitors rely on the keys.
type condition struct {
	Inbound  string `json:"inbound"`
	Outbound string `json:"outbound"`
}

// ready answers 200 if every platform can receive and send, the database takes commits and no turn is stuck (law 9),
// else 503.
func (s *server) ready(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), probeTime)
	defer cancel()
	state := readiness{
		Ready: true, Draining: s.draining.Load(), Platforms: map[string]condition{},
		Notes: append(s.gateway.models.notes(), s.gateway.servers.notes()...),
	}
	report := func(err error) string {
		if err == nil {
			return "ok"
		}
		state.Ready = false
		switch text := core.MessageOf(err); {
		case text != "":
			return text
		case errors.Is(err, context.DeadlineExceeded):
			return "not known: the database answers slowly"
		}
		return "not available"
	}
	began := time.Now()
	state.Database = report(s.gateway.store.Health(ctx))
	if took := time.Since(began); took > slowHealth {
		state.Notes = append(state.Notes, fmt.Sprintf("The database answers slowly: its check took %s. %s",
			took.Round(time.Second/10), core.LookWhySlow))
	}
	if few := connections.FewFiles(); few != "" {
		state.Notes = append(state.Notes, few)
	}
	state.Turns = report(cmp.Or(s.gateway.dispatcher.Unstored(), s.gateway.stuck(ctx)))
	state.Clock = report(nil)
	state.Notes = append(state.Notes, s.gateway.untold(ctx)...)
	for _, p := range s.gateway.platforms {
		var inbound, outbound error
		if h, ok := p.(core.Health); ok {
			inbound, outbound = h.Health()
			if _, _, off := h.Clock(); off != nil {
				state.Clock = report(off)
			}
		}
		if outbound == nil {
			outbound = s.gateway.deliverer.Health(p.Name())
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

// slowHealth is how long the check of the database may take before that is told: it is one read.
const slowHealth = time.Second / 2

// stuckAfter is how long a turn may wait although a worker is free.
const stuckAfter = 10 * time.Second

// stuck fails if turns wait that nobody takes, although workers are free and turns are not paused.
func (g *gateway) stuck(ctx context.Context) error {
	if !g.dispatcher.Idle() {
		return nil
	}
	overdue, err := g.store.Overdue(ctx, namesOf(g.platforms), stuckAfter)
	if err == nil && overdue {
		err = core.Errorf(core.Internal,
			"Turns have been waiting for more than %s although workers are free. See gatehouse queue.", stuckAfter)
	}
	return err
}

// untold is a line for /readyz about requests of agents that reached nobody. It does not make it fail: another
// replica would not reach anybody either.
func (g *gateway) untold(ctx context.Context) []string {
	ids, err := g.store.Undelivered(ctx)
	if err != nil || len(ids) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("Requests of agents that reached no approver: %d, the first one %s. "+
		"See gatehouse queue and gatehouse deadletters list.", len(ids), ids[0])}
}
