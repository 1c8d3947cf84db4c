package discord_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gatehouse/adapters/discord/internal/address"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/discord/discordtest"
	"gatehouse/adapters/wording"
	"gatehouse/core"
)

// pressable is a card in a channel whose presses a test looks at.
type pressable struct {
	adaptertest.CardFunc // what Card does not say

	mu      sync.Mutex
	card    core.Card
	redrawn []core.ApprovalID
}

func (p *pressable) options() core.Deps { return core.Deps{Cards: p} }

func (p *pressable) Card(context.Context, core.ApprovalID, bool) (core.Card, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.card, nil
}

func (p *pressable) RedrawCards(_ context.Context, id core.ApprovalID) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.redrawn = append(p.redrawn, id)
	return nil
}

func newPressable(change func(*core.Card)) *pressable {
	p := &pressable{card: core.Card{
		Approval: "a1", State: core.Open, Tool: "note.add", Summary: "Add milk", Arguments: "{}",
		Approvers: []string{"discord:" + bobID}, Quorum: 2,
		From:         core.Address{Platform: address.Platform, Channel: general},
		Conversation: "discord:" + guild + ":" + general,
		Requested:    core.Actor{ID: "discord:" + annID},
	}}
	if change != nil {
		change(&p.card)
	}
	return p
}

// TestAPressDisablesTheButtonsUntilTheCardIsRedrawn: whoever pressed sees at once that it is taken, and the card is
// redrawn after the answer, so that no button stays disabled by mistake and no earlier state stays.
func TestAPressDisablesTheButtonsUntilTheCardIsRedrawn(t *testing.T) {
	p := newPressable(nil)
	onBoth(t, setup{discord: p.options()}, func(t *testing.T, r *inbound) {
		p.mu.Lock()
		p.redrawn = nil
		p.mu.Unlock()
		r.timers.FireAlways(time.Second)
		i := r.bob.Presses(r.button(general, r.sealed("a1", "approve")))
		r.answered(i, discordtest.Update)
		shown, _ := i.Shown()
		if n := len(shown.Buttons()); n != 3 || slices.ContainsFunc(shown.Buttons(), func(b discordtest.Button) bool {
			return !b.Disabled
		}) {
			t.Errorf("%d buttons, not all disabled:\n%s", n, shown.Shown())
		}
		if !strings.Contains(shown.Shown(), "Approval needed") {
			t.Errorf("got %s", shown.Shown())
		}
		if err := adaptertest.Poll(r.ctx, func() bool {
			p.mu.Lock()
			defer p.mu.Unlock()
			return slices.Contains(p.redrawn, "a1")
		}); err != nil {
			t.Error("the card is not redrawn")
		}
	})
}

// TestAPressThatDoesNotCountChangesNoButton: those of others, of people who have voted, and on decided cards.
func TestAPressThatDoesNotCountChangesNoButton(t *testing.T) {
	for name, c := range map[string]struct {
		action string
		change func(*core.Card)
	}{
		"not an approver": {"approve", func(c *core.Card) { c.Approvers = []string{"discord:1"} }},
		"who asked, not an approver": {"approve", func(c *core.Card) {
			c.Approvers, c.Requested.ID = []string{"discord:1"}, "discord:"+bobID
		}},
		"has voted":            {"approve", func(c *core.Card) { c.Voters = []core.Actor{{ID: "discord:" + bobID}} }},
		"decided":              {"approve", func(c *core.Card) { c.State = core.Approved }},
		"withdrawn by another": {"withdraw", nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := newInbound(t, setup{discord: newPressable(c.change).options()}).known()
			r.answered(r.bob.Presses(r.button(general, r.sealed("a1", c.action))), discordtest.DeferredUpdate)
		})
	}
}

// TestCardsThatWerePressedLatelyAreRedrawnAtTheStart: the process before may have ended between the answer to a press
// and the redrawing.
func TestCardsThatWerePressedLatelyAreRedrawnAtTheStart(t *testing.T) {
	p := newPressable(nil)
	o := p.options()
	o.Inbox = adaptertest.Events(func(context.Context, core.EventFilter) ([]core.EventRecord, error) {
		click := func(id core.ApprovalID, ago time.Duration) core.EventRecord {
			return core.EventRecord{
				Event:      core.Event{Platform: address.Platform, Body: core.ClickEvent{Approval: id}},
				AcceptedAt: time.Now().Add(-ago),
			}
		}
		return []core.EventRecord{
			click("a1", time.Minute), click("a1", 2*time.Minute), click("a2", 2*time.Minute), click("a3", time.Hour),
		}, nil
	})
	r := newInbound(t, setup{discord: o}).known()
	if err := adaptertest.Poll(r.ctx, func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return slices.Equal(p.redrawn, []core.ApprovalID{"a1", "a2"})
	}); err != nil {
		t.Errorf("redrawn: %v", p.redrawn)
	}
}

// TestWhoMayNotDecideGetsNoForm but the reason, at once; nothing is stored.
func TestWhoMayNotDecideGetsNoForm(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*core.Card)
		want   string
	}{
		"a stranger": {func(c *core.Card) {
			c.Approvers = []string{"discord:1"}
		}, "You are not an approver of this request."},
		"who asked, not an approver": {func(c *core.Card) {
			c.Approvers, c.Requested.ID = []string{"discord:1"}, "discord:"+bobID
		}, wording.BuiltIn.OthersDecide},
		"who asked, an approver": {func(c *core.Card) {
			c.Requested.ID = "discord:" + bobID
		}, "You asked for this yourself, so another approver has to decide."},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, setup{discord: newPressable(c.change).options()}, func(t *testing.T, r *inbound) {
				for _, action := range []string{"reason", "confirm", "edit"} {
					i := r.bob.Presses(r.button(general, r.sealed("a1", action)))
					r.answered(i, discordtest.Reply)
					if m, _ := i.Shown(); m.Content != c.want || m.Ephemeral != bobID {
						t.Errorf("%s: bob sees %q", action, m.Content)
					}
				}
				if ids := r.inbox.IDs(); len(ids) != 0 {
					t.Errorf("stored: %v", ids)
				}
			})
		})
	}
}

func TestWithdrawAndAskAgain(t *testing.T) {
	onBoth(t, setup{discord: newPressable(nil).options()}, func(t *testing.T, r *inbound) {
		r.answered(r.ann.Presses(r.button(general, r.sealed("a1", "withdraw"))), discordtest.Update)
		if e := r.more(0); e.Kind() != core.KindClick || r.click(e).Choice != core.Withdraw ||
			r.click(e).Approval != "a1" {
			t.Errorf("got %+v", e)
		}
		b := r.button(general, r.sealed("a1", "ask_again"))
		r.answered(r.ann.Presses(b), discordtest.DeferredUpdate)
		e := r.more(1)
		if e.Kind() != core.KindAgain || e.Subject() != "a1" || e.Actor.ID != "discord:"+annID {
			t.Errorf("got %+v", e)
		}
		r.answered(r.ann.Presses(b), discordtest.DeferredUpdate)
		if n := len(r.inbox.IDs()); n != 2 {
			t.Errorf("pressed twice, there are %d events", n)
		}
		r.answered(r.bob.Presses(b), discordtest.DeferredUpdate)
		if other := r.more(2); other.ID == e.ID {
			t.Errorf("another person's press is the same event %q", e.ID)
		}
	})
}
