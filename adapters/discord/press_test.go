package discord_test

import (
	"bytes"
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/discord"
	"gatehouse/adapters/discord/discordtest"
	"gatehouse/core"
)

// more waits for one more event than there were and returns it.
func (r *inbound) more(than int) core.Event {
	r.t.Helper()
	var e core.Event
	r.inbox.WaitFor("another event", func() bool {
		if len(r.inbox.Order) <= than {
			return false
		}
		e = r.inbox.Stored[r.inbox.Order[len(r.inbox.Order)-1]]
		return true
	})
	return e
}

// answered waits for the answer to an interaction.
func (r *inbound) answered(i *discordtest.Interaction, want discordtest.CallbackKind) {
	r.t.Helper()
	if err := i.Wait(r.ctx); err != nil {
		r.t.Fatalf("%v; the log:\n%s", err, r.log)
	}
	if got := i.State().Answered; got != want {
		r.t.Fatalf("it was answered with %v, want %v", got, want)
	}
}

func TestPressIsADecision(t *testing.T) {
	onBoth(t, setup{}, func(t *testing.T, r *inbound) {
		thread := r.ann.OpensThread(general, r.ann.Posts(general, "work").ID, "work")
		ids := map[string]bool{}
		for _, choice := range []core.Choice{core.Approve, core.Deny} {
			b := r.button(thread, r.sealed("a1", string(choice)))
			for range 2 {
				before := len(r.inbox.IDs())
				i := r.bob.Presses(b)
				e := r.more(before)
				r.answered(i, discordtest.Update)
				if e.Kind() != core.KindClick || e.Subject() != "a1" || e.Actor.ID != "discord:1002" ||
					e.Address.Channel != general || e.Address.Thread != thread || e.QueueKey() != "approval:a1" {
					t.Errorf("got %+v", e)
				}
				if e.Address.Message != "interaction:"+i.ID ||
					r.kv.value("discord/interaction/"+i.ID) != r.ApplicationID()+"/"+i.Token {
					t.Errorf("a private answer can't be given: %q", e.Address.Message)
				}
				if bytes.Contains(e.Payload, []byte(i.Token)) {
					t.Errorf("the payload has the token: %s", e.Payload)
				}
				if c := r.click(e); c != (core.Click{
					Approval: "a1", Choice: choice, Card: core.Ref(thread + "/" + b.Message), Disabled: true,
				}) {
					t.Errorf("Parse gave %+v", c)
				}
				if ids[e.ID] {
					t.Errorf("two presses have the id %q", e.ID)
				}
				ids[e.ID] = true
			}
		}
	})
}

func TestPressIsAnsweredAfterItsCommit(t *testing.T) {
	onBoth(t, setup{}, func(t *testing.T, r *inbound) {
		b := r.button(general, r.sealed("a1", "approve"))
		commit := make(chan struct{})
		r.inbox.Gate(func(ctx context.Context, _ core.Event) error {
			select {
			case <-commit:
			case <-ctx.Done():
			}
			return nil
		})
		i := r.bob.Presses(b)
		r.inbox.WaitFor("the press", func() bool { return len(r.inbox.Tried) == 1 })
		if i.Answered() {
			t.Error("it is answered before it is stored")
		}
		close(commit)
		r.answered(i, discordtest.Update)
	})
}

func TestPressThatCannotBeStoredIsReported(t *testing.T) {
	r := newInbound(t, setup{http: true}).known()
	b := r.button(general, r.sealed("a1", "approve"))
	r.inbox.Gate(busy)
	i := r.bob.Presses(b)
	r.answered(i, discordtest.Reply)
	if m, ok := i.Shown(); !ok || m.Ephemeral != bobID || !strings.Contains(m.Content, "nothing was done") {
		t.Errorf("bob sees %+v", m)
	}
}

func TestPressOverTheGatewayIsRetriedUntilStored(t *testing.T) {
	r := newInbound(t, setup{}).known()
	b := r.button(general, r.sealed("a1", "approve"))
	r.inbox.Gate(busy)
	r.bob.Presses(b)
	r.eventually("a try in vain", func() bool { return r.timers.Count(100*time.Millisecond) > 0 })
	r.inbox.Gate(nil)
	r.timers.Fire(100 * time.Millisecond)
	if e := r.more(0); e.Kind() != core.KindClick {
		t.Errorf("got %+v", e)
	}
}

func TestPressDoesNotWaitForUnstoredMessages(t *testing.T) {
	r := newInbound(t, setup{}).known()
	b := r.button(general, r.sealed("a1", "approve"))
	r.inbox.Gate(func(_ context.Context, e core.Event) error {
		if e.Kind() == core.KindMessage {
			return errBusy
		}
		return nil
	})
	r.ann.Says("this waits")
	r.inbox.WaitFor("the message", func() bool { return len(r.inbox.Tried) > 0 })
	i := r.bob.Presses(b)
	r.answered(i, discordtest.Update)
	if e := r.more(0); e.Kind() != core.KindClick {
		t.Errorf("got %+v", e)
	}
}

func TestForeignButtonIsRefused(t *testing.T) {
	onBoth(t, setup{}, func(t *testing.T, r *inbound) {
		value := r.sealed("a1", "approve")
		for name, v := range map[string]string{
			"tampered":    strings.Replace(value, "a1", "a2", 1),
			"another key": adaptertest.Signer(t, "a key of somebody else").Seal("a1", "approve"),
			"cut":         value[:len(value)-1],
			"plain":       "a1~approve", "one field": r.sealed("a1"), "of no kind": r.sealed("a1", "explode"),
		} {
			i := r.bob.Presses(r.button(general, v))
			r.answered(i, discordtest.Reply)
			if m, ok := i.Shown(); !ok || m.Ephemeral != bobID || !strings.Contains(m.Content, "nothing was done") {
				t.Errorf("%s: bob sees %+v", name, m)
			}
			if strings.Contains(r.log.String(), v) {
				t.Errorf("%s: the log has the value", name)
			}
		}
		if got := r.inbox.IDs(); len(got) != 0 {
			t.Errorf("stored: %v", got)
		}
	})
}

func TestTryAgainAndNewConversation(t *testing.T) {
	onBoth(t, setup{}, func(t *testing.T, r *inbound) {
		thread := r.ann.OpensThread(general, r.ann.Posts(general, "work").ID, "work")
		for _, c := range []struct {
			action, id, subject string
			kind                core.Kind
		}{{"again", "press/again/17", "17", core.KindRetry}, {"new", "press/new/17", "17", core.KindReset}} {
			b := r.button(thread, r.sealed(c.action, "17", "discord:2001:"+thread))
			r.answered(r.ann.Presses(b), discordtest.DeferredUpdate)
			r.answered(r.bob.Presses(b), discordtest.DeferredUpdate)
			e := r.inbox.Event(c.id)
			if e.Kind() != c.kind || e.Subject() != c.subject ||
				e.Conversation != core.ConversationID("discord:2001:"+thread) || e.Address.Channel != general ||
				e.Address.Thread != thread {
				t.Errorf("%s: got %+v", c.action, e)
			}
		}
		if got := r.inbox.IDs(); len(got) != 2 {
			t.Errorf("stored: %v", got)
		}
	})
}

// A button belongs to the conversation of the turn that failed, wherever its message is and however mentions are
// answered now.
func TestFailureButtonsKeepTheirConversation(t *testing.T) {
	for _, mode := range []string{"thread", "channel"} {
		t.Run(mode, func(t *testing.T) {
			r := newInbound(t, setup{config: func(c *discord.Config) { c.Reply = mode }}).known()
			asked := r.ann.Posts(general, "work").ID
			thread := r.ann.OpensThread(general, asked, "work")
			event := int64(0)
			for conversation, stands := range map[core.ConversationID]core.Address{
				// its thread could not be opened
				core.ConversationID("discord:2001:" + asked): {Platform: "discord", Channel: general},
				"discord:2001:3001":                          {Platform: "discord", Channel: general},
				"discord:2001:" + general + "0":              {Platform: "discord", Channel: general, Thread: thread},
			} {
				for bucket, label := range map[core.Bucket]string{
					core.RetryableTransient: "Try again", core.SessionTerminating: "Start a new conversation",
				} {
					event++
					post := core.Post{
						Key: "error/" + strconv.FormatInt(event, 10), Kind: core.PostError, Text: "It failed.",
						Bucket: bucket, To: stands, Conversation: conversation, Event: event,
					}
					ref, _, err := r.p.Post(r.ctx, core.Delivery{Post: post})
					if err != nil {
						t.Fatal(err)
					}
					channel, id, _ := strings.Cut(string(ref), "/")
					before := len(r.inbox.IDs())
					r.answered(r.ann.Clicks(channel, id, label), discordtest.DeferredUpdate)
					e := r.more(before)
					if e.Conversation != conversation || e.Address.Channel != stands.Channel ||
						e.Address.Thread != stands.Thread {
						t.Errorf("%s of %s came as %+v", label, conversation, e)
					}
				}
			}
		})
	}
}

func TestDenyWithReason(t *testing.T) {
	onBoth(t, setup{}, func(t *testing.T, r *inbound) {
		b := r.button(general, r.sealed("a1", "reason"))
		for reason, want := range map[string]string{"  not today & <never> ": "not today & <never>", "": ""} {
			before := len(r.inbox.IDs())
			r.answered(r.bob.Presses(b), discordtest.ShowModal)
			m, err := r.WaitForModal(r.ctx, bobID)
			if err != nil {
				t.Fatal(err)
			}
			if got := r.inbox.IDs(); len(got) != before {
				t.Errorf("the press alone is stored: %v", got)
			}
			i := r.bob.SubmitsAgain(m, map[string]string{"reason": reason})
			e := r.more(before)
			r.answered(i, discordtest.Update)
			if e.Kind() != core.KindClick || e.Subject() != "a1" || e.Address.Channel != general ||
				e.Actor.ID != "discord:1002" {
				t.Errorf("got %+v", e)
			}
			if c := r.click(e); c != (core.Click{
				Approval: "a1", Choice: core.Deny, Reason: want, Card: core.Ref(general + "/" + b.Message),
				Disabled: true,
			}) {
				t.Errorf("Parse gave %+v", c)
			}
		}
	})
}

func TestFormForADecidedApproval(t *testing.T) {
	for name, c := range map[string]struct {
		card core.Card
		err  error
		want string
	}{
		"decided": {core.Card{State: core.Approved, DecidedBy: "discord:1001"}, nil, "1001"},
		"unknown": {core.Card{}, core.Errorf(core.NotFound, "no such approval"), "no longer stored"},
		"busy":    {core.Card{}, errBusy, "nothing was decided"},
	} {
		t.Run(name, func(t *testing.T) {
			s := setup{http: true}
			s.discord.Cards = adaptertest.CardFunc(func(context.Context, core.ApprovalID, bool) (core.Card, error) {
				return c.card, c.err
			})
			r := newInbound(t, s).known()
			i := r.bob.Presses(r.button(general, r.sealed("a1", "reason")))
			r.answered(i, discordtest.Reply)
			if m, _ := i.Shown(); m.Ephemeral != bobID || !strings.Contains(m.Content, c.want) {
				t.Errorf("bob sees %+v", m)
			}
		})
	}
}

func TestDangerousCallNeedsConfirmation(t *testing.T) {
	onBoth(t, setup{}, func(t *testing.T, r *inbound) {
		b := r.button(general, r.sealed("a1", "confirm"))
		r.answered(r.bob.Presses(b), discordtest.ShowModal)
		m, err := r.WaitForModal(r.ctx, bobID)
		if err != nil {
			t.Fatal(err)
		}
		r.answered(r.bob.SubmitsAgain(m, map[string]string{"confirm": "decline"}), discordtest.Reply)
		if got := r.inbox.IDs(); len(got) != 0 {
			t.Fatalf("stored: %v", got)
		}
		i := r.bob.SubmitsAgain(m, map[string]string{"confirm": "Approve"})
		e := r.more(0)
		r.answered(i, discordtest.Update)
		if c := r.click(e); c.Choice != core.Approve || c.Approval != "a1" {
			t.Errorf("Parse gave %+v", c)
		}
	})
}

// All arguments of a call are in one answer: in its text or, if they don't fit, in a file.
func TestAllArguments(t *testing.T) {
	for name, c := range map[string]struct {
		words int
		file  bool
	}{"few": {10, false}, "many": {300, true}} {
		t.Run(name, func(t *testing.T) {
			s := setup{}
			s.discord.Cards = adaptertest.CardFunc(func(
				_ context.Context, id core.ApprovalID, _ bool,
			) (core.Card, error) {
				return core.Card{
					Approval: id, State: core.Open, Tool: "note.add",
					Arguments: `{"text":"` + strings.Repeat("milk and honey, ", c.words) + `the end"}`,
				}, nil
			})
			onBoth(t, s, func(t *testing.T, r *inbound) {
				i := r.bob.Presses(r.button(general, r.sealed("a1", "arguments")))
				r.answered(i, discordtest.Reply)
				m, ok := i.Shown()
				if !ok || m.Ephemeral != bobID || !strings.Contains(m.Content, "note.add") || len(m.Reaches()) != 0 {
					t.Errorf("bob sees %+v", m)
				}
				shown := m.Content
				if (len(m.Attachments) == 1) != c.file {
					t.Fatalf("there are %d files", len(m.Attachments))
				}
				if c.file {
					shown = string(m.Attachments[0].Data)
				}
				if strings.Count(shown, "milk and honey, ") != c.words || !strings.Contains(shown, "the end") {
					t.Errorf("bob reads %q", shown)
				}
				if got := r.inbox.IDs(); len(got) != 0 {
					t.Errorf("stored: %v", got)
				}
			})
		})
	}
}
