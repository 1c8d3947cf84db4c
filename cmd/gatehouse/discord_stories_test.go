package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gatehouse/adapters/discord/discordtest"
	"gatehouse/adapters/slack/slacktest"
	"gatehouse/cmd/gatehouse/internal/cli"
)

// connection waits for the open connection, and until gatehouse has read READY or RESUMED on it. Discord begins a
// session before the client knows its id: if the connection breaks before READY is read, no client can resume the
// session.
func (d *discordGateway) connection() *discordtest.Connection {
	d.t.Helper()
	var c *discordtest.Connection
	err := d.discord.WaitFor(d.ctx(), func(f *discordtest.Server) bool {
		open := f.Open()
		if len(open) != 1 {
			return false
		}
		c = open[0]
		return true
	})
	if err != nil {
		d.t.Fatalf("no connection is open: %v", err)
	}
	d.ready(http.StatusOK) // for this connection: /readyz answers 503 from the end of the previous one
	return c
}

// sendToEach posts one more message in every conversation.
func (d *discordGateway) sendToEach(all []*loadConversation) {
	d.t.Helper()
	for i, c := range all {
		d.send(c, fmt.Sprintf("word-%d-%d.", i, len(c.said)))
	}
}

// readiness returns the status and the body of /readyz.
func (d *discordGateway) readiness() (status int, state readiness) {
	d.t.Helper()
	answer, err := http.Get(d.base + "/readyz")
	noErr(d.t, err)
	defer answer.Body.Close()
	if err := json.NewDecoder(answer.Body).Decode(&state); err != nil {
		d.t.Fatalf("/readyz does not answer with JSON: %v", err)
	}
	return answer.StatusCode, state
}

// notReceiving waits until /readyz answers 503 and reports that no events arrive from Discord, and why.
func (d *discordGateway) notReceiving(why string) {
	d.t.Helper()
	waitUntil(d.t, func() bool {
		status, state := d.readiness()
		inbound := state.Platforms["discord"].Inbound
		return status == http.StatusServiceUnavailable && !state.Ready && strings.Contains(inbound, "Discord") &&
			strings.Contains(inbound, why)
	}, "/readyz with 503 and "+why)
}

// receives waits until the bot hears and speaks, whatever else is wrong: a clock that is set ahead makes /readyz red.
func (d *discordGateway) receives() {
	d.t.Helper()
	waitUntil(d.t, func() bool {
		_, state := d.readiness()
		discord := state.Platforms["discord"]
		return discord.Inbound == "ok" && discord.Outbound == "ok"
	}, "/readyz with a Discord that is ok")
}

// Messages that are posted while the socket is silent, while there is none, and while missed messages are fetched are
// answered once and in order.
func TestDiscordMessagesWhileTheSocketIsDown(t *testing.T) {
	t.Parallel()
	for _, session := range []string{"resumed", "forgotten"} {
		t.Run(session, func(t *testing.T) {
			t.Parallel()
			d := serveDiscord(t, discordtest.Options{}, map[string]string{"GATEHOUSE_AGENT": "echo"})
			all := d.loadConversations(2, 5, 5)
			d.sendToEach(all)
			d.answered(all, patience)

			c := d.connection()
			c.GoSilent()
			d.sendToEach(all)
			dial := d.discord.Inject(discordtest.Fault{Endpoint: discordtest.Dial, Trouble: discordtest.Held()})
			if session == "forgotten" {
				d.discord.ForgetSessions()
			}
			c.Reset()
			d.notReceiving("the connection broke")
			d.sendToEach(all)
			fetch := d.discord.Inject(
				discordtest.Fault{Endpoint: discordtest.ListMessages, Trouble: discordtest.AnswerHeld()})
			dial.Lift()
			if session == "forgotten" {
				waitUntil(t, func() bool { return fetch.Waiting() > 0 }, "the first fetch of missed messages")
				d.sendToEach(all)
			}
			fetch.Lift()
			d.connection()
			d.sendToEach(all)
			d.answered(all, patience)
			d.ready(http.StatusOK)

			identifies, fetches := 1, 0
			if session == "forgotten" {
				identifies, fetches = 2, len(all)
			}
			if n := len(d.discord.Identifies()); n != identifies {
				t.Errorf("it identified %d times, want %d", n, identifies)
			}
			if n := d.discord.CountCalls(discordtest.ListMessages); n < fetches || fetches == 0 && n > 0 {
				t.Errorf("it fetched %d times, want %d", n, fetches)
			}
			for _, r := range d.discord.Resumes() {
				if (r.Refused != "") != (session == "forgotten") || !r.Proper {
					t.Errorf("it resumed as %+v", r)
				}
			}
		})
	}
}

// The socket ends in every possible way while messages are posted.
func TestDiscordDroppedRepeatedlyUnderLoad(t *testing.T) {
	t.Parallel()
	drops := []func(*discordGateway, *discordtest.Connection){
		func(d *discordGateway, c *discordtest.Connection) {
			d.discord.ForgetSessions()
			c.Close(4000, "unknown error")
		},
		func(_ *discordGateway, c *discordtest.Connection) { c.Reset() },
		func(_ *discordGateway, c *discordtest.Connection) { c.AskReconnect() },
	}
	d := serveDiscord(t, discordtest.Options{}, map[string]string{"GATEHOUSE_AGENT": "echo"})
	all := d.loadConversations(3, 10, 10)
	d.sendToEach(all)
	d.answered(all, patience) // the first message of a conversation is lost if it is missed
	for _, drop := range drops {
		c := d.connection()
		d.sendAll(all, 2, func(n int) {
			switch n {
			case len(all) / 2:
				drop(d, c)
			case len(all) * 3 / 2:
				waitUntil(t, func() bool { return !c.State().Open }, "the end of the connection")
			}
		})
	}
	d.answered(all, patience)
	d.ready(http.StatusOK)
	if n := len(d.discord.Identifies()); n != 2 {
		t.Errorf("it identified %d times, want twice", n)
	}
	if n := len(d.discord.Connections()); n < 1+len(drops) {
		t.Errorf("there were only %d connections", n)
	}
}

// A socket whose heartbeats are not acknowledged is closed within two heartbeats. /readyz answers 503 meanwhile, and
// nothing is lost.
func TestLaw9_ADiscordThatAcknowledgesNoHeartbeatIsNotReady(t *testing.T) {
	t.Parallel()
	const interval = 4 * time.Second // long, because the machine may be busy
	d := serveDiscord(t, discordtest.Options{HeartbeatInterval: interval}, nil)
	c := d.connection()
	waitUntil(t, func() bool { return c.State().Acks > 0 }, "a heartbeat")
	dial := d.discord.Inject(discordtest.Fault{Endpoint: discordtest.Dial, Trouble: discordtest.Held()})
	c.WithholdAcks()
	d.notReceiving("acknowledges no heartbeat")
	state := c.State()
	waitUntil(t, func() bool { return dial.Waiting() == 1 }, "another connection")
	dials := d.discord.Calls(discordtest.Dial)
	if took := dials[len(dials)-1].At.Sub(state.Beats[state.Acks]); took > 2*interval {
		t.Errorf("it opened another connection %s after the heartbeat that was not acknowledged", took)
	}
	if status, state := d.readiness(); status != http.StatusServiceUnavailable ||
		state.Platforms["discord"].Outbound != "ok" {
		t.Errorf("/readyz says %d: %+v", status, state)
	}
	m := d.ann.Posts(channelID, d.discord.MentionOfBot()+" calc 1+1")
	dial.Lift()
	d.ready(http.StatusOK)
	d.reads(m.ID, "1+1 = 2")
	if resumes := d.discord.Resumes(); len(resumes) != 1 || resumes[0].Refused != "" {
		t.Errorf("it resumed as %+v", resumes)
	}
}

// fatalCodes are the close codes after which Discord accepts no further connection with this configuration, the words
// that the admin reads, and the exit code of serve.
var fatalCodes = map[int]struct {
	words []string
	exit  int
}{
	4010: {[]string{"shard", "Set DISCORD_SHARDS to"}, cli.ExitUsage},
	4011: {[]string{"shards", "Raise DISCORD_SHARDS"}, cli.ExitUsage},
	4012: {[]string{"version", "Install a newer gatehouse"}, cli.ExitUsage},
	4013: {[]string{"intents", "Install a newer gatehouse"}, cli.ExitUsage},
	4014: {[]string{"intents", "Privileged Gateway Intents on the page Bot"}, cli.ExitUsage},
}

// If Discord is the only platform, the process ends, and its last line says what to change.
func TestDiscordFatalCloseCodesEndServe(t *testing.T) {
	t.Parallel()
	for code, want := range fatalCodes {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			t.Parallel()
			fake := discordtest.Start(t, discordtest.Options{Denied: discordtest.IntentMessageContent})
			w, app := serveAlone(t, fake)
			w.until("a session", app, func() bool { return fake.Sessions() == 1 })
			fake.Open()[0].Close(code, "")
			app.endsWith(t, want.exit, append(want.words, fmt.Sprint(code))...)
			if n := len(fake.Identifies()); n != 1 {
				t.Errorf("it identified %d times", n)
			}
		})
	}
}

func TestDiscordARefusedTokenEndsServe(t *testing.T) {
	t.Parallel()
	fake := discordtest.Start(t, discordtest.Options{})
	fake.RevokeToken()
	_, app := serveAlone(t, fake)
	app.endsWith(t, cli.ExitUsage, "refuses the token", "set DISCORD_BOT_TOKEN to the new one")
	if n := len(fake.Identifies()); n != 0 {
		t.Errorf("it identified %d times", n)
	}
}

// serveAlone runs serve as a process, with a fake Discord as its only platform.
func serveAlone(t *testing.T, fake *discordtest.Server) (*workbench, *child) {
	t.Helper()
	w := newWorkbench(t, "GATEHOUSE_LISTEN=127.0.0.1:0", "GATEHOUSE_LOG_FORMAT=json",
		"DISCORD_BOT_TOKEN="+fake.BotToken(), "DISCORD_API_URL="+fake.APIURL())
	return w, w.start(nil, "serve")
}

// endsWith waits until serve ends by itself, and fails unless the log reports the end of Discord and the last line
// contains these words.
func (c *child) endsWith(t *testing.T, exit int, words ...string) {
	t.Helper()
	select {
	case <-c.done:
	case <-time.After(patience):
		t.Fatalf("serve did not end:\n%s", c.out)
	}
	if got := c.cmd.ProcessState.ExitCode(); got != exit {
		t.Errorf("it ended with %d, want %d", got, exit)
	}
	said := lines(c.out.String())
	last := said[len(said)-1]
	for _, word := range append(words, "gatehouse: ", "Discord") {
		if !strings.Contains(last, word) {
			t.Errorf("its last line does not contain %q: %s", word, last)
		}
	}
	if !slices.ContainsFunc(said, func(line string) bool {
		var l struct{ Level, Msg, Platform, Err string }
		return json.Unmarshal([]byte(line), &l) == nil && l.Level == "ERROR" && l.Msg == "platform stopped" &&
			l.Platform == "discord" && l.Err != ""
	}) {
		t.Errorf("the log does not report that the platform stopped:\n%s", c.out)
	}
}

// If there is another platform, the process continues with that one and is not ready: /readyz says what to change.
func TestDiscordFatalCloseCodesBesideAnotherPlatform(t *testing.T) {
	t.Parallel()
	for code, want := range fatalCodes {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			t.Parallel()
			slack := slacktest.Start(t, slacktest.Options{})
			d := serveDiscord(t, discordtest.Options{Denied: discordtest.IntentMessageContent}, map[string]string{
				"SLACK_BOT_TOKEN": slack.BotToken(), "SLACK_API_URL": slack.APIURL(),
				"SLACK_APP_TOKEN": slack.AppToken(), "SLACK_CHANNEL_RPS": "0",
			})
			ann := slack.AddUser(slacktest.User{ID: "U1ANN", Name: "ann"})
			d.connection().Close(code, "")
			for _, word := range append(want.words, fmt.Sprint(code)) {
				d.notReceiving(word)
			}
			if _, state := d.readiness(); state.Platforms["slack"].Inbound != "ok" {
				t.Errorf("/readyz says of Slack: %+v", state.Platforms["slack"])
			}
			ann.Says("calc 1+1")
			if _, err := slack.WaitForText(d.ctx(), slack.DMWith("U1ANN"), "", "1+1 = 2"); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestDiscordGoesOnTryingBesideAnotherPlatform mends a token, as an admin would whom /readyz tells about it.
func TestDiscordGoesOnTryingBesideAnotherPlatform(t *testing.T) {
	t.Parallel()
	slack := slacktest.Start(t, slacktest.Options{})
	d := serveDiscord(t, discordtest.Options{}, map[string]string{
		"SLACK_BOT_TOKEN": slack.BotToken(), "SLACK_API_URL": slack.APIURL(),
		"SLACK_APP_TOKEN": slack.AppToken(), "SLACK_CHANNEL_RPS": "0",
	})
	d.discord.RevokeToken()
	d.connection().Reset()
	d.notReceiving("DISCORD_BOT_TOKEN")
	waitUntil(t, func() bool { return strings.Contains(d.log.String(), "platform stopped") }, "the end of Discord")
	if _, state := d.readiness(); state.Platforms["slack"].Inbound != "ok" {
		t.Errorf("/readyz says of Slack: %+v", state.Platforms["slack"])
	}
	d.discord.RestoreToken()
	d.receives()
}

// A restart resumes the session. If it can't be resumed, a daily budget of new sessions applies. When it is spent, the
// process waits and reports it.
func TestDiscordRestartsWithinTheBudgetOfADay(t *testing.T) {
	t.Parallel()
	var ahead atomic.Int64 // how far the clock of Discord and the store is ahead
	clock := func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	const budget, ours = 6, 3 // half of Discord's daily limit is left for other programs with the token
	o := discordtest.Options{Now: clock, IdentifyBudget: budget, SessionLifetime: time.Hour}
	d := serveDiscordWith(t, o, map[string]string{"GATEHOUSE_AGENT": "echo"}, func(d *discordGateway) {
		d.settings.store = storeClock(clock)
	})
	restart := func() {
		d.stop()
		<-d.code
		if err := d.discord.WaitForSessions(d.ctx(), 0); err != nil { // a session lives as long as its connection
			t.Fatal(err)
		}
		ahead.Add(int64(time.Minute))
		d.start()
	}
	all := d.loadConversations(1, 2, 2)
	for range 30 {
		d.sendToEach(all)
		restart()
		d.receives()
	}
	d.answered(all, patience)
	if n := len(d.discord.Identifies()); n != 1 {
		t.Fatalf("it identified %d times in 30 restarts", n)
	}
	for n := 2; n <= ours; n++ {
		d.discord.ForgetSessions()
		restart()
		d.sendToEach(all)
		d.receives()
		if got := len(d.discord.Identifies()); got != n {
			t.Errorf("it identified %d times, want %d", got, n)
		}
	}
	d.discord.ForgetSessions()
	for range 3 {
		restart()
		d.notReceiving("too many sessions with Discord today")
		if !strings.Contains(d.log.String(), "The bot has begun too many sessions with Discord today and waits") {
			t.Errorf("the log does not report that it waits:\n%s", d.log)
		}
	}
	if left := d.discord.Budget().Remaining; left != budget-ours {
		t.Errorf("%d sessions of Discord's budget are left, want %d", left, budget-ours)
	}
	d.sendToEach(all) // while no events arrive
	ahead.Add(int64(24 * time.Hour))
	restart()
	d.receives()
	d.answered(all, patience)
}
