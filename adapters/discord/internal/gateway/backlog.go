package gateway

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"sync"

	"gatehouse/adapters/discord/internal/snowflake"
	"gatehouse/core"
)

// maxBacklog is how many conversations a shard's backlog may have; a value of the store holds them.
const maxBacklog = 600

// missing is a conversation whose missed messages are still to be fetched.
type missing struct {
	Channel string `json:"c"`
	Guild   string `json:"g"` // or address.Direct
	After   string `json:"a"` // its messages after this one are fetched
}

// backlog is what a shard has still to fetch. It is stored before any message that was sent after a gap is committed,
// and a conversation leaves it once it is fetched. So a process that is killed meanwhile leaves it to the next one,
// however many events the other conversations had since. A conversation that is still in the store although it was
// fetched is fetched again, and its messages are recognized.
type backlog struct {
	*Gateway
	name string
	bot  string

	mu   sync.Mutex
	list []missing

	saving sync.Mutex
	saved  string // as it is in the store
}

// storedBacklog is what the store has of a backlog.
type storedBacklog struct {
	Bot  string    `json:"bot"`
	List []missing `json:"list"`
}

func newBacklog(g *Gateway, shard int, bot string) *backlog {
	return &backlog{Gateway: g, name: backlogName(shard), bot: bot}
}

func backlogName(shard int) string { return "discord/backlog/" + strconv.Itoa(shard) }

// load reads the backlog that an earlier process stored. Conversations of another shard, from a time with another
// number of shards, stay on it. Those of another bot don't.
func (b *backlog) load(ctx context.Context) error {
	text, err := b.KV.Get(ctx, b.name)
	if err != nil {
		return err
	}
	var stored storedBacklog
	if text != "" && json.Unmarshal([]byte(text), &stored) != nil {
		b.Log.Warn("the list of conversations whose missed messages are to be fetched can't be read; only the latest "+
			"conversations are searched", "name", b.name)
	}
	if stored.Bot != b.bot {
		stored.List = nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.list, b.saved = stored.List, text
	return nil
}

// add puts the conversations of a gap on the list, behind those that are on it. last is the last message committed
// before the gap. It returns how many conversations have no place.
func (b *backlog) add(all []Conversation, last string) (beyond int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	added := 0
	for _, c := range all {
		after := c.since(last)
		n := slices.IndexFunc(b.list, func(m missing) bool { return m.Channel == c.Channel })
		switch {
		case n >= 0: // no message overtakes those that are still to be fetched
			b.list[n].After = snowflake.Max(b.list[n].After, c.Last)
		case after == "":
		case added == catchUpConversations || len(b.list) == maxBacklog:
			beyond++
		default:
			b.list = append(b.list, missing{Channel: c.Channel, Guild: c.Guild, After: after})
			added++
		}
	}
	return beyond
}

// all returns the list, the oldest first.
func (b *backlog) all() []missing {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.list)
}

// remove takes conversations off the list.
func (b *backlog) remove(done ...missing) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.list = slices.DeleteFunc(b.list, func(m missing) bool {
		return slices.ContainsFunc(done, func(d missing) bool { return d.Channel == m.Channel })
	})
}

// save stores the list if it has changed.
func (b *backlog) save(ctx context.Context) error {
	b.saving.Lock()
	defer b.saving.Unlock()
	text := ""
	if list := b.all(); len(list) > 0 {
		encoded, err := json.Marshal(storedBacklog{Bot: b.bot, List: list})
		if err != nil {
			return err
		}
		text = string(encoded)
	}
	if text == b.saved {
		return nil
	}
	if err := b.KV.Put(ctx, b.name, text); err != nil {
		return core.Wrap(core.StoreBusy, err,
			"The list of conversations whose missed messages are to be fetched could not be stored.")
	}
	b.saved = text
	return nil
}
