package discord

import (
	"context"
	"encoding/json"
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
}

// catchUp fetches what was said in the known conversations since a session ended that could not be resumed, where that is still to be
// done. What was heard nevertheless is known when it is accepted.
func (s *shard) catchUp(ctx context.Context) {
	if from := s.keep.state(); from.Behind {
		if s.discord.Recent != nil {
			s.fetchAll(ctx, from.Last)
		}
		if ctx.Err() == nil {
			s.keep.caughtUp()
			_ = s.keep.save(ctx) // so that a process that is killed soon fetches nothing again; what fails is saved with what comes next
		}
	}
}

// fetchAll fetches what was said after a message, "" where it is not known after which.
func (s *shard) fetchAll(ctx context.Context, last string) {
	d := s.discord
	ctx, cancel := context.WithTimeout(ctx, catchUpTime)
	defer cancel()
	events, err := d.Recent(ctx)
	if err != nil {
		d.Log.Warn("the known conversations can't be read; what was said while nothing was heard is not fetched", "shard", s.n, "err", err)
		return
	}
	for _, c := range s.conversations(events) {
		since := c.last
		if from := before(last, catchUpSlack); last != "" && later(from, since) {
			since = from
		}
		if err := s.fetch(ctx, c, since); err != nil && ctx.Err() == nil {
			d.Log.Warn("what was said while nothing was heard could not be fetched", "channel", c.channel, "err", err)
		}
	}
}

// conversations are the shard's among the events, the latest first.
func (s *shard) conversations(events []core.EventRecord) []conversation {
	var all []conversation
	at := map[string]int{}
	note := func(where, guild, last string) {
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
	}
	for _, e := range events {
		guild := guildOf(e.Lane)
		if e.Platform != Name || !s.mine(guild) || guild != direct && !isID(guild) {
			continue
		}
		place, id := e.Address.Channel, idAt(e.AcceptedAt.Add(-catchUpSlack))
		thread := e.Address.Thread
		in, message, said := strings.Cut(strings.TrimPrefix(e.ID, "message/"), "/")
		if said && strings.HasPrefix(e.ID, "message/") && isID(message) {
			id = message
		} else {
			in = place
		}
		switch {
		case thread == "" || in == place && thread == id:
			note(place, guild, id)
		default:
			note(place, guild, "") // where the thread is: the bot may have been mentioned beside it
		}
		if isID(thread) {
			s.discord.atlas.chart(guild, []channel{{ID: thread, Parent: place, Type: typePublicThread}})
			note(thread, guild, id)
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
