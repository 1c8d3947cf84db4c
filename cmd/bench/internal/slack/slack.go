// Package slack is a Slack for benches, and the people on it: it knows what a bot needs to answer mentions in threads,
// and sends the bot signed events. adapters/slack/slacktest is the one for tests: it knows far more, and costs far more
// time.
package slack

import (
	"maps"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"gatehouse/cmd/bench/internal/ledger"
	"gatehouse/cmd/bench/internal/load"
	"gatehouse/cmd/bench/internal/wire"
)

// Slack is one workspace with one bot. It believes every token, and does to posts what the plan's mode says.
type Slack struct {
	plan    load.Plan
	ledger  *ledger.Ledger
	server  *wire.Server
	world   world
	secrets secrets
	to      []*url.URL // where the instances of the bot take events; none: they open connections of Socket Mode
	sockets *sockets
	turn    atomic.Int64 // which of them the next sender sends to
	resent  atomic.Int64
	posts   atomic.Int64
	presses sync.WaitGroup

	mu    sync.Mutex
	tally load.Tally
	kept  map[string][]string // by thread, if a bot may read them back: the last messages, as JSON
}

var _ load.Platform = (*Slack)(nil)

// Start starts a Slack that posts events to the URLs of a bot's instances, or, if there are none, sends them by Socket
// Mode. Close ends it.
func Start(book *ledger.Ledger, p load.Plan, events ...string) (s *Slack, err error) {
	s = &Slack{
		plan: p, ledger: book, secrets: newSecrets(), tally: load.Tally{Calls: map[string]int{}},
		kept: map[string][]string{},
		world: world{
			began: time.Now().Add(-time.Minute), threads: p.Threads, people: p.Senders, long: p.Warm + p.Events,
			mix: p.Mix,
		},
	}
	for _, address := range events {
		to, err := url.Parse(address)
		if err != nil {
			return nil, err
		}
		s.to = append(s.to, to)
	}
	if len(s.to) == 0 {
		if s.sockets, err = serveSockets(); err != nil {
			return nil, err
		}
	}
	if s.server, err = wire.Serve(s.answer); err != nil {
		s.sockets.Close()
		return nil, err
	}
	return s, nil
}

// Env are the variables that bots for Slack read by convention.
func (s *Slack) Env(port string) []string {
	env := []string{"SLACK_BOT_TOKEN=" + s.secrets.bot, "SLACK_API_URL=http://" + s.server.Address() + "/api/"}
	if len(s.to) == 0 {
		return append(env, "SLACK_APP_TOKEN="+s.secrets.app)
	}
	return append(env, "SLACK_SIGNING_SECRET="+s.secrets.signing, "PORT="+port)
}

// Ready reports whether events can be sent.
func (s *Slack) Ready() bool { return len(s.to) > 0 || s.sockets.pick() != nil }

// Tally is what came besides the replies.
func (s *Slack) Tally() load.Tally {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.tally
	t.Calls = maps.Clone(t.Calls)
	t.Calls["chat.postMessage"] = int(s.posts.Load())
	t.Resent = int(s.resent.Load())
	return t
}

// Close ends it.
func (s *Slack) Close() {
	s.presses.Wait()
	s.server.Close()
	s.sockets.Close()
}
