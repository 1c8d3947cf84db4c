package settings

import (
	"slices"

	"gatehouse/adapters/access"
	"gatehouse/adapters/console"
	"gatehouse/adapters/discord"
	"gatehouse/adapters/slack"
	"gatehouse/approvals/policy"
)

// unknownPlatforms returns the approvers of platforms that gatehouse does not have. They could never approve anything.
func unknownPlatforms(approvers []string) []string {
	var unknown []string
	for _, id := range approvers {
		if !slices.Contains([]string{slack.Name, discord.Name, access.Platform, console.Name}, policy.PlatformOf(id)) {
			unknown = append(unknown, id)
		}
	}
	return unknown
}

// WithoutApprovers returns the names of the configured platforms on which nobody may approve.
func (c Config) WithoutApprovers() []string {
	var names []string
	for _, platform := range []struct {
		name, title string
		enabled     bool
	}{{slack.Name, "Slack", c.Slack.Enabled()}, {discord.Name, "Discord", c.Discord.Enabled()}} {
		if platform.enabled && !slices.ContainsFunc(c.Policy.Approvers(), func(id string) bool { return policy.PlatformOf(id) == platform.name }) {
			names = append(names, platform.title)
		}
	}
	return names
}

// Platforms returns the names of the platforms that may get copies of cards: the configured ones.
func (c Config) Platforms() (names []string) {
	if c.Slack.Enabled() {
		names = append(names, slack.Name)
	}
	if c.Discord.Enabled() {
		names = append(names, discord.Name)
	}
	return names
}
