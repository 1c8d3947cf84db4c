package discord

import (
	"context"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/discord/internal/gateway"
	"gatehouse/adapters/discord/internal/snowflake"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/core"
)

// identity is who the bot is; zero if not known yet.
type identity struct {
	User   string // the bot's own user id
	App    string // the application's id
	Listed bool   // the application's grants are known
	Reads  bool   // it was granted the message content
	Denied bool   // the gateway refused the message content, whatever the grants say
}

func (d *Discord) whoami() identity {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.self
}

// Intents returns the fewest intents that suffice. Without the message content the bot receives only mentions and
// direct messages.
func (d receiver) Intents() discordgo.Intent {
	intents := discordgo.IntentGuilds | discordgo.IntentGuildMessages | discordgo.IntentDirectMessages
	if d.readsContent() {
		intents |= discordgo.IntentMessageContent
	}
	return intents
}

// readsContent reports whether the bot may ask for the content of messages that don't mention it.
func (d *Discord) readsContent() bool {
	me := d.whoami()
	return !me.Denied && (me.Reads || !me.Listed)
}

// IntentsRefused records that the gateway refused the content of messages, and reports whether it had been asked for.
func (d receiver) IntentsRefused() bool {
	if !d.readsContent() {
		return false
	}
	d.mu.Lock()
	d.self.Denied = true
	d.mu.Unlock()
	d.warnContent()
	return true
}

// Ready records the bot's application, as named by a new session.
func (d receiver) Ready(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.self.App == "" && snowflake.Valid(id) {
		d.self.App = id
	}
}

func (d *Discord) warnContent() {
	d.warnOnce("The bot receives only mentions, replies to it, and direct messages: the message content intent is " +
		"not granted. " +
		"Without it a conversation in a thread needs a mention in each message. Switch it on under Privileged " +
		"Gateway Intents, on the page Bot of your application")
}

// keepIdentity asks Discord who the bot is until that is known, then closes known, and from then on asks from time to
// time. A token that Discord refuses from the start ends the platform. One that is withdrawn later does not do so here:
// the gateway reports it too.
func (d *Discord) keepIdentity(ctx context.Context, known chan<- struct{}) error {
	asked := sync.OnceFunc(func() { close(known) })
	return outbound.Identity{Title: "Discord", Log: d.Log, Asker: asker{d, asked}}.Keep(ctx)
}

// asker asks Discord who the bot is.
type asker struct {
	discord *Discord
	known   context.CancelFunc // called with the first answer
}

func (a asker) Known() bool { return a.discord.whoami().User != "" }

func (a asker) Sleep(ctx context.Context, wait time.Duration) { a.discord.sleep(ctx, wait) }

func (a asker) Jitter(wait time.Duration) time.Duration {
	return outbound.Jitter(wait, a.discord.Jitter())
}

func (a asker) Ask(ctx context.Context) error {
	err := a.discord.askIdentity(ctx)
	if err == nil {
		a.known()
	}
	return err
}

// askIdentity asks once.
func (d *Discord) askIdentity(ctx context.Context) error {
	var me discordgo.User
	if err := d.rest.Get(ctx, discordgo.EndpointUser("@me"), &me); err != nil {
		return err
	}
	if !snowflake.Valid(me.ID) {
		return core.Errorf(core.DeliveryLater, "The server at DISCORD_API_URL does not say who the bot is.")
	}
	app, err := d.rest.Application(ctx)
	if core.CategoryOf(err) == core.Unauthorized {
		return err
	}
	if err != nil { // the gateway will show it
		d.Log.Debug("what the application was granted is not known", "err", err)
		d.outbound.Set(nil) // Discord has just said who the bot is
	}
	d.mu.Lock()
	d.self.User = me.ID
	if err == nil {
		d.self.App, d.self.Listed, d.self.Reads = app.ID, true, app.ReadsContent()
	}
	lacks := err == nil && !d.self.Reads
	d.mu.Unlock()
	if lacks {
		d.warnContent()
	}
	return nil
}

// botUser returns the bot's own user id. A message stored before a restart may be parsed before Discord has said who
// the bot is, or while Discord can't be reached. The id then comes from the stored session. Error: store_busy.
func (d *Discord) botUser(ctx context.Context) (string, error) {
	if me := d.whoami().User; me != "" {
		return me, nil
	}
	me, err := gateway.StoredBot(ctx, d.KV) // without one, the bot's mention stays in the text
	if err != nil {
		return "", core.Wrap(core.StoreBusy, err, "The bot's user id could not be read from the store.")
	}
	return me, nil
}

// warnOnce logs a fault only once instead of with every call.
func (d *Discord) warnOnce(text string, args ...any) { d.warnings.Warn(d.Log, text, args...) }
