package discordtest

import (
	"encoding/json"
	"fmt"
	"strconv"

	"gatehouse/adapters/internal/fakeserver"
)

// event is something that the gateway tells of.
type event struct {
	name    string
	guild   string // "" for a DM, which is told on shard 0
	channel *channel
	intent  int    // that a session must have; 0 means none
	full    any    // what is told
	bare    object // the same for sessions without the message content intent, if that is another
}

// emit tells all sessions of an event that want it and may see it, those without a connection for later. The caller holds the lock.
func (s *Server) emit(e event) {
	if g := s.guilds[e.guild]; g != nil && g.Away {
		return
	}
	if e.channel != nil && !s.botSees(e.channel) {
		return
	}
	var full, bare []byte
	for _, k := range s.order {
		if !k.alive(s.o.Now()) || !k.ready || !k.hasGuild(e.guild) || (e.intent != 0 && k.intents&e.intent == 0) {
			continue
		}
		if e.bare != nil && k.intents&IntentMessageContent == 0 {
			if bare == nil {
				bare = fakeserver.JSON(e.bare)
			}
			k.send(e.name, bare)
			continue
		}
		if full == nil {
			full = fakeserver.JSON(e.full)
		}
		k.send(e.name, full)
	}
}

// Dispatch sends an event of any name with any data to the sessions of a guild's shard, whatever their intents; "" is the shard of DMs. The
// data is sent as it is, so it may be what no client can decode.
func (s *Server) Dispatch(guild, name string, data json.RawMessage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.order {
		if k.alive(s.o.Now()) && k.hasGuild(guild) {
			k.send(name, data)
		}
	}
	s.changed()
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
