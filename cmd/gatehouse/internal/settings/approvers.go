package settings

import (
	"slices"
	"strings"

	"gatehouse/adapters/console"
	"gatehouse/adapters/discord"
	"gatehouse/adapters/slack"
)

// platformOf is the platform that the id of an approver begins with.
func platformOf(id string) string {
	platform, _, _ := strings.Cut(id, ":")
	return platform
}

// unknownPlatforms returns the approvers of platforms that gatehouse does not have. They could never approve anything.
func unknownPlatforms(approvers []string) []string {
	var unknown []string
	for _, id := range approvers {
		if !slices.Contains([]string{slack.Name, discord.Name, console.Name}, platformOf(id)) {
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
		if platform.enabled && !slices.ContainsFunc(c.Policy.Approvers(), func(id string) bool { return platformOf(id) == platform.name }) {
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
