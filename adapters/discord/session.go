package discord

import (
	"context"
	"encoding/json"
	"strconv"
	"sync"
	"time"

	"gatehouse/core"
)

// session is what a connection of a shard goes on from. It is kept in the store.
type session struct {
	ID     string `json:"id,omitempty"` // "": there is none that could be resumed
	URL    string `json:"url,omitempty"`
	Seq    int64  `json:"seq,omitempty"` // of the last event that was committed
	Bot    string `json:"bot,omitempty"`
	Shards int    `json:"shards,omitempty"`
	// Intents are the kinds of events that it was begun for: Discord tells no others, however often it is resumed.
	Intents int `json:"intents,omitempty"`
	// Last is the greatest id of a message that passed by: whatever was missed is about as young, or younger.
	Last string `json:"last,omitempty"`
	// Behind says that a session began after a gap, and what was said in the gap is not fetched yet.
	Behind bool `json:"behind,omitempty"`
}

// saveEvery is how often a session's progress is stored: what passed since is replayed to a restarted process, and known.
const saveEvery = 2 * time.Second

// saveTime is how long the last word of a session may take to be stored, when the process ends.
const saveTime = 2 * time.Second

// keeper keeps a shard's session.
type keeper struct {
	discord *Discord
	name    string

	mu    sync.Mutex
	now   session
	dirty bool
}

func newKeeper(d *Discord, shard int) *keeper {
	return &keeper{discord: d, name: sessionName(shard)}
}

func sessionName(shard int) string { return "discord/session/" + strconv.Itoa(shard) }

// load reads what an earlier process left. A session of another bot or another number of shards can't be resumed.
func (k *keeper) load(ctx context.Context, bot string, shards int) error {
	text, err := k.discord.Settings.Get(ctx, k.name)
	if err != nil {
		return err
	}
	var s session
	if text != "" && json.Unmarshal([]byte(text), &s) != nil {
		k.discord.Log.Warn("the stored state of a shard's session can't be read; a new session begins", "shard", k.name)
		s = session{}
	}
	if s.Bot != bot {
		s = session{}
	}
	if s.Shards != shards {
		s.ID, s.URL, s.Seq = "", "", 0
	}
	s.Bot, s.Shards = bot, shards
	k.mu.Lock()
	defer k.mu.Unlock()
	k.now = s
	return nil
}

func (k *keeper) state() session {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.now
}

// began notes a new session, after a gap.
func (k *keeper) began(id, url string, seq int64, intents int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.now.ID, k.now.URL, k.now.Seq, k.now.Intents, k.now.Behind, k.dirty = id, url, seq, intents, true, true
}

// lost notes that the session can't be resumed.
func (k *keeper) lost() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.now.ID, k.now.URL, k.now.Seq, k.dirty = "", "", 0, true
}

// caughtUp notes that what was said in the gap is fetched.
func (k *keeper) caughtUp() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.now.Behind, k.dirty = false, true
}

// passed notes that everything up to seq is committed; message is the id of one that was among it, or "".
func (k *keeper) passed(seq int64, message string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.now.ID != "" && seq > k.now.Seq {
		k.now.Seq, k.dirty = seq, true
	}
	if later(message, k.now.Last) {
		k.now.Last, k.dirty = message, true
	}
}

// save stores what changed.
func (k *keeper) save(ctx context.Context) error {
	k.mu.Lock()
	text, err := json.Marshal(k.now)
	dirty := k.dirty
	k.dirty = false
	k.mu.Unlock()
	if !dirty || err != nil {
		return err
	}
	if err := k.discord.Settings.Put(ctx, k.name, string(text)); err != nil {
		k.mu.Lock()
		k.dirty = true
		k.mu.Unlock()
		return core.Wrap(core.StoreBusy, err, "The state of a session with Discord could not be stored.")
	}
	return nil
}

// last stores what changed although ctx may be over.
func (k *keeper) last(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTime)
	defer cancel()
	if err := k.save(ctx); err != nil {
		k.discord.Log.Warn("the end of a session with Discord was not stored; some events will come again, and are known then", "err", err)
	}
}
