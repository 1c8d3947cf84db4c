package gateway

import (
	"encoding/json"
	"fmt"
	"strconv"

	"gatehouse/adapters/internal/fakeserver"
)

// Event is an event of the gateway.
type Event struct {
	Name           string
	Guild          string         // "" for a DM, which goes to shard 0
	Intent         int            // that a session must have; 0 means none
	Full           any            // its data
	WithoutContent map[string]any // the same for sessions without the message content intent, if that is another
}

// Emit sends an event to all sessions that have its shard and intent, and keeps it for those without a connection.
func Emit(g *Gateway, e Event) {
	var full, bare []byte
	for _, k := range g.order {
		if !k.alive(g.o.Now()) || !k.ready || !HasGuild(k.shard, e.Guild) ||
			(e.Intent != 0 && k.intents&e.Intent == 0) {
			continue
		}
		if e.WithoutContent != nil && k.intents&IntentMessageContent == 0 {
			if bare == nil {
				bare = fakeserver.JSON(e.WithoutContent)
			}
			k.send(e.Name, bare)
			continue
		}
		if full == nil {
			full = fakeserver.JSON(e.Full)
		}
		k.send(e.Name, full)
	}
}

// Dispatch sends an event with any name and data to the sessions of a guild's shard, whatever their intents; "" is the
// shard of DMs. The data is sent as it is, so it may be invalid.
func (g *Gateway) Dispatch(guild, name string, data json.RawMessage) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, k := range g.order {
		if k.alive(g.o.Now()) && HasGuild(k.shard, guild) {
			k.send(name, data)
		}
	}
	g.host.Changed()
}

// maxReplay is how many events a session keeps for a resume.
const maxReplay = 50_000

// sent is an event of a session.
type sent struct {
	seq   int64
	frame []byte
}

// send numbers an event, keeps it for a resume, and writes it if there is a connection.
func (k *session) send(name string, data []byte) {
	k.seq++
	frame := fmt.Appendf(nil, `{"t":%s,"s":%s,"op":0,"d":%s}`, strconv.Quote(name), strconv.FormatInt(k.seq, 10), data)
	k.events = append(k.events, sent{seq: k.seq, frame: frame})
	if len(k.events) > maxReplay {
		k.events = append([]sent{}, k.events[len(k.events)-maxReplay/2:]...)
	}
	if k.conn != nil {
		k.conn.enqueue(frame)
	}
}
