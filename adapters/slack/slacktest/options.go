package slacktest

import (
	"cmp"
	"context"
	"fmt"
	"time"
)

// Options describe the faked workspace and app. The zero value is ready to use.
type Options struct {
	TeamID     string // "T0GATE"
	TeamDomain string // "gate", the first part of the workspace's address
	AppID      string // "A0GATE"
	BotUserID  string // "U0BOT", the bot as a member of channels
	BotID      string // "B0BOT", the bot as the sender of messages
	BotName    string // "gatehouse"

	BotToken      string // "xoxb-slacktest"
	AppToken      string // "xapp-slacktest"
	SigningSecret string // "8f742231b10e8888abcd99yyyzzz85a5"

	Scopes        []string // what the bot token may do; nil means AllScopes
	Subscriptions []string // the events the app receives; nil means AllEvents
	To            Addresses

	// Now is the workspace's clock: timestamps, signatures, the lifetime of triggers and response URLs. nil means the
	// real one.
	Now func() time.Time
	// Wait is called before each retry of a delivery, counted from 1. nil sleeps 0, 20 ms and 50 ms, for Slack's none,
	// 1 and 5 minutes.
	Wait func(ctx context.Context, retry int)
	// AckWithin is how long an app has to acknowledge; 0 means Slack's 3 s. It is real time.
	AckWithin time.Duration
	// TriggerLifetime is how long a press or a command allows a modal to be opened, by Now; 0 means Slack's 3 s.
	TriggerLifetime time.Duration
	// PingEvery is how often each socket is pinged; 0 means 10 s. It is real time.
	PingEvery time.Duration
	// MaxInFlight is how many requests to the app may be open at a time; 0 means 100.
	MaxInFlight int

	// Fatalf reports mistakes in the use of the fake, such as a click on a button that is not there. nil panics.
	Fatalf func(format string, args ...any)
}

// Addresses are the request URLs of the app, as on its settings page. Payloads without an address are sent over a
// socket.
type Addresses struct {
	Events       string
	Interactions string
	Commands     string
}

// AllScopes are the scopes that the fake knows.
var AllScopes = []string{
	"app_mentions:read", "assistant:write", "channels:history", "channels:read", "chat:write",
	"commands", "files:read",
	"groups:history", "groups:read", "im:history", "im:read", "im:write", "mpim:history", "mpim:read",
	"reactions:write", "usergroups:read", "users:read",
}

// AllEvents are the events that the fake sends.
var AllEvents = []string{
	"app_mention", "assistant_thread_started", "member_joined_channel", "message.channels", "message.groups",
	"message.im", "message.mpim",
}

func (o Options) filled() Options {
	orElse := func(s *string, value string) { *s = cmp.Or(*s, value) }
	orElse(&o.TeamID, "T0GATE")
	orElse(&o.TeamDomain, "gate")
	orElse(&o.AppID, "A0GATE")
	orElse(&o.BotUserID, "U0BOT")
	orElse(&o.BotID, "B0BOT")
	orElse(&o.BotName, "gatehouse")
	orElse(&o.BotToken, "xoxb-slacktest")
	orElse(&o.AppToken, "xapp-slacktest")
	orElse(&o.SigningSecret, "8f742231b10e8888abcd99yyyzzz85a5")
	if o.Scopes == nil {
		o.Scopes = AllScopes
	}
	if o.Subscriptions == nil {
		o.Subscriptions = AllEvents
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Wait == nil {
		o.Wait = shortWait
	}
	o.AckWithin, o.PingEvery, o.MaxInFlight = cmp.Or(o.AckWithin, 3*time.Second), cmp.Or(o.PingEvery, 10*time.Second),
		cmp.Or(o.MaxInFlight, 100)
	o.TriggerLifetime = cmp.Or(o.TriggerLifetime, 3*time.Second)
	if o.Fatalf == nil {
		o.Fatalf = func(format string, args ...any) { panic("slacktest: " + fmt.Sprintf(format, args...)) }
	}
	return o
}

// shortWait is Slack's retry schedule in a few milliseconds.
func shortWait(ctx context.Context, retry int) {
	pauses := []time.Duration{0, 20 * time.Millisecond, 50 * time.Millisecond}
	timer := time.NewTimer(pauses[min(retry, len(pauses))-1])
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// ActionOption changes how something is posted or sent: in a thread, with files, twice, with a wrong signature.
// People's actions and [Server.Send] accept any number of them.
type ActionOption func(*actionOptions)

type actionOptions struct {
	thread     string
	broadcast  bool
	files      []File
	blocks     []Block
	attached   []map[string]any
	botMessage bool
	noEvent    bool
	only       string

	copies      int
	atOnce      bool
	team        string
	secret      string
	retryNum    int
	retryReason string
	contentType string
}

func (h actionOptions) with(options []ActionOption) actionOptions {
	for _, change := range options {
		change(&h)
	}
	return h
}

// InThread posts it in the thread of a message.
func InThread(ts string) ActionOption { return func(h *actionOptions) { h.thread = ts } }

// AlsoInChannel shows a reply also in the channel.
func AlsoInChannel() ActionOption { return func(h *actionOptions) { h.broadcast = true } }

// WithFiles attaches files to the message, which makes it a file_share.
func WithFiles(files ...File) ActionOption {
	return func(h *actionOptions) { h.files = append(h.files, files...) }
}

// WithBlocks adds blocks to the message.
func WithBlocks(blocks ...Block) ActionOption {
	return func(h *actionOptions) { h.blocks = append(h.blocks, blocks...) }
}

// WithAttachments adds attachments to the message; of [Server.Unfurl], they take the place of the preview. See
// [Server.Forward].
func WithAttachments(attachments ...map[string]any) ActionOption {
	return func(h *actionOptions) { h.attached = append(h.attached, attachments...) }
}

// AsBotMessage gives the post of a bot its old form: subtype bot_message, no user.
func AsBotMessage() ActionOption { return func(h *actionOptions) { h.botMessage = true } }

// WithoutEvent sends the app no event.
func WithoutEvent() ActionOption { return func(h *actionOptions) { h.noEvent = true } }

// OnlyEvent sends the app events of one type only, such as app_mention without the message.
func OnlyEvent(kind string) ActionOption { return func(h *actionOptions) { h.only = kind } }

// Twice delivers each event two times with the same event id, the second marked as a retry, although the first was
// acknowledged.
func Twice() ActionOption { return Copies(2) }

// TwiceAtOnce delivers each event two times at the same time, as when a retry overtakes a slow first try.
func TwiceAtOnce() ActionOption { return func(h *actionOptions) { h.atOnce = true } }

// Copies delivers each event n times.
func Copies(n int) ActionOption { return func(h *actionOptions) { h.copies = n } }

// FromTeam puts another workspace in the envelope.
func FromTeam(id string) ActionOption { return func(h *actionOptions) { h.team = id } }

// SignedWith signs the request with another secret.
func SignedWith(secret string) ActionOption { return func(h *actionOptions) { h.secret = secret } }

// WithContentType sets the request's content type.
func WithContentType(kind string) ActionOption {
	return func(h *actionOptions) { h.contentType = kind }
}

// AsRetry marks the first try as a retry.
func AsRetry(num int, reason string) ActionOption {
	return func(h *actionOptions) { h.retryNum, h.retryReason = num, reason }
}
