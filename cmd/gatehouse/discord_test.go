package main

import (
	"cmp"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"gatehouse/adapters/discord/discordtest"
)

// The ids in the fake: its only server, a channel, the users and a role.
const (
	guildID   = "2001"
	channelID = "3001"
	askerID   = "1001"
	deciderID = "1002"
	otherID   = "1003"
	roleID    = "5001"
)

// discordGateway is a gatehouse in this process, connected to a fake Discord.
type discordGateway struct {
	*testGateway
	discord       *discordtest.Server
	ann, bob, eve *discordtest.Person
}

// newDiscordGateway starts a fake Discord with a server, users and a channel.
func newDiscordGateway(t *testing.T, o discordtest.Options) *discordGateway {
	t.Helper()
	o.IdentifyEvery = -1
	d := &discordGateway{testGateway: &testGateway{t: t}, discord: discordtest.Start(t, o)}
	d.ann = d.discord.AddUser(discordtest.User{ID: askerID, Name: "ann"})
	d.bob = d.discord.AddUser(discordtest.User{ID: deciderID, Name: "bob"})
	d.eve = d.discord.AddUser(discordtest.User{ID: otherID, Name: "eve"})
	d.discord.AddGuild(discordtest.Guild{ID: guildID, Name: "guild", Members: []string{askerID, deciderID, otherID}})
	d.discord.AddRole(guildID, discordtest.Role{ID: roleID, Name: "deciders", Members: []string{deciderID}})
	d.discord.AddChannel(discordtest.Channel{ID: channelID, Guild: guildID, Name: "general"})
	return d
}

func serveDiscord(t *testing.T, o discordtest.Options, env map[string]string) *discordGateway {
	t.Helper()
	return serveDiscordWith(t, o, env, func(*discordGateway) {})
}

// serveDiscordWith starts the fake and the gateway; before may change the fake and the settings before the gateway
// starts.
func serveDiscordWith(
	t *testing.T, o discordtest.Options, env map[string]string, before func(*discordGateway),
) *discordGateway {
	t.Helper()
	o.AnswerWithin = cmp.Or(o.AnswerWithin, slowMachine)
	d := newDiscordGateway(t, o)
	d.db, d.code = "sqlite:"+filepath.Join(t.TempDir(), "g.db"), make(chan int, 8)
	d.settings.set(map[string]string{
		"GATEHOUSE_DATABASE_URL": d.db, "GATEHOUSE_LISTEN": "127.0.0.1:0", "GATEHOUSE_LOG_FORMAT": "json",
		"GATEHOUSE_APPROVERS": "discord:role:" + roleID,
		// the program adds the suffix
		"DISCORD_BOT_TOKEN": d.discord.BotToken(),
		"DISCORD_API_URL":   strings.TrimSuffix(d.discord.APIURL(), "/api/v10"),
	})
	d.settings.set(env)
	if env["DISCORD_PUBLIC_KEY"] != "" {
		d.settings.set(map[string]string{"DISCORD_PUBLIC_KEY": d.discord.PublicKey()})
	}
	before(d)
	d.start()
	if env["DISCORD_PUBLIC_KEY"] != "" {
		d.discord.SetInteractionsURL(d.base + "/discord/interactions")
	}
	d.ready(http.StatusOK)
	return d
}

// registered waits until the commands are registered, so that people can use them.
func (d *discordGateway) registered() {
	d.t.Helper()
	waitUntil(d.t, func() bool { return len(d.discord.Commands()) == 4 }, "the commands are registered")
}

// onEachTransport runs a test with interactions over the gateway, and over HTTP.
func onEachTransport(t *testing.T, test func(t *testing.T, over string, env map[string]string)) {
	t.Parallel()
	for over, env := range map[string]map[string]string{"gateway": {}, "HTTP": {"DISCORD_PUBLIC_KEY": "set"}} {
		t.Run(over, func(t *testing.T) {
			t.Parallel()
			test(t, over, env)
		})
	}
}

// reads waits until the bot has posted a text in a channel or thread.
func (d *discordGateway) reads(channel, text string) discordtest.Message {
	d.t.Helper()
	m, err := d.discord.WaitForText(d.ctx(), channel, text)
	if err != nil {
		d.t.Fatalf("%q was not posted in %s: %v\n%s", text, channel, err, d.discord.Dump())
	}
	return m
}

// card waits for a message with a text and buttons.
func (d *discordGateway) card(channel, text string) discordtest.Message {
	d.t.Helper()
	var card discordtest.Message
	err := d.discord.WaitFor(d.ctx(), func(f *discordtest.Server) bool {
		if _, there := f.Channel(channel); !there {
			return false // the thread does not exist yet
		}
		for _, m := range f.Messages(channel) {
			if strings.Contains(m.Shown(), text) && len(m.Buttons()) > 0 {
				card = m
				return true
			}
		}
		return false
	})
	if err != nil {
		d.t.Fatalf("no card in %s contains %q: %v\n%s", channel, text, err, d.discord.Dump())
	}
	return card
}

func TestDiscordFromMentionToApprovedAction(t *testing.T) {
	onEachTransport(t, func(t *testing.T, _ string, env map[string]string) {
		d := serveDiscord(t, discordtest.Options{}, env)
		mention := d.ann.Posts(channelID, d.discord.MentionOfBot()+" calc 2+3*4")
		d.reads(mention.ID, `2+3\*4 = 14`) // the thread has the message's id
		d.ann.Says("hello")
		d.reads(d.discord.DMWith(askerID), "Hello!")
		d.registered()
		d.ann.Runs(channelID, "/ask calc 1+1")
		d.reads(channelID, "1+1 = 2")

		ask := d.ann.Posts(channelID, d.discord.MentionOfBot()+" note add milk")
		card := d.card(ask.ID, "Add “milk” to the note book.")
		d.eve.Clicks(ask.ID, card.ID, "Approve")
		if _, err := d.discord.WaitForEphemeral(d.ctx(), ask.ID, otherID, "not an approver"); err != nil {
			t.Fatalf("%v\n%s", err, d.discord.Dump())
		}
		d.bob.Clicks(ask.ID, card.ID, "Approve")
		d.reads(ask.ID, "Done: “milk” is in the note book.")
		d.shows(ask.ID, card.ID, "pproved")
		d.mentionsNobody()
	})
}
