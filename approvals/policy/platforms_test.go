package policy_test

import (
	"gatehouse/adapters/console"
	"gatehouse/adapters/discord"
	"gatehouse/adapters/openharness"
	"gatehouse/adapters/slack"
	"gatehouse/core"
)

// known are the platforms of the program.
var known = core.PlatformsOf(
	[]core.Driver{
		new(slack.Config), new(discord.Config), new(openharness.Config), new(console.Config), console.Local{},
	})
