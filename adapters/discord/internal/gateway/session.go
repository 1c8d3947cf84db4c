package gateway

import (
	"context"
	"encoding/json"
	"strconv"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/discord/internal/snowflake"
	"gatehouse/core"
)

// session is what a connection of a shard resumes from. It is kept in the store.
type session struct {
	ID     string `json:"id,omitempty"` // "": there is none that could be resumed
	URL    string `json:"url,omitempty"`
	Seq    int64  `json:"seq,omitempty"` // of the last event that was committed with all before it
	Bot    string `json:"bot,omitempty"`
	Shards int    `json:"shards,omitempty"`
	// Intents are what it was begun with: Discord sends no other events, however often it is resumed.
	Intents discordgo.Intent `json:"intents,omitempty"`
	// Last is the greatest id of a message that was committed: whatever was missed is about as young, or younger.
	Last string `json:"last,omitempty"`
	// Behind says that the session began after a gap, and what was said in the gap is not fetched yet.
	Behind bool `json:"behind,omitempty"`
}

const (
	SaveEvery   = 2 * time.Second // what followed the last save is replayed to a restarted process, and known
	saveTimeout = 2 * time.Second // of the last save, when the process ends
)

// sessionStore keeps a shard's session.
type sessionStore struct {
	*Gateway
	name string

	mu    sync.Mutex
	now   session
	dirty bool
}

func newSessionStore(g *Gateway, shard int) *sessionStore {
	return &sessionStore{Gateway: g, name: sessionName(shard)}
}

func sessionName(shard int) string { return "discord/session/" + strconv.Itoa(shard) }

// StoredBot gives the bot's user id as the first shard's session told it, "" where there was none.
func StoredBot(ctx context.Context, kv core.KV) (string, error) {
	text, err := kv.Get(ctx, sessionName(0))
	var s session
	_ = json.Unmarshal([]byte(text), &s)
	return s.Bot, err
}

// load reads what an earlier process left. A session of another bot or another number of shards can't be resumed.
func (s *sessionStore) load(ctx context.Context, bot string, shards int) error {
	text, err := s.KV.Get(ctx, s.name)
	if err != nil {
		return err
	}
	var stored session
	if text != "" && json.Unmarshal([]byte(text), &stored) != nil {
		s.Log.Warn("the stored state of a shard's session can't be read; a new session begins", "shard", s.name)
		stored = session{}
	}
	if stored.Bot != bot {
		stored = session{}
	}
	if stored.Shards != shards {
		stored.ID, stored.URL, stored.Seq = "", "", 0
	}
	stored.Bot, stored.Shards = bot, shards
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = stored
	return nil
}

func (s *sessionStore) state() session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// begin notes a new session, after a gap.
func (s *sessionStore) begin(id, url string, seq int64, intents discordgo.Intent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now.ID, s.now.URL, s.now.Seq, s.now.Intents, s.now.Behind, s.dirty = id, url, seq, intents, true, true
}

// end notes that the session can't be resumed.
func (s *sessionStore) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now.ID, s.now.URL, s.now.Seq, s.dirty = "", "", 0, true
}

// caughtUp notes that what was said in the gap is fetched.
func (s *sessionStore) caughtUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now.Behind, s.dirty = false, true
}

// committed notes that everything up to seq is committed; message is the id of the message that it was, or "".
func (s *sessionStore) committed(seq int64, message string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now.ID != "" && seq > s.now.Seq {
		s.now.Seq, s.dirty = seq, true
	}
	if snowflake.Greater(message, s.now.Last) {
		s.now.Last, s.dirty = message, true
	}
}

// save stores what changed.
func (s *sessionStore) save(ctx context.Context) error {
	s.mu.Lock()
	text, err := json.Marshal(s.now)
	dirty := s.dirty
	s.dirty = false
	s.mu.Unlock()
	if !dirty || err != nil {
		return err
	}
	if err := s.KV.Put(ctx, s.name, string(text)); err != nil {
		s.mu.Lock()
		s.dirty = true
		s.mu.Unlock()
		return core.Wrap(core.StoreBusy, err, "The state of a session with Discord could not be stored.")
	}
	return nil
}

// saveLast stores what changed although ctx may be over.
func (s *sessionStore) saveLast(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	if err := s.save(ctx); err != nil {
		s.Log.Warn("the end of a session with Discord was not stored; some events will come again, and are known then", "err", err)
	}
}

// intentsChanged reports that the bot has other intents than its session was begun with.
func (s *sessionStore) intentsChanged() bool {
	now := s.state()
	return now.ID != "" && now.Intents != s.Intents()
}
