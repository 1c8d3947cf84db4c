package openharness

import (
	"regexp"

	"gatehouse/core"
)

var _ core.Driver = (*Config)(nil)

// Config is the endpoint as a driver. gatehouse serve opens it, always, with the options that Open does not fill.
type Config struct {
	core.NoSettings
	Options
}

// Name is "openharness".
func (*Config) Name() string { return Name }

// Title is "OpenHarness".
func (*Config) Title() string { return "OpenHarness" }

// IDs are the names of tokens.
func (*Config) IDs() core.IDs {
	return core.IDs{
		Person: core.IDForm{Like: regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`), Example: Name + ":ann"},
		Wanted: "id of a holder of a token", Remedy: "write openharness:NAME with a name of GATEHOUSE_TOKENS",
	}
}

// Open makes the engine.
func (c *Config) Open(d core.Deps) (core.Platform, error) {
	o := c.Options
	o.Signer, o.Cards, o.KV, o.Now, o.Log = d.Signer, d.Cards, d.KV, d.Now, d.Log
	o.Words = d.Words
	return New(o), nil
}
