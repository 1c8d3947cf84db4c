package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gatehouse/adapters/discord/discordtest"
	"gatehouse/core"
)

// hall is a fake Discord with a real gatehouse process before it, which can be killed and started again.
type hall struct {
	*listening
	*onDiscord
}

func newHall(t *testing.T, e engine, o discordtest.Options, env ...string) *hall {
	t.Helper()
	h := &hall{listening: newListening(t, e, append([]string{"GATEHOUSE_APPROVERS=discord:role:" + roleID}, env...)...)}
	h.onDiscord = discordTown(t, o)
	h.base = h.at
	h.env = append(h.env, "DISCORD_BOT_TOKEN="+h.discord.BotToken(), "DISCORD_API_URL="+h.discord.APIURL())
	return h
}

// byHTTP has presses and commands come over HTTP.
func (h *hall) byHTTP() *hall {
	h.env = append(h.env, "DISCORD_PUBLIC_KEY="+h.discord.PublicKey())
	h.discord.SetInteractionsURL(h.at + "/discord/interactions")
	return h
}

// connected reports whether the process has a session with Discord that survives it, and nothing left to fetch.
func (h *hall) connected() bool {
	t := h.listening.t
	t.Helper()
	var kept struct {
		ID     string
		Behind bool
	}
	text, err := h.store.Get(t.Context(), "discord/session/0")
	if err == nil && text != "" {
		err = json.Unmarshal([]byte(text), &kept)
	}
	if err != nil {
		t.Fatal(err)
	}
	begun := h.discord.Identifies()
	return len(begun) > 0 && kept.ID == begun[len(begun)-1].Session && !kept.Behind && h.discord.Sessions() == 1
}

// waitConnected waits until the process is connected.
func (h *hall) waitConnected() {
	h.listening.t.Helper()
	h.survive("a session with Discord", h.connected)
}

// conversation is one of the load: how something is said in it, and what was.
type conversation struct {
	n     int
	place string // where the answers stand
	first func(text string)
	then  func(text string)
	said  []string
}

// talks are conversations of all three kinds: in threads, in channels where the bot may open none, and direct ones.
func (h *hall) talks(threads, channels, direct int) []*conversation {
	var all []*conversation
	call := h.discord.MentionOfBot() + " "
	for i := range threads {
		room := h.room(i % 3)
		c := &conversation{}
		c.first = func(text string) { c.place = h.ann.Posts(room, call+text, discordtest.Twice()).ID }
		c.then = func(text string) { h.bob.Posts(c.place, text, discordtest.Twice()) }
		all = append(all, c)
	}
	for i := range channels {
		room := h.room(100 + i)
		h.discord.DenyBot(room, discordtest.CreatePublicThreads)
		c := &conversation{place: room}
		c.first = func(text string) { h.ann.Posts(room, call+text, discordtest.Twice()) }
		c.then = func(text string) { h.bob.Replies(room, h.discord.FromBot(room)[0].ID, text, discordtest.Twice()) }
		all = append(all, c)
	}
	for i := range direct {
		who := h.somebody(i)
		c := &conversation{place: h.discord.DMWith(who.ID)}
		c.first = func(text string) { who.Says(text, discordtest.Twice()) }
		c.then = func(text string) { who.Says(text, discordtest.Twice()) }
		all = append(all, c)
	}
	for n, c := range all {
		c.n = n
	}
	return all
}

func (h *hall) room(n int) string {
	id := fmt.Sprint(3100 + n)
	if _, there := h.discord.Channel(id); !there {
		h.discord.AddChannel(discordtest.Channel{ID: id, Guild: guildID, Name: "room-" + id})
	}
	return id
}

func (h *hall) somebody(n int) *discordtest.Person {
	id := fmt.Sprint(1100 + n)
	who := h.discord.AddUser(discordtest.User{ID: id, Name: "user-" + id})
	who.Joins(guildID)
	return who
}

// echoes are what the bot answered in a conversation, in its order.
func (h *hall) echoes(c *conversation) []string {
	var words []string
	for _, m := range h.discord.FromBot(c.place) {
		words = append(words, aWord.FindString(m.Shown()))
	}
	return words
}

// answeredAll waits until every message has its answer, and fails where one has two, or they are out of order.
func (h *hall) answeredAll(all []*conversation) {
	t := h.listening.t
	t.Helper()
	want := 0
	for _, c := range all {
		want += len(c.said)
	}
	h.until("all answers", h.app, func() bool { return h.discord.CountFromBot() >= want && h.settled() })
	for _, c := range all {
		if got := h.echoes(c); !slices.Equal(got, c.said) {
			t.Errorf("in %s: %q\nwant %q", c.place, got, c.said)
		}
	}
}

// TestLaw2_DiscordKilledUnderLoad kills the process again and again, at random, while people talk and the agent thinks; some of it is said
// while no process is connected. Every message is answered, once, in the order of its conversation: Discord replays what came meanwhile when the
// session is resumed, and where it has forgotten the session, what was said in known conversations is fetched.
func TestLaw2_DiscordKilledUnderLoad(t *testing.T) {
	t.Parallel() // it waits most of the time
	const messages, kills = 4, 5
	h := newHall(t, sqliteFile, discordtest.Options{}, "GATEHOUSE_AGENT=echo", "GATEHOUSE_ECHO_DELAY=300ms")
	h.open()
	h.waitConnected()
	all := h.talks(14, 3, 5)
	seed := rand.Uint64()
	t.Logf("the seed of the kills is %d", seed)
	chance := rand.New(rand.NewPCG(seed, 0))
	killAt := chance.Perm(messages * len(all))[:kills]
	n, down, forgotten := 0, 0, false // down: for how many messages more no process is connected
	for i := range messages {
		for _, c := range all {
			if i > 0 && !h.begun(c) && h.app.gone() {
				h.open() // before the first answer there is no place to go on
			}
			h.says(c)
			if down--; down <= 0 && h.app.gone() {
				h.open()
			}
			if n++; !slices.Contains(killAt, n-1) {
				continue
			}
			if h.app.gone() {
				h.open()
			}
			answers := chance.IntN(n/2 + 1) // somewhere between the first turns of them and the last
			h.until("some answers", h.app, func() bool { return h.discord.CountFromBot() >= answers && h.connected() })
			if i > 0 && !forgotten {
				forgotten = true
				h.until("that all conversations are known", h.app, func() bool { return h.known(all) })
				h.discord.ForgetSessions()
			}
			h.app.kill()
			down = 1 + chance.IntN(8)
		}
	}
	if h.app.gone() {
		h.open()
	}
	h.answeredAll(all)
	all = h.gap(all)
	h.answeredAll(all)
	t.Logf("%d sessions were begun, %d resumed", len(h.discord.Identifies()), h.resumed())
	h.app.kill()
}

// gap has Discord forget the session of a killed process, and people go on in all conversations, and begin one in a known channel. Two first
// contacts besides can't be fetched: the bot does not know the conversations.
func (h *hall) gap(all []*conversation) []*conversation {
	h.waitConnected()
	h.discord.ForgetSessions()
	h.app.kill()
	for _, c := range all {
		h.says(c)
		h.says(c)
	}
	known := &conversation{said: []string{"word-900-0."}}
	known.place = h.ann.Posts(h.room(0), h.discord.MentionOfBot()+" word-900-0.").ID
	stranger := h.somebody(900)
	stranger.Says("word-901-0.")
	missed := h.ann.Posts(h.room(900), h.discord.MentionOfBot()+" word-902-0.")
	h.open()
	h.waitConnected()
	stranger.Says("word-901-1.")
	return append(all, known, &conversation{place: h.discord.DMWith(stranger.ID), said: []string{"word-901-1."}}, &conversation{place: missed.ID})
}

// says says the next word in a conversation.
func (h *hall) says(c *conversation) {
	word := fmt.Sprintf("word-%d-%d.", c.n, len(c.said))
	c.said = append(c.said, word)
	if len(c.said) == 1 {
		c.first(word)
		return
	}
	h.until("the first answer", h.app, func() bool { return h.begun(c) })
	c.then(word)
}

// begun reports whether there was an answer.
func (h *hall) begun(c *conversation) bool { return len(h.discord.FromBot(c.place)) > 0 }

// known reports whether the first message of every conversation is stored.
func (h *hall) known(all []*conversation) bool {
	stored := map[string]bool{}
	for _, e := range h.events(core.EventFilter{}) {
		stored[aWord.FindString(string(e.Payload))] = true
	}
	return !slices.ContainsFunc(all, func(c *conversation) bool { return !stored[c.said[0]] })
}

// resumed counts the sessions that went on.
func (h *hall) resumed() int {
	n := 0
	for _, r := range h.discord.Resumes() {
		if r.Refused == "" {
			n++
		}
	}
	return n
}

// discordStory plays an approval in Discord, with the process killed at the n-th pass of a point, and started again.
func discordStory(t *testing.T, e engine, point string, nth int, record string) {
	h := newHall(t, e, discordtest.Options{})
	h.open(armed(point, nth, record)...)
	h.waitConnected()
	ask := h.ann.Posts(channelID, h.discord.MentionOfBot()+" note add milk")
	card := h.carded(ask)
	button, _ := h.discord.FindButton(ask.ID, card.ID, "Approve")
	h.bob.Presses(button) // once: Discord replays it to a session that is resumed
	h.ends(point, ask)
}

// armed is the environment of a process that is killed, or writes down what it passes.
func armed(point string, nth int, record string) []string {
	var env []string
	if point != "" {
		env = append(env, killKey+"="+point, fmt.Sprintf("%s=%d", nthKey, nth))
	}
	if record != "" {
		env = append(env, recordKey+"="+record)
	}
	return env
}

// carded waits for the card of a request.
func (h *hall) carded(ask discordtest.Message) (card discordtest.Message) {
	h.listening.t.Helper()
	h.survive("the card", func() bool {
		for _, m := range h.discord.FromBot(ask.ID) {
			if len(m.Buttons()) > 0 {
				card = m
				return true
			}
		}
		return false
	})
	return card
}

// ends waits for the end of an approved request. In its thread each message must stand once, and the card be decided.
func (h *hall) ends(point string, ask discordtest.Message) {
	t := h.listening.t
	t.Helper()
	h.survive("the end", func() bool { return len(h.approvals(core.Approved)) == 1 && h.settled() })
	h.app.kill()
	h.conversation = core.ConversationID("discord:" + guildID + ":" + ask.ID)
	h.wantOneNote(point)
	var cards, pending, replies int
	for _, m := range h.discord.FromBot(ask.ID) {
		switch text := m.Shown(); {
		case strings.Contains(text, "🔧"):
		case strings.Contains(text, "I need an approval first"):
			pending++
		case strings.Contains(text, "Done:") || strings.Contains(text, "unknown"):
			replies++
		default:
			cards++
			if len(m.Buttons()) > 0 || !strings.Contains(text, "pproved") {
				t.Errorf("%s: the card does not show the decision:\n%s", point, text)
			}
		}
	}
	if cards != 1 || pending != 1 || replies != 1 || len(h.discord.FromBot(channelID)) > 0 {
		t.Errorf("%s: %d cards, %d questions, %d replies:\n%s", point, cards, pending, replies, h.discord.Dump())
	}
}

// TestLaw2_DiscordKilledAtEveryPoint kills the process at every store call of an approval in Discord, before and after.
func TestLaw2_DiscordKilledAtEveryPoint(t *testing.T) {
	t.Parallel() // it waits most of the time
	record := filepath.Join(t.TempDir(), "points")
	discordStory(t, sqliteFile, "", 0, record)
	for point, nths := range passes(t, record) {
		for _, nth := range nths {
			t.Run(fmt.Sprintf("%s %d", point, nth), func(t *testing.T) {
				t.Parallel()
				discordStory(t, sqliteFile, point, nth, "")
			})
		}
	}
}

// TestLaw2_DiscordKilledOnPostgres is the same at the points where most is at stake, on a database that can't prove a death: a new process
// waits until the leases are over.
func TestLaw2_DiscordKilledOnPostgres(t *testing.T) {
	t.Parallel() // it waits most of the time
	for point, nth := range map[string]int{"Accept.after": 2, "Finish.before": 1, "SavePost.after": 1, "BeginIntent.after": 1, "FinishIntent.after": 1} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			discordStory(t, postgresServer, point, nth, "")
		})
	}
}
