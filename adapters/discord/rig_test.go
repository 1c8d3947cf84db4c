package discord

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"gatehouse/adapters/discord/internal/address"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/discord/discordtest"
	"gatehouse/core"
)

// The ids of the fake server.
const (
	serverID  = "2000000000000000001"
	general   = "3000000000000000001"
	secret    = "3000000000000000002" // only bob's role and the bot see it
	approvers = "4000000000000000001"
)

// rig is a fake Discord with one server, and a platform that uses it without running.
type rig struct {
	*discordtest.Server
	t          *testing.T
	d          *Discord
	clock      *discordtest.Clock
	alice, bob *discordtest.Person
}

func newRig(t *testing.T, change func(*discordtest.Options)) *rig {
	t.Helper()
	w := &rig{t: t, clock: discordtest.NewClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))}
	o := discordtest.Options{Now: w.clock.Now, Fatalf: t.Errorf}
	if change != nil {
		change(&o)
	}
	w.Server = discordtest.Start(t, o)
	w.alice = w.AddUser(discordtest.User{ID: "1001", Name: "alice"})
	w.bob = w.AddUser(discordtest.User{ID: "1002", Name: "bob"})
	w.AddUser(discordtest.User{ID: "1003", Name: "carol"})
	w.AddGuild(
		discordtest.Guild{ID: serverID, Name: "town", Members: []string{"1001", "1002"}, Roles: []discordtest.Role{
			{ID: approvers, Name: "approvers", Members: []string{"1002"}},
		}})
	w.AddChannel(discordtest.Channel{ID: general, Guild: serverID, Name: "general"})
	w.AddChannel(discordtest.Channel{ID: secret, Guild: serverID, Name: "secret", Overwrites: []discordtest.Overwrite{
		{ID: serverID, Deny: discordtest.ViewChannel}, {ID: approvers, Allow: discordtest.ViewChannel},
		{ID: w.BotUserID(), Member: true, Allow: discordtest.ViewChannel},
	}})
	w.d = w.restarted(w.clock.Now)
	return w
}

// restarted returns the platform of another process.
func (w *rig) restarted(now func() time.Time) *Discord {
	w.t.Helper()
	signer, err := core.NewSigner("a key for the tests")
	if err != nil {
		w.t.Fatal(err)
	}
	d := New(core.Deps{
		Signer: signer, Now: now, Cards: adaptertest.CardFunc(noCard), Blobs: &adaptertest.Blobs{},
		KV: newTestKV(), Owner: "me",
		Inbox: adaptertest.Events(noEvents), Jitter: func() float64 { return 1 },
		Log: slog.New(slog.NewTextHandler(w.t.Output(), nil)),
	}, Config{BotToken: w.BotToken(), APIURL: w.APIURL(), Reply: replyThread})
	w.t.Cleanup(d.rest.Close)
	return d
}

func (w *rig) ctx() context.Context {
	ctx, cancel := context.WithTimeout(w.t.Context(), 30*time.Second)
	w.t.Cleanup(cancel)
	return ctx
}

// asked posts a mention in the channel and returns the address of its answer.
func (w *rig) asked(text string) core.Address {
	m := w.alice.Posts(general, w.MentionOfBot()+" "+text)
	return core.Address{Platform: address.Platform, Channel: general, Thread: m.ID, Message: m.ID}
}

// say posts all parts of a delivery.
func (w *rig) say(d core.Delivery) []core.Ref {
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
	return core.Delivery{Post: core.Post{
		Key: key, Kind: core.PostReply, Text: text, To: to,
		Conversation: core.ConversationID("discord:" + serverID + ":" + address.Channel(to)),
	}}
}

// checkNoPings checks that no message that was ever sent or edited pings anyone.
func (w *rig) checkNoPings() {
	w.t.Helper()
	checked := 0
	for _, c := range w.Calls(discordtest.CreateMessage, discordtest.EditMessage,
		"POST /webhooks/{application}/{token}", "POST /interactions/{interaction}/{token}/callback") {
		allowed, _ := c.Fields["allowed_mentions"].(map[string]any)
		parse, there := allowed["parse"].([]any)
		flags, _ := c.Fields["flags"].(float64)
		// its links don't unfold, and it pings approvers by their ids
		isCard := int(flags)&discordtest.FlagComponentsV2 != 0
		if !there || len(parse) != 0 || allowed["replied_user"] != false ||
			!isCard &&
				(int(flags)&discordtest.FlagSuppressEmbeds == 0 || allowed["users"] != nil || allowed["roles"] != nil) {
			w.t.Errorf("%s says %s", c.Route, c.Body)
		}
		checked++
	}
	if checked == 0 {
		w.t.Error("nothing was said")
	}
}

// noEvents does not tell which events wait.
func noEvents(context.Context, core.EventFilter) ([]core.EventRecord, error) {
	return nil, core.Errorf(core.StoreBusy, "The store is busy.")
}

func noCard(context.Context, core.ApprovalID, bool) (core.Card, error) {
	return core.Card{}, core.Errorf(core.NotFound, "There is no such approval.")
}

// testKV holds values in memory; other methods are not called.
type testKV struct {
	core.KV
	mu     sync.Mutex
	values map[string]string
}

func newTestKV() *testKV { return &testKV{values: map[string]string{}} }

func (k *testKV) Get(_ context.Context, name string) (string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.values[name], nil
}

func (k *testKV) PutFor(_ context.Context, name, value string, _ time.Duration) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.values[name] = value
	return nil
}

// pressedWith returns the address of an interaction whose token is stored.
func (w *rig) pressedWith(prefix, id, token string) core.Address {
	w.t.Helper()
	if err := w.d.saveToken(w.ctx(), interaction{ID: id, App: w.ApplicationID(), Token: token}); err != nil {
		w.t.Fatal(err)
	}
	return core.Address{Platform: address.Platform, Channel: general, Message: prefix + id}
}

// waits returns how long a post has to wait before Discord is called; 0: it is sent.
func (w *rig) waits(d core.Delivery) time.Duration {
	w.t.Helper()
	calls := w.CountCalls(discordtest.CreateMessage)
	_, _, err := w.d.Post(w.ctx(), d)
	if sent := w.CountCalls(discordtest.CreateMessage) > calls; sent == (core.CategoryOf(err) == core.DeliveryNotYet &&
		core.RetryAfterOf(err) > 0) {
		w.t.Errorf("sent: %v, %v", sent, err)
	}
	return core.RetryAfterOf(err)
}

// samples make the cards and errors that the tests post.
var rigSamples = adaptertest.Samples{
	Ann: core.Actor{ID: "discord:1001", Name: "Ann"}, Bob: core.Actor{ID: "discord:1002", Name: "Bob"},
	Approvers: []string{"discord:1002", "discord:role:4001", "local"}, Prefixes: []string{"discord:role:", "discord:"},
	From: core.Address{Platform: address.Platform, Channel: "3001", Thread: "5001"}, Conversation: "discord:2001:5001",
}
