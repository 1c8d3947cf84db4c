package discord_test

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/discord"
	"gatehouse/adapters/discord/discordtest"
	"gatehouse/core"
)

// outside is a fake server with one person in a direct message.
type outside struct {
	*discordtest.Server
	ann *discordtest.Person
}

func openGateway(t *testing.T) (core.Platform, adaptertest.Fake) {
	t.Helper()
	o := &outside{Server: discordtest.New(discordtest.Options{Fatalf: t.Errorf, IdentifyEvery: -1})}
	t.Cleanup(func() {
		o.Close()
		for _, deviation := range o.Deviations() {
			t.Error(deviation)
		}
	})
	o.ann = o.AddUser(discordtest.User{ID: annID, Name: "ann"})
	o.AddGuild(discordtest.Guild{ID: guild, Name: "guild", Members: []string{annID}})
	p := discord.New(core.Deps{
		Signer: adaptertest.Signer(t, testKey), Cards: adaptertest.Cards("discord:" + annID),
		Blobs: &adaptertest.Blobs{},
		KV:    newFakeKV(nil), Inbox: adaptertest.Events(noEvents), Owner: "one", Jitter: func() float64 {
			return -1
		}, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	}, discord.Config{BotToken: o.BotToken(), APIURL: o.APIURL(), Shards: 1, Reply: "thread"})
	return p, o
}

// waitHeard waits until a session receives events; earlier ones would reach nobody.
func (o *outside) waitHeard(t testing.TB) {
	t.Helper()
	if err := o.WaitForSessions(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
}

func (o *outside) Say(t testing.TB, text string) {
	t.Helper()
	o.waitHeard(t)
	o.ann.Says(text)
}

func (o *outside) Click(t testing.TB, c core.Click) {
	t.Helper()
	o.waitHeard(t)
	for _, m := range o.FromBot(o.dm()) {
		if strings.Contains(m.Shown(), "Add the note "+string(c.Approval)) {
			b, _ := o.FindButton(o.dm(), m.ID,
				map[core.Choice]string{core.Approve: "Approve", core.Deny: "Deny"}[c.Choice])
			o.ann.Presses(b) // it is disabled at its first press, and can still be pressed by who saw it before
			if c.Choice == core.Deny {
				if _, err := o.WaitForModal(t.Context(), annID); err != nil {
					t.Fatal(err)
				}
				o.ann.Submits(nil)
			}
			return
		}
	}
	t.Fatalf("there is no card of %s", c.Approval)
}

func (o *outside) dm() string { return o.DMWith(annID) }

func (o *outside) Conversation() (core.Address, core.ConversationID) {
	return core.Address{Platform: "discord", Channel: o.dm()}, core.ConversationID("discord:@me:" + o.dm())
}

func (o *outside) Shown() string { return adaptertest.Shown(o.FromBot(o.dm())) }

func (o *outside) SideEffects() []string {
	var alarms []string
	for _, m := range o.FromBot(o.dm()) {
		for _, r := range m.Reaches() {
			alarms = append(alarms, r.Kind+" "+r.Target)
		}
	}
	return alarms
}

// Repeat breaks the connection and makes Discord replay earlier events again.
func (o *outside) Repeat(t testing.TB) {
	t.Helper()
	o.ReplayMore(2) // what the bot's answer to a click changed may have come after it
	o.ResetAll()
}

func (o *outside) Fail(f adaptertest.Fault) bool {
	trouble := map[adaptertest.Fault]discordtest.Trouble{
		adaptertest.Down:    discordtest.ServerError(503),
		adaptertest.Busy:    discordtest.RateLimited(20*time.Millisecond, discordtest.ScopeUser),
		adaptertest.Lost:    discordtest.AnswerLost(),
		adaptertest.Refused: discordtest.Refused(400, 50035, "Invalid Form Body"),
	}[f]
	o.Inject(discordtest.Fault{Endpoint: discordtest.CreateMessage, Trouble: trouble, Times: 1})
	return true
}

func TestPlatformContract(t *testing.T) {
	adaptertest.Run(t, adaptertest.Harness{Open: openGateway})
}
