package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"gatehouse/adapters/access"
	"gatehouse/cmd/gatehouse/internal/doctor"
	"gatehouse/cmd/gatehouse/internal/settings"
	"gatehouse/core"
	"gatehouse/core/dispatch"
	"gatehouse/core/outbox"
)

// The names of the metrics that gatehouse doctor reads.
const (
	metricRunning     = "gatehouse_turns_running"
	metricWorkers     = "gatehouse_turns_limit"
	metricMemory      = "gatehouse_turn_memory_bytes"
	metricMemoryLimit = "gatehouse_turn_memory_limit_bytes"
	metricWaiting     = "gatehouse_conversations_waiting"
)

// metrics answers with numbers for Prometheus; see package metrics. The first scrape that is refused is logged.
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
	s.scrape.ServeHTTP(w, r)
}

// Descriptions of what the parts of a gateway tell.
var (
	descRunning = prometheus.NewDesc(metricRunning,
		"Turns that run in this process; most of them wait for a model.", nil, nil)
	descWorkers = prometheus.NewDesc(metricWorkers,
		"How many turns may run in this process (GATEHOUSE_WORKERS).", nil, nil)
	descMemory = prometheus.NewDesc(metricMemory,
		"Bytes that requests and running turns are estimated to hold.", nil, nil)
	descMemoryLimit = prometheus.NewDesc(metricMemoryLimit,
		"How many they may hold; more are refused or wait (GATEHOUSE_TURN_MEMORY); 0: no limit.", nil, nil)
	descWaiting = prometheus.NewDesc(metricWaiting,
		"Conversations on the database whose next turn waits, for a process or for its next attempt.", nil, nil)
	descModelUp = prometheus.NewDesc("gatehouse_model_up", "1: the model answered its last call.",
		[]string{"model"}, nil)
	descServerUp = prometheus.NewDesc("gatehouse_mcp_server_up", "1: the MCP server runs.", []string{"server"}, nil)
	descMCPCalls = prometheus.NewDesc("gatehouse_mcp_calls_total",
		"Calls of MCP servers, each round of one by itself, by how they ended.", []string{"server", "result"}, nil)
	descPosts = prometheus.NewDesc("gatehouse_post_events_total",
		"What delayed posts, or made one stand twice.", []string{"platform", "event"}, nil)
	descSkew = prometheus.NewDesc("gatehouse_clock_skew_seconds",
		"How far this machine's clock is ahead of a platform's.", []string{"source"}, nil)
	descPlatformUp = prometheus.NewDesc("gatehouse_platform_up",
		"1: the platform's events are received (inbound), or its calls are answered (outbound).",
		[]string{"platform", "direction"}, nil)
	descCalls = prometheus.NewDesc("gatehouse_platform_calls_total",
		"Calls of a platform's interface, by what came of them.", []string{"platform", "result"}, nil)
	descConnections = prometheus.NewDesc("gatehouse_platform_connections_total",
		"Connections that were opened to receive a platform's events, the first ones among them.",
		[]string{"platform"}, nil)
	descSessions = prometheus.NewDesc("gatehouse_platform_sessions_left",
		"Sessions that may still begin today, by the platform's own word (Discord's identifies).",
		[]string{"platform"}, nil)
)

// Describe names the metrics of the gateway's parts.
func (g *gateway) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		descRunning, descWorkers, descMemory, descMemoryLimit, descWaiting, descModelUp, descServerUp, descPosts,
		descSkew, descPlatformUp, descCalls, descMCPCalls, descConnections, descSessions,
	} {
		to <- d
	}
}

// Collect asks the gateway's parts. What the database can't tell now is left out.
func (g *gateway) Collect(to chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	count := func(d *prometheus.Desc, n int64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), labels...)
	}
	load := g.dispatcher.Load()
	gauge(descRunning, float64(load.Running))
	gauge(descWorkers, float64(load.Workers))
	gauge(descMemory, float64(load.Held))
	gauge(descMemoryLimit, float64(load.Memory))
	ctx, cancel := context.WithTimeout(context.Background(), probeTime)
	defer cancel()
	if waiting, err := g.store.Waiting(ctx); err == nil {
		gauge(descWaiting, float64(waiting))
	}
	bit := map[bool]float64{true: 1}
	for model, down := range g.models.all() {
		gauge(descModelUp, bit[down == ""], model)
	}
	for server, up := range g.servers.Up() {
		gauge(descServerUp, bit[up], server)
	}
	for server, calls := range g.servers.Calls() {
		for result, n := range calls {
			count(descMCPCalls, n, server, result)
		}
	}
	for platform, counts := range g.deliverer.Counts() {
		for _, event := range outbox.Events {
			count(descPosts, counts[event], platform, string(event))
		}
	}
	for _, p := range g.platforms {
		if c, ok := p.(core.CallCounter); ok {
			for result, n := range c.Calls() {
				count(descCalls, n, p.Name(), string(result))
			}
		}
		if c, ok := p.(core.Connector); ok {
			opened, left := c.Connections()
			if count(descConnections, opened, p.Name()); left >= 0 {
				gauge(descSessions, float64(left), p.Name())
			}
		}
		h, ok := p.(core.Health)
		if !ok {
			continue
		}
		inbound, outbound := h.Health()
		gauge(descPlatformUp, bit[inbound == nil], p.Name(), "inbound")
		gauge(descPlatformUp, bit[cmp.Or(outbound, g.deliverer.Health(p.Name())) == nil], p.Name(), "outbound")
		if now, ahead, _ := h.Clock(); !now.IsZero() {
			gauge(descSkew, ahead.Seconds(), p.Name())
		}
	}
}

// metricsBytes is how much of a process's metrics is read.
const metricsBytes = 4 << 20

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
	for lines := bufio.NewScanner(io.LimitReader(answer.Body, metricsBytes)); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), " ")
		if n, err := strconv.ParseFloat(value, 64); err == nil {
			values[name] = int64(n)
		}
	}
	turns.Load = dispatch.Load{
		Running: int(values[metricRunning]), Workers: int(values[metricWorkers]), Held: values[metricMemory],
		Memory: values[metricMemoryLimit],
	}
	turns.Waiting = int(values[metricWaiting])
	return turns, answer.StatusCode == http.StatusOK && turns.Workers > 0, nil
}
