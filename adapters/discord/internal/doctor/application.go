package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/discord/internal/gateway"
	"gatehouse/adapters/discord/internal/snowflake"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/core"
)

// token asks who the bot is. If it returns false, nothing else can be asked.
func (c *checks) token(ctx context.Context) bool {
	err := c.get(ctx, discordgo.EndpointUser("@me"), &c.me)
	if err == nil {
		c.app, err = c.REST.Application(ctx)
	}
	switch {
	case core.CategoryOf(err) == core.Unauthorized:
		c.Add("token", outbound.Fail, "Discord refuses DISCORD_BOT_TOKEN.",
			"Open https://discord.com/developers/applications, choose the application, then Bot: click Reset Token, "+
				"and copy the new one to DISCORD_BOT_TOKEN.")
		return false
	case c.unanswered("token", err):
		return false
	case !snowflake.Valid(c.me.ID) || !snowflake.Valid(c.app.ID):
		c.Add("token", outbound.Fail, fmt.Sprintf("The server at %s does not answer as Discord does.", c.APIURL),
			"Check DISCORD_API_URL, and the proxy if there is one (HTTPS_PROXY).")
		return false
	}
	c.Add("token", outbound.OK,
		fmt.Sprintf("The bot is %s (%s) of the application %s (%s).", plain(c.me.Username), c.me.ID, plain(c.app.Name),
			c.app.ID), "")
	return true
}

// content reports whether the bot receives messages that don't mention it.
func (c *checks) content() {
	switch {
	case c.app.ReadsContent() && c.FollowUp:
		c.Add("content", outbound.OK,
			"The message content intent is granted, so a conversation in a thread needs no further mentions.", "")
	case c.app.ReadsContent():
		c.Add("content", outbound.OK,
			"The message content intent is granted, so a mention in a thread is read with what was said there before.",
			"")
	default:
		c.Add("content", outbound.Warn,
			"The message content intent is not granted, so the bot receives only direct messages and messages that "+
				"mention it; "+
				"in a thread each message needs a mention, and the bot can't read what others said there before.",
			fmt.Sprintf(
				"Open %s and switch Message Content Intent on; gatehouse serve notices it within some minutes. "+
					"Or leave it off. See gatehouse help adapters/discord#message-content-intent.", c.page("bot")))
	}
}

// interactions reports whether presses and commands arrive as configured: over the gateway or over HTTP, never both.
func (c *checks) interactions() {
	key, endpoint := c.PublicKey, c.app.Endpoint
	at := c.page("information")
	switch {
	case key == "" && endpoint == "":
		c.Add("interactions", outbound.OK, "Button presses and commands come over the gateway.", "")
	case key == "":
		c.Add("interactions", outbound.Fail,
			"The application sends button presses and commands to its Interactions Endpoint URL, but "+
				"DISCORD_PUBLIC_KEY is not set, so the bot does not receive them.",
			fmt.Sprintf("Open %s and clear Interactions Endpoint URL, or copy Public Key to DISCORD_PUBLIC_KEY.", at))
	case c.app.Key != "" && !strings.EqualFold(key, c.app.Key):
		c.Add("interactions", outbound.Fail,
			"DISCORD_PUBLIC_KEY is not the key of this application, so every press and command is refused.",
			fmt.Sprintf("Open %s and copy Public Key to DISCORD_PUBLIC_KEY.", at))
	case endpoint == "":
		c.Add("interactions", outbound.Fail,
			"DISCORD_PUBLIC_KEY is set, but the application has no Interactions Endpoint URL, so button presses and "+
				"commands still come over the gateway.",
			fmt.Sprintf("While gatehouse serve runs, open %s and set Interactions Endpoint URL to https://HOST%s, "+
				"which must lead to %s; or unset DISCORD_PUBLIC_KEY.",
				at, c.Path, c.Listen))
	case !strings.HasSuffix(endpoint, c.Path):
		c.Add("interactions", outbound.Warn,
			fmt.Sprintf("The application's Interactions Endpoint URL does not end in %s.", c.Path),
			fmt.Sprintf("Open %s and correct it, unless a proxy forwards it to %s%s.", at, c.Listen, c.Path))
	default:
		c.Add("interactions", outbound.OK,
			fmt.Sprintf("Button presses and commands come over HTTP. Discord's requests must reach %s "+
				"(GATEHOUSE_LISTEN).", c.Listen), "")
	}
}

// fewIdentifies is how many identifications should be left of a day's.
const fewIdentifies = 100

// gateway reports how often the bot may still identify today. At the limit Discord resets the token.
func (c *checks) gateway(ctx context.Context) {
	var g discordgo.GatewayBotResponse
	if c.unanswered("gateway", c.get(ctx, discordgo.EndpointGatewayBot, &g)) {
		return
	}
	c.websocket(ctx, g.URL)
	left := fmt.Sprintf("Of %d identifications a day %d are left.", g.SessionStartLimit.Total,
		g.SessionStartLimit.Remaining)
	const mend = "Find out what starts so often, here or elsewhere with the same token. "
	switch {
	case g.SessionStartLimit.Remaining <= g.SessionStartLimit.Total/gateway.IdentifySpare:
		c.Add("gateway", outbound.Fail,
			fmt.Sprintf("%s At the limit Discord resets the token, so gatehouse begins no new session for %s.",
				left, (time.Duration(g.SessionStartLimit.ResetAfter)*time.Millisecond).Round(time.Second)),
			mend+"gatehouse serve continues by itself then, so leave it running.")
	case g.SessionStartLimit.Remaining < fewIdentifies:
		c.Add("gateway", outbound.Warn, left+" At the limit Discord resets the token.",
			mend+"gatehouse stays below the limit by itself, and connects more slowly until tomorrow.")
	case c.Shards > 0 && g.Shards > c.Shards:
		c.Add("gateway", outbound.Warn,
			fmt.Sprintf("Discord recommends %d shards for this bot, and DISCORD_SHARDS is %d.", g.Shards, c.Shards),
			"Set DISCORD_SHARDS to 0, which takes as many as Discord recommends.")
	default:
		c.Add("gateway", outbound.OK, left, "")
	}
}

// websocket opens a connection to the gateway, which another host than that of the API serves. It begins no session,
// which would count.
func (c *checks) websocket(ctx context.Context, address string) {
	if c.Quick {
		return
	}
	conn, _, err := gateway.Dial(ctx, address)
	if !c.Unopened("websocket", err) {
		conn.Close()
		c.Add("websocket", outbound.OK, "A connection to the gateway opens.", "")
	}
}

// commands reports whether the registered commands are those of this build.
func (c *checks) commands(ctx context.Context) {
	var listed json.RawMessage
	if c.unanswered("commands", c.get(ctx, discordgo.EndpointApplicationGlobalCommands(c.app.ID), &listed)) {
		return
	}
	if c.Commands.Listed(listed) {
		c.Add("commands", outbound.OK, "The commands are registered.", "")
		return
	}
	c.Add("commands", outbound.Warn, "The commands are not registered as this build has them.",
		"gatehouse serve registers them when it starts. People may have to reload Discord to see them.")
}
