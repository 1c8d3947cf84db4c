package discord

import (
	"testing"

	"gatehouse/adapters/adaptertest"
	"gatehouse/core"
)

// TestPostsAreAsDiscordDescribesThem posts all that a platform can be told to say, in a thread, and edits it.
// The fake compares each request with Discord's own description, and fails the test with those that differ.
func TestPostsAreAsDiscordDescribesThem(t *testing.T) {
	w := newRig(t, nil)
	samples := adaptertest.Samples{
		Ann: core.Actor{ID: "discord:1001", Name: "Ann"}, Bob: core.Actor{ID: "discord:1002", Name: "Bob"},
		Approvers: []string{"discord:1002", "discord:role:" + approvers, "local"},
		Prefixes:  []string{"discord:role:", "discord:"},
		From:      w.asked("work"), Conversation: "discord:" + serverID + ":" + general, Broadcast: "@everyone",
		Hostile: "@everyone <@&1> [safe](https://evil.example) ``` ||x|| </ask:1> *_~` \x00", Reply: "Hello **you**",
		Notice:  "Stopped.\nNothing waits.",
		Context: []core.Line{{Role: core.User, Text: "hello"}, {Role: core.Assistant, Text: "hello yourself"}},
	}
	posted := 0
	within := func(d core.Delivery, do func() error) { // Discord's limits
		err := do()
		for core.CategoryOf(err) == core.DeliveryNotYet {
			w.clock.Advance(core.RetryAfterOf(err))
			err = do()
		}
		if err != nil {
			t.Fatalf("%s: part %d: %v", d.Key, d.Part, err)
		}
	}
	for _, d := range samples.Drive(t) {
		if d.Kind == core.PostPrivate {
			continue // only an answer to a press can be told to one person; the program's tests do it
		}
		for more := true; more; d.Part++ {
			var ref core.Ref
			within(d, func() (err error) {
				ref, more, err = w.d.Post(w.ctx(), d)
				return err
			})
			within(d, func() error { return w.d.Edit(w.ctx(), ref, d) })
			posted++
		}
	}
	if posted < 100 {
		t.Errorf("only %d messages were posted", posted)
	}
}
