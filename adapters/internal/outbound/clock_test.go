package outbound_test

import (
	"strings"
	"testing"
	"time"

	"gatehouse/adapters/internal/outbound"
)

// TestLaw9_SignedRequestsThatAreAllTooOldAreTold: three within a minute, and none that is taken.
func TestLaw9_SignedRequestsThatAreAllTooOldAreTold(t *testing.T) {
	const hour, fresh = time.Hour, time.Second
	for name, c := range map[string]struct {
		signed []time.Duration // how long ago each request was signed
		apart  time.Duration
		later  time.Duration
		says   string
	}{
		"none":                    {},
		"two":                     {signed: []time.Duration{hour, hour}},
		"three":                   {signed: []time.Duration{hour, hour, hour}, says: "1h0m0s ahead of that of Example"},
		"three of the future":     {signed: []time.Duration{-hour, -hour, -hour}, says: "1h0m0s behind that of"},
		"three in a minute":       {signed: []time.Duration{hour, hour, hour}, apart: 30 * time.Second, says: "right"},
		"three in more":           {signed: []time.Duration{hour, hour, hour}, apart: 31 * time.Second},
		"the last one is taken":   {signed: []time.Duration{hour, hour, hour, fresh}},
		"one of them is taken":    {signed: []time.Duration{hour, hour, fresh, hour}},
		"three after one":         {signed: []time.Duration{fresh, hour, hour, hour}, says: "none was taken"},
		"three, minutes ago":      {signed: []time.Duration{hour, hour, hour}, later: 10 * time.Minute, says: "last"},
		"three, half an hour ago": {signed: []time.Duration{hour, hour, hour}, later: 30 * time.Minute},
	} {
		now := time.Unix(1_800_000_000, 0)
		clock := outbound.Clock{Title: "Example", Now: func() time.Time { return now }}
		for _, ago := range c.signed {
			clock.Signed(ago)
			now = now.Add(c.apart)
		}
		now = now.Add(c.later)
		_, _, off := clock.Read()
		if (off != nil) != (c.says != "") ||
			off != nil && !strings.Contains(strings.ToLower(off.Error()), strings.ToLower(c.says)) {
			t.Errorf("%s: %v", name, off)
		}
	}
}
