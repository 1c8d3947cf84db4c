// Package retryafter reads how long an HTTP server asks to wait.
package retryafter

import (
	"net/http"
	"strconv"
	"time"
)

// longestWait bounds what a server may ask for: a larger number is a mistake, or meant as "never".
const longestWait = 24 * time.Hour

// Of is how long a server asks to wait: milliseconds, seconds or a date. 0: it does not say so in the right form, or
// the date has passed.
func Of(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return duration(ms, time.Millisecond)
	}
	if s, err := strconv.ParseFloat(h.Get("Retry-After"), 64); err == nil {
		return duration(s, time.Second)
	}
	date, err := http.ParseTime(h.Get("Retry-After"))
	if err != nil {
		return 0
	}
	return min(max(date.Sub(now), 0), longestWait)
}

func duration(n float64, unit time.Duration) time.Duration {
	if !(n > 0) { // as is NaN
		return 0
	}
	return time.Duration(min(n*float64(unit), float64(longestWait)))
}
