package discord

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"gatehouse/core"
)

// Numbers of what is fetched after a gap.
const (
	catchUpTime   = 5 * time.Minute // for all of it
	catchUpPage   = 100             // messages of one call: Discord's limit
	catchUpPages  = 10              // of one conversation
	catchUpPlaces = 200             // conversations, those heard last
	catchUpTries  = 4
	catchUpSlack  = time.Minute // how far behind another channel's message one may come
)

// conversation is a channel or thread whose messages are fetched.
type conversation struct {
	channel, guild string
	last           string // the latest message of it that is known
	began          string // a thread counts from here on: what was said in it before was not for the bot
}

// catchUp fetches what was said in the known conversations since a session ended that could not be resumed, where that is still to be
// done. What was heard nevertheless is known when it is accepted.
func (s *shard) catchUp(ctx context.Context) {
	if from := s.keep.state(); from.Behind {
		if s.discord.Recent != nil {
			s.fetchAll(ctx, s.recent(ctx), from.Last)
		}
		if ctx.Err() == nil {
			s.keep.caughtUp()
			_ = s.keep.save(ctx) // so that a process that is killed soon fetches nothing again; what fails is saved with what comes next
		}
	}
}

// recent reads the latest events, as often as it needs; none where ctx has ended before.
func (s *shard) recent(ctx context.Context) []core.EventRecord {
	trouble := core.NewErrorLog(s.discord.Log, "reading which conversations are known")
	pause := firstStore
	for {
		events, err := s.discord.Recent(ctx)
		if ctx.Err() != nil {
			return nil
		}
		trouble.Report(err)
		if err == nil {
			return events
		}
		s.discord.sleep(ctx, pause)
		pause = min(2*pause, maxStore)
	}
}

// fetchAll fetches what was said after a message, "" where it is not known after which.
func (s *shard) fetchAll(ctx context.Context, events []core.EventRecord, last string) {
	ctx, cancel := context.WithTimeout(ctx, catchUpTime)
	defer cancel()
	trouble := core.NewErrorLog(s.discord.Log, "fetching what was said while nothing was heard")
	for todo := s.conversations(events); len(todo) > 0; todo = todo[1:] {
		c := todo[0]
		err := s.fetch(ctx, c, c.since(last))
		switch {
		case errors.Is(ctx.Err(), context.DeadlineExceeded):
			s.discord.Log.Warn("it takes too long to fetch what was said while nothing was heard; the rest of it is not fetched", "shard", s.n)
			return
		case ctx.Err() != nil:
			return
		case core.CategoryOf(err) == core.DeliveryLater || core.CategoryOf(err) == core.DeliveryInDoubt:
			trouble.Report(err)
			todo = append(todo, c) // after the others, as long as there is time
		case err != nil:
			s.discord.Log.Warn("what was said while nothing was heard could not be fetched", "channel", c.channel, "err", err)
		}
	}
}

// since is the message after which those of a conversation are fetched, where last passed by before the gap; "": none are.
func (c conversation) since(last string) string {
	since := c.last
	if from := before(last, catchUpSlack); last != "" && later(from, since) {
		since = from
	}
	if since != "" && later(c.began, since) {
		return c.began
	}
	return since
}

// conversations are the shard's among the events, the latest first. Only messages tell how far a conversation was heard: a press overtakes
// them, and over HTTP it is heard while the gateway is not.
func (s *shard) conversations(events []core.EventRecord) []conversation {
	var all []conversation
	at := map[string]int{}
	note := func(where, guild, last, began string) {
		if !isID(where) {
			return
		}
		n, ok := at[where]
		if !ok {
			if len(all) == catchUpPlaces {
				return
			}
			n = len(all)
			at[where], all = n, append(all, conversation{channel: where, guild: guild})
		}
		if later(last, all[n].last) {
			all[n].last = last
		}
		all[n].began = began
	}
	for _, e := range events {
		guild := guildOf(e.Conversation)
		if e.Platform != Name || !s.mine(guild) || guild != direct && !isID(guild) {
			continue
		}
		place, thread := e.Address.Channel, e.Address.Thread
		said, message := "", "" // where it was said, where it is a message
		if id, ok := strings.CutPrefix(e.ID, "message/"); ok {
			said, message, _ = strings.Cut(id, "/")
		}
		if said == place {
			note(place, guild, message, "")
		} else {
			note(place, guild, "", "") // where the thread is: the bot may have been mentioned beside it
		}
		if isID(thread) {
			began := message
			if began == "" {
				began = idAt(e.AcceptedAt.Add(-catchUpSlack))
			}
			s.discord.atlas.chart(guild, []channel{{ID: thread, Parent: place, Type: typePublicThread}})
			note(thread, guild, message, began)
		}
	}
	return all
}

// fetch takes the messages of a conversation after one, oldest first.
func (s *shard) fetch(ctx context.Context, c conversation, since string) error {
	if since == "" {
		return nil
	}
	for range catchUpPages {
		page, err := s.page(ctx, c.channel, since)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, raw := range page {
			if !s.take(ctx, item{kind: "MESSAGE_CREATE", data: raw.in(c)}) {
				return ctx.Err()
			}
			since = raw.id
		}
		if len(page) < catchUpPage {
			return nil
		}
	}
	s.discord.Log.Warn("there were too many messages while nothing was heard; the latest of them are not fetched", "channel", c.channel)
	return nil
}

// missed is a message as REST gives it.
type missed struct {
	id     string
	fields map[string]json.RawMessage
}

// in makes it what the gateway would have sent: REST does not say which server it is.
func (m missed) in(c conversation) json.RawMessage {
	delete(m.fields, "guild_id")
	if c.guild != direct {
		m.fields["guild_id"], _ = json.Marshal(c.guild)
	}
	body, _ := json.Marshal(m.fields) // of JSON that was read: can't fail
	return body
}

// page reads the messages after one, and sorts them. A channel that is gone has none.
func (s *shard) page(ctx context.Context, channel, since string) ([]missed, error) {
	var fields []map[string]json.RawMessage
	pause := firstRedial
	for try := 1; ; try++ {
		err := s.discord.call(ctx, http.MethodGet, fmt.Sprintf("/channels/%s/messages?after=%s&limit=%d", channel, since, catchUpPage), nil, &fields)
		if err == nil {
			break
		}
		if isGone(err) {
			return nil, nil
		}
		if try == catchUpTries || ctx.Err() != nil || core.CategoryOf(err) == core.DeliveryFailed {
			return nil, err
		}
		s.discord.sleep(ctx, max(s.discord.jitter(pause), core.RetryAfterOf(err)))
		pause *= 2
	}
	page := make([]missed, 0, len(fields))
	for _, f := range fields {
		m := missed{fields: f}
		if json.Unmarshal(f["id"], &m.id) == nil && isID(m.id) && later(m.id, since) {
			page = append(page, m)
		}
	}
	slices.SortFunc(page, func(a, b missed) int {
		if later(b.id, a.id) {
			return -1
		}
		return 1
	})
	return page, nil
}
