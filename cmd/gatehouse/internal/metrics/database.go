package metrics

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"gatehouse/core"
)

// Store is what is read of a database.
type Store interface {
	Figures(ctx context.Context) (core.Figures, error)
	ClosedAfter(ctx context.Context, after int64) (closed []core.ClosedApproval, last int64, err error)
}

// readTime bounds how long a scrape waits for the database.
const readTime = 2 * time.Second

// Database collects the numbers of a database each time it is asked for them. While the database does not answer, the
// process has none of these numbers, but gatehouse_database_up 0.
type Database struct {
	store  Store
	closed *prometheus.CounterVec
	open   prometheus.Histogram

	mu   sync.Mutex
	last int64 // guarded by mu: the place in the audit log up to which closed approvals were counted; -1: none yet
}

// NewDatabase begins to count the approvals that are closed from now on, whichever process closes them.
func NewDatabase(ctx context.Context, s Store) *Database {
	d := &Database{
		store: s, last: -1,
		closed: counters("approvals_total", "Approvals that were closed on this database, by how.", "result"),
		open: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: namespace + "approval_open_seconds", Help: "How long the approvals that were closed had been open.",
			Buckets: prometheus.ExponentialBuckets(1, 4, 12),
		}),
	}
	if f, err := s.Figures(ctx); err == nil {
		d.last = f.AuditHead
	}
	return d
}

// gauge describes a number of Figures.
func gauge(name, help string) *prometheus.Desc {
	return prometheus.NewDesc(namespace+name, help, nil, nil)
}

// age is the time since then, in seconds; 0 for no time.
func age(then, now time.Time) float64 {
	if then.IsZero() {
		return 0
	}
	return max(0, now.Sub(then).Seconds())
}

// The numbers of Figures, in the order of values.
var figures = []*prometheus.Desc{
	gauge("queue_waiting", "Events on the database that have not ended: they wait or run."),
	gauge("queue_oldest_seconds", "Age of the oldest event that waits: for a process, or for its next attempt."),
	gauge("posts_unsent", "Posts on the database that wait to be sent."),
	gauge("posts_oldest_seconds", "Age of the oldest post that waits to be sent."),
	gauge("posts_doubtful", "Posts whose answer was lost: the platform is asked whether they have arrived."),
	gauge("posts_unknown", "Posts of which nobody can tell whether they have arrived."),
	gauge("posts_dead", "Posts that were given up; see gatehouse deadletters."),
	gauge("deadletters", "Events that were given up; see gatehouse deadletters."),
	gauge("approvals_open", "Approvals that wait for people."),
	gauge("approvals_oldest_seconds", "Age of the oldest approval that waits for people."),
	gauge("audit_head", "Entries of the audit log. It only grows."),
	gauge("database_bytes", "Size of the database."),
	gauge("database_log_bytes", "Size of SQLite's log of writes (WAL); 0 on Postgres."),
}

// values are the numbers of figures.
func values(f core.Figures, now time.Time) []float64 {
	return []float64{
		float64(f.Waiting), age(f.OldestWaiting, now), float64(f.Unsent), age(f.OldestUnsent, now),
		float64(f.Doubtful), float64(f.Unknown), float64(f.DeadPosts), float64(f.DeadLetters), float64(f.Approvals),
		age(f.OldestApproval, now), float64(f.AuditHead), float64(f.Bytes), float64(f.LogBytes),
	}
}

var up = prometheus.NewDesc(namespace+"database_up", "1: the database answered this scrape within two seconds.", nil,
	nil)

// Describe names the metrics.
func (d *Database) Describe(to chan<- *prometheus.Desc) {
	for _, one := range figures {
		to <- one
	}
	to <- up
	d.closed.Describe(to)
	d.open.Describe(to)
}

// Collect reads the database.
func (d *Database) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), readTime)
	defer cancel()
	f, err := d.store.Figures(ctx)
	if err == nil {
		err = d.count(ctx, f.AuditHead)
	}
	works := 1.
	if err != nil {
		works = 0
	} else {
		for i, value := range values(f, time.Now()) {
			to <- prometheus.MustNewConstMetric(figures[i], prometheus.GaugeValue, value)
		}
	}
	to <- prometheus.MustNewConstMetric(up, prometheus.GaugeValue, works)
	d.closed.Collect(to)
	d.open.Collect(to)
}

// count counts the approvals that were closed since it last did.
func (d *Database) count(ctx context.Context, head int64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.last < 0 || d.last > head { // or another database took the place of this one
		d.last = head
	}
	for {
		closed, last, err := d.store.ClosedAfter(ctx, d.last)
		if err != nil {
			return err
		}
		for _, c := range closed {
			d.closed.WithLabelValues(string(c.Result)).Inc()
			d.open.Observe(c.Open.Seconds())
		}
		if d.last = last; len(closed) == 0 {
			d.last = max(d.last, head) // what is between tells of no end, and is not read again
			return nil
		}
	}
}
