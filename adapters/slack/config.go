package slack

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"gatehouse/adapters/slack/internal/webapi"
)

// Config is Slack's part of the configuration. The bot token enables Slack.
type Config struct {
	BotToken      string  `envconfig:"SLACK_BOT_TOKEN" secret:"all" from:"the app's pages at https://api.slack.com/apps; gatehouse help adapters/slack#set-up-over-socket-mode says where it is" help:"The bot's token, xoxb-…. It enables Slack."`
	AppToken      string  `envconfig:"SLACK_APP_TOKEN" secret:"all" from:"the app's pages at https://api.slack.com/apps; gatehouse help adapters/slack#set-up-over-socket-mode says where it is" help:"The app-level token, xapp-…, for Socket Mode: gatehouse opens the connection that events come over."`
	SigningSecret string  `envconfig:"SLACK_SIGNING_SECRET" secret:"all" from:"the app's pages at https://api.slack.com/apps; gatehouse help adapters/slack#set-up-over-socket-mode says where it is" help:"The app's signing secret, for events over HTTP."`
	APIURL        string  `envconfig:"SLACK_API_URL" default:"https://slack.com/api/" help:"Address of Slack's Web API; for GovSlack (https://slack-gov.com/api/), proxies and tests."`
	ChannelRPS    float64 `envconfig:"SLACK_CHANNEL_RPS" default:"1" help:"Posts per second that one process sends to a channel; 0: no limit but Slack's own."`
	FollowUp      string  `envconfig:"SLACK_FOLLOW_UP" default:"thread" help:"thread: in a thread with a conversation no mention is needed; mention: every message needs one."`
	GroupDM       string  `envconfig:"SLACK_GROUP_DM" default:"mention" help:"mention: in a group direct message every message needs a mention; all: the bot reads all messages there."`
	Connect       string  `envconfig:"SLACK_CONNECT" default:"deny" help:"Whether people of other workspaces may talk to the bot in shared channels (Slack Connect): deny or allow. Either way they can't decide about approvals."`
	Bots          string  `envconfig:"SLACK_BOTS" help:"Ids of bots and workflows that may ask, such as B0123ABCD,U0456EFGH."`
	MentionGroups string  `envconfig:"SLACK_MENTION_GROUPS" help:"Ids of groups whose mention counts, such as S0123ABCD."`
}

// Validate returns all faults, one line each, beginning with the key.
func (c Config) Validate() []string {
	var faults []string
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	if c.Configured() {
		switch {
		case c.BotToken == "":
			fault("SLACK_BOT_TOKEN: needed with any other Slack setting; it begins with xoxb-")
		case isRotated(c.BotToken):
			fault("SLACK_BOT_TOKEN: " + rotatedToken)
		case !strings.HasPrefix(c.BotToken, "xoxb-"):
			fault("SLACK_BOT_TOKEN: a bot's token begins with xoxb-; see OAuth & Permissions of your app")
		}
		if c.AppToken == "" && c.SigningSecret == "" {
			fault("SLACK_APP_TOKEN: this (for Socket Mode) or SLACK_SIGNING_SECRET (for HTTP) is needed, or no event " +
				"arrives")
		}
		switch {
		case isRotated(c.AppToken):
			fault("SLACK_APP_TOKEN: " + rotatedToken + "; an app-level token begins with xapp-")
		case c.AppToken != "" && !strings.HasPrefix(c.AppToken, "xapp-"):
			fault("SLACK_APP_TOKEN: an app-level token begins with xapp-; see Basic Information of your app")
		}
	}
	if u, err := url.Parse(c.APIURL); err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		fault("SLACK_API_URL: %q does not have the form https://HOST/api/", c.APIURL)
	}
	if c.ChannelRPS < 0 {
		fault("SLACK_CHANNEL_RPS: %g is negative", c.ChannelRPS)
	}
	if c.FollowUp != followThread && c.FollowUp != followMention {
		fault("SLACK_FOLLOW_UP: %q is unknown; use thread or mention", c.FollowUp)
	}
	if c.GroupDM != "" && c.GroupDM != groupMention && c.GroupDM != groupAll {
		fault("SLACK_GROUP_DM: %q is unknown; use mention or all", c.GroupDM)
	}
	if c.Connect != "" && c.Connect != connectDeny && c.Connect != connectAllow {
		fault("SLACK_CONNECT: %q is unknown; use deny or allow", c.Connect)
	}
	for _, id := range c.bots() {
		if !botForm.MatchString(id) {
			fault("SLACK_BOTS: %q is not the id of a bot or a workflow (B…) or of a bot's user (U…)", id)
		}
	}
	for _, id := range c.mentionGroups() {
		if !groupForm.MatchString(id) {
			fault("SLACK_MENTION_GROUPS: %q is not the id of a user group (S…)", id)
		}
	}
	return faults
}

// isRotated reports whether a token is one of an app with token rotation: xoxe.xoxb-…, or xoxe-…, which refreshes it.
func isRotated(token string) bool {
	return strings.HasPrefix(token, "xoxe.") || strings.HasPrefix(token, "xoxe-")
}

const rotatedToken = "a token that begins with xoxe is one of token rotation: it expires after 12 hours, or " +
	"refreshes one that does. Switch Token Rotation off (OAuth & Permissions of your app), reinstall the app, and " +
	"use the token that begins with xoxb-; where Slack does not let you switch it off, make a new app from " +
	"gatehouse manifest slack"

// The forms of ids.
var (
	botForm   = regexp.MustCompile(`^[BUW][A-Z0-9]+$`)
	groupForm = regexp.MustCompile(`^S[A-Z0-9]+$`)
)

// The values of SLACK_FOLLOW_UP.
const (
	followThread  = "thread"
	followMention = "mention"
)

// The values of SLACK_GROUP_DM.
const (
	groupMention = "mention"
	groupAll     = "all"
)

func (c Config) api() webapi.Config {
	return webapi.Config{URL: c.APIURL, BotToken: c.BotToken, AppToken: c.AppToken}
}
