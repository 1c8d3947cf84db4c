package tools

import (
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"gatehouse/core/strictyaml"
)

// duration returns one from a millisecond to an hour.
func (l *loader) duration(n *yaml.Node, what string) time.Duration {
	d, err := time.ParseDuration(n.Value)
	if n.Kind != yaml.ScalarNode || err != nil || d < time.Millisecond || d > time.Hour {
		l.Fault(n, "write a duration of 1h or less, such as 30s", "%s is %s", what, strictyaml.Shown(n))
		return 0
	}
	return d
}

// size returns a number of bytes within the bounds of results.
func (l *loader) size(n *yaml.Node, what string) int {
	digits, unit := n.Value, 1
	for suffix, by := range map[string]int{"KiB": 1 << 10, "MiB": 1 << 20} {
		if rest, found := strings.CutSuffix(n.Value, suffix); found {
			digits, unit = strings.TrimSpace(rest), by
		}
	}
	count, err := strconv.Atoi(digits)
	if n.Kind != yaml.ScalarNode || err != nil || count > maxOutput || count*unit < minOutput ||
		count*unit > maxOutput {
		l.Fault(n, "write a size from 1KiB to 1MiB, such as 16KiB", "%s is %s", what, strictyaml.Shown(n))
		return 0
	}
	return count * unit
}
