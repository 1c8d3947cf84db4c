package policy

import (
	"strconv"
	"time"

	"gopkg.in/yaml.v3"

	"gatehouse/core"
	"gatehouse/core/strictyaml"
)

// reader reads a policy's file.
type reader struct {
	strictyaml.Reader
	known core.Platforms
}

// count returns a whole number from 1.
func (r *reader) count(n *yaml.Node, what string) (int, bool) {
	value, err := strconv.Atoi(n.Value)
	if n.Kind != yaml.ScalarNode || n.Tag != "!!int" || err != nil || value < 1 {
		r.Fault(n, "write a whole number from 1", "%s is %s", what, strictyaml.Shown(n))
		return 0, false
	}
	return value, true
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
