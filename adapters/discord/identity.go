package discord

import (
	"context"
	"net/http"
	"sync"
	"time"

	"gatehouse/core"
)

// identity is who the bot is. Its zero value: not known yet.
type identity struct {
	User   string // the bot's own user id
	Name   string
	App    string // the application's id
	Listed bool   // Discord has told what the application was granted
	Reads  bool   // it was granted the message content
	Denied bool   // the gateway refused the message content, whatever was told
}

func (d *Discord) whoami() identity {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.self
}

// reads reports whether the bot may ask for the content of messages that do not concern it.
func (d *Discord) reads() bool {
	me := d.whoami()
	return !me.Denied && (me.Reads || !me.Listed)
}

// refusedContent notes that the gateway refused the content of messages.
func (d *Discord) refusedContent() {
	d.mu.Lock()
	d.self.Denied = true
	d.mu.Unlock()
	d.lacksContent()
}

// belongs notes the application that the bot belongs to, as a new session tells it.
func (d *Discord) belongs(app string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.self.App == "" && isID(app) {
		d.self.App = app
	}
}

func (d *Discord) lacksContent() {
	d.once("The bot hears only what mentions it or replies to it, and direct messages: the message content intent is not granted. " +
		"Without it a conversation in a thread needs a mention in each message. Switch it on under Privileged Gateway Intents, on the page Bot of your application")
}

// Numbers of how often Discord is asked who the bot is, which also shows that it can be spoken to.
const (
	firstRetry    = time.Second
	maxRetry      = time.Minute
	identityCheck = time.Minute
)

// keepIdentity asks Discord who the bot is, until it is known, closes known, and asks from time to time after. A token that Discord
// refuses from the start ends the platform; one that is taken away later does not here: the gateway says it too.
func (d *Discord) keepIdentity(ctx context.Context, known chan<- struct{}) error {
	trouble := core.NewErrorLog(d.Log, "asking Discord who the bot is")
	retry := firstRetry
	for ctx.Err() == nil {
		first := d.whoami().User == ""
		err := d.identify(ctx)
		if ctx.Err() != nil {
			return nil
		}
		trouble.Report(err)
		if core.CategoryOf(err) == core.ProviderAuthentication && first {
			return err
		}
		if err == nil {
			if known != nil {
				close(known)
				known = nil
			}
			retry = firstRetry
			d.sleep(ctx, identityCheck)
			continue
		}
		d.sleep(ctx, max(d.jitter(retry), core.RetryAfterOf(err)))
		retry = min(2*retry, maxRetry)
	}
	return nil
}

// What an application's flags say of the message content: granted, or granted as long as it is in few servers.
const (
	flagContent        = 1 << 18
	flagContentLimited = 1 << 19
)

// identify asks once.
func (d *Discord) identify(ctx context.Context) error {
	var me struct {
		ID       string `json:"id"`
		Username string `json:"username"`
	}
	if err := d.call(ctx, http.MethodGet, "/users/@me", nil, &me); err != nil {
		return err
	}
	if !isID(me.ID) {
		return core.Errorf(core.DeliveryLater, "What answers at DISCORD_API_URL does not say who the bot is.")
	}
	var app struct {
		ID    string `json:"id"`
		Flags int64  `json:"flags"`
	}
	err := d.call(ctx, http.MethodGet, "/applications/@me", nil, &app)
	if core.CategoryOf(err) == core.ProviderAuthentication {
		return err
	}
	if err != nil { // then the gateway will tell
		d.Log.Debug("what the application was granted is not known", "err", err)
	}
	d.mu.Lock()
	d.self.User, d.self.Name = me.ID, me.Username
	lost := false
	if err == nil {
		d.self.App = app.ID
		d.self.Listed, d.self.Reads = true, app.Flags&(flagContent|flagContentLimited) != 0
		lost = !d.self.Reads
	}
	d.mu.Unlock()
	if lost {
		d.lacksContent()
	}
	return nil
}

// voice knows whether Discord could be spoken to the last time.
type voice struct {
	mu   sync.Mutex
	said bool // ever
	err  error
}

func (v *voice) met(err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.said, v.err = v.said || err == nil, err
}

func (v *voice) state() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.err == nil && !v.said {
		return core.Errorf(core.DeliveryLater, "Discord has not been reached yet.")
	}
	return v.err
}

// Health tells whether Discord is heard (every shard by a living connection, here or at another process) and could be spoken to the
// last time.
func (d *Discord) Health() (inbound, outbound error) {
	return d.ears.state(time.Now()), d.voice.state()
}
