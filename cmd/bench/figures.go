package main

import (
	"time"

	"gatehouse/cmd/bench/internal/load"
	"gatehouse/cmd/bench/internal/report"
)

// columns are what is measured of a bot.
var columns = []report.Column{
	{Key: "replies_per_s", Title: "replies/s", Format: "%.0f"},
	{Key: "took_s", Title: "from the first event to the last reply, s", Format: "%.1f"},
	{Key: "cpu_ms_per_event", Title: "CPU, ms/event", Format: "%.3f"},
	{Key: "server_cpu_ms_per_event", Title: "CPU of the database server, ms/event", Format: "%.3f"},
	{Key: "idle_cpu_ms_per_s", Title: "CPU when idle, ms/s", Format: "%.2f"},
	{Key: "peak_rss_mb", Title: "RSS at most, MB", Format: "%.0f"},
	{Key: "start_ms", Title: "from start to ready, ms", Format: "%.0f"},
	{Key: "ack_p50_ms", Title: "acknowledged, p50 ms", Format: "%.2f"},
	{Key: "ack_p99_ms", Title: "acknowledged, p99 ms", Format: "%.2f"},
	{Key: "end_to_end_p50_ms", Title: "answered, p50 ms", Format: "%.2f"},
	{Key: "end_to_end_p99_ms", Title: "answered, p99 ms", Format: "%.2f"},
	{Key: "written_kb_per_event", Title: "written to disk, kB/event", Format: "%.1f"},
	{Key: "stored_kb_per_event", Title: "growth of the database, kB/event", Format: "%.2f"},
	{Key: "switches_per_event", Title: "context switches/event", Format: "%.1f"},
	{Key: "calls_per_event", Title: "calls of the platform's API/event", Format: "%.2f"},
	{Key: "resent", Title: "events sent again", Format: "%.0f"},
	{Key: "lost", Title: "events without a reply", Format: "%.0f"},
	{Key: "doubled", Title: "events with several replies", Format: "%.0f"},
	{Key: "driver_cpu_ms_per_event", Title: "CPU of the driver and the fake, ms/event", Format: "%.3f"},
}

// figures are the values of the columns.
func figures(p load.Plan, r load.Result) map[string]float64 {
	events := float64(r.Events)
	ms := func(d time.Duration) float64 { return d.Seconds() * 1000 }
	calls := 0
	for _, n := range r.Calls {
		calls += n
	}
	all := map[string]float64{
		"cpu_ms_per_event": ms(r.CPU) / events, "driver_cpu_ms_per_event": ms(r.Driver) / events,
		"peak_rss_mb":          float64(r.Peak) / (1 << 20),
		"end_to_end_p50_ms":    ms(report.Percentile(r.EndToEnd, 0.5)),
		"end_to_end_p99_ms":    ms(report.Percentile(r.EndToEnd, 0.99)),
		"written_kb_per_event": float64(r.Written) / 1000 / events,
		"calls_per_event":      float64(calls) / float64(r.Sent), "resent": float64(r.Resent), "lost": float64(r.Lost),
		"doubled": float64(r.Doubled),
		"took_s":  r.Took.Seconds(), "switches_per_event": float64(r.Switches) / events,
	}
	if r.Start > 0 { // else it was not measured, and neither was the growth of the database
		all["start_ms"], all["stored_kb_per_event"] = ms(r.Start), float64(r.Stored)/1000/events
	}
	if p.Idle > 0 {
		all["idle_cpu_ms_per_s"] = ms(r.Idle) / p.Idle.Seconds()
	}
	if r.Server > 0 {
		all["server_cpu_ms_per_event"] = ms(r.Server) / events
	}
	if len(r.Ack) > 0 { // else the platform has no acknowledgements
		all["ack_p50_ms"], all["ack_p99_ms"] = ms(report.Percentile(r.Ack, 0.5)), ms(report.Percentile(r.Ack, 0.99))
	}
	if r.Took > 0 {
		all["replies_per_s"] = (events - float64(r.Lost)) / r.Took.Seconds()
	}
	return all
}
