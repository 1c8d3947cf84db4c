package main

import (
	"time"

	"gatehouse/cmd/bench/internal/load"
	"gatehouse/cmd/bench/internal/report"
)

// columns are what is measured of a bot.
var columns = []report.Column{
	{Key: "replies_per_s", Title: "replies/s", Format: "%.0f"},
	{Key: "cpu_ms_per_event", Title: "CPU ms/event", Format: "%.3f"},
	{Key: "peak_rss_mb", Title: "RSS MB", Format: "%.0f"},
	{Key: "ack_p50_ms", Title: "ack p50 ms", Format: "%.2f"},
	{Key: "ack_p99_ms", Title: "p99", Format: "%.2f"},
	{Key: "end_to_end_p50_ms", Title: "reply p50 ms", Format: "%.2f"},
	{Key: "end_to_end_p99_ms", Title: "p99", Format: "%.2f"},
	{Key: "written_kb_per_event", Title: "written kB/event", Format: "%.1f"},
	{Key: "stored_kb_per_event", Title: "stored", Format: "%.2f"},
	{Key: "calls_per_event", Title: "calls", Format: "%.2f"},
	{Key: "resent", Title: "resent", Format: "%.0f"},
	{Key: "lost", Title: "lost", Format: "%.0f"},
	{Key: "doubled", Title: "doubled", Format: "%.0f"},
	{Key: "driver_cpu_ms_per_event", Title: "driver CPU ms/event", Format: "%.3f"},
}

// figures are the values of the columns.
func figures(r load.Result) map[string]float64 {
	events := float64(r.Events)
	ms := func(d time.Duration) float64 { return d.Seconds() * 1000 }
	calls := 0
	for _, n := range r.Calls {
		calls += n
	}
	all := map[string]float64{
		"cpu_ms_per_event": ms(r.CPU) / events, "driver_cpu_ms_per_event": ms(r.Driver) / events, "peak_rss_mb": float64(r.Peak) / (1 << 20),
		"end_to_end_p50_ms": ms(report.Percentile(r.EndToEnd, 0.5)), "end_to_end_p99_ms": ms(report.Percentile(r.EndToEnd, 0.99)),
		"written_kb_per_event": float64(r.Written) / 1000 / events, "stored_kb_per_event": float64(r.Stored) / 1000 / events,
		"calls_per_event": float64(calls) / float64(r.Sent), "resent": float64(r.Resent), "lost": float64(r.Lost), "doubled": float64(r.Doubled),
	}
	if len(r.Ack) > 0 { // else the platform has no acknowledgements
		all["ack_p50_ms"], all["ack_p99_ms"] = ms(report.Percentile(r.Ack, 0.5)), ms(report.Percentile(r.Ack, 0.99))
	}
	if r.Took > 0 {
		all["replies_per_s"] = (events - float64(r.Lost)) / r.Took.Seconds()
	}
	return all
}
