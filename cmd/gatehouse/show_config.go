package main

import (
	"context"
	"os"
	"slices"
	"strings"
)

type configCmd struct{ asJSON }

// Run prints the configuration, and then what is wrong with it.
func (c configCmd) Run(_ context.Context, a *app) error {
	_, settings, wrong := loadConfig()
	settings = append(settings, standardSettings()...)
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

// standardSettings are the variables of OpenTelemetry that are set and that its SDK reads by itself. Headers may hold a token.
func standardSettings() []setting {
	known := settingKeys()
	var found []setting
	for _, variable := range os.Environ() {
		key, value, _ := strings.Cut(variable, "=")
		if !strings.HasPrefix(key, "OTEL_") || value == "" || slices.Contains(known, key) {
			continue
		}
		secret := ""
		if strings.Contains(key, "HEADERS") {
			secret = "true"
		}
		found = append(found, setting{Key: key, Value: mask(secret, value), Source: fromEnv, Meaning: "One of OpenTelemetry's own."})
	}
	slices.SortFunc(found, func(a, b setting) int { return strings.Compare(a.Key, b.Key) })
	return found
}
