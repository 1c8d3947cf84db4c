package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/discord/internal/rest"
	"gatehouse/adapters/discord/internal/snowflake"
	"gatehouse/adapters/internal/chat"
	"gatehouse/core"
)

// Limits of what is fetched after a gap.
const (
	catchUpTime          = 5 * time.Minute // for all of it
	catchUpPage          = 100             // messages of one call: Discord's limit
	catchUpPages         = 10              // of one conversation
	catchUpConversations = 200             // those that were active last
	CatchUpSlack         = time.Minute     // how far one may lag behind a message of another channel
)

// since returns the message after which a conversation's messages are fetched; "": none are. last is the last message committed before the
// gap.
func (c Conversation) since(last string) string {
	since := c.Last
	if last != "" {
		since = snowflake.Max(since, snowflake.At(snowflake.Time(last).Add(-CatchUpSlack)))
	}
	if since == "" {
		return ""
	}
	return snowflake.Max(since, c.Begins)
}

// catchUp fetches the messages that the known conversations missed because a session could not be resumed, unless that is done. A message
// that was received after all is recognized when it is accepted.
func (s *shard) catchUp(ctx context.Context) {
	from := s.session.state()
	if !from.Behind {
		return
	}
	if s.Conversations != nil {
		s.fetchAll(ctx, s.conversations(ctx), from.Last)
	}
	if ctx.Err() == nil {
		s.session.caughtUp()
		_ = s.session.save(ctx) // so that a process killed soon need not fetch again; after an error the next save stores it
	}
}

// conversations reads the shard's conversations and retries until it succeeds. It returns none if ctx ends first.
func (s *shard) conversations(ctx context.Context) []Conversation {
	log := core.NewErrorLog(s.Log, "reading which conversations are known")
	pause := firstStoreRetry
	for {
		all, err := s.Conversations(ctx)
		if ctx.Err() != nil {
			return nil
		}
		log.Report(err)
		if err == nil {
			all = slices.DeleteFunc(all, func(c Conversation) bool { return !s.owns(c.Guild) })
			return all[:min(len(all), catchUpConversations)]
		}
		s.Sleep(ctx, pause)
		pause = min(2*pause, maxStoreRetry)
	}
}

// fetchAll fetches the messages of conversations after the message last; "": not known.
func (s *shard) fetchAll(ctx context.Context, todo []Conversation, last string) {
	ctx, cancel := context.WithTimeout(ctx, catchUpTime)
	defer cancel()
	log := core.NewErrorLog(s.Log, "fetching missed messages")
	for ; len(todo) > 0; todo = todo[1:] {
		c := todo[0]
		err := s.fetch(ctx, &c, last)
		switch {
		case errors.Is(ctx.Err(), context.DeadlineExceeded):
			s.Log.Warn("it takes too long to fetch the messages sent while no events were received; the rest are not fetched", "shard", s.n)
			return
		case ctx.Err() != nil:
			return
		case core.IsTemporary(err):
			log.Report(err)
			todo = append(todo, c) // after the others, as long as there is time
			s.Sleep(ctx, max(s.jitter(chat.FirstRetry), core.RetryAfterOf(err)))
		case err != nil:
			s.Log.Warn("the messages sent while no events were received could not be fetched", "channel", c.Channel, "err", err)
		}
	}
}

// fetch fetches and processes the messages of a conversation, oldest first, and records in c how far it got.
func (s *shard) fetch(ctx context.Context, c *Conversation, last string) error {
	for range catchUpPages {
		since := c.since(last)
		if since == "" {
			return nil
		}
		page, err := s.page(ctx, c.Channel, since)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, m := range page {
			if !s.take(ctx, event{name: "MESSAGE_CREATE", data: m.from(c)}) {
				return ctx.Err()
			}
			c.Last = m.id
		}
		if len(page) < catchUpPage {
			return nil
		}
	}
	s.Log.Warn("there were too many messages while no events were received; the latest of them are not fetched", "channel", c.Channel)
	return nil
}

// fetched is a message as REST returns it.
type fetched struct {
	id     string
	fields map[string]json.RawMessage
}

// from returns the message as the gateway would have sent it: REST omits its server.
func (m fetched) from(c *Conversation) json.RawMessage {
	delete(m.fields, "guild_id")
	if c.Guild != Direct {
		m.fields["guild_id"], _ = json.Marshal(c.Guild)
	}
	body, _ := json.Marshal(m.fields) // can't fail: it is JSON that was read
	return body
}

// page reads the messages after since, sorted by id. A channel that no longer exists has none.
func (s *shard) page(ctx context.Context, channel, since string) ([]fetched, error) {
	var all []json.RawMessage
	err := s.REST.Call(ctx, http.MethodGet, fmt.Sprintf("%s?after=%s&limit=%d", discordgo.EndpointChannelMessages(channel), since, catchUpPage), nil, &all)
	if rest.IsGone(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	page := make([]fetched, 0, len(all))
	for _, one := range all {
		var m fetched
		if err := chat.Decode(one, &m.fields); err != nil {
			s.Log.Warn("a message that was fetched can't be read and is ignored", "channel", channel, "bytes", len(one), "err", chat.JSONFault(err))
			continue
		}
		if json.Unmarshal(m.fields["id"], &m.id) == nil && snowflake.Valid(m.id) && snowflake.Greater(m.id, since) {
			page = append(page, m)
		}
	}
	slices.SortFunc(page, func(a, b fetched) int {
		if snowflake.Greater(b.id, a.id) {
			return -1
		}
		return 1
	})
	return page, nil
}
