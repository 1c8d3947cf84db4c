package discord

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"gatehouse/adapters/discord/internal/heard"

	"gatehouse/adapters/discord/internal/address"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/discord/internal/rest"
	"gatehouse/adapters/discord/internal/snowflake"
	"gatehouse/adapters/internal/inbound"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/adapters/internal/safetext"
	"gatehouse/core"
)

// Limits of what is read of a thread for one message.
const (
	threadCalls = 2               // the newest messages, and the one that it began with
	threadWaits = 3 * time.Second // for rate limits, in all

	// how long it is not looked up again that the store knows a thread: less than it keeps anything
	knownFor = time.Hour
)

// earlierThere is what was said in the thread of a message before it.
type earlierThere struct {
	points []core.Block
	root   []heard.Quotable // the message that the thread began with, if it is among points: its files are read
	asked  bool             // Discord was asked for it
}

// before returns what was said in the thread of a message, as much as fits: all of it, with the thread's title and the
// message that it began with, if the conversation begins. Later it is what came since the agent last heard something
// there, if the message is one to the bot (toBot), or if something came that was not for the bot: all else was heard.
// What Discord does not show is told, with why. Error: the store's; provider_unavailable.
func (d *Discord) before(
	ctx context.Context, e core.Event, m heard.Message, me string, toBot bool,
) (b earlierThere, err error) {
	thread, upTo := e.Address.Thread, idIn(e.Payload)
	if upTo == thread && e.Address.Message == "" { // it begins a post of a forum
		b.points = d.title(m.Guild, thread)
	}
	if d.ReadBefore == 0 || !snowflake.Valid(thread, upTo) || upTo == thread || address.StartsThread(e.Address) {
		return b, nil // what begins a thread has nothing before it
	}
	last, _ := d.overheard.Get(thread)
	allHeard := func(since string) bool { return !toBot && !snowflake.Greater(last, since) }
	if since, fresh := d.heard.Get(thread); fresh && allHeard(since) {
		return b, nil
	}
	handled, err := inbound.LastHeard(ctx, d.Inbox, e, func(r core.EventRecord) bool { return heardUpTo(r) != "" })
	if err != nil {
		return b, err
	}
	r := threadReader{
		d: d, waits: threadWaits, thread: thread, parent: e.Address.Channel, guild: m.Guild, me: me,
	}
	if handled != nil {
		r.goesOn, r.since = true, heardUpTo(*handled)
		d.heard.Put(thread, r.since, knownFor)
		if allHeard(r.since) {
			return b, nil
		}
	}
	t, err := r.read(rest.ForPosts(ctx), upTo)
	b = earlierThere{points: t.Quoted(d.ReadBefore), root: r.root, asked: true}
	if handled == nil {
		b.points = append(d.title(m.Guild, thread), b.points...)
	}
	return b, err
}

// title is what a thread is called, as far as that is known: people ask in the title of a post.
func (d *Discord) title(guild, thread string) []core.Block {
	name := safetext.OneLine(safetext.Clean(d.guilds.ChannelName(guild, thread)))
	if name == "" {
		return nil
	}
	return []core.Block{core.Quote(core.Quotation{What: "title of this thread", Text: name})}
}

// idIn returns the id of the message or command that an event's payload is, "" if it has none.
func idIn(payload json.RawMessage) string {
	var m struct {
		ID string `json:"id"`
	}
	_ = inbound.Decode(payload, &m)
	return m.ID
}

// heardUpTo returns the id up to which the agent has heard a conversation once an event was handled; "" if the event
// does not tell.
func heardUpTo(e core.EventRecord) string {
	kind, rest, _ := strings.Cut(e.ID, "/")
	id := rest[strings.LastIndex(rest, "/")+1:]
	switch {
	case (kind == "message" || kind == "command") && snowflake.Valid(id):
		return id
	case e.Kind() == core.KindReset: // by a button
		return snowflake.At(e.AcceptedAt)
	}
	return idIn(e.Payload) // one that was tried again
}

// overhear notes a message in a thread that is not for the bot: one of another bot, for instance.
func (d *Discord) overhear(m heard.Message) {
	at, _ := d.guilds.Cached(m.Channel)
	if !at.IsThread() || !heard.IsSaid(m.Type) || m.Author == nil || m.Author.ID == d.whoami().User {
		return
	}
	last, _ := d.overheard.Get(m.Channel)
	d.overheard.Put(m.Channel, snowflake.Max(m.ID, last))
}

// threadReader reads a thread.
type threadReader struct {
	d              *Discord
	thread, parent string
	guild, me      string           // me: the bot
	goesOn         bool             // the agent has heard something there
	since          string           // up to which message
	calls          int              // so far
	waits          time.Duration    // for how long it may still wait for rate limits
	withheld       int              // messages whose content Discord withholds
	root           []heard.Quotable // the message that the thread began with, once it is read
}

// read reads the messages before upTo.
func (r *threadReader) read(ctx context.Context, upTo string) (t inbound.Thread, err error) {
	page, err := r.page(ctx, "before="+upTo, pageSize)
	why, err := r.unread(err)
	if err != nil {
		return t, err
	}
	var notes []string
	switch {
	case why != "":
		notes = append(notes, inbound.Unread(r.goesOn, why))
	case r.goesOn && len(page) == 0: // at least what the agent has heard is there
		notes = append(notes, "Discord shows nothing of what was said in this thread before. "+mayNotRead)
	}
	whole := len(page) > 0 && (len(page) < pageSize || page[0].Begins(r.thread))
	if !r.goesOn {
		first, why, err := r.first(ctx, page, whole)
		if err != nil {
			return t, err
		}
		if q, ok := r.quoted(first, inbound.BeganThread); ok {
			t.Root, r.root = &q, []heard.Quotable{first.Quotable}
		}
		if why != "" && len(notes) == 0 {
			notes = append(notes, "The message that began this thread could not be read. "+why)
		}
		if len(page) > 0 && first.ID == page[0].ID {
			page = page[1:]
		}
	}
	t.More = len(page) > 0 && !whole && snowflake.Greater(page[0].ID, r.since)
	for _, m := range page {
		if !snowflake.Greater(m.ID, r.since) || r.goesOn && m.IsBy(r.me) {
			continue
		}
		if q, ok := r.quoted(m, inbound.InThread); ok {
			t.Said = append(t.Said, q)
		}
	}
	if r.withheld > 0 {
		notes = append(notes, fmt.Sprintf("Discord withholds what %s of the messages before say: "+
			"this bot lacks the Message Content Intent.", safetext.Thousands(r.withheld)))
	}
	t.Note = strings.Join(notes, " ")
	return t, nil
}

// quoted is a message as the model is shown it. ok is false if it says nothing: it is one of Discord's own, or its
// content is withheld.
func (r *threadReader) quoted(m heard.Message, what string) (q core.Quotation, ok bool) {
	if !heard.IsSaid(m.Type) || m.Author == nil || !snowflake.Valid(m.ID, m.Author.ID) {
		return q, false
	}
	m.Guild = r.guild
	if m.IsBare() && !r.d.readsContent() {
		r.withheld++
		return q, false
	}
	if m.IsBy(r.me) {
		what = inbound.OwnMessage + what
	}
	return r.d.names(r.guild, m.Quotable).Quotation(what, m.Quotable), !m.IsEmpty()
}

// first returns the message that the thread began with: the first in it or, if Discord began it there, the one in its
// channel; whole: the page has the first in it. why is why it can't be read.
func (r *threadReader) first(
	ctx context.Context, page []heard.Message, whole bool,
) (m heard.Message, why string, err error) {
	if !whole && len(page) > 0 && r.d.readsContent() {
		page, err = r.page(ctx, "after=0", 1)
		if why, err = r.unread(err); why != "" || err != nil {
			return m, why, err
		}
		whole = len(page) > 0
	}
	in := r.parent
	parent, _ := r.d.guilds.Cached(in)
	if isForum(parent.Type) {
		in = r.thread
	}
	switch {
	case !whole:
	case page[0].Type == discordgo.MessageTypeThreadStarterMessage:
		if root := page[0].RepliesTo.It; root != nil && !root.IsEmpty() {
			return heard.Message{Quotable: *root}, "", nil
		}
	case page[0].ID == r.thread || !isForum(parent.Type): // the first of a post may be deleted
		return page[0], "", nil
	}
	var root heard.Lenient[heard.Message] // of any other form it says nothing
	err = r.get(ctx, discordgo.EndpointChannelMessage(in, r.thread), &root)
	if len(page) == 0 && rest.IsRefusal(err, discordgo.ErrCodeUnknownMessage) {
		return m, "", nil // it began with none, and nothing was said in it
	}
	why, err = r.unread(err)
	return root.It, why, err
}

// page reads messages of the thread, and returns them in their order.
func (r *threadReader) page(ctx context.Context, which string, limit int) ([]heard.Message, error) {
	var sent []heard.Lenient[heard.Message] // of any other form they say nothing
	endpoint := fmt.Sprintf("%s?limit=%d&%s", discordgo.EndpointChannelMessages(r.thread), limit, which)
	if err := r.get(ctx, endpoint, &sent); err != nil {
		return nil, err
	}
	page := make([]heard.Message, len(sent))
	for i, m := range sent {
		page[i] = m.It
	}
	slices.SortFunc(page, func(a, b heard.Message) int {
		if snowflake.Greater(b.ID, a.ID) {
			return -1
		}
		return 1
	})
	return page, nil
}

// get reads an endpoint. It waits for a rate limit if that does not take too long. Error: unsupported, if the thread
// has taken all calls that it may.
func (r *threadReader) get(ctx context.Context, endpoint string, answer any) error {
	if r.calls++; r.calls > threadCalls {
		return core.Errorf(core.Unsupported, "Discord does not show it among the messages of the thread.")
	}
	for {
		err := r.d.rest.Get(ctx, endpoint, answer)
		wait := core.RetryAfterOf(err)
		if !core.IsTemporary(err) || wait <= 0 || wait > r.waits || ctx.Err() != nil {
			return err
		}
		r.waits -= wait
		r.d.sleep(ctx, wait)
	}
}

// mayNotRead is why Discord shows nothing.
const mayNotRead = "The bot may lack the permission View Channel or Read Message History there."

// unread is why the error of a call keeps something from being read, in a sentence for the model; "": it was read.
// Error: provider_unavailable, if another attempt may succeed soon.
func (r *threadReader) unread(err error) (why string, later error) {
	switch {
	case err == nil:
		return "", nil
	case core.IsTemporary(err) && core.RetryAfterOf(err) > 0:
		return "Discord's rate limit is used up for the moment.", nil
	case core.IsTemporary(err):
		return "", outbound.LookupError(err, "Discord can't be asked for what was said before.")
	case rest.IsRefusal(err, discordgo.ErrCodeUnknownMessage):
		return "It was deleted.", nil
	case rest.IsGone(err):
		return mayNotRead, nil
	}
	return core.MessageOf(err), nil
}
