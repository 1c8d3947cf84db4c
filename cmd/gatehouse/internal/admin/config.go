package admin

import (
	"context"
	"slices"

	"github.com/alecthomas/kong"

	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/cmd/gatehouse/internal/settings"
	"gatehouse/core"
)

// Config is gatehouse config.
type Config struct{ cli.JSONFlag }

// Run prints every setting, then the faults of the configuration.
func (c Config) Run(_ context.Context, a *cli.App) error {
	cfg, all, invalid := a.Settings.Load()
	all = append(all, a.Settings.Standard()...)
	var err error
	if c.JSON {
		err = a.PrintJSON(all)
	} else {
		err = a.Table("", []string{"KEY", "VALUE", "SOURCE"}, cli.List(all, func(s settings.Setting) []string {
			return []string{s.Key, s.Value, s.Source}
		}))
	}
	for _, warning := range slices.Concat(a.Settings.Unknown(), cfg.Unused(), cfg.WithoutToken()) {
		a.Warn(warning)
	}
	if invalid != nil {
		return invalid
	}
	return err
}

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
