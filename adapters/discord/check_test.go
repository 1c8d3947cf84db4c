package discord

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/discord/internal/address"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/discord/discordtest"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/core"
)

// checkup is a check of a correct configuration.
func (w *rig) checkup() *checkup {
	ev := core.EventRecord{AcceptedAt: w.clock.Now().Add(-time.Minute)}
	ev.Platform, ev.Conversation, ev.Address = address.Platform, core.ConversationID("discord:"+serverID+":"+general),
		core.Address{Platform: address.Platform, Channel: general}
	return &checkup{w.d.Config, core.Checkup{
		Listen: "127.0.0.1:8080", Approvers: []string{"discord:1002", "discord:role:" + approvers, "console:ann"},
		Now:   w.clock.Now,
		Inbox: listing(nil, ev, ev),
	}}
}

// checkup is a configuration, and what its check may use.
type checkup struct {
	Config Config
	core.Checkup
}

// listing lists these events.
func listing(
	err error, events ...core.EventRecord,
) adaptertest.Events {
	return func(context.Context, core.EventFilter) ([]core.EventRecord, error) { return events, err }
}

// finds runs a checkup and returns the checks by name.
func (w *rig) finds(c *checkup) map[string]core.Check {
	w.t.Helper()
	found := map[string]core.Check{}
	for _, f := range c.Config.Check(w.ctx(), c.Checkup) {
		if _, twice := found[f.Name]; twice {
			w.t.Errorf("%q was checked twice", f.Name)
		}
		if f.What == "" || f.State != outbound.OK && f.Mend == "" || f.State == outbound.OK && f.Mend != "" {
			w.t.Errorf("%q says nothing, or not how it is mended: %+v", f.Name, f)
		}
		if strings.Contains(f.What+f.Mend, w.BotToken()) {
			w.t.Errorf("%q tells a secret: %+v", f.Name, f)
		}
		found[f.Name] = f
	}
	return found
}

func TestCheckupWithoutFaults(t *testing.T) {
	w := newRig(t, nil)
	if _, err := w.d.registerCommands(w.ctx()); err != nil {
		t.Fatal(err)
	}
	found := w.finds(w.checkup())
	for name, f := range found {
		if f.State != outbound.OK {
			t.Errorf("%s: %+v", name, f)
		}
	}
	for _, name := range []string{
		"token", "content", "interactions", "gateway", "websocket", "commands", "server town", "channels of town",
		"channel #general", "events", "approver discord:1002",
		"approver discord:role:" + approvers,
	} {
		if found["discord "+name].What == "" {
			t.Errorf("%s was not checked", name)
		}
	}
	for _, c := range w.Calls() {
		if c.Route[:3] != "GET" && c.Route != discordtest.CreateCommand && c.Route != discordtest.Dial {
			t.Errorf("it changes something: %s", c.Route)
		}
	}
}

func TestCheckupFindsFaults(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*rig, *checkup)
		check  string
		state  core.CheckState
		words  []string
	}{
		"the token": {func(w *rig, _ *checkup) {
			w.RevokeToken()
		}, "token", outbound.Fail, []string{"refuses DISCORD_BOT_TOKEN", "Reset Token"}},
		"nobody is there": {func(_ *rig, c *checkup) {
			c.Config.APIURL = "http://127.0.0.1:1/api/v10"
		}, "token", outbound.Fail, []string{"can't be reached"}},
		"somebody else there": {func(_ *rig, c *checkup) {
			c.Config.APIURL = strings.Replace(c.Config.APIURL, "/api/v10", "/elsewhere", 1)
		}, "token", outbound.Fail, []string{"does not answer as Discord"}},
		"asked too much": {func(w *rig, _ *checkup) {
			w.Inject(
				discordtest.Fault{
					Endpoint: discordtest.GetMe, Trouble: discordtest.RateLimited(time.Minute, discordtest.ScopeUser),
				})
		}, "token", outbound.Warn, []string{"limits the rate of requests"}},
		"no content": {func(w *rig, _ *checkup) {
			w.SetDenied(discordtest.IntentMessageContent)
		}, "content", outbound.Warn, []string{"Message Content Intent", "mention",
			"can't read what others said there " +
				"before"}},
		"no history": {
			func(w *rig, _ *checkup) {
				w.DenyBot(general, discordtest.ReadMessageHistory)
			}, "channel #general", outbound.Warn,
			[]string{"Read Message History, so it answers in a thread without what was said there before"},
		},
		"every message needs a mention": {
			func(_ *rig, c *checkup) { c.Config.FollowUp = followMention }, "content", outbound.OK,
			[]string{"a mention in a thread is read with what was said there before"},
		},
		"not hearing": {func(w *rig, _ *checkup) {
			w.SetInteractionsURL("https://bot.example/discord/interactions")
		}, "interactions", outbound.Fail, []string{"DISCORD_PUBLIC_KEY is not set"}},
		"nowhere": {func(w *rig, c *checkup) {
			c.Config.PublicKey = w.PublicKey()
		},
			"interactions", outbound.Fail,
			[]string{"no Interactions Endpoint URL", "https://HOST/discord/interactions", "127.0.0.1:8080"}},
		"another's key": {func(_ *rig, c *checkup) {
			c.Config.PublicKey = strings.Repeat("ab", 32)
		}, "interactions", outbound.Fail, []string{"not the key of this application"}},
		"no commands": {func(*rig, *checkup) {}, "commands", outbound.Warn, []string{"not registered"}},
		"no server": {func(w *rig, _ *checkup) {
			w.Inject(discordtest.Fault{Endpoint: discordtest.GetMyGuilds, Trouble: discordtest.Refused(200, 0, "")})
		}, "servers", outbound.Fail, nil},
		"may not answer": {func(w *rig, _ *checkup) {
			w.DenyBot(general, discordtest.SendMessages)
		}, "channel #general", outbound.Fail, []string{"Send Messages, so the bot can't answer there"}},
		"no threads": {func(w *rig, _ *checkup) {
			w.DenyBot(general, discordtest.CreatePublicThreads)
		}, "channel #general", outbound.Warn, []string{"Create Public Threads"}},
		"does not see": {func(w *rig, _ *checkup) {
			w.DenyBot(general, discordtest.ViewChannel)
		}, "channel " + general, outbound.Fail, []string{"does not see", "View Channel"}},
		"nothing came": {func(_ *rig, c *checkup) {
			c.Inbox = listing(nil)
		}, "events", outbound.Warn, []string{"No event"}},
		"nothing but our own": {func(w *rig, c *checkup) {
			signal, again := core.EventRecord{AcceptedAt: w.clock.Now()},
				core.EventRecord{AcceptedAt: w.clock.Now(), RetryOf: 7}
			signal.Platform, signal.Body = address.Platform, core.SignalEvent{}
			again.Platform, again.Body = address.Platform, core.MessageEvent{}
			c.Inbox = listing(nil, signal, again)
		}, "events", outbound.Warn, []string{"No event"}},
		"no database": {func(_ *rig, c *checkup) {
			c.Inbox = listing(errors.New("gone"))
		}, "events", outbound.Fail, []string{"gone"}},
		"long ago": {func(w *rig, _ *checkup) {
			w.clock.Advance(2 * time.Hour)
		}, "events", outbound.Warn, []string{"at 2026"}},
		"no approvers": {func(_ *rig, c *checkup) {
			c.Approvers = nil
		}, "approvers", outbound.Warn, []string{"No approvers are configured"}},
		"none here": {func(_ *rig, c *checkup) {
			c.Approvers = []string{"slack:U1"}
		}, "approvers", outbound.Warn, []string{"None of the configured approvers is on Discord"}},
		"nobody": {func(_ *rig, c *checkup) {
			c.Approvers = []string{"discord:4004"}
		}, "approver discord:4004", outbound.Fail, []string{"not a user on Discord"}},
		"no role": {func(_ *rig, c *checkup) {
			c.Approvers = []string{"discord:role:4004"}
		}, "approver discord:role:4004", outbound.Fail, []string{"not a role"}},
		"neither": {func(_ *rig, c *checkup) {
			c.Approvers = []string{"discord:bob"}
		}, "approver discord:bob", outbound.Fail, []string{"neither a person's id"}},
		"everyone": {func(_ *rig, c *checkup) {
			c.Approvers = []string{"discord:role:" + serverID}
		}, "approver discord:role:" + serverID, outbound.Fail, []string{"everyone in town", "Make a role"}},
		"a bot's role": {func(w *rig, c *checkup) {
			c.Approvers = []string{"discord:role:" + w.RoleOfBot(serverID)}
		}, "", outbound.Fail, []string{"gatehouse in town", "belongs to a bot"}},
		"a bot": {func(w *rig, c *checkup) {
			w.AddUser(discordtest.User{ID: "1009", Name: "robot", IsBot: true})
			c.Approvers = []string{"discord:1009"}
		}, "approver discord:1009", outbound.Fail, []string{"is a bot"}},
		"a stranger": {func(_ *rig, c *checkup) {
			c.Approvers = []string{"discord:1003"}
		}, "approver discord:1003", outbound.Warn, []string{"carol", "shares no server with the bot", "Invite them"}},
		"other commands": {func(w *rig, _ *checkup) {
			w.registers(func(c []slashCommand) []slashCommand { c[0].Description = "What it said before"; return c })
		}, "commands", outbound.Warn, []string{"not registered as this build has them"}},
		"one command more": {func(w *rig, _ *checkup) {
			w.registers(func(c []slashCommand) []slashCommand {
				return append(c,
					slashCommand{Name: "old", Type: discordgo.ChatApplicationCommand, Description: "Another's"})
			})
		}, "commands", outbound.OK, nil},
		"identifies spent": {func(w *rig, _ *checkup) {
			w.SpendIdentifies(901)
		}, "gateway", outbound.Fail,
			[]string{"Of 1000 identifications a day 99 are left", "no new session for 24h0m0s"}},
		"no websocket": {func(w *rig, _ *checkup) {
			w.Inject(discordtest.Fault{Endpoint: discordtest.Dial, Trouble: discordtest.ServerError(503)})
		}, "websocket", outbound.Fail, []string{"Discord's websocket at 127.0.0.1 does not open (503)", "outage"}},
		"another websocket": {func(w *rig, _ *checkup) {
			w.NewConnectionsSilent(true)
		}, "websocket", outbound.Fail, []string{"nothing comes over it", "proxy"}},
		"few shards": {nil, "gateway", outbound.Warn, []string{"DISCORD_SHARDS"}},
		"identifies": {nil, "gateway", outbound.Warn, []string{"resets the token"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newRig(t, func(o *discordtest.Options) {
				switch name {
				case "few shards":
					o.Shards = 3
				case "identifies":
					o.IdentifyBudget = 50
				}
			})
			checkup := w.checkup()
			checkup.Config.Shards = 1
			if c.change != nil {
				c.change(w, checkup)
			}
			if c.check == "" {
				c.check = "approver " + checkup.Approvers[0]
			}
			f, ok := w.finds(checkup)["discord "+c.check]
			if !ok || f.State != c.state {
				t.Fatalf("%+v", w.finds(checkup))
			}
			for _, word := range c.words {
				if !strings.Contains(f.What+" "+f.Mend, word) {
					t.Errorf("it does not say %q: %+v", word, f)
				}
			}
		})
	}
}

// registers registers commands.
func (w *rig) registers(change func([]slashCommand) []slashCommand) {
	w.t.Helper()
	for _, c := range change(slashCommands()) {
		if err := w.d.Call(w.ctx(), "POST", "/applications/"+w.ApplicationID()+"/commands", c, nil); err != nil {
			w.t.Fatal(err)
		}
	}
}
