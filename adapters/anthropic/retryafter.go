package anthropic

import (
	"math"
	"net/http"
	"strconv"
	"time"
)

// longestWait cuts what the API asks to wait, against overflow.
const longestWait = 24 * time.Hour

// retryAfter is how long the API asks to wait: seconds or a date; 0 if it does not say so in the right form, or the date has passed.
func retryAfter(h http.Header, now time.Time) time.Duration {
	value := h.Get("Retry-After")
	if seconds, err := strconv.ParseFloat(value, 64); err == nil {
		if math.IsNaN(seconds) || seconds <= 0 {
			return 0
		}
		return time.Duration(min(seconds, longestWait.Seconds()) * float64(time.Second))
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	return max(0, min(at.Sub(now), longestWait))
}
