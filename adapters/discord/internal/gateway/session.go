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

// session is the state from which a shard's connection resumes. It is kept in the store.
type session struct {
	ID     string `json:"id,omitempty"` // "": there is none to resume
	URL    string `json:"url,omitempty"`
	Seq    int64  `json:"seq,omitempty"` // of the last event that was committed with all before it
	Bot    string `json:"bot,omitempty"`
	Shards int    `json:"shards,omitempty"`
	// Intents are those that the session began with. They stay the same when it is resumed.
	Intents discordgo.Intent `json:"intents,omitempty"`
	// Last is the greatest id of a committed message. Missed messages are about as recent, or more so.
	Last string `json:"last,omitempty"`
	// Behind says that the session began after a gap whose conversations are not in the backlog yet.
	Behind bool `json:"behind,omitempty"`
	// Since is what Last was before that gap.
	Since string `json:"since,omitempty"`
}

const (
	// events after the last save are replayed to a restarted process, which recognizes them
	saveEvery   = 2 * time.Second
	saveTimeout = 2 * time.Second // of the last save, when the process ends
)

// sessionStore holds a shard's session and saves it.
type sessionStore struct {
	*Gateway
	name  string
	saved session // as it is in the store

	mu  sync.Mutex
	now session
	gap int // counts the sessions that began after a gap, in this process
}

func newSessionStore(g *Gateway, shard int) *sessionStore {
	return &sessionStore{Gateway: g, name: sessionName(shard)}
}

func sessionName(shard int) string { return "discord/session/" + strconv.Itoa(shard) }

// StoredBot returns the bot's user id from the first shard's stored session, "" if there is none.
func StoredBot(ctx context.Context, kv core.KV) (string, error) {
	s, err := storedSession(ctx, kv, 0)
	return s.Bot, err
}

// storedSession reads the stored session of a shard; zero if there is none, or none that can be read.
func storedSession(ctx context.Context, kv core.KV, shard int) (s session, err error) {
	text, err := kv.Get(ctx, sessionName(shard))
	if err != nil || json.Unmarshal([]byte(text), &s) != nil {
		return session{}, err
	}
	return s, nil
}

// Skip makes all shards begin anew at a moment: no session is resumed, and nothing that was sent before is fetched. A
// bot that has never been connected has nothing to skip.
func Skip(ctx context.Context, kv core.KV, before time.Time) error {
	first, err := storedSession(ctx, kv, 0)
	if err != nil || first.Bot == "" {
		return err
	}
	anew := session{Bot: first.Bot, Shards: first.Shards, Last: snowflake.At(before.Add(CatchUpSlack))}
	text, err := json.Marshal(anew)
	if err != nil {
		return err
	}
	for shard := range max(first.Shards, 1) {
		if err := kv.Put(ctx, sessionName(shard), string(text)); err != nil {
			return err
		}
		if err := kv.Put(ctx, backlogName(shard), ""); err != nil {
			return err
		}
	}
	return nil
}

// load reads the session that an earlier process stored. A session of another bot or another number of shards can't be
// resumed.
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
	s.saved = stored
	s.change(func(now *session) { *now = stored })
	return nil
}

func (s *sessionStore) state() session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

func (s *sessionStore) change(do func(now *session)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do(&s.now)
}

// begin records a new session, after a gap. If the backlog does not have an earlier gap's conversations yet, the two
// gaps are one.
func (s *sessionStore) begin(id, url string, seq int64, intents discordgo.Intent) {
	s.change(func(now *session) {
		if !now.Behind {
			now.Since = now.Last
		}
		now.ID, now.URL, now.Seq, now.Intents, now.Behind = id, url, seq, intents, true
		s.gap++
	})
}

// behind returns the session, and the number of its gap.
func (s *sessionStore) behind() (session, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now, s.gap
}

// end records that the session can't be resumed.
func (s *sessionStore) end() {
	s.change(func(now *session) { now.ID, now.URL, now.Seq = "", "", 0 })
}

// listed records that the stored backlog has the conversations of a gap, unless another gap has followed.
func (s *sessionStore) listed(gap int) {
	s.change(func(now *session) {
		if s.gap == gap {
			now.Behind, now.Since = false, ""
		}
	})
}

// committed records that everything up to seq is committed; message is the id of seq's message, or "".
func (s *sessionStore) committed(seq int64, message string) {
	s.change(func(now *session) {
		if now.ID != "" {
			now.Seq = max(now.Seq, seq)
		}
		now.Last = snowflake.Max(now.Last, message)
	})
}

// save stores the session if it has changed. It is not called concurrently.
func (s *sessionStore) save(ctx context.Context) error {
	now := s.state()
	text, err := json.Marshal(now)
	if err != nil || now == s.saved {
		return err
	}
	if err := s.KV.Put(ctx, s.name, string(text)); err != nil {
		return core.Wrap(core.StoreBusy, err, "The state of a session with Discord could not be stored.")
	}
	s.saved = now
	return nil
}

// saveLast is save at the end of the process; it works although ctx has ended.
func (s *sessionStore) saveLast(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	if err := s.save(ctx); err != nil {
		s.Log.Warn("the last state of a session with Discord was not stored; some events will come again, without "+
			"effect", "err", err)
	}
}

// intentsChanged reports whether the intents differ from those that the session began with.
func (s *sessionStore) intentsChanged() bool {
	now := s.state()
	return now.ID != "" && now.Intents != s.Intents()
}
