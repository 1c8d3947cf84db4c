package admin

import (
	"github.com/alecthomas/kong"

	"gatehouse/core"
)

// Manifest is gatehouse manifest. Each platform that has one brings its command.
type Manifest struct{ kong.Plugins }

// ManifestsOf are those of the platforms.
func ManifestsOf(drivers []core.Driver) (m Manifest) {
	for _, d := range drivers {
		if d, ok := d.(core.Manifest); ok {
			m.Plugins = append(m.Plugins, d.Manifest())
		}
	}
	return m
}
