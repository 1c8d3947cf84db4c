package discord

import (
	"context"
	"fmt"
	"strings"
	"time"

	"gatehouse/core"
)

// token asks who the bot is. Where that fails, nothing else can be asked.
func (e *examination) token(ctx context.Context) bool {
	err := e.get(ctx, "/users/@me", &e.me)
	if err == nil {
		err = e.get(ctx, "/applications/@me", &e.app)
	}
	switch {
	case core.CategoryOf(err) == core.ProviderAuthentication:
		e.add("token", Fail, "Discord refuses DISCORD_BOT_TOKEN.",
			"Open https://discord.com/developers/applications, choose the application, then Bot: click Reset Token, and copy the new one to DISCORD_BOT_TOKEN.")
		return false
	case e.unasked("token", err):
		return false
	case !isSnowflake(e.me.ID) || !isSnowflake(e.app.ID):
		e.add("token", Fail, fmt.Sprintf("What answers at %s does not answer as Discord does.", e.Config.APIURL), "See DISCORD_API_URL, and a proxy (HTTPS_PROXY).")
		return false
	}
	e.add("token", OK, fmt.Sprintf("The bot is %s (%s) of the application %s (%s).", plain(e.me.Name), e.me.ID, plain(e.app.Name), e.app.ID), "")
	return true
}

// content tells whether the bot hears what does not mention it.
func (e *examination) content() {
	switch {
	case e.app.Flags&(flagContent|flagContentLimited) != 0:
		e.add("content", OK, "The message content intent is granted: in a thread with a conversation no mention is needed.", "")
	default:
		e.add("content", Warn, "The message content intent is not granted: the bot hears direct messages and what mentions it; in a thread each message needs a mention.",
			fmt.Sprintf("Open %s and switch Message Content Intent on, which gatehouse serve notices within some minutes; or leave it so.", e.page("bot")))
	}
}

// interactions tells whether presses and commands come the way that is configured: over the gateway, or over HTTP, never both.
func (e *examination) interactions() {
	key, endpoint := e.Config.PublicKey, e.app.Endpoint
	at := e.page("information")
	switch {
	case key == "" && endpoint == "":
		e.add("interactions", OK, "Presses of buttons and commands come over the gateway.", "")
	case key == "":
		e.add("interactions", Fail, "The application sends presses of buttons and commands to an address, and DISCORD_PUBLIC_KEY is not set, so the bot does not hear them.",
			fmt.Sprintf("Open %s and clear Interactions Endpoint URL; or copy Public Key to DISCORD_PUBLIC_KEY.", at))
	case e.app.Key != "" && !strings.EqualFold(key, e.app.Key):
		e.add("interactions", Fail, "DISCORD_PUBLIC_KEY is not the key of this application, so every press and command is refused.",
			fmt.Sprintf("Open %s and copy Public Key to DISCORD_PUBLIC_KEY.", at))
	case endpoint == "":
		e.add("interactions", Fail, "DISCORD_PUBLIC_KEY is set, and the application has no Interactions Endpoint URL, so presses of buttons and commands come over the gateway as before.",
			fmt.Sprintf("While gatehouse serve runs, open %s and set Interactions Endpoint URL to https://HOST%s, which has to lead to %s; or unset DISCORD_PUBLIC_KEY.",
				at, pathInteractions, e.Listen))
	case !strings.HasSuffix(endpoint, pathInteractions):
		e.add("interactions", Warn, fmt.Sprintf("The application's Interactions Endpoint URL does not end in %s.", pathInteractions),
			fmt.Sprintf("Open %s and correct it, unless a proxy leads it to %s%s.", at, e.Listen, pathInteractions))
	default:
		e.add("interactions", OK, fmt.Sprintf("Presses of buttons and commands come over HTTP. What Discord posts to has to lead to %s (GATEHOUSE_LISTEN).", e.Listen), "")
	}
}

// fewIdentifies is how many identifications should be left of a day's.
const fewIdentifies = 100

// gateway tells how often the bot may still identify itself today: at the limit Discord resets the token.
func (e *examination) gateway(ctx context.Context) {
	var g struct {
		Shards int `json:"shards"`
		Limit  struct {
			Total      int   `json:"total"`
			Remaining  int   `json:"remaining"`
			ResetAfter int64 `json:"reset_after"` // milliseconds
		} `json:"session_start_limit"`
	}
	if e.unasked("gateway", e.get(ctx, "/gateway/bot", &g)) {
		return
	}
	left := fmt.Sprintf("Of %d identifications a day %d are left.", g.Limit.Total, g.Limit.Remaining)
	const mend = "See what starts so often, here or elsewhere with the same token. "
	switch {
	case g.Limit.Remaining <= g.Limit.Total/identifySpare:
		e.add("gateway", Fail, fmt.Sprintf("%s At the limit Discord resets the token, so gatehouse begins no new session for %s.",
			left, (time.Duration(g.Limit.ResetAfter)*time.Millisecond).Round(time.Second)), mend+"gatehouse serve goes on by itself then; let it run, since a restart costs nothing as long as its session lasts.")
	case g.Limit.Remaining < fewIdentifies:
		e.add("gateway", Warn, left+" At the limit Discord resets the token.", mend+"gatehouse keeps off the limit by itself, and connects more slowly until tomorrow.")
	case e.Config.Shards > 0 && g.Shards > e.Config.Shards:
		e.add("gateway", Warn, fmt.Sprintf("Discord recommends %d shards for this bot, and DISCORD_SHARDS is %d.", g.Shards, e.Config.Shards),
			"Set DISCORD_SHARDS to 0, which takes as many as Discord recommends.")
	default:
		e.add("gateway", OK, left, "")
	}
}

// commands tells whether the commands are there as this build has them.
func (e *examination) commands(ctx context.Context) {
	var there []slashCommand
	if e.unasked("commands", e.get(ctx, "/applications/"+e.app.ID+"/commands", &there)) {
		return
	}
	if sameCommands(there, slashCommands()) {
		e.add("commands", OK, "The commands are registered.", "")
		return
	}
	e.add("commands", Warn, "The commands are not registered as this build has them.", "gatehouse serve registers them when it starts. People may have to reload Discord to see them.")
}
