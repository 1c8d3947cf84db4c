package settings

import (
	"gatehouse/adapters/anthropic"
	"gatehouse/adapters/console"
	"gatehouse/adapters/discord"
	"gatehouse/adapters/openai"
	"gatehouse/adapters/openharness"
	"gatehouse/adapters/slack"
	"gatehouse/core"
	"gatehouse/core/llm"
)

// source has the platforms and the vendors of the program.
var source = Source{
	Platforms: func() []core.Driver {
		return []core.Driver{
			new(slack.Config), new(discord.Config), new(openharness.Config), new(console.Config), console.Local{},
		}
	},
	Vendors: func() []llm.Vendor { return []llm.Vendor{new(openai.Config), new(anthropic.Config)} },
}
