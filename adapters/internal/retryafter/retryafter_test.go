package retryafter_test

import (
	"net/http"
	"testing"
	"time"

	"gatehouse/adapters/internal/retryafter"
)

func TestRetryAfterIsMillisecondsSecondsOrADate(t *testing.T) {
	now := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	for _, c := range []struct {
		milliseconds, value string
		want                time.Duration
	}{
		{"", "7", 7 * time.Second}, {"", "0.5", 500 * time.Millisecond}, {"", "0", 0}, {"", "-3", 0}, {"", "", 0},
		{"", "soon", 0}, {"", "NaN", 0},
		{"", "1e300", 24 * time.Hour}, {"", "Inf", 24 * time.Hour}, {"250", "1", 250 * time.Millisecond},
		{"soon", "1", time.Second},
		{"", "Mon, 04 May 2026 03:02:31 GMT", 30 * time.Second}, {"", "Mon, 04 May 2020 03:02:31 GMT", 0},
		{"", "Mon, 04 May 2099 03:02:31 GMT", 24 * time.Hour},
	} {
		h := http.Header{"Retry-After": {c.value}, "Retry-After-Ms": {c.milliseconds}}
		if got := retryafter.Of(h, now); got != c.want {
			t.Errorf("%q and %q: %s, want %s", c.milliseconds, c.value, got, c.want)
		}
	}
}
