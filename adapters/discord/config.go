package discord

import (
	"crypto/ed25519"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"

	"gatehouse/adapters/discord/internal/snowflake"
)

// Config is Discord's part of the configuration. It is enabled by its bot token.
type Config struct {
	BotToken  string `envconfig:"DISCORD_BOT_TOKEN" secret:"all" from:"the application's pages at https://discord.com/developers/applications; gatehouse help adapters/discord#set-up says where it is" help:"The bot's token; it switches Discord on."`
	PublicKey string `envconfig:"DISCORD_PUBLIC_KEY" from:"the application's pages at https://discord.com/developers/applications; gatehouse help adapters/discord#set-up says where it is" help:"The application's public key: presses and commands come over HTTP."`
	APIURL    string `envconfig:"DISCORD_API_URL" default:"https://discord.com/api/v10" help:"Where Discord's REST API is; for proxies and tests."`
	Shards    int    `envconfig:"DISCORD_SHARDS" default:"1" help:"How many shards the bot's servers are spread over; 0: as many as Discord recommends."`
	Reply     string `envconfig:"DISCORD_REPLY" default:"thread" help:"thread: a mention in a channel opens a thread; channel: it is answered in place."`
	FollowUp  string `envconfig:"DISCORD_FOLLOW_UP" default:"thread" help:"thread: a conversation in a thread needs no mentions; mention: it does."`
	Bots      string `envconfig:"DISCORD_BOTS" help:"The ids of other bots and webhooks that may ask, with commas. They never decide."`
}

const (
	replyThread  = "thread"
	replyChannel = "channel"
)

// The values of DISCORD_FOLLOW_UP.
const (
	followThread  = "thread"
	followMention = "mention"
)

// threads reports whether a mention in a channel opens a thread.
func (c Config) threads() bool { return c.Reply != replyChannel }

// apiURL is the base URL of the routes. The path /api/v10 is added to a host without a path.
func (c Config) apiURL() string {
	base := strings.TrimRight(c.APIURL, "/")
	if u, err := url.Parse(base); err == nil && u.Path == "" {
		return base + "/api/v10"
	}
	return base
}

// Validate returns all faults, one line each, which begins with the setting's name.
func (c Config) Validate() []string {
	var faults []string
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	if c.Configured() && c.BotToken == "" {
		fault("DISCORD_BOT_TOKEN: it is required with DISCORD_PUBLIC_KEY; see the page Bot of your application")
	}
	switch key, err := hex.DecodeString(c.BotToken); {
	case strings.HasPrefix(c.BotToken, "Bot "):
		fault("DISCORD_BOT_TOKEN: give the token alone, without the word Bot before it")
	case strings.ContainsFunc(c.BotToken, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		fault("DISCORD_BOT_TOKEN: there is a space or a line break in it; copy it again from the page Bot of your " +
			"application")
	case snowflake.Valid(c.BotToken):
		fault("DISCORD_BOT_TOKEN: this is a number, such as the application's id; find the token on the page Bot of " +
			"your application, under Reset Token")
	case err == nil && len(key) == ed25519.PublicKeySize:
		fault("DISCORD_BOT_TOKEN: this is a public key, which belongs to DISCORD_PUBLIC_KEY; find the token on the " +
			"page Bot of your application, under Reset Token")
	}
	if key, err := hex.DecodeString(c.PublicKey); err != nil || c.PublicKey != "" && len(key) != ed25519.PublicKeySize {
		fault("DISCORD_PUBLIC_KEY: this is not a public key, which has 64 hexadecimal digits; find it under General " +
			"Information of your application")
	}
	if u, err := url.Parse(c.APIURL); err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		fault("DISCORD_API_URL: %q is not of the form https://HOST/api/v10", c.APIURL)
	}
	if c.Shards < 0 {
		fault("DISCORD_SHARDS: %d must not be negative; use 1, or 0 for as many as Discord recommends", c.Shards)
	}
	if c.Reply != replyThread && c.Reply != replyChannel {
		fault("DISCORD_REPLY: %q is not valid; use thread or channel", c.Reply)
	}
	if c.FollowUp != "" && c.FollowUp != followThread && c.FollowUp != followMention {
		fault("DISCORD_FOLLOW_UP: %q is not valid; use thread or mention", c.FollowUp)
	}
	for _, id := range c.bots() {
		if !snowflake.Valid(id) {
			fault("DISCORD_BOTS: %q is not the id of a bot or a webhook, which is a number; switch Developer Mode on "+
				"in "+
				"Discord's settings, Advanced, then right-click the name above one of its messages, Copy User ID", id)
		}
	}
	return faults
}
