package slack

import (
	"regexp"

	"gatehouse/adapters/slack/internal/webapi"
	"gatehouse/core"
)

var (
	_ core.Driver   = (*Config)(nil)
	_ core.Doctor   = (*Config)(nil)
	_ core.Manifest = (*Config)(nil)
)

// Name is "slack".
func (*Config) Name() string { return Name }

// Title is "Slack".
func (*Config) Title() string { return webapi.Title }

// IDs are as Slack's own, which begin with a letter for their kind.
func (*Config) IDs() core.IDs {
	return core.IDs{
		Person:  core.IDForm{Like: regexp.MustCompile(`^[UW][A-Z0-9]+$`), Example: "slack:U0123ABCD"},
		Group:   core.IDForm{Like: groupForm, Example: "slack:S0123ABCD"},
		Channel: core.IDForm{Like: regexp.MustCompile(`^[CGD][A-Z0-9]+$`), Example: "slack:C0123ABCD"},
		Wanted:  "id of a person or user group of Slack",
		Remedy:  "copy the id from Slack, such as slack:U0123ABCD or slack:S0123ABCD",
	}
}

// Settings are c.
func (c *Config) Settings() core.Settings { return c }

// Configured reports whether any of Slack's tokens or secrets is set.
func (c *Config) Configured() bool { return c.BotToken+c.AppToken+c.SigningSecret != "" }

// Open makes the platform.
func (c *Config) Open(d core.Deps) (core.Platform, error) {
	return New(d, *c), nil
}
