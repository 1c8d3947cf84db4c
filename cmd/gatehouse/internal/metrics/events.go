package metrics

import (
	"context"
	"net/http"
	"time"

	"gatehouse/core"
)

// Accepting counts the events that are accepted, and those that are not, and how long that took.
func (m *Metrics) Accepting(accept core.Accept) core.Accept {
	return func(ctx context.Context, e core.Event) (core.Receipt, error) {
		began := time.Now()
		r, err := accept(ctx, e)
		result := "accepted"
		switch {
		case err != nil:
			result = string(core.CategoryOf(err))
		case !r.Fresh:
			result = "repeated"
		}
		m.events.WithLabelValues(e.Platform, string(e.Kind()), result).Inc()
		if err == nil {
			m.ack.WithLabelValues(e.Platform).Observe(time.Since(began).Seconds())
		}
		return r, err
	}
}

// refusals are the results of requests that a platform's webhook refuses, by their status.
var refusals = map[int]string{
	http.StatusBadRequest: "malformed", http.StatusUnauthorized: "unsigned", http.StatusForbidden: "unsigned",
	http.StatusRequestTimeout: "too_slow", http.StatusRequestEntityTooLarge: "too_large",
	http.StatusTooManyRequests: "rate_limited", http.StatusServiceUnavailable: "no_room",
}

// Webhook counts the requests that a platform's handler refuses before they are events.
func (m *Metrics) Webhook(platform string, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen := &statusWriter{ResponseWriter: w}
		h.ServeHTTP(seen, r)
		if result := refusals[seen.status]; result != "" {
			m.events.WithLabelValues(platform, "request", result).Inc()
		}
	})
}

// statusWriter remembers the status of an answer.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (s *statusWriter) WriteHeader(status int) {
	s.status = status
	s.ResponseWriter.WriteHeader(status)
}

// Unwrap is for http.ResponseController.
func (s *statusWriter) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// Ended counts a turn whose end was stored; see dispatch.Watcher.
func (m *Metrics) Ended(e core.EventRecord, end core.End, took time.Duration) {
	bucket := ""
	if end.Category != "" {
		bucket = string(core.BucketOf(end.Category))
	}
	m.turns.WithLabelValues(string(end.Kind), bucket).Inc()
	m.turn.WithLabelValues(string(end.Kind)).Observe(took.Seconds())
	if e.Attempt > e.Retries+1 {
		m.taken.Inc()
	}
}
