package web

import "time"

// SetFormTime sets how long a form may take to arrive.
func (w *Web) SetFormTime(d time.Duration) { w.formTime = d }

// Relative is the text of a moment.
func Relative(at, now time.Time) string { return moment{at, now}.Text() }
