package policy

import (
	"strconv"

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
