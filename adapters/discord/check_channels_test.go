package discord

import (
	"cmp"
	"strconv"
	"strings"
	"testing"
	"time"

	"gatehouse/adapters/discord/internal/address"

	"gatehouse/adapters/discord/discordtest"
	"gatehouse/adapters/discord/internal/guilds"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/core"
)

// The permissions that the bot needs in a channel, and those that the invitation asks for.
const (
	needs = discordtest.ViewChannel | discordtest.SendMessages | discordtest.SendInThreads |
		discordtest.CreatePublicThreads | discordtest.AttachFiles | discordtest.ReadMessageHistory
	little = discordtest.UseCommands // what everybody may in any case here
)

// settles replaces the server by one in which the bot's permissions come from its own roles alone.
func (w *rig) settles(change func(*discordtest.Guild)) {
	g := discordtest.Guild{
		ID: serverID, Name: "town", Members: []string{"1001", "1002"}, Everyone: little, BotPermissions: needs,
	}
	if change != nil {
		change(&g)
	}
	w.AddGuild(g)
}

// spokenIn is an event from a channel or thread.
func spokenIn(channel, thread string) core.EventRecord {
	at := core.Address{Platform: address.Platform, Channel: channel, Thread: thread}
	var ev core.EventRecord
	ev.Platform, ev.Conversation, ev.Address = address.Platform, address.Conversation(serverID, at), at
	return ev
}

const (
	rules = "3000000000000000003"
	forum = "3000000000000000004"
)

func TestCheckupOfPermissions(t *testing.T) {
	mine := func(w *rig) string { return w.RoleOfBot(serverID) }
	type overwrites = []discordtest.Overwrite
	everybody := func(allow, deny int64) discordtest.Overwrite {
		return discordtest.Overwrite{ID: serverID, Allow: allow, Deny: deny}
	}
	// Each channel is one that the bot was spoken to in.
	for name, c := range map[string]struct {
		guild func(*discordtest.Guild)
		made  func(*rig) overwrites
		reply string
		check string // "#general" if empty
		state core.CheckState
		words string
	}{
		"nothing said": {state: outbound.OK},
		"denied everybody": {made: func(*rig) overwrites {
			return overwrites{everybody(0, discordtest.SendMessages)}
		}, state: outbound.Fail, words: "lacks the permission Send Messages, so"},
		"denied everybody, allowed the bot's role": {made: func(w *rig) overwrites {
			return overwrites{{ID: mine(w), Allow: discordtest.SendMessages}, everybody(0, discordtest.SendMessages)}
		}, state: outbound.OK},
		"allowed by one role and denied by another": {
			guild: func(g *discordtest.Guild) {
				g.Roles = []discordtest.Role{{
					ID: "4000000000000000009", Name: "quiet", Members: []string{"900000000000000002"},
				}}
			},
			made: func(w *rig) overwrites {
				return overwrites{
					{ID: mine(w), Allow: discordtest.SendMessages},
					{ID: "4000000000000000009", Deny: discordtest.SendMessages},
				}
			}, state: outbound.OK,
		},
		"denied the role, allowed the bot itself": {made: func(w *rig) overwrites {
			return overwrites{
				{ID: w.BotUserID(), Member: true, Allow: discordtest.SendMessages},
				{ID: mine(w), Deny: discordtest.SendMessages},
			}
		}, state: outbound.OK},
		"allowed the role, denied the bot itself": {made: func(w *rig) overwrites {
			return overwrites{
				{ID: w.BotUserID(), Member: true, Deny: discordtest.SendMessages},
				{ID: mine(w), Allow: discordtest.SendMessages},
			}
		}, state: outbound.Fail, words: "Send Messages"},
		"denied somebody else": {made: func(*rig) overwrites {
			return overwrites{{ID: "1001", Member: true, Deny: needs}, {ID: "4000000000000000009", Deny: needs}}
		}, state: outbound.OK},
		"not seen, whatever else is allowed": {made: func(*rig) overwrites {
			return overwrites{everybody(discordtest.SendMessages|discordtest.SendInThreads, discordtest.ViewChannel)}
		}, state: outbound.Fail, check: general, words: "The bot does not see the channel " + general + " any more"},
		"an administrator": {
			guild: func(g *discordtest.Guild) { g.BotPermissions = discordtest.Administrator },
			made:  func(*rig) overwrites { return overwrites{everybody(0, needs)} }, state: outbound.OK,
		},
		"the owner": {
			guild: func(g *discordtest.Guild) { g.Owner, g.BotPermissions = "900000000000000002", little },
			made:  func(*rig) overwrites { return overwrites{everybody(0, needs)} }, state: outbound.OK,
		},
		"no threads to answer in": {made: func(*rig) overwrites {
			return overwrites{everybody(0, discordtest.SendInThreads)}
		}, state: outbound.Fail, words: "Send Messages in Threads"},
		"no threads to open": {made: func(*rig) overwrites {
			return overwrites{everybody(0, discordtest.CreatePublicThreads)}
		}, state: outbound.Warn, words: "Create Public Threads, so a mention is answered in the channel"},
		"no threads to open, nor wanted": {
			made: func(*rig) overwrites {
				return overwrites{everybody(0, discordtest.CreatePublicThreads)}
			}, reply: replyChannel, state: outbound.OK,
		},
		"no history": {made: func(*rig) overwrites {
			return overwrites{everybody(0, discordtest.ReadMessageHistory)}
		}, state: outbound.Warn, words: "Read Message History"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newRig(t, nil)
			w.settles(c.guild)
			if c.made != nil {
				w.SetOverwrites(general, c.made(w)...)
			}
			checkup := w.checkup()
			checkup.Config.Reply = c.reply
			f := w.finds(checkup)["discord channel "+cmp.Or(c.check, "#general")]
			if f.State != c.state || !strings.Contains(f.What, c.words) ||
				c.state != outbound.OK && !strings.Contains(f.Mend, "Open the channel's settings, Permissions") {
				t.Errorf("got %+v, want %s", f, c.state)
			}
		})
	}
}

func TestCheckupOfServersAndChannels(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*rig)
		spoken []core.EventRecord
		check  string
		state  core.CheckState // "": there is no such check
		words  string
	}{
		"lacks it in general": {func(w *rig) {
			w.RemoveChannel(forum)
			w.settles(func(g *discordtest.Guild) { g.BotPermissions = needs &^ discordtest.SendMessages })
		}, nil, "server town", outbound.Fail, "Send Messages, so the bot can't answer there"},
		"lacks it but for one channel": {func(w *rig) {
			w.settles(func(g *discordtest.Guild) { g.BotPermissions = needs &^ discordtest.SendMessages })
			w.SetOverwrites(general, discordtest.Overwrite{ID: w.RoleOfBot(serverID), Allow: discordtest.SendMessages})
		}, nil, "server town", outbound.Warn, "Some channels make an exception."},
		"timed out": {func(w *rig) {
			w.TimesOut(serverID, w.BotUserID(), w.clock.Now().Add(time.Hour))
		}, []core.EventRecord{spokenIn(general, "")}, "server town", outbound.Fail,
			"the bot is timed out until 2026-03-01"},
		"an administrator can't be timed out": {func(w *rig) {
			w.settles(func(g *discordtest.Guild) { g.BotPermissions = discordtest.Administrator })
			w.TimesOut(serverID, w.BotUserID(), w.clock.Now().Add(time.Hour))
		}, nil, "server town", outbound.OK, ""},
		"no longer timed out": {func(w *rig) {
			w.TimesOut(serverID, w.BotUserID(), w.clock.Now().Add(-time.Hour))
		}, nil, "server town", outbound.OK, ""},
		"another channel is closed": {func(w *rig) {
			w.DenyBot(rules, discordtest.SendMessages|discordtest.SendInThreads)
		}, nil, "channels of town", outbound.Warn,
			"sees 4 channels of the server town, and lacks a permission in #rules (Send Messages, Send Messages in " +
				"Threads)."},
		"another channel is not seen": {func(w *rig) {
			w.DenyBot(rules, discordtest.ViewChannel)
		}, nil, "channels of town", outbound.OK, "sees 3 channels"},
		"no channel is seen": {func(w *rig) {
			w.settles(func(g *discordtest.Guild) { g.BotPermissions = needs &^ discordtest.ViewChannel })
			w.SetOverwrites(secret)
		}, nil, "channels of town", outbound.Fail, "sees no channel of the server town that people write in"},
		"a forum needs no more": {func(w *rig) {
			w.DenyBot(forum, discordtest.SendMessages|discordtest.CreatePublicThreads)
		}, []core.EventRecord{spokenIn(forum, "7001")}, "channel #forum", outbound.OK, ""},
		"a forum without threads": {func(w *rig) {
			w.DenyBot(forum, discordtest.SendInThreads)
		}, []core.EventRecord{spokenIn(forum, "7001")}, "channel #forum", outbound.Fail, "Send Messages in Threads"},
		"a channel that was deleted": {func(w *rig) {
			w.RemoveChannel(rules)
		}, []core.EventRecord{spokenIn(rules, "")}, "channel #rules", "", ""},
		"a thread": {
			nil, []core.EventRecord{spokenIn(general, "7002")}, "thread 7002 of #general", "", "",
		},
		"a thread that was deleted": {func(w *rig) {
			w.RemoveChannel("7002")
		}, []core.EventRecord{spokenIn(general, "7002")}, "thread 7002 of #general", "", ""},
		"a locked thread": {func(w *rig) {
			w.ArchiveThread("7002", true)
		}, []core.EventRecord{spokenIn(general, "7002")}, "thread 7002 of #general", outbound.Warn,
			"The thread work of #general is locked"},
		"a locked thread, and it manages them": {func(w *rig) {
			w.settles(func(g *discordtest.Guild) { g.BotPermissions = needs | discordtest.ManageThreads })
			w.ArchiveThread("7002", true)
		}, []core.EventRecord{spokenIn(general, "7002")}, "thread 7002 of #general", "", ""},
		"a thread that it was put out of": {func(w *rig) {
			w.Inject(discordtest.Fault{Endpoint: discordtest.GetChannel, Trouble: discordtest.MissesAccess()})
		}, []core.EventRecord{spokenIn(general, "7002")}, "thread 7002 of #general", outbound.Fail, "is private"},
		"a thread of a channel that is not seen": {func(w *rig) {
			w.DenyBot(general, discordtest.ViewChannel)
		}, []core.EventRecord{spokenIn(general, "7002")}, "thread 7002 of #general", "", ""},
		"a server that it left": {func(w *rig) {
			w.AddGuild(discordtest.Guild{ID: serverID, Name: "town", WithoutBot: true})
		}, []core.EventRecord{spokenIn(general, "")}, "servers", outbound.Fail,
			"discord.com/oauth2/authorize?client_id=900000000000000001"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newRig(t, nil)
			w.AddChannel(discordtest.Channel{ID: rules, Guild: serverID, Name: "rules"})
			w.AddChannel(discordtest.Channel{ID: forum, Guild: serverID, Name: "forum", Kind: discordtest.Forum})
			w.AddChannel(
				discordtest.Channel{
					ID: "7001", Guild: serverID, Name: "post", Kind: discordtest.PublicThread, Parent: forum,
				})
			w.AddChannel(
				discordtest.Channel{
					ID: "7002", Guild: serverID, Name: "work", Kind: discordtest.PublicThread, Parent: general,
				})
			w.settles(nil)
			if c.change != nil {
				c.change(w)
			}
			checkup := w.checkup()
			checkup.Inbox = listing(nil, c.spoken...)
			found := w.finds(checkup)
			f, there := found["discord "+c.check]
			if there != (c.state != "") || f.State != c.state || !strings.Contains(f.What+f.Mend, c.words) {
				t.Errorf("got %+v, want %s %q, of\n%+v", f, c.state, c.words, found)
			}
		})
	}
}

// Servers in which the bot was addressed are checked first, however many others there are.
func TestCheckupStartsWithServersWhereTheBotWasUsed(t *testing.T) {
	w := newRig(t, nil)
	for n := range guilds.PageSize + 1 { // all come before the town
		w.AddGuild(discordtest.Guild{ID: strconv.Itoa(10_000 + n), Name: "other"})
	}
	w.DenyBot(general, discordtest.SendMessages)
	states := map[string]core.CheckState{}
	for _, f := range w.d.Config.Check(w.ctx(), w.checkup().Checkup) {
		states[f.Name] = f.State
	}
	if states["discord channel #general"] != outbound.Fail || states["discord servers"] != outbound.OK {
		t.Errorf("got %v", states)
	}
}
