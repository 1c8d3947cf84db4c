package main

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/discord"
	"gatehouse/adapters/discord/discordtest"
	"gatehouse/adapters/slack"
	"gatehouse/adapters/slack/slacktest"
	"gatehouse/core"
	"gatehouse/core/outbox"
	"gatehouse/storage"
	"gatehouse/storage/postgres/postgrestest"
)

// clockWorld is the two fakes with one clock, a database and a gatehouse with another one, which is off at first.
type clockWorld struct {
	t       *testing.T
	chance  *rand.Rand
	jitters sync.Mutex // guards chance while posts are sent
	slack   *slacktest.Server
	discord *discordtest.Server
	store   *storage.Store
	url     string // of the database if it has a clock of its own
	begun   int    // processes so far
	box     *outbox.Deliverer

	mu       sync.Mutex
	at       time.Time     // the platforms' time
	ahead    time.Duration // of gatehouse's clock; guarded by mu
	accepted int
}

func (w *clockWorld) platformTime() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.at = w.at.Add(time.Microsecond)
	return w.at
}

func (w *clockWorld) now() time.Time {
	at := w.platformTime()
	w.mu.Lock()
	defer w.mu.Unlock()
	return at.Add(w.ahead)
}

// pass lets time pass, and sets gatehouse's clock, which may be the database's.
func (w *clockWorld) pass(d, ahead time.Duration) {
	w.mu.Lock()
	w.at, w.ahead = w.at.Add(d), ahead
	off := time.Until(w.at.Add(ahead))
	w.mu.Unlock()
	if w.url != "" {
		if err := postgrestest.Run(w.url,
			fmt.Sprintf(`update test_clock set moved = interval '%d microseconds'`, off.Microseconds())); err != nil {
			w.t.Fatal(err)
		}
	}
}

// mortal is an outbox of a process that dies at one of its steps: nothing is stored any more.
type mortal struct {
	core.Outbox
	mu   sync.Mutex
	left int // steps
}

func (m *mortal) dies() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.left--; m.left < 0 {
		return core.Errorf(core.ClaimLost, "the process died here")
	}
	return nil
}

func (m *mortal) ClaimPosts(ctx context.Context, r core.PostRequest) ([]core.OutboxRow, error) {
	if err := m.dies(); err != nil {
		return nil, err
	}
	return m.Outbox.ClaimPosts(ctx, r)
}

func (m *mortal) SavePost(ctx context.Context, r core.OutboxRow) error {
	if err := m.dies(); err != nil {
		return err
	}
	return m.Outbox.SavePost(ctx, r)
}

func (m *mortal) ReleasePost(ctx context.Context, r core.OutboxRow, wait time.Duration) (bool, error) {
	if err := m.dies(); err != nil {
		return false, err
	}
	return m.Outbox.ReleasePost(ctx, r, wait)
}

// process begins a process that dies after so many steps of its outbox; the one before is missed.
func (w *clockWorld) process(steps int) {
	w.t.Helper()
	for range 6 {
		if err := w.store.Beat(w.t.Context(), "observer"); err != nil {
			w.t.Fatal(err)
		}
	}
	signer, err := core.NewSigner("a key for the tests")
	if err != nil {
		w.t.Fatal(err)
	}
	noCard := func(context.Context, core.ApprovalID, bool) (core.Card, error) {
		return core.Card{}, core.Errorf(core.NotFound, "There is no such approval.")
	}
	w.begun++
	owner := fmt.Sprint("process ", w.begun)
	blobs := &adaptertest.Blobs{}
	platforms := []core.Platform{
		slack.New(
			core.Deps{Signer: signer, Cards: adaptertest.CardFunc(noCard), Blobs: blobs, Now: w.now},
			slack.Config{BotToken: w.slack.BotToken(), APIURL: w.slack.APIURL()},
		),
		discord.New(core.Deps{
			Signer: signer, Cards: adaptertest.CardFunc(noCard),
			Blobs: blobs, KV: w.store, Owner: owner, Now: w.now, Log: slog.New(slog.DiscardHandler),
		}, discord.Config{BotToken: w.discord.BotToken(), APIURL: w.discord.APIURL()}),
	}
	w.box = outbox.New(
		outbox.Options{
			Store: &mortal{Outbox: w.store, left: steps}, Cards: adaptertest.CardFunc(noCard),
			Platforms: platforms, Owner: owner,
			Jitter: w.jitter, Lookups: lookups,
		})
}

// say stores posts as the end of a turn.
func (w *clockWorld) say(posts ...core.Post) {
	w.t.Helper()
	ctx := w.t.Context()
	w.accepted++
	e := core.Event{Platform: "asker", ID: strconv.Itoa(w.accepted), Conversation: "asker:1", Body: core.MessageEvent{}}
	if _, err := w.store.Accept(ctx, e); err != nil {
		w.t.Fatal(err)
	}
	claims, err := w.store.Claim(ctx,
		core.ClaimRequest{Owner: "observer", Limit: 1, Scopes: []core.Scope{{Platform: "asker"}}})
	if err != nil || len(claims) != 1 {
		w.t.Fatalf("%v, %v", claims, err)
	}
	if err := w.store.Finish(ctx,
		core.Finish{
			Claim:   claims[0],
			End:     core.End{Kind: core.EndReplied},
			Changes: core.Changes{Posts: posts},
		}); err != nil {
		w.t.Fatal(err)
	}
}

// waiting counts the posts that were not sent.
func (w *clockWorld) waiting() (n int) {
	w.t.Helper()
	rows, err := w.store.ListPosts(w.t.Context(), nil, "", 0)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, row := range rows {
		if row.State != core.RowSent {
			n++
		}
	}
	return n
}

// clockSeeds is how many seeds each engine and error of the clock gets. GATEHOUSE_SOAK_ROUNDS is this number.
func clockSeeds() uint64 {
	if n, err := strconv.ParseUint(os.Getenv("GATEHOUSE_SOAK_ROUNDS"), 10, 64); err == nil {
		return n
	}
	return 2
}

// jitter is what posts that are sent at the same time are given.
func (w *clockWorld) jitter() float64 {
	w.jitters.Lock()
	defer w.jitters.Unlock()
	return w.chance.Float64()
}

// TestSoak_ClocksThatAreOff has gatehouse's clock, and the database's, three minutes ahead of the platforms' or behind.
// Answers are lost, the platforms fail, processes die between any two steps. Then the clock is set right: ten seconds
// later, if it is wide, everything was said, once.
func TestSoak_ClocksThatAreOff(t *testing.T) {
	t.Parallel()
	for _, ahead := range []time.Duration{-3 * time.Minute, 3 * time.Minute} {
		for seed := range clockSeeds() {
			t.Run(fmt.Sprintf("sqlite, %s, seed %d", ahead, seed), func(t *testing.T) {
				w := newClockWorld(t, seed)
				w.open(sqliteFile.make(t))
				w.run(ahead)
			})
			t.Run(fmt.Sprintf("postgres, %s, seed %d", ahead, seed), func(t *testing.T) {
				w := newClockWorld(t, seed)
				w.url = postgresServer.make(t)
				if err := postgrestest.MovableClock(w.url); err != nil {
					t.Fatal(err)
				}
				w.open(w.url)
				w.run(ahead)
			})
		}
	}
}

func newClockWorld(t *testing.T, seed uint64) *clockWorld {
	w := &clockWorld{t: t, chance: rand.New(rand.NewPCG(seed, 33)), at: time.Now()}
	w.slack = slacktest.Start(t, slacktest.Options{Now: w.platformTime, Fatalf: t.Errorf})
	w.slack.AddUser(slacktest.User{ID: "U1", Name: "ann"})
	w.slack.AddChannel(slacktest.Channel{ID: "C1", Name: "general", Members: []string{"U1", w.slack.BotUserID()}})
	w.discord = discordtest.Start(t, discordtest.Options{Now: w.platformTime, Fatalf: t.Errorf})
	w.discord.AddUser(discordtest.User{ID: "1001", Name: "ann"})
	w.discord.AddGuild(discordtest.Guild{ID: guildID, Name: "town", Members: []string{"1001"}})
	w.discord.AddChannel(discordtest.Channel{ID: channelID, Guild: guildID, Name: "general"})
	return w
}

func (w *clockWorld) open(url string) {
	store, err := storage.Open(w.t.Context(), url, storage.Options{Now: w.now})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = store.Close() })
	w.store = store
}

// trouble has the next posts fail in one of the ways that leave no doubt for longer than their first look-up.
func (w *clockWorld) trouble() {
	lost, limited, begun := slacktest.AnswerLost(), slacktest.RateLimited(time.Second), 1+w.chance.IntN(2)
	if w.chance.IntN(3) == 0 {
		w.slack.Inject(slacktest.Fault{Endpoint: "chat.postMessage", Trouble: limited, Times: begun})
	}
	w.slack.Inject(slacktest.Fault{Endpoint: "chat.postMessage", Trouble: lost, Times: begun})
	w.discord.Inject(
		discordtest.Fault{Endpoint: discordtest.CreateMessage, Trouble: discordtest.AnswerLost(), Times: begun})
}

func (w *clockWorld) run(ahead time.Duration) {
	t := w.t
	w.pass(0, ahead)
	ann, bob := w.slack.Person("U1"), w.discord.Person("1001")
	said := 0
	for range 4 { // rounds, each of which ends with the death of a process
		w.process(1 + w.chance.IntN(12))
		asked, message := ann.Posts("C1", "hello"), bob.Posts(channelID, "hello")
		var posts []core.Post
		for _, to := range []core.Address{
			{Platform: "slack", Channel: "C1", Thread: asked.TS, Message: asked.TS},
			{Platform: "slack", Channel: "C1"}, // it answers nothing
			{Platform: "discord", Channel: channelID, Message: message.ID},
			{Platform: "discord", Channel: channelID},
		} {
			said++
			text := fmt.Sprintf("word-%d.", said)
			posts = append(posts,
				core.Post{Key: text, Kind: core.PostReply, Text: text, To: to, Conversation: "asker:1"})
		}
		w.say(posts...)
		w.trouble()
		for range 4 {
			_ = w.box.Flush(t.Context()) // a process that died says so
			w.pass(500*time.Millisecond, ahead)
		}
	}
	w.process(1 << 30)
	w.pass(0, 0)
	const step = 500 * time.Millisecond
	// on a busy machine a call may fail by itself; a clock that is off is so by more than a minute
	most := wide(10*time.Second, time.Minute)
	for passed := time.Duration(0); passed < 10*time.Second || passed < most && w.waiting() > 0; passed += step {
		if err := w.box.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.pass(step, 0)
	}
	if n := w.waiting(); n > 0 {
		t.Errorf("%d posts wait, %s after the clock was set right", n, most)
	}
	for n := range said {
		times := 0
		text := fmt.Sprintf("word-%d.", n+1)
		for _, m := range w.slack.FromBot("C1") {
			if m.Text == text {
				times++
			}
		}
		for _, m := range w.discord.FromBot(channelID) {
			if m.Content == text {
				times++
			}
		}
		if times != 1 {
			t.Errorf("%s was said %d times", text, times)
		}
	}
}
