package settings

import (
	"gatehouse/adapters/console"
	"gatehouse/adapters/discord"
	"gatehouse/adapters/openharness"
	"gatehouse/adapters/slack"
	"gatehouse/core"
)

// source has the platforms of the program.
var source = Source{Platforms: func() []core.Driver {
	return []core.Driver{new(slack.Config), new(discord.Config), new(openharness.Config), new(console.Config), console.Local{}}
}}
