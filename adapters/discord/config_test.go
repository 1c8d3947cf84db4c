package discord

import (
	"slices"
	"strings"
	"testing"
)

func TestInvalidSettings(t *testing.T) {
	good := Config{
		BotToken: "OTAwMDAw.discord.test", PublicKey: strings.Repeat("ab", 32), APIURL: "https://discord.com/api/v10",
		Shards: 1, Reply: replyThread,
	}
	if faults := good.Validate(); len(faults) != 0 {
		t.Fatalf("a good one has the faults %q", faults)
	}
	for name, c := range map[string]struct {
		change func(*Config)
		want   []string // the beginnings of its faults
	}{
		"no token": {func(c *Config) {
			c.BotToken = ""
		}, []string{"DISCORD_BOT_TOKEN: it is required with DISCORD_PUBLIC_KEY; see the page Bot"}},
		"a word before it": {func(c *Config) {
			c.BotToken = "Bot " + c.BotToken
		}, []string{"DISCORD_BOT_TOKEN: give the token alone"}},
		"a line break": {func(c *Config) {
			c.BotToken += "\n"
		}, []string{"DISCORD_BOT_TOKEN: there is a space or a line break in it; copy it again"}},
		"the application's id": {func(c *Config) {
			c.BotToken = "900000000000000001"
		},
			[]string{"DISCORD_BOT_TOKEN: this is a number, such as the application's id; find the token on the page " +
				"Bot"}},
		"the public key": {func(c *Config) {
			c.BotToken = c.PublicKey
		}, []string{"DISCORD_BOT_TOKEN: this is a public key, which belongs to DISCORD_PUBLIC_KEY"}},
		"a short key": {func(c *Config) {
			c.PublicKey = "abcd"
		}, []string{"DISCORD_PUBLIC_KEY: this is not a public key, which has 64 hexadecimal digits; find it under " +
			"General Information"}},
		"the token for the key": {func(c *Config) {
			c.PublicKey = c.BotToken
		}, []string{"DISCORD_PUBLIC_KEY: this is not a public key"}},
		"no address": {func(c *Config) {
			c.APIURL = "discord.com/api/v10"
		}, []string{`DISCORD_API_URL: "discord.com/api/v10" is not of the form https://HOST/api/v10`}},
		"another scheme": {func(c *Config) { c.APIURL = "wss://gateway.discord.gg" }, []string{"DISCORD_API_URL: "}},
		"negative shards": {func(c *Config) {
			c.Shards = -1
		}, []string{"DISCORD_SHARDS: -1 must not be negative; use 1, or 0"}},
		"another reply": {func(c *Config) {
			c.Reply = "forum"
		}, []string{`DISCORD_REPLY: "forum" is not valid; use thread or channel`}},
		"another follow-up": {func(c *Config) {
			c.FollowUp = "always"
		}, []string{`DISCORD_FOLLOW_UP: "always" is not valid; use thread or mention`}},
		"follow-ups": {func(c *Config) { c.FollowUp = followMention }, nil},
		"names of bots": {func(c *Config) {
			c.Bots = "80351110224678912, @robot"
		},
			[]string{`DISCORD_BOTS: "@robot" is not the id of a bot or a webhook, which is a number; ` +
				`switch Developer Mode on`}},
		"all at once": {func(c *Config) {
			c.BotToken, c.PublicKey, c.APIURL, c.Shards, c.Reply = "1", "1", "", -1, ""
		}, []string{
			"DISCORD_BOT_TOKEN: ", "DISCORD_PUBLIC_KEY: ", "DISCORD_API_URL: ", "DISCORD_SHARDS: ", "DISCORD_REPLY: ",
		}},
	} {
		bad := good
		c.change(&bad)
		faults := bad.Validate()
		if !slices.EqualFunc(faults, c.want, strings.HasPrefix) {
			t.Errorf("%s: got %q, want %q", name, faults, c.want)
		}
		for _, f := range faults {
			if bad.BotToken != "" && len(bad.BotToken) > 1 && strings.Contains(f, strings.TrimSpace(bad.BotToken)) {
				t.Errorf("%s: it shows the token: %s", name, f)
			}
		}
	}
}
