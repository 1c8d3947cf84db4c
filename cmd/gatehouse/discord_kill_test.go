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

// discordProcess is a real gatehouse process connected to a fake Discord. It can be killed and started again.
type discordProcess struct {
	*serveProcess
	*discordGateway
}

func newDiscordProcess(t *testing.T, e engine, o discordtest.Options, env ...string) *discordProcess {
	t.Helper()
	p := &discordProcess{serveProcess: newServeProcess(t, e,
		append([]string{"GATEHOUSE_APPROVERS=discord:role:" + roleID}, env...)...)}
	p.discordGateway = newDiscordGateway(t, o)
	p.base = p.at
	p.env = append(p.env, "DISCORD_BOT_TOKEN="+p.discord.BotToken(), "DISCORD_API_URL="+p.discord.APIURL())
	return p
}

// byHTTP delivers button presses and commands over HTTP.
func (p *discordProcess) byHTTP() *discordProcess {
	p.env = append(p.env, "DISCORD_PUBLIC_KEY="+p.discord.PublicKey())
	p.discord.SetInteractionsURL(p.at + "/discord/interactions")
	return p
}

// connected reports whether the process has stored its session with Discord, and has no missed messages left to fetch.
func (p *discordProcess) connected() bool {
	t := p.serveProcess.t
	t.Helper()
	var kept struct {
		ID     string
		Behind bool
	}
	text, err := p.store.Get(t.Context(), "discord/session/0")
	if err == nil && text != "" {
		err = json.Unmarshal([]byte(text), &kept)
	}
	noErr(t, err)
	begun := p.discord.Identifies()
	return len(begun) > 0 && kept.ID == begun[len(begun)-1].Session && !kept.Behind && p.discord.Sessions() == 1
}

// waitConnected waits until the process is connected.
func (p *discordProcess) waitConnected() {
	p.serveProcess.t.Helper()
	p.untilRestarting("the session with Discord", p.connected)
}

// conversation is one of those that a load test writes in.
type conversation struct {
	n     int
	place string // the channel of the answers
	first func(text string)
	then  func(text string)
	said  []string
}

// newConversations makes conversations of three kinds: in threads, in channels where the bot may not open threads, and
// direct messages.
func (p *discordProcess) newConversations(threads, channels, direct int) []*conversation {
	var all []*conversation
	call := p.discord.MentionOfBot() + " "
	for i := range threads {
		room := p.channel(i % 3)
		c := &conversation{}
		c.first = func(text string) { c.place = p.ann.Posts(room, call+text, discordtest.Twice()).ID }
		c.then = func(text string) { p.bob.Posts(c.place, text, discordtest.Twice()) }
		all = append(all, c)
	}
	for i := range channels {
		room := p.channel(100 + i)
		p.discord.DenyBot(room, discordtest.CreatePublicThreads)
		c := &conversation{place: room}
		c.first = func(text string) { p.ann.Posts(room, call+text, discordtest.Twice()) }
		c.then = func(text string) { p.bob.Replies(room, p.discord.FromBot(room)[0].ID, text, discordtest.Twice()) }
		all = append(all, c)
	}
	for i := range direct {
		who := p.member(i)
		c := &conversation{place: p.discord.DMWith(who.ID)}
		c.first = func(text string) { who.Says(text, discordtest.Twice()) }
		c.then = func(text string) { who.Says(text, discordtest.Twice()) }
		all = append(all, c)
	}
	for n, c := range all {
		c.n = n
	}
	return all
}

func (p *discordProcess) channel(n int) string {
	id := fmt.Sprint(3100 + n)
	if _, there := p.discord.Channel(id); !there {
		p.discord.AddChannel(discordtest.Channel{ID: id, Guild: guildID, Name: "room-" + id})
	}
	return id
}

func (p *discordProcess) member(n int) *discordtest.Person {
	id := fmt.Sprint(1100 + n)
	who := p.discord.AddUser(discordtest.User{ID: id, Name: "user-" + id})
	who.Joins(guildID)
	return who
}

// answers returns the words of the bot's answers in a conversation, in order.
func (p *discordProcess) answers(c *conversation) []string {
	var words []string
	for _, m := range p.discord.FromBot(c.place) {
		words = append(words, aWord.FindString(m.Shown()))
	}
	return words
}

// waitForAnswers waits until every message is answered, and fails if an answer is missing, repeated or out of order.
func (p *discordProcess) waitForAnswers(all []*conversation) {
	t := p.serveProcess.t
	t.Helper()
	p.until("all answers", p.app, func() bool {
		return !slices.ContainsFunc(all, func(c *conversation) bool {
			return len(p.discord.FromBot(c.place)) < len(c.said)
		}) && p.settled()
	})
	for _, c := range all {
		if got := p.answers(c); !slices.Equal(got, c.said) {
			t.Errorf("in %s: %q\nwant %q", c.place, got, c.said)
		}
	}
}

// TestLaw2_DiscordKilledUnderLoad kills the process several times, at random, while messages arrive and turns run; some
// messages are posted while no process is connected. Every message is answered once, in the order of its conversation:
// Discord replays the missed events when the session is resumed. If Discord has forgotten the session, the missed
// messages of known conversations are fetched.
func TestLaw2_DiscordKilledUnderLoad(t *testing.T) {
	t.Parallel()
	const messages, kills = 4, 4 // one kill more could make a dead letter of a message that runs at each
	p := newDiscordProcess(t, sqliteFile, discordtest.Options{}, "GATEHOUSE_AGENT=echo", "GATEHOUSE_ECHO_DELAY=300ms")
	p.open()
	p.waitConnected()
	all := p.newConversations(14, 3, 5)
	seed := rand.Uint64()
	t.Logf("the seed of the kills is %d", seed)
	chance := rand.New(rand.NewPCG(seed, 0))
	killAt := chance.Perm(messages * len(all))[:kills]
	n, down, forgotten := 0, 0, false // down: how many more messages are posted before the process is started again
	for i := range messages {
		for _, c := range all {
			if i > 0 && !p.hasAnswer(c) && p.app.gone() {
				p.open() // the next message goes to the thread of the first answer
			}
			p.sendNext(c)
			if down--; down <= 0 && p.app.gone() {
				p.open()
			}
			if n++; !slices.Contains(killAt, n-1) {
				continue
			}
			if p.app.gone() {
				p.open()
			}
			answers := chance.IntN(n/2 + 1) // a random share of the answers so far
			p.until("some answers", p.app, func() bool { return p.discord.CountFromBot() >= answers && p.connected() })
			if i > 0 && !forgotten {
				forgotten = true
				p.until("the first message of every conversation", p.app, func() bool { return p.known(all) })
				p.discord.ForgetSessions()
			}
			p.app.kill()
			down = 1 + chance.IntN(8)
		}
	}
	if p.app.gone() {
		p.open()
	}
	p.waitForAnswers(all)
	all = p.missSession(all)
	p.waitForAnswers(all)
	t.Logf("%d sessions were begun, %d resumed", len(p.discord.Identifies()), p.resumed())
	p.app.kill()
}

// missSession lets Discord forget the session of a killed process. Then messages are posted in all conversations, and a
// new conversation is started in a known channel. The first messages of two further conversations are lost, because the
// bot does not know these channels.
func (p *discordProcess) missSession(all []*conversation) []*conversation {
	p.waitConnected()
	p.discord.ForgetSessions()
	p.app.kill()
	for _, c := range all {
		p.sendNext(c)
		p.sendNext(c)
	}
	known := &conversation{said: []string{"word-900-0."}}
	known.place = p.ann.Posts(p.channel(0), p.discord.MentionOfBot()+" word-900-0.").ID
	stranger := p.member(900)
	stranger.Says("word-901-0.")
	missed := p.ann.Posts(p.channel(900), p.discord.MentionOfBot()+" word-902-0.")
	p.open()
	p.waitConnected()
	stranger.Says("word-901-1.")
	return append(all, known, &conversation{place: p.discord.DMWith(stranger.ID), said: []string{"word-901-1."}},
		&conversation{place: missed.ID})
}

// sendNext posts the next message in a conversation.
func (p *discordProcess) sendNext(c *conversation) {
	word := fmt.Sprintf("word-%d-%d.", c.n, len(c.said))
	c.said = append(c.said, word)
	if len(c.said) == 1 {
		c.first(word)
		return
	}
	p.until("the first answer", p.app, func() bool { return p.hasAnswer(c) })
	c.then(word)
}

// hasAnswer reports whether the bot has answered in the conversation.
func (p *discordProcess) hasAnswer(c *conversation) bool { return len(p.discord.FromBot(c.place)) > 0 }

// known reports whether the first message of every conversation is stored.
func (p *discordProcess) known(all []*conversation) bool {
	stored := map[string]bool{}
	for _, e := range p.events(core.EventFilter{}) {
		stored[aWord.FindString(string(e.Payload))] = true
	}
	return !slices.ContainsFunc(all, func(c *conversation) bool { return !stored[c.said[0]] })
}

// resumed counts the successful resumes of a session.
func (p *discordProcess) resumed() int {
	n := 0
	for _, r := range p.discord.Resumes() {
		if r.Refused == "" {
			n++
		}
	}
	return n
}

// discordScenario runs an approval in Discord. The process is killed at the n-th pass of a point, and started again.
func discordScenario(t *testing.T, e engine, point string, nth int, record string) {
	p := newDiscordProcess(t, e, discordtest.Options{})
	p.open(armed(point, nth, record)...)
	p.waitConnected()
	ask := p.ann.Posts(channelID, p.discord.MentionOfBot()+" note add milk")
	card := p.waitForCard(ask)
	button, _ := p.discord.FindButton(ask.ID, card.ID, "Approve")
	p.bob.Presses(button) // pressed once: Discord replays the event when the session is resumed
	p.waitForEnd(point, ask)
}

// armed returns the environment of a process that kills itself at a point, or records the points it passes.
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

// waitForCard waits for the card of a request.
func (p *discordProcess) waitForCard(ask discordtest.Message) (card discordtest.Message) {
	p.serveProcess.t.Helper()
	p.untilRestarting("the card", func() bool {
		for _, m := range p.discord.FromBot(ask.ID) {
			if len(m.Buttons()) > 0 {
				card = m
				return true
			}
		}
		return false
	})
	return card
}

// waitForEnd waits for the end of an approved request. Its thread must contain each message once, and the card must
// show the decision.
func (p *discordProcess) waitForEnd(point string, ask discordtest.Message) {
	t := p.serveProcess.t
	t.Helper()
	// until the card is redrawn after the answer to the press
	pressable := func(m discordtest.Message) bool { return len(m.Buttons()) > 0 }
	p.untilRestarting("the end", func() bool {
		return len(p.approvals(core.Approved)) == 1 && p.settled() &&
			!slices.ContainsFunc(p.discord.FromBot(ask.ID), pressable)
	})
	p.app.kill()
	p.conversation = core.ConversationID("discord:" + guildID + ":" + ask.ID)
	p.wantOneNote(point)
	var cards, replies int
	for _, m := range p.discord.FromBot(ask.ID) {
		switch text := m.Shown(); {
		case strings.Contains(text, "🔧"):
		case !strings.Contains(text, "Asked by") &&
			(strings.Contains(text, "Done:") || strings.Contains(text, "unknown")):
			replies++
		default:
			cards++
			if len(m.Buttons()) > 0 || !strings.Contains(text, "pproved") {
				t.Errorf("%s: the card does not show the decision:\n%s", point, text)
			}
		}
	}
	if cards != 1 || replies != 1 || len(p.discord.FromBot(channelID)) > 0 {
		t.Errorf("%s: %d cards, %d replies:\n%s", point, cards, replies, p.discord.Dump())
	}
}

// TestLaw2_DiscordKilledAtEveryPoint kills the process before and after every store call of an approval in Discord.
func TestLaw2_DiscordKilledAtEveryPoint(t *testing.T) {
	t.Parallel()
	record := filepath.Join(t.TempDir(), "points")
	discordScenario(t, sqliteFile, "", 0, record)
	for point, nths := range passes(t, record, adapterActs...) {
		for _, nth := range nths {
			t.Run(fmt.Sprintf("%s %d", point, nth), func(t *testing.T) {
				t.Parallel()
				discordScenario(t, sqliteFile, point, nth, "")
			})
		}
	}
}

// TestLaw2_DiscordKilledOnPostgres does the same at the most critical points on Postgres, where a new process can't
// know that the old one is dead and waits until it misses its heartbeats.
func TestLaw2_DiscordKilledOnPostgres(t *testing.T) {
	t.Parallel()
	for point, nth := range map[string]int{
		"AcceptClaim.after": 1, "Accept.after": 1, "Finish.before": 1, "SavePost.after": 1, "BeginIntent.after": 1,
		"FinishIntent.after": 1,
	} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			discordScenario(t, postgresServer, point, nth, "")
		})
	}
}
