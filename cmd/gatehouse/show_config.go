package main

import (
	"context"
)

type configCmd struct{ asJSON }

// Run prints the configuration, and then what is wrong with it.
func (c configCmd) Run(_ context.Context, a *app) error {
	_, settings, wrong := loadConfig()
	var err error
	if c.JSON {
		err = a.json(settings)
	} else {
		err = a.table("", []string{"KEY", "VALUE", "FROM"}, list(settings, func(s setting) []string { return []string{s.Key, s.Value, s.Source} }))
	}
	for _, warning := range unknownSettings() {
		a.warn(warning)
	}
	if wrong != nil {
		return wrong
	}
	return err
}
