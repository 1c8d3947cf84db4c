package discordtest

import (
	"cmp"
	"fmt"
	"time"

	"gatehouse/adapters/discord/discordtest/internal/limits"
	"gatehouse/adapters/internal/fakeserver"
)

// Clock is a clock for Options.Now that stands still until it is advanced.
type Clock = fakeserver.Clock

// NewClock makes a clock that shows start.
func NewClock(start time.Time) *Clock { return fakeserver.NewClock(start) }

// Options describe the app and the fake's limits. The zero value is usable.
type Options struct {
	ApplicationID string // "900000000000000001"
	BotUserID     string // "900000000000000002", the bot as a user
	BotName       string // "gatehouse"
	BotToken      string // "OTAwMDAw.discord.test", without "Bot "

	// InteractionsURL is where signed interactions are sent; "" sends them over the gateway. They are never sent both
	// ways.
	InteractionsURL string
	// Denied are the privileged intents that the app has not been granted, such as IntentMessageContent.
	Denied int
	// CDN is the beginning of attachments' URLs; "" means the fake's own address. For clients that use Transport it can
	// be Discord's, "https://cdn.discordapp.com".
	CDN string

	// Now is the clock of the platform, see the package's documentation. nil means the real one.
	Now func() time.Time
	// LimitNow is the clock of rate limits. nil means the real one, as clients wait for them in real time.
	LimitNow func() time.Time

	// HeartbeatInterval is the interval in the hello; 0 means 41.25 s.
	HeartbeatInterval time.Duration
	// SessionLifetime is how long a session without connection can be resumed, by Now; 0 means 5 minutes.
	SessionLifetime time.Duration
	// IdentifyEvery is the least time between two identifies with the same key, by Now; 0 means Discord's 5 s, less
	// than 0 no such limit.
	IdentifyEvery time.Duration
	// IdentifyBudget is how many identifies there are in a day; 0 means 1,000.
	IdentifyBudget int
	// MaxConcurrency is the number of identify keys; 0 means 1.
	MaxConcurrency int
	// Shards is how many shards /gateway/bot recommends; 0 means 1.
	Shards int
	// RequireShards makes identifies with fewer shards end with 4011.
	RequireShards int
	// NonceLifetime is how long an enforced nonce is remembered, by Now; 0 means 5 minutes.
	NonceLifetime time.Duration
	// AnswerWithin is how long an interaction waits for its first answer, over HTTP in real time, else by Now; 0 means
	// Discord's 3 s. Tests that are not about this limit give more, since a busy machine may be slow.
	AnswerWithin time.Duration

	// NoChannelType leaves channel_type out of messages, which Discord does not promise.
	NoChannelType bool

	// Limits are the rate limits by route; nil means limits that no test reaches. See DiscordLimits.
	Limits Limits

	// AllowPenalties keeps Start from failing the test for penalties.
	AllowPenalties bool
	// Fatalf reports mistakes in the use of the fake, such as a click on a button that is not there. nil panics.
	Fatalf func(format string, args ...any)
}

func (o Options) filled() Options {
	o.ApplicationID = cmp.Or(o.ApplicationID, "900000000000000001")
	o.BotUserID = cmp.Or(o.BotUserID, "900000000000000002")
	o.BotName = cmp.Or(o.BotName, "gatehouse")
	o.BotToken = cmp.Or(o.BotToken, "OTAwMDAw.discord.test")
	o.HeartbeatInterval = cmp.Or(o.HeartbeatInterval, 41250*time.Millisecond)
	o.SessionLifetime = cmp.Or(o.SessionLifetime, 5*time.Minute)
	o.IdentifyEvery = cmp.Or(o.IdentifyEvery, 5*time.Second)
	o.NonceLifetime = cmp.Or(o.NonceLifetime, 5*time.Minute)
	o.AnswerWithin = cmp.Or(o.AnswerWithin, FirstAnswerWithin)
	o.IdentifyBudget = cmp.Or(o.IdentifyBudget, 1000)
	o.MaxConcurrency = cmp.Or(o.MaxConcurrency, 1)
	o.Shards = cmp.Or(o.Shards, 1)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.LimitNow == nil {
		o.LimitNow = time.Now
	}
	if o.Fatalf == nil {
		o.Fatalf = func(format string, args ...any) { panic("discordtest: " + fmt.Sprintf(format, args...)) }
	}
	return o
}

// The types of rate limits.
type (
	Limit  = limits.Limit
	Limits = limits.Limits
)

// Keys of Limits that are not routes.
const (
	AnyRoute    = limits.AnyRoute
	GlobalLimit = limits.GlobalLimit
)

// InvalidLimit is how many invalid requests in ten minutes get an address banned.
const InvalidLimit = limits.InvalidLimit

// DiscordLimits are limits close to those of the real Discord.
func DiscordLimits() Limits {
	return Limits{
		CreateMessage: {Calls: 5, Per: 5 * time.Second}, EditMessage: {Calls: 5, Per: 5 * time.Second},
		DeleteMessage: {Calls: 5, Per: time.Second},
		StartThread:   {Calls: 50, Per: 5 * time.Minute},
		TriggerTyping: {Calls: 5, Per: 5 * time.Second}, AnyRoute: {Calls: 50, Per: time.Second},
		GlobalLimit: {Calls: 50, Per: time.Second},
	}
}
