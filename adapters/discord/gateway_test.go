package discord_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/discord"
	"gatehouse/adapters/discord/discordtest"
	"gatehouse/core"
)

// connection returns the open connection.
func (r *inbound) connection() *discordtest.Connection {
	r.t.Helper()
	var c *discordtest.Connection
	r.eventually("a connection", func() bool {
		open := r.Open()
		if len(open) != 1 {
			return false
		}
		c = open[0]
		return true
	})
	return c
}

// saysMany posts messages and returns the ids of their events.
func (r *inbound) saysMany(n int, what string) (ids []string) {
	for i := range n {
		m := r.ann.Says(fmt.Sprintf("%s %d", what, i))
		ids = append(ids, "message/"+m.Channel+"/"+m.ID)
	}
	return ids
}

// wants waits until these events are stored, and fails unless they are in this order and each was passed to accept.
func (r *inbound) wants(ids []string) {
	r.t.Helper()
	for _, id := range ids {
		r.inbox.Event(id)
	}
	got := slices.DeleteFunc(r.inbox.IDs(), func(id string) bool { return !slices.Contains(ids, id) })
	if !slices.Equal(got, ids) {
		r.t.Errorf("stored in the order %v, want %v", got, ids)
	}
}

func TestDroppedConnectionIsResumed(t *testing.T) {
	for name, drop := range map[string]func(*inbound, *discordtest.Connection){
		"broken":           func(_ *inbound, c *discordtest.Connection) { c.Reset() },
		"reconnect":        func(_ *inbound, c *discordtest.Connection) { c.AskReconnect() },
		"invalid, resumed": func(_ *inbound, c *discordtest.Connection) { c.Invalidate(true) },
		"closed by 4000":   func(_ *inbound, c *discordtest.Connection) { c.Close(4000, "unknown error") },
		"closed by 4008":   func(_ *inbound, c *discordtest.Connection) { c.Close(4008, "rate limited") },
		"closed by 1001":   func(_ *inbound, c *discordtest.Connection) { c.Close(1001, "going away") },
	} {
		t.Run(name, func(t *testing.T) {
			r := newInbound(t, setup{}).known()
			ids := r.saysMany(3, "before")
			r.wants(ids)
			c := r.connection()
			c.GoSilent() // what is said now is on its way when the connection ends
			ids = append(ids, r.saysMany(3, "meanwhile")...)
			if name == "reconnect" || strings.HasPrefix(name, "invalid") { // these are told over the connection
				r.ResetAll()
				c = r.connection()
			}
			before := len(r.Resumes())
			drop(r, c)
			r.eventually("a resume", func() bool {
				return len(r.Resumes()) > before || len(r.Resumes()) > 0 && !c.State().Open
			})
			r.known()
			ids = append(ids, r.saysMany(3, "after")...)
			r.wants(ids)
			if n := len(r.Identifies()); n != 1 {
				t.Errorf("it identified %d times", n)
			}
			for _, resume := range r.Resumes() {
				if resume.Refused != "" || !resume.Proper {
					t.Errorf("it resumed as %+v", resume)
				}
			}
		})
	}
}

func TestSessionThatCannotBeResumed(t *testing.T) {
	for name, lose := range map[string]func(*inbound, *discordtest.Connection){
		"invalid":        func(_ *inbound, c *discordtest.Connection) { c.Invalidate(false) },
		"timed out":      func(_ *inbound, c *discordtest.Connection) { c.Close(4009, "session timed out") },
		"wrong sequence": func(_ *inbound, c *discordtest.Connection) { c.Close(4007, "invalid seq") },
		"forgotten": func(r *inbound, c *discordtest.Connection) {
			r.ForgetSessions()
			c.Reset()
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := setup{}
			r := (*inbound)(nil)
			s.discord.Inbox = adaptertest.Events(func(context.Context, core.EventFilter) ([]core.EventRecord, error) {
				return r.recent(), nil
			})
			s.before = func(in *inbound) { r = in }
			newInbound(t, s).known()
			thread := r.ann.OpensThread(general, r.ann.Posts(general, "work").ID, "work")
			first := r.of(r.bob.Posts(thread, "the beginning"))
			ids := append([]string{first.ID}, r.saysMany(2, "before")...)
			r.wants(ids)
			c := r.connection()
			c.GoSilent()
			missed := r.saysMany(3, "meanwhile")
			mention := r.ann.Posts(general, r.MentionOfBot()+" in a known channel")
			reply := r.bob.Posts(thread, "more")
			if name == "forgotten" {
				lose(r, c)
			} else {
				lose(r, c)
				c.Reset() // it is silent, so it can't tell; the next one hears it
				r.ForgetSessions()
			}
			r.eventually("a new session", func() bool { return len(r.Identifies()) == 2 })
			r.known()
			after := r.saysMany(2, "after")
			r.wants(append(append(ids, missed...), after...))
			if e := r.of(mention); e.Address.Thread != mention.ID || e.FollowUp {
				t.Errorf("what was fetched came as %+v", e)
			}
			if e := r.of(reply); e.Conversation != first.Conversation || e.Address.Channel != general ||
				e.Address.Thread != thread || !e.FollowUp {
				t.Errorf("what was fetched of a thread came as %+v, what was heard %+v", e, first)
			}
			if text := r.says(r.of(reply)).Content.String(); !strings.Contains(text,
				`{"name":"bob","id":"discord:1002"} says:`) || !strings.Contains(text, "more") {
				t.Errorf("what was fetched says %q", text)
			}
		})
	}
}

// recent returns the stored events, latest first.
func (r *inbound) recent() []core.EventRecord {
	r.inbox.Lock()
	defer r.inbox.Unlock()
	var all []core.EventRecord
	for _, id := range slices.Backward(r.inbox.Order) {
		all = append(all, core.EventRecord{Event: r.inbox.Stored[id], AcceptedAt: time.Now()})
	}
	return all
}

func TestUncommittedEventsAreReplayedAfterARestart(t *testing.T) {
	r := newInbound(t, setup{}).known()
	ids := r.saysMany(2, "stored")
	r.wants(ids)
	r.inbox.Gate(busy)
	ids = append(ids, r.saysMany(5, "not stored")...)
	r.inbox.WaitFor("a try", func() bool { return len(r.inbox.Tried) > 2 })
	r.halt()
	r.inbox.Gate(nil)
	r.start()
	r.wants(ids)
	if n := len(r.Identifies()); n != 1 {
		t.Errorf("it identified %d times", n)
	}
	if resumes := r.Resumes(); len(resumes) != 1 || resumes[0].Replayed < 5 {
		t.Errorf("it resumed as %+v", resumes)
	}
	for _, c := range r.Connections()[:1] {
		if code := c.State().Code; code == 1000 || code == 1001 {
			t.Errorf("the session was ended with %d", code)
		}
	}
}

func TestKilledProcessResumesFromTheStoredState(t *testing.T) {
	r := newInbound(t, setup{}).known()
	before := ""
	r.eventually("a session that is kept", func() bool {
		before = r.kv.value("discord/session/0")
		return before != ""
	})
	ids := r.saysMany(5, "stored")
	r.wants(ids)
	r.halt()
	_ = r.kv.Put(r.ctx, "discord/session/0", before) // what was kept when it was killed
	r.start()
	r.known()
	ids = append(ids, r.saysMany(2, "after")...)
	r.wants(ids)
	if n := len(r.Identifies()); n != 1 {
		t.Errorf("it identified %d times", n)
	}
	seen := map[string]int{}
	for _, e := range r.inbox.Tried {
		seen[e.ID]++
	}
	if seen[ids[0]] != 2 {
		t.Errorf("the first message came %d times to accept, want twice: it is replayed, and known", seen[ids[0]])
	}
}

func TestWithheldAcknowledgements(t *testing.T) {
	const interval = 200 * time.Millisecond
	r := newInbound(t, setup{fake: discordtest.Options{HeartbeatInterval: interval}}).known()
	c := r.connection()
	r.RefuseConnections(true) // so that the time between is seen
	c.WithholdAcks()
	before := len(c.State().Beats)
	r.eventually("that nothing is heard", func() bool { hears, _ := r.p.Health(); return hears != nil })
	r.eventually("the end of the connection", func() bool { return !c.State().Open })
	if more := len(c.State().Beats) - before; more > 1 { // the second one, two intervals later, comes no more
		t.Errorf("it sent %d more heartbeats before it noticed", more)
	}
	if code := c.State().Code; code != 4000 {
		t.Errorf("it closed the connection with %d", code)
	}
	r.RefuseConnections(false)
	r.known()
	if resumes := r.Resumes(); len(resumes) != 1 || resumes[0].Refused != "" {
		t.Errorf("it resumed as %+v", resumes)
	}
}

func TestRequestedHeartbeat(t *testing.T) {
	r := newInbound(t, setup{}).known()
	c := r.connection()
	r.eventually("the first heartbeat", func() bool { return len(c.State().Beats) == 1 })
	c.AskHeartbeat()
	r.eventually("another heartbeat", func() bool { return len(c.State().Beats) == 2 })
}

func TestFatalCloseCodes(t *testing.T) {
	for code, want := range map[int]string{
		4010: "DISCORD_SHARDS", 4011: "DISCORD_SHARDS", 4012: "newer gatehouse",
		4013: "newer gatehouse",
	} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			r := newInbound(t, setup{}).known()
			r.connection().Close(code, "")
			select {
			case <-r.ended:
			case <-r.ctx.Done():
				t.Fatal("the platform goes on")
			}
			if r.err == nil || !strings.Contains(core.MessageOf(r.err), want) ||
				!strings.Contains(core.MessageOf(r.err), fmt.Sprint(code)) {
				t.Errorf("it ended with %v", r.err)
			}
			if n := len(r.Identifies()); n != 1 {
				t.Errorf("it identified %d times", n)
			}
			r.stopped()
		})
	}
}

// stopped makes halt expect that the platform has ended by itself.
func (r *inbound) stopped() {
	r.inbox.Lock()
	defer r.inbox.Unlock()
	r.err = nil
}

func TestRefusedTokenEndsRun(t *testing.T) {
	r := newInbound(t, setup{config: func(c *discord.Config) { c.BotToken = "another token" }})
	<-r.ended
	if core.CategoryOf(r.err) != core.Unauthorized || !strings.Contains(core.MessageOf(r.err), "DISCORD_BOT_TOKEN") {
		t.Errorf("it ended with %v", r.err)
	}
}

func TestUnreadablePayloads(t *testing.T) {
	r := newInbound(t, setup{}).known()
	c := r.connection()
	for _, raw := range []string{
		`{`, `[]`, `{"op":0,"t":"MESSAGE_CREATE","s":5,"d":{"id":5}}`, `{"op":0,"t":"GUILD_CREATE","s":6,"d":{"id":7}}`,
		`{"op":99}`,
		`{"op":0,"t":"INTERACTION_CREATE","s":7,"d":{"type":"x"}}`, `{"op":0,"t":"INTERACTION_CREATE","s":8,"d":null}`,
		`{"op":0,"t":"MESSAGE_DELETE_BULK","s":9,"d":{"ids":5}}`,
	} {
		c.SendRaw([]byte(raw))
	}
	r.settled()
	if !c.State().Open {
		t.Error("the connection has ended")
	}
}

func TestTheSessionIsStoredWithoutTheToken(t *testing.T) {
	r := newInbound(t, setup{}).known()
	r.settled()
	r.halt()
	var s struct {
		ID   string `json:"id"`
		Seq  int64  `json:"seq"`
		URL  string `json:"url"`
		Bot  string `json:"bot"`
		Last string `json:"last"`
	}
	text := r.kv.value("discord/session/0")
	if err := json.Unmarshal([]byte(text), &s); err != nil || s.ID == "" || s.Seq == 0 || s.URL == "" ||
		s.Bot != r.BotUserID() || s.Last == "" {
		t.Errorf("stored: %s", text)
	}
	if strings.Contains(text, r.BotToken()) {
		t.Error("the token is stored")
	}
}

func TestSessionOfAnotherBotIsNotResumed(t *testing.T) {
	r := newInbound(t, setup{before: func(r *inbound) {
		_ = r.kv.Put(r.ctx, "discord/session/0", `{"id":"abc","url":"ws://127.0.0.1:1","seq":5,"bot":"77","shards":1}`)
	}}).known()
	if len(r.Resumes()) != 0 || len(r.Identifies()) != 1 {
		t.Errorf("it resumed %d times and identified %d times", len(r.Resumes()), len(r.Identifies()))
	}
}

func TestUnreachableResumeAddress(t *testing.T) {
	r := newInbound(t, setup{before: func(r *inbound) {
		_ = r.kv.Put(r.ctx, "discord/session/0",
			`{"id":"abc","url":"ws://127.0.0.1:1","seq":5,"bot":"`+r.BotUserID()+`","shards":1}`)
	}})
	r.timers.FireAlways(time.Second)
	r.known()
	r.settled()
}

// However often the connection of a resumable session breaks, the next one follows soon.
func TestResumableSessionsReconnectSoon(t *testing.T) {
	r := newInbound(t, setup{discord: core.Deps{Jitter: func() float64 { return 1 }}})
	for _, wait := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second} {
		r.timers.FireAlways(wait)
	}
	r.known()
	var ids []string
	for i := range 8 {
		before := r.connection()
		before.Reset()
		r.eventually("another connection", func() bool { return !before.State().Open && len(r.Open()) == 1 })
		r.known()
		ids = append(ids, r.saysMany(1, fmt.Sprint("drop ", i))...)
		r.wants(ids)
	}
	if n := r.timers.Count(4 * time.Second); n != 6 {
		t.Errorf("it waited the longest %d times", n)
	}
}
