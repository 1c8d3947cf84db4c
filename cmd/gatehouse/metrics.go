package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"gatehouse/adapters/access"
	"gatehouse/cmd/gatehouse/internal/doctor"
	"gatehouse/cmd/gatehouse/internal/settings"
	"gatehouse/core"
	"gatehouse/core/dispatch"
	"gatehouse/core/outbox"
)

// The names of the metrics.
const (
	metricRunning     = "gatehouse_turns_running"
	metricWorkers     = "gatehouse_turns_limit"
	metricMemory      = "gatehouse_turn_memory_bytes"
	metricMemoryLimit = "gatehouse_turn_memory_limit_bytes"
	metricWaiting     = "gatehouse_conversations_waiting"
	metricModelUp     = "gatehouse_model_up"
	metricServerUp    = "gatehouse_mcp_server_up"
	metricSkew        = "gatehouse_clock_skew_seconds"
	metricPosts       = "gatehouse_post_events_total"
)

// metrics answers with numbers in the text format of Prometheus, which is so small that it needs no library. They
// count; they name nobody. The first scrape that is refused is logged.
func (s *server) metrics(w http.ResponseWriter, r *http.Request) {
	var refusal *access.Refusal
	if errors.As(s.gate.Metrics(r), &refusal) {
		s.refused.Do(func() {
			s.gateway.log.Warn("a request for /metrics is refused, and further ones are without a line: "+
				refusal.Message, "from", r.RemoteAddr, "status", refusal.Status)
		})
		if refusal.Status == http.StatusUnauthorized {
			w.Header().Set("WWW-Authenticate", `Bearer realm="gatehouse metrics"`)
		}
		if refusal.RetryAfter > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(int(refusal.RetryAfter.Seconds())))
		}
		http.Error(w, refusal.Message, refusal.Status)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), probeTime)
	defer cancel()
	load := s.gateway.dispatcher.Load()
	waiting, err := s.gateway.store.Waiting(ctx)
	if err != nil {
		http.Error(w, "The database does not answer.", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4")
	for _, m := range []struct {
		name, help string
		value      int64
	}{
		{metricRunning, "Turns that run in this process; most of them wait for a model.", int64(load.Running)},
		{metricWorkers, "How many turns may run in this process (GATEHOUSE_WORKERS).", int64(load.Workers)},
		{metricMemory, "Bytes that requests and running turns are estimated to hold.", load.Held},
		{
			metricMemoryLimit, "How many they may hold; more are refused or wait (GATEHOUSE_TURN_MEMORY); 0: no limit.",
			load.Memory,
		},
		{
			metricWaiting,
			"Conversations on the database whose next turn waits, for a process or for its next attempt.",
			int64(waiting),
		},
	} {
		// the client has disconnected
		_, _ = fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s gauge\n%s %d\n", m.name, m.help, m.name, m.name, m.value)
	}
	_, _ = fmt.Fprintf(w, "# HELP %s 1: the model answered its last call.\n# TYPE %[1]s gauge\n", metricModelUp)
	bit := map[bool]int{true: 1}
	for model, down := range s.gateway.models.all() {
		_, _ = fmt.Fprintf(w, "%s{model=%q} %d\n", metricModelUp, model, bit[down == ""])
	}
	_, _ = fmt.Fprintf(w, "# HELP %s 1: the MCP server runs.\n# TYPE %[1]s gauge\n", metricServerUp)
	for server, up := range s.gateway.servers.Up() {
		_, _ = fmt.Fprintf(w, "%s{server=%q} %d\n", metricServerUp, server, bit[up])
	}
	_, _ = fmt.Fprintf(w, "# HELP %s What delayed posts, or made one stand twice.\n# TYPE %[1]s counter\n", metricPosts)
	for platform, counts := range s.gateway.deliverer.Counts() {
		for _, event := range outbox.Events {
			_, _ = fmt.Fprintf(w, "%s{platform=%q,event=%q} %d\n", metricPosts, platform, event, counts[event])
		}
	}
	_, _ = fmt.Fprintf(w, "# HELP %s How far this machine's clock is ahead of a platform's.\n# TYPE %s gauge\n",
		metricSkew, metricSkew)
	for _, p := range s.gateway.platforms {
		if h, ok := p.(core.Health); ok {
			if now, ahead, _ := h.Clock(); !now.IsZero() {
				_, _ = fmt.Fprintf(w, "%s{source=%q} %g\n", metricSkew, p.Name(), ahead.Seconds())
			}
		}
	}
}

// Turns asks the gatehouse serve that listens on GATEHOUSE_LISTEN of this machine for its turns; ok is false if none
// answers. The error is that it refuses to tell.
func (program) Turns(ctx context.Context, cfg settings.Config) (turns doctor.Turns, ok bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	answer, err := getLocal(ctx, cfg, "/metrics")
	if err != nil {
		return turns, false, nil //nolint:nilerr // no gatehouse serve answers
	}
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusUnauthorized || answer.StatusCode == http.StatusTooManyRequests {
		return turns, false, core.Errorf(core.Unauthorized, "gatehouse serve at %s does not tell its turns: this "+
			"command does not have its GATEHOUSE_METRICS_TOKEN.", cfg.Listen)
	}
	values := map[string]int64{}
	for lines := bufio.NewScanner(io.LimitReader(answer.Body, headerBytes)); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), " ")
		if n, err := strconv.ParseInt(value, 10, 64); err == nil {
			values[name] = n
		}
	}
	turns.Load = dispatch.Load{
		Running: int(values[metricRunning]), Workers: int(values[metricWorkers]), Held: values[metricMemory],
		Memory: values[metricMemoryLimit],
	}
	turns.Waiting = int(values[metricWaiting])
	return turns, answer.StatusCode == http.StatusOK && turns.Workers > 0, nil
}
