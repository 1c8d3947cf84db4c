package discord

import (
	"context"
	"errors"
	"net/http"
	"time"

	"gatehouse/adapters/discord/internal/heard"

	"gatehouse/adapters/discord/internal/draw"

	"gatehouse/adapters/discord/internal/address"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/discord/internal/rest"
	"gatehouse/adapters/discord/internal/snowflake"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/core"
)

// privateTo returns the channel of direct messages with the only person who may see a post, "" if others may.
func (d *Discord) privateTo(ctx context.Context, to core.Address) (channel string, err error) {
	_, onlyFor, ok := address.Command(to)
	if !ok || onlyFor == "" {
		return "", nil
	}
	channel, err = d.guilds.DM(ctx, onlyFor)
	return channel, outbound.FindError(err)
}

// destination returns the channel for a post. If the thread begins with the answered message and does not exist yet,
// destination opens it. If that fails permanently, the post goes to the channel, as a reply to that message.
func (d *Discord) destination(ctx context.Context, to core.Address) (channel, replyTo string, err error) {
	if channel, err = d.privateTo(ctx, to); err != nil || channel != "" {
		return channel, "", err
	}
	if !address.StartsThread(to) {
		return address.Channel(to), "", nil
	}
	open, known := d.threads.Get(to.Thread)
	if !known {
		if open, err = d.openThread(ctx, to); err != nil {
			return "", "", err
		}
		d.threads.Put(to.Thread, open)
	}
	if open {
		return to.Thread, "", nil
	}
	return to.Channel, to.Message, nil
}

// archiveMinutes is how long a thread without messages stays among the open ones: a week, Discord's longest. An
// approval may take days.
const archiveMinutes = 7 * 24 * 60

// isTitleRefused reports whether a thread may have been refused because of its title: a server's moderation allows no
// title with certain words (200001), and other refusals of a form say only that something in it is not allowed.
func isTitleRefused(err error) bool {
	r, ok := errors.AsType[*rest.Refusal](err)
	return ok && !r.Proxy && (r.Status == http.StatusBadRequest || r.Code == titleBlocked) &&
		r.Code != discordgo.ErrCodeThreadAlreadyCreatedForThisMessage
}

// titleBlocked is Discord's code for a title that automatic moderation blocks. discordgo does not define it.
const titleBlocked = 200001

// openThread opens the thread of a message, and reports whether it exists now.
func (d *Discord) openThread(ctx context.Context, to core.Address) (open bool, err error) {
	var m posted // its text names the thread; if it can't be read, the thread gets another name
	err = d.rest.Get(ctx, discordgo.EndpointChannelMessage(to.Channel, to.Message), &m)
	if c := core.CategoryOf(err); c == core.DeliveryLater || c == core.DeliveryNotYet {
		return false, err
	}
	start := func(name string) error {
		return d.rest.Call(ctx, http.MethodPost, discordgo.EndpointChannelMessageThread(to.Channel, to.Message),
			map[string]any{"name": name, "auto_archive_duration": archiveMinutes}, nil)
	}
	name := draw.Topic(m.Content)
	err = start(name)
	if name != draw.NoTopic && isTitleRefused(err) {
		err = start(draw.NoTopic)
	}
	if rest.IsRefusal(err, discordgo.ErrCodeUnknownMessage) { // its thread outlives it
		if gone := d.rest.Get(ctx, discordgo.EndpointChannel(to.Thread), nil); gone == nil || core.IsTemporary(gone) {
			err = gone
		}
	}
	switch {
	case err == nil || rest.IsRefusal(err, discordgo.ErrCodeThreadAlreadyCreatedForThisMessage):
		return true, nil
	case core.IsTemporary(err): // if it was opened after all, the next attempt finds it
		return false, outbound.FindError(err)
	}
	d.Log.Info("a thread could not be opened; the answer goes to the channel", "channel", to.Channel, "err", err)
	return false, nil
}

// hiddenTime is how long a channel is not asked what its threads began with, after Discord has refused to show it.
const hiddenTime = 10 * time.Minute

// beganWithOwn reports whether a thread began with a message of the bot's own, so that people talk to the bot there.
// Discord is asked once, and only for a thread whose conversation is not known. Error: provider_unavailable.
func (d *Discord) beganWithOwn(ctx context.Context, at discordgo.Channel, c core.ConversationID) (bool, error) {
	own, known := d.root(at)
	if known {
		return own, nil
	}
	latest, err := d.Inbox.Events(ctx, core.EventFilter{Platform: address.Platform, Conversation: c, Limit: 1})
	if err != nil || len(latest) == 0 {
		var root heard.Lenient[heard.Message] // of any other form it is somebody else's
		err = d.rest.Get(ctx, discordgo.EndpointChannelMessage(at.ParentID, at.ID), &root)
		switch {
		case core.IsTemporary(err) && d.givesUp(ctx, at.ID):
			d.Log.Warn("Discord can't say what a thread began with, and answers other questions; what people write "+
				"there without a mention is taken as not meant for the bot", "thread", at.ID, "err", err)
			return false, nil
		case core.IsTemporary(err):
			return false,
				outbound.LookupError(err, "Discord can't say now which message the thread %s began with.", at.ID)
		case rest.IsRefusal(err, discordgo.ErrCodeMissingAccess, discordgo.ErrCodeMissingPermissions):
			d.hidden.Put(at.ParentID, d.Now())
			return false, nil
		}
		own = root.It.IsBy(d.whoami().User)
	}
	d.roots.Put(at.ID, own)
	return own, nil
}

// rootTime is how long messages wait for Discord to say what their thread began with.
const rootTime = 2 * time.Minute

// givesUp reports whether it is no use to go on asking what a thread began with: that has failed for a while, although
// Discord answers other questions.
func (d *Discord) givesUp(ctx context.Context, thread string) bool {
	since, asked := d.rootless.Get(thread)
	if !asked {
		d.rootless.Put(thread, d.Now())
	}
	return asked && d.Now().Sub(since) > rootTime && d.rest.Get(ctx, discordgo.EndpointUser("@me"), nil) == nil
}

// root reports whether a thread began with a message of the bot's own, as far as it is known without a call. A post of
// a forum and a private thread begin with none.
func (d *Discord) root(at discordgo.Channel) (own, known bool) {
	if _, sent := d.sent.Get(at.ID); sent {
		return true, true
	}
	if own, known = d.roots.Get(at.ID); known {
		return own, true
	}
	parent, _ := d.guilds.Cached(at.ParentID)
	refused, _ := d.hidden.Get(at.ParentID)
	began := at.IsThread() && at.Type != discordgo.ChannelTypeGuildPrivateThread && !isForum(parent.Type)
	return false, !began || !snowflake.Valid(at.ParentID) || d.Now().Sub(refused) < hiddenTime
}

func isForum(t discordgo.ChannelType) bool {
	return t == discordgo.ChannelTypeGuildForum || t == discordgo.ChannelTypeGuildMedia
}

// learnRoot notes who wrote the message that a thread began with, if that is what a message of Discord's tells.
func (d *Discord) learnRoot(m heard.Message) {
	root := m.RepliesTo.It
	tells := m.Type == discordgo.MessageTypeThreadStarterMessage && root != nil && root.Author != nil
	if tells && snowflake.Valid(m.Channel) {
		d.roots.Put(m.Channel, root.IsBy(d.whoami().User))
	}
}
