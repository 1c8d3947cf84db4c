package discord_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"gatehouse/adapters/discord/discordtest"
	"gatehouse/core"
)

// An interaction's token is valid for fifteen minutes for anyone who has it. No event, post or log line contains it,
// and it is stored no longer than that.
func TestInteractionTokensAreOnlyInShortLivedValues(t *testing.T) {
	clock := discordtest.NewClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	s := setup{fake: discordtest.Options{Now: clock.Now}, discord: core.Deps{Now: clock.Now}}
	onBoth(t, s, func(t *testing.T, r *inbound) {
		r.registered()
		button := r.button(general, r.sealed("a1", "approve"))
		var events []core.Event
		var interactions []*discordtest.Interaction
		for _, does := range []func() *discordtest.Interaction{
			func() *discordtest.Interaction { return r.bob.Presses(button) },
			func() *discordtest.Interaction {
				r.answered(r.bob.Presses(r.button(general, r.sealed("a1", "reason"))), discordtest.ShowModal)
				m, err := r.WaitForModal(r.ctx, bobID)
				if err != nil {
					t.Fatal(err)
				}
				return r.bob.SubmitsAgain(m, map[string]string{"reason": "no"})
			},
			func() *discordtest.Interaction { return r.ann.Runs(general, "/status") },
			func() *discordtest.Interaction { return r.ann.Runs(general, "/new") },
			func() *discordtest.Interaction { return r.ann.Runs(general, "/ask why") },
		} {
			before := len(r.inbox.IDs())
			interactions = append(interactions, does())
			events = append(events, r.more(before))
		}
		for n, e := range events {
			kind := core.PostNotice
			if strings.HasPrefix(e.Address.Message, "interaction:") {
				kind = core.PostPrivate
			}
			post := core.Post{
				Key: "notice/" + e.ID, Kind: kind, Text: "This is how it is.", Person: e.Actor.ID, To: e.Address,
				Conversation: e.Conversation,
			}
			if err := interactions[n].Wait(r.ctx); err != nil {
				t.Fatal(err)
			}
			if _, _, err := r.p.Post(r.ctx, core.Delivery{Post: post}); err != nil {
				t.Errorf("%s: %v", e.ID, err)
			}
			for _, stored := range []any{e, post} {
				text, err := json.Marshal(stored)
				if err != nil {
					t.Fatal(err)
				}
				for _, i := range interactions {
					if strings.Contains(string(text), i.Token) {
						t.Errorf("a token is stored: %s", text)
					}
				}
			}
		}
		if n := len(r.Ephemerals(general, bobID)); n != 2 {
			t.Errorf("bob was told %d things", n)
		}
		for _, i := range interactions {
			if strings.Contains(r.log.String(), i.Token) {
				t.Error("a token is in the log")
			}
		}
		clock.Advance(discordtest.TokenLifetime)
		for _, i := range interactions {
			if left, err := r.kv.Get(r.ctx, "discord/interaction/"+i.ID); left != "" || err != nil {
				t.Errorf("fifteen minutes later %q is stored, %v", left, err)
			}
		}
	})
}

// If the token can't be stored, the event is not stored either, since it could not be answered.
func TestInteractionWhoseTokenCannotBeStored(t *testing.T) {
	r := newInbound(t, setup{http: true}).known()
	b := r.button(general, r.sealed("a1", "approve"))
	r.kv.fail(true)
	i := r.bob.Presses(b)
	r.answered(i, discordtest.Reply)
	if m, ok := i.Shown(); !ok || !strings.Contains(m.Content, "nothing was done") || len(r.inbox.IDs()) != 0 {
		t.Errorf("bob sees %+v; stored: %v", m, r.inbox.IDs())
	}
	r.kv.fail(false)
}
