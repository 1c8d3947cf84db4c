package admin

import (
	"context"
	"slices"

	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/cmd/gatehouse/internal/settings"
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
