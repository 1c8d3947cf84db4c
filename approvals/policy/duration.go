package policy

import (
	"math"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"gatehouse/core/strictyaml"
)

// never is the value of expires without a deadline.
const never = "never"

const day = 24 * time.Hour

// parseDuration reads Go's durations with days: 90s, 1h30m, 2d, 1d12h.
func parseDuration(text string) (time.Duration, bool) {
	days, rest, found := strings.Cut(text, "d")
	if !found {
		d, err := time.ParseDuration(text)
		return d, err == nil
	}
	n, err := strconv.ParseFloat(days, 64)
	if err != nil || strings.ContainsAny(days, "xXpPeEnN_") || n < 0 || n*float64(day) >= math.MaxInt64 {
		return 0, false
	}
	total := time.Duration(n * float64(day))
	if rest == "" {
		return total, true
	}
	more, err := time.ParseDuration(rest)
	if err != nil || more < 0 || strings.HasPrefix(rest, "+") || total > math.MaxInt64-more {
		return 0, false
	}
	return total + more, true
}

// Written is a duration as people write it: 1h, not 1h0m0s; never for 0.
func Written(d time.Duration) string {
	if d == 0 {
		return never
	}
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// duration returns a duration above 0.
func (r *reader) duration(n *yaml.Node, what, example string) (time.Duration, bool) {
	d, ok := parseDuration(n.Value)
	switch {
	case n.Kind != yaml.ScalarNode || !ok:
		r.Fault(n, "write a duration, such as "+example, "%s is %s, no duration", what, strictyaml.Shown(n))
	case d <= 0:
		r.Fault(n, "use a duration above 0, such as "+example, "%s is %s", what, strictyaml.Shown(n))
	default:
		return d, true
	}
	return 0, false
}
