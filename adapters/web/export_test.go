package web

import (
	"time"

	"gatehouse/adapters/internal/markup"
)

// SetFormTime sets how long a form may take to arrive.
func (w *Web) SetFormTime(d time.Duration) { w.formTime = d }

// Relative is the text of a moment.
func Relative(at, now time.Time) string { return markup.Moment{At: at, Now: now}.Text() }
