package markup

import (
	"fmt"
	"html/template"
	"time"
)

// Moment is a time as a page shows it: how long ago it was, or how far away it is, and the time itself for machines and
// those who hover.
type Moment struct{ At, Now time.Time }

// HTML is the element of the time, "" for none.
func (m Moment) HTML() template.HTML {
	if m.At.IsZero() {
		return ""
	}
	return template.HTML(
		fmt.Sprintf(`<time class="relative" datetime="%s" title="%s">%s</time>`, m.At.UTC().Format(time.RFC3339),
			m.Full(), m.Text()))
}

// Full is the time for people.
func (m Moment) Full() string { return m.At.UTC().Format("2 January 2006, 15:04:05 MST") }

// maxRelative is the distance from which on a date says more.
const maxRelative = 30 * 24 * time.Hour

// ahead is how far the clock of another process may be ahead of the one that tells.
const ahead = 5 * time.Second

// Text is the time in relation to now.
func (m Moment) Text() string {
	away := m.At.Sub(m.Now)
	switch d := away.Abs(); {
	case d >= maxRelative:
		return "on " + m.At.UTC().Format("2 January 2006")
	case d < 30*time.Second && away <= ahead:
		return "just now"
	case away > 0:
		return "in " + long(d)
	default:
		return long(d) + " ago"
	}
}

// long is a duration in its largest unit.
func long(d time.Duration) string {
	n, unit := int(d.Minutes()), "minute"
	switch hours := int(d.Hours()); {
	case hours >= 24:
		n, unit = hours/24, "day"
	case hours > 0:
		n, unit = hours, "hour"
	}
	switch n {
	case 0:
		return "less than a minute"
	case 1:
		return "1 " + unit
	}
	return fmt.Sprintf("%d %ss", n, unit)
}
