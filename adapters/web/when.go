package web

import (
	"fmt"
	"time"
)

// moment is a time as a page shows it: how long ago it was, or how far away it is, and the time itself for machines and those who hover.
type moment struct{ At, now time.Time }

func (w *Web) moment(at time.Time) moment { return moment{at, w.Now()} }

// Known reports whether there is a time at all.
func (m moment) Known() bool { return !m.At.IsZero() }

// Machine is the time in the form of HTML.
func (m moment) Machine() string { return m.At.UTC().Format(time.RFC3339) }

// Full is the time for people.
func (m moment) Full() string { return m.At.UTC().Format("2 January 2006, 15:04:05 MST") }

// maxRelative is the distance from which on a date says more.
const maxRelative = 30 * 24 * time.Hour

// Text is the time in relation to now.
func (m moment) Text() string {
	away := m.At.Sub(m.now)
	switch d := away.Abs(); {
	case d >= maxRelative:
		return "on " + m.At.UTC().Format("2 January 2006")
	case d < 30*time.Second && away <= 0:
		return "just now"
	case away > 0:
		return "in " + span(d)
	default:
		return span(d) + " ago"
	}
}

// span is a duration in its largest unit.
func span(d time.Duration) string {
	for _, unit := range []struct {
		length time.Duration
		name   string
	}{{24 * time.Hour, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}} {
		if n := int(d / unit.length); n == 1 {
			return "1 " + unit.name
		} else if n > 1 {
			return fmt.Sprintf("%d %ss", n, unit.name)
		}
	}
	return "less than a minute"
}
