package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gatehouse/adapters/discord/discordtest"
	"gatehouse/adapters/slack/slacktest"
	"gatehouse/core"
	"gatehouse/core/llm/llmtest"
)

// soakTimeKey is the variable with how long the mixed load lasts.
const soakTimeKey = "GATEHOUSE_SOAK_TIME"

// mixed is a process on both platforms, with a model that fails at times, and the load on it.
type mixed struct {
	*slackProcess
	discord *discordGateway
	chance  *rand.Rand // of the faults
	posts   atomic.Int64
}

func newMixed(t *testing.T, seed uint64) *mixed {
	t.Helper()
	v := vendors["OpenAI"](t)
	v.Think(func(r llmtest.Received) llmtest.Answer {
		switch rand.IntN(20) {
		case 0:
			return v.fail(http.StatusServiceUnavailable, "", "away")
		case 1:
			return v.fail(http.StatusTooManyRequests, "", "slow down")
		}
		var asked struct {
			Messages []struct{ Role, Content string }
		}
		_ = json.Unmarshal(r.Body, &asked)
		last := asked.Messages[len(asked.Messages)-1]
		if last.Role == "user" && strings.Contains(last.Content, "note ") {
			return v.call(toolCall("c1", "note.add", `{"text":"milk"}`))
		}
		return v.say("It is so.")
	})
	var env []string
	for key, value := range v.env {
		env = append(env, key+"="+value)
	}
	m := &mixed{
		slackProcess: newSlackProcess(t, env...),
		discord:      newDiscordGateway(t, discordtest.Options{}), chance: rand.New(rand.NewPCG(seed, 0)),
	}
	m.env = append(m.env, "DISCORD_BOT_TOKEN="+m.discord.discord.BotToken(),
		"DISCORD_API_URL="+m.discord.discord.APIURL(), "GOGC=100")
	m.addChannels(4)
	m.open()
	m.until("the session with Discord", m.app, func() bool { return m.discord.discord.Sessions() == 1 })
	return m
}

// talk has people talk until the time is over: a message in a thread of Slack and one in Discord, and now and then a
// change that is approved.
func (m *mixed) talk(person int, until time.Time) {
	channel := fmt.Sprintf("C9%03d", person%4)
	for n := 0; time.Now().Before(until); n++ {
		word := fmt.Sprintf("word-%d-%d.", person, n)
		if n%5 == 0 {
			ask := m.ann.Posts(channel, m.slack.MentionOfBot()+" note "+word, slacktest.Twice())
			m.approve(channel, ask.TS, until)
		} else {
			m.ann.Posts(channel, m.slack.MentionOfBot()+" "+word, slacktest.Twice())
		}
		m.discord.ann.Posts(channelID, m.discord.discord.MentionOfBot()+" "+word, discordtest.Twice())
		m.posts.Add(2)
		// people do not talk faster than this, and so that one round can be compared with another
		time.Sleep(500 * time.Millisecond)
	}
}

// approve clicks on the card in a thread, if one comes in time.
func (m *mixed) approve(channel, thread string, until time.Time) {
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end) && time.Now().Before(until); {
		for _, message := range m.slack.Thread(channel, thread) {
			if _, open := m.slack.FindButton(channel, message.TS, "approve"); open {
				m.bob.Clicks(channel, message.TS, "approve")
				return
			}
		}
		time.Sleep(100 * time.Millisecond) // a person looks again
	}
}

// goWrong has one thing go wrong for a while.
func (m *mixed) goWrong(restart bool, lasts time.Duration) {
	slack := func(trouble slacktest.Trouble, every int) {
		in := m.slack.Inject(slacktest.Fault{Endpoint: "chat.postMessage", Trouble: trouble, Every: every})
		time.Sleep(lasts) // a fault lasts
		in.Lift()
	}
	all := []func(){
		func() { slack(slacktest.RateLimited(time.Second), 3) },
		func() { slack(slacktest.ServerError(http.StatusServiceUnavailable), 2) },
		func() { slack(slacktest.AnswerLost(), 4) },
		func() { slack(slacktest.Cut(), 3) },
		func() {
			in := m.discord.discord.Inject(discordtest.Fault{
				Trouble: discordtest.RateLimited(time.Second, discordtest.ScopeUser), Every: 5,
			})
			time.Sleep(lasts) // a fault lasts
			in.Lift()
		},
		m.discord.discord.ResetAll,
	}
	if restart {
		all = append(all, func() { m.app.kill(); m.open() })
	}
	all[m.chance.IntN(len(all))]()
}

// rest waits until nothing waits any more.
func (m *mixed) rest() {
	t := m.workbench.t
	t.Helper()
	noErr(t, m.slack.WaitDelivered(m.ctx()))
	for _, a := range m.approvals(core.Open) { // nobody saw their cards in time
		c := m.workbench.start(nil, "approvals", "deny", string(a.ID), "--reason", "too late")
		c.quit(t)
	}
	m.until("the end of all", m.app, m.settled)
}

// atRest are the figures that must come back: of the process, and of the database.
var atRest = []string{
	"go_goroutines", "process_open_fds", "process_resident_memory_bytes", "gatehouse_turns_running",
	"gatehouse_turn_memory_bytes", "gatehouse_queue_waiting", "gatehouse_posts_unsent", "gatehouse_posts_doubtful",
	"gatehouse_posts_unknown", "gatehouse_posts_dead", "gatehouse_deadletters",
}

// figures are those of atRest.
func (m *mixed) figures() map[string]float64 {
	now, some := scrape(m.workbench.t, m.at), map[string]float64{}
	for _, name := range atRest {
		some[name] = now[name]
	}
	return some
}

// TestSoak_EndsWhereItBegan: mixed load on both platforms while they limit and drop, the model fails, and the process
// is killed and started again during the first half. At rest, goroutines, files, memory, queues and posts are what they
// were after a little load. GATEHOUSE_SOAK_TIME is how long it lasts.
func TestSoak_EndsWhereItBegan(t *testing.T) {
	t.Parallel()
	lasts, err := time.ParseDuration(os.Getenv(soakTimeKey))
	if err != nil {
		lasts = wide(30*time.Minute, 6*time.Second)
	}
	const people = 8
	seed := rand.Uint64()
	t.Logf("the seed of the faults is %d", seed)
	m := newMixed(t, seed)
	m.released()
	m.app.kill()
	m.open()
	m.load(people, min(lasts/4, 15*time.Second))
	m.rest()
	before := m.figures()

	began := time.Now()
	half, end := began.Add(lasts/2), began.Add(lasts)
	var faults sync.WaitGroup
	faults.Go(func() {
		pause := max(lasts/60, time.Second)
		for time.Now().Add(2 * pause).Before(end) {
			m.goWrong(time.Now().Before(half), pause)
			time.Sleep(pause / 2) // it is well for a while
		}
	})
	m.load(people, lasts)
	faults.Wait()
	m.rest()

	within := func(now map[string]float64) bool {
		return !slices.ContainsFunc(atRest, func(name string) bool {
			spare := 0.
			switch name {
			case "go_goroutines", "process_open_fds":
				spare = 30
			case "process_resident_memory_bytes":
				spare = max(before[name]/2, 64*mebibyte)
			}
			return now[name] > before[name]+spare
		})
	}
	var now map[string]float64
	for deadline := time.Now().Add(patience); ; {
		if now = m.figures(); within(now) || time.Now().After(deadline) {
			break
		}
		time.Sleep(time.Second) // connections are closed when they have been idle
	}
	if !within(now) {
		t.Errorf("it began with\n%v\nand ends with\n%v", before, now)
	}
	for _, e := range m.events(core.EventFilter{}) {
		if e.EndedAt.IsZero() || e.End.Kind == core.EndDead {
			t.Errorf("event %d: %+v", e.Seq, e.End)
		}
	}
	t.Logf("%d messages in %s; it began with %v and ends with %v", m.posts.Load(), lasts, before, now)
}

// load has people talk for a time.
func (m *mixed) load(people int, lasts time.Duration) {
	until := time.Now().Add(lasts)
	var talking sync.WaitGroup
	for person := range people {
		talking.Go(func() { m.talk(person, until) })
	}
	talking.Wait()
}
