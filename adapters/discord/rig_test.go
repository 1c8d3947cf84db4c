package discord

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"gatehouse/adapters/discord/discordtest"
	"gatehouse/core"
)

// The ids of the town.
const (
	townID    = "2000000000000000001"
	general   = "3000000000000000001"
	secret    = "3000000000000000002" // only bob's role and the bot see it
	approvers = "4000000000000000001"
)

// town is a fake Discord with one server, and the platform there; it is not running.
type town struct {
	*discordtest.Server
	t          *testing.T
	d          *Discord
	clock      *discordtest.Clock
	alice, bob *discordtest.Person
}

func newTown(t *testing.T, change func(*discordtest.Options)) *town {
	t.Helper()
	w := &town{t: t, clock: discordtest.NewClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))}
	o := discordtest.Options{Now: w.clock.Now, Fatalf: t.Errorf}
	if change != nil {
		change(&o)
	}
	w.Server = discordtest.Start(t, o)
	w.alice = w.AddUser(discordtest.User{ID: "1001", Name: "alice"})
	w.bob = w.AddUser(discordtest.User{ID: "1002", Name: "bob"})
	w.AddUser(discordtest.User{ID: "1003", Name: "carol"})
	w.AddGuild(discordtest.Guild{ID: townID, Name: "town", Members: []string{"1001", "1002"}, Roles: []discordtest.Role{
		{ID: approvers, Name: "approvers", Members: []string{"1002"}},
	}})
	w.AddChannel(discordtest.Channel{ID: general, Guild: townID, Name: "general"})
	w.AddChannel(discordtest.Channel{ID: secret, Guild: townID, Name: "secret", Overwrites: []discordtest.Overwrite{
		{ID: townID, Deny: discordtest.ViewChannel}, {ID: approvers, Allow: discordtest.ViewChannel}, {ID: w.BotUserID(), Member: true, Allow: discordtest.ViewChannel},
	}})
	signer, err := core.NewSigner("a key for the tests")
	if err != nil {
		t.Fatal(err)
	}
	w.d = New(Options{
		Config: Config{BotToken: w.BotToken(), APIURL: w.APIURL(), Reply: replyThread}, Signer: signer, Now: w.clock.Now, Cards: noCards{}, Settings: noSettings{}, Owner: "me",
		Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	})
	t.Cleanup(w.d.out.rest.close)
	return w
}

func (w *town) ctx() context.Context {
	ctx, cancel := context.WithTimeout(w.t.Context(), 30*time.Second)
	w.t.Cleanup(cancel)
	return ctx
}

// asked is a mention in the channel, and where it is answered.
func (w *town) asked(text string) core.Address {
	m := w.alice.Posts(general, w.MentionOfBot()+" "+text)
	return core.Address{Platform: Name, Channel: general, Thread: m.ID, Message: m.ID}
}

// say sends all parts of a delivery.
func (w *town) say(d core.Delivery) []core.Ref {
	w.t.Helper()
	var refs []core.Ref
	for more := true; more; d.Part++ {
		ref, again, err := w.d.Post(w.ctx(), d)
		if core.CategoryOf(err) == core.DeliveryNotYet {
			w.clock.Advance(core.RetryAfterOf(err))
			ref, again, err = w.d.Post(w.ctx(), d)
		}
		if err != nil {
			w.t.Fatalf("part %d: %v", d.Part, err)
		}
		refs, more = append(refs, ref), again
	}
	return refs
}

func answerTo(key, text string, to core.Address) core.Delivery {
	return core.Delivery{Post: core.Post{Key: key, Kind: core.PostReply, Text: text, To: to, Conversation: core.ConversationID("discord:" + townID + ":" + placeOf(to))}}
}

// nobodyIsCalled checks every message that was ever sent or changed.
func (w *town) nobodyIsCalled() {
	w.t.Helper()
	checked := 0
	for _, c := range w.Calls(discordtest.CreateMessage, discordtest.EditMessage, "POST /webhooks/{application}/{token}", "POST /interactions/{interaction}/{token}/callback") {
		allowed, _ := c.Fields["allowed_mentions"].(map[string]any)
		parse, there := allowed["parse"].([]any)
		if flags, _ := c.Fields["flags"].(float64); !there || len(parse) != 0 || allowed["replied_user"] != false || int(flags)&discordtest.FlagSuppressEmbeds == 0 {
			w.t.Errorf("%s says %s", c.Route, c.Body)
		}
		checked++
	}
	if checked == 0 {
		w.t.Error("nothing was said")
	}
}

// noCards and noSettings stand where nothing is asked for.
type noCards struct{ Cards }

type noSettings struct{ Settings }
