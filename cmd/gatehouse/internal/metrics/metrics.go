// Package metrics counts what a process of gatehouse does and what its database holds, for Prometheus and OTLP. It
// names nobody: no people, no conversations, no texts. Its labels have few values: platforms, models, tools that there
// are, and words of this package.
//
// Numbers of the whole database (Figures) are the same from each process on it: a query over several takes their
// maximum, not their sum.
package metrics

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics are the counters of a process. Any number of goroutines may use them.
type Metrics struct {
	registry *prometheus.Registry

	events  *prometheus.CounterVec
	ack     *prometheus.HistogramVec
	turns   *prometheus.CounterVec
	turn    *prometheus.HistogramVec
	taken   prometheus.Counter
	tools   *prometheus.CounterVec
	tool    *prometheus.HistogramVec
	models  *prometheus.CounterVec
	model   *prometheus.HistogramVec
	tokens  *prometheus.CounterVec
	commits *prometheus.CounterVec
	commit  prometheus.Histogram
	faults  *prometheus.CounterVec
}

// buckets are limits of durations in seconds, from a quick commit to a turn with many calls.
var buckets = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600}

// New makes the counters, all at zero. version is the program's.
func New(version string) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		events: counters("events_total",
			"Events that platforms and clients sent, by what became of them.", "platform", "kind", "result"),
		ack: histograms("ack_seconds",
			"Time until an event was stored, so that its sender could be answered.", "platform"),
		turns: counters("turns_total", "Turns that ended, and the bucket of the error of those that failed.",
			"outcome", "bucket"),
		turn: histograms("turn_seconds", "Time of a turn from its begin to its stored end.", "outcome"),
		taken: prometheus.NewCounter(prometheus.CounterOpts{
			Name: namespace + "takeovers_total",
			Help: "Turns that this process took over from an attempt that did not end.",
		}),
		tools:  counters("tool_calls_total", "Calls of tools, by how they ended.", "tool", "result"),
		tool:   histograms("tool_call_seconds", "Time of a call of a tool.", "tool"),
		models: counters("model_calls_total", "Requests to models, by how they ended.", "model", "result"),
		model:  histograms("model_call_seconds", "Time of a request to a model.", "model"),
		tokens: counters("model_tokens_total", "Tokens that models counted.", "model", "kind"),
		commits: counters("store_transactions_total", "Transactions of this process, by how they ended.",
			"result"),
		commit: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: namespace + "store_commit_seconds", Help: "Time of a transaction that was committed.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .2, .5, 1, 2.5, 5, 10},
		}),
		faults: counters("store_errors_total", "Faults of the database, by their category.", "category"),
	}
	for _, c := range storeFaults {
		m.faults.WithLabelValues(string(c))
	}
	about := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: namespace + "build_info", Help: "1; its label is the version.",
		ConstLabels: prometheus.Labels{"version": version},
	})
	about.Set(1)
	m.registry.MustRegister(m.events, m.ack, m.turns, m.turn, m.taken, m.tools, m.tool, m.models, m.model, m.tokens,
		m.commits, m.commit, m.faults, about, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// namespace begins the name of each metric of gatehouse.
const namespace = "gatehouse_"

func counters(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: namespace + name, Help: help}, labels)
}

func histograms(name, help string, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(
		prometheus.HistogramOpts{Name: namespace + name, Help: help, Buckets: buckets}, labels)
}

// Add adds what is read when it is asked for.
func (m *Metrics) Add(c prometheus.Collector) { m.registry.MustRegister(c) }

// Gatherer gives all metrics, for an exporter.
func (m *Metrics) Gatherer() prometheus.Gatherer { return m.registry }

// Handler answers with the metrics in the text format of Prometheus, or OpenMetrics where it is asked for. What can't
// be read is left out.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError})
}
