package settings

import (
	"slices"

	"gatehouse/adapters/access"
	"gatehouse/core"
)

// streamed are the places that show text as it is written, by their names in GATEHOUSE_STREAMING, with the platforms
// whose turns they show.
var streamed = map[string]string{"web": access.Platform, "console": "console"}

// chooseStreamed fills Streamed.
func (c *Config) chooseStreamed(f *faults) {
	const key = "GATEHOUSE_STREAMING"
	names := list(c.Streaming)
	if len(names) == 1 && names[0] == "none" {
		return
	}
	if len(names) == 1 && names[0] == "all" {
		names = []string{"web", "console"}
	}
	f.check(len(names) > 0, key, "%q names nothing; use all, none, or a list of web and console", c.Streaming)
	for _, name := range names {
		platform, ok := streamed[name]
		later := slices.ContainsFunc(c.Drivers, func(d core.Driver) bool { return d.Name() == name })
		switch {
		case ok:
			c.Streamed = append(c.Streamed, platform)
		case later && name != access.Platform:
			f.check(false, key, "%s does not show text as it is written, not yet; use all, none, or a list of web and "+
				"console", name)
		default:
			f.check(false, key, "unknown place %q; use all, none, or a list of web and console", name)
		}
	}
}
