package discordtest_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/gorilla/websocket"
	"go.uber.org/goleak"

	"gatehouse/adapters/discord/discordtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The ids of the fake server.
const (
	guildID   = "2000000000000000001"
	general   = "3000000000000000001"
	elsewhere = "3000000000000000002"
	forum     = "3000000000000000003"
	approvers = "4000000000000000001"
)

// rig is a fake Discord with a guild that has two people, another bot, and some channels.
type rig struct {
	*discordtest.Server
	alice, bob, robot *discordtest.Person
	ctx               context.Context
	web               *http.Client
}

func newRig(t *testing.T, o discordtest.Options) *rig {
	t.Helper()
	return rigOn(t, discordtest.Start(t, o))
}

// rigOn fills a fake.
func rigOn(t *testing.T, s *discordtest.Server) *rig {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	w := &rig{Server: s, ctx: ctx}
	w.alice = s.AddUser(discordtest.User{ID: "1001", Name: "alice"})
	w.bob = s.AddUser(discordtest.User{ID: "1002", Name: "bob"})
	w.robot = s.AddUser(discordtest.User{ID: "1009", Name: "robot", IsBot: true})
	s.AddGuild(
		discordtest.Guild{
			ID: guildID, Name: "town", Members: []string{"1001", "1002", "1009"}, Roles: []discordtest.Role{
				{ID: approvers, Name: "approvers", Members: []string{"1002"}},
			},
		})
	s.AddChannel(discordtest.Channel{ID: general, Guild: guildID, Name: "general"})
	s.AddChannel(discordtest.Channel{ID: elsewhere, Guild: guildID, Name: "elsewhere"})
	s.AddChannel(discordtest.Channel{ID: forum, Guild: guildID, Name: "forum", Kind: discordtest.Forum})
	base := &http.Transport{}
	t.Cleanup(base.CloseIdleConnections)
	w.web = &http.Client{Transport: s.Transport(base)}
	return w
}

// bot is a client by discordgo, not connected.
func (w *rig) bot(t *testing.T) *discordgo.Session {
	t.Helper()
	b, err := discordgo.New("Bot " + w.BotToken())
	if err != nil {
		t.Fatal(err)
	}
	b.Client = w.web
	b.Dialer = &websocket.Dialer{}
	b.SyncEvents = true
	b.ShouldRetryOnRateLimit = false
	b.MaxRestRetries = 0
	b.Identify.Intents = discordgo.IntentsAllWithoutPrivileged | discordgo.IntentMessageContent
	return b
}

// connected is the same, connected; it is closed when the test ends.
func (w *rig) connected(t *testing.T, change ...func(*discordgo.Session)) *discordgo.Session {
	t.Helper()
	b := w.bot(t)
	for _, c := range change {
		c(b)
	}
	if err := b.Open(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		b.ShouldReconnectOnError = false
		_ = b.Close()
	})
	return b
}

// must ends the test if there is an error.
func must[T any](t *testing.T) func(T, error) T {
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

// next receives from a Go channel.
func next[T any](t *testing.T, w *rig, from <-chan T) T {
	t.Helper()
	select {
	case value := <-from:
		return value
	case <-w.ctx.Done():
		t.Fatal("nothing came")
		panic("unreachable")
	}
}
