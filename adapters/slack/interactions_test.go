package slack_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/slack/slacktest"
	"gatehouse/adapters/wording"
	"gatehouse/core"
)

func busy(context.Context, core.Event) error {
	return core.Errorf(core.StoreBusy, "The store is busy.")
}

// button is a button of a message like those that the bot posts.
func (r *running) button(channel, value string, hows ...slacktest.ActionOption) slacktest.Button {
	r.t.Helper()
	p := r.ann.Posts(channel, "a card", append(hows, slacktest.WithoutEvent(), slacktest.WithBlocks(slacktest.Block{
		"type": "actions", "block_id": "b", "elements": []any{map[string]any{
			"type": "button", "action_id": "x", "value": value,
			"text": map[string]any{"type": "plain_text", "text": "Press"},
		}},
	}))...)
	b, ok := r.FindButton(channel, p.TS, "x")
	if !ok {
		r.t.Fatal("there is no button")
	}
	return b
}

const testKey = "a key for the tests"

func (r *running) sealed(fields ...string) string {
	return adaptertest.Signer(r.t, testKey).Seal(fields...)
}

func (r *running) click(e core.Event) core.Click { return adaptertest.Click(r.t, e) }

func TestAClickIsAVote(t *testing.T) {
	onBoth(t, setup{}, func(t *testing.T, r *running) {
		root := r.ann.Posts("C1", "work", slacktest.WithoutEvent())
		ids := map[string]bool{}
		for _, choice := range []core.Choice{core.Approve, core.Deny} {
			b := r.button("C1", r.sealed("a1", string(choice)), slacktest.InThread(root.TS))
			for range 2 {
				d := r.bob.Presses(b)
				e := r.one(d)
				if e.Kind() != core.KindClick || e.Subject() != "a1" || e.Actor.ID != "slack:U2BOB" ||
					e.Address.Channel != "C1" || e.Address.Thread != root.TS || e.QueueKey() != "approval:a1" {
					t.Errorf("got %+v", e)
				}
				if c := r.click(e); c != (core.Click{Approval: "a1", Choice: choice, Card: core.Ref("C1/" + b.TS)}) {
					t.Errorf("Parse gave %+v", c)
				}
				if ids[e.ID] {
					t.Errorf("two clicks have the id %q", e.ID)
				}
				ids[e.ID] = true
				if again := r.one(d.Again()); again.ID != e.ID {
					t.Errorf("delivered twice, its ids are %q and %q", e.ID, again.ID)
				}
			}
		}
	})
}

// unstored fails the test unless a person has been told that their press was not stored, as the n-th private sentence,
// and the log promises nothing else.
func (r *running) unstored(channel, person string, n int) {
	r.t.Helper()
	if text := r.told(channel, person, n); !strings.Contains(text,
		"Your press could not be stored, so nothing was done. Press again.") {
		r.t.Errorf("%s reads %q", person, text)
	}
	if log := r.log.String(); strings.Contains(log, "Slack sends it again") ||
		strings.Count(log, "the person is asked to press again") != n {
		r.t.Errorf("the log:\n%s", log)
	}
}

// TestAPressThatIsNotStoredIsNotAcknowledged: Slack sends no press again, so the person is told.
func TestAPressThatIsNotStoredIsNotAcknowledged(t *testing.T) {
	onBoth(t, setup{fake: slacktest.Options{AckWithin: 1e8}}, func(t *testing.T, r *running) {
		root := r.ann.Posts("C1", "work", slacktest.WithoutEvent())
		for n, fields := range [][]string{
			{"a1", "approve"}, {"a1", "deny"}, {"again", "7", "slack:T0GATE:C1:" + root.TS, "C1", root.TS},
		} {
			b := r.button("C1", r.sealed(fields...), slacktest.InThread(root.TS))
			r.inbox.Gate(busy)
			r.refused(r.bob.Presses(b))
			r.unstored("C1", "U2BOB", n+1)
			if told := r.Ephemerals("C1", "U2BOB")[n]; told.ThreadTS != root.TS {
				t.Errorf("%v: bob is told outside the thread: %+v", fields, told)
			}
			r.inbox.Gate(nil)
			r.taken()
			r.one(r.bob.Presses(b))
		}
	})
}

func TestAPressThatIsNotStoredMayBeRepeatedWhereNobodyCanBeTold(t *testing.T) {
	r := start(t, setup{}).known()
	down := r.Inject(slacktest.Fault{Endpoint: "chat.postEphemeral", Trouble: slacktest.ServerError(503)})
	b := r.button("C1", r.sealed("a1", "approve"))
	r.inbox.Gate(busy)
	if status := r.refused(r.bob.Presses(b)); status != 503 {
		t.Errorf("answered %d", status)
	}
	r.eventually("a failed call", func() bool { return down.Hits() == 1 })
	r.inbox.Gate(nil)
	r.taken()
	r.one(r.bob.Presses(b))
}

func TestAForgedButtonIsRefusedWithAnErrorMessage(t *testing.T) {
	r := start(t, setup{}).known()
	value := r.sealed("a1", "approve")
	for name, v := range map[string]string{
		"tampered":    strings.Replace(value, "a1", "a2", 1),
		"another key": adaptertest.Signer(t, "the key of another gatehouse").Seal("a1", "approve"),
		"cut":         value[:len(value)-1],
		"plain":       "a1~approve", "one field": r.sealed("a1"),
	} {
		b := r.button("C1", v)
		before := len(r.Ephemerals("C1", "U2BOB"))
		r.none(r.bob.Presses(b))
		if err := r.WaitFor(r.ctx, func(*slacktest.Server) bool {
			return len(r.Ephemerals("C1", "U2BOB")) > before
		}); err != nil {
			t.Errorf("%s: no error message was sent: %v", name, err)
		}
		if strings.Contains(r.log.String(), v) {
			t.Errorf("%s: the log has the value", name)
		}
	}
	r.none(r.bob.Presses(r.button("C1", r.sealed("a1", "explode")))) // ours, and of no kind that is known
}

func TestAButtonSealedWithAnOlderKeyIsValid(t *testing.T) {
	r := start(t, setup{slack: core.Deps{Signer: adaptertest.Signer(t, "the newer of two keys", testKey)}}).known()
	if c := r.click(r.one(r.bob.Presses(r.button("C1", r.sealed("a1", "approve"))))); c.Choice != core.Approve {
		t.Errorf("got %+v", c)
	}
}

func TestAClickThatSlackSendsFromAnotherWorkspace(t *testing.T) {
	r := start(t, setup{}).known()
	b := r.button("C1", r.sealed("a1", "approve"))
	// of a shared channel: bob is of the bot's own
	if e := r.one(r.bob.Presses(b, slacktest.FromTeam("T9OTHER"))); e.Actor.ID != "slack:U2BOB" ||
		e.Conversation != "slack:T0GATE:C1" {
		t.Errorf("got %+v", e)
	}
	if status := r.refused(r.ann.Says("hello", slacktest.FromTeam("T9OTHER")).Deliveries[0]); status != 403 {
		t.Errorf("an event of another workspace was answered with %d", status)
	}
}

func TestAClickOnAnEphemeralMessage(t *testing.T) {
	r := start(t, setup{}).known()
	root := r.ann.Posts("C1", "work", slacktest.WithoutEvent())
	value := r.sealed("a1", "deny")
	body := `{"type":"block_actions","team":{"id":"T0GATE"},"user":{"id":"U2BOB","team_id":"T0GATE"},` +
		`"trigger_id":"1.2.3",` +
		`"container":{"type":"message","message_ts":"1.2","channel_id":"C1","is_ephemeral":true,"thread_ts":"` +
		root.TS + `"},"channel":{"id":"C1","name":"general"},` +
		`"actions":[{"action_id":"x","block_id":"b","type":"button","value":"` + value +
		`","action_ts":"1700000000.000001"}]}`
	e := r.one(
		r.SendRaw(slacktest.Interactions, formOf(body), slacktest.WithContentType("application/x-www-form-urlencoded")))
	if e.Address.Channel != "C1" || e.Address.Thread != root.TS || e.ID != "vote/a1/U2BOB/1700000000.000001" {
		t.Errorf("got %+v", e)
	}
	if c := r.click(e); c.Choice != core.Deny {
		t.Errorf("got %+v", c)
	}
}

func TestTryAgainAndNewConversation(t *testing.T) {
	onBoth(t, setup{}, func(t *testing.T, r *running) {
		root := r.ann.Posts("C1", "work", slacktest.WithoutEvent())
		conversation := "slack:T0GATE:C1:" + root.TS
		for _, c := range []struct {
			action, id, subject string
			kind                core.Kind
		}{{"again", "press/again/17", "17", core.KindRetry}, {"new", "press/new/17", "17", core.KindReset}} {
			b := r.button("C1", r.sealed(c.action, "17", conversation, "C1", root.TS), slacktest.InThread(root.TS))
			first, second := r.one(r.ann.Presses(b)), r.one(r.bob.Presses(b))
			if first.ID != c.id || second.ID != c.id {
				t.Errorf("%s: two clicks have the ids %q and %q, want one", c.action, first.ID, second.ID)
			}
			if first.Kind() != c.kind || first.Subject() != c.subject ||
				first.Conversation != core.ConversationID(conversation) || first.Address.Channel != "C1" ||
				first.Address.Thread != root.TS {
				t.Errorf("%s: got %+v", c.action, first)
			}
		}
	})
}

func TestDenyWithReason(t *testing.T) {
	onBoth(t, setup{}, func(t *testing.T, r *running) {
		root := r.ann.Posts("C1", "work", slacktest.WithoutEvent())
		b := r.button("C1", r.sealed("a1", "reason"), slacktest.InThread(root.TS))
		r.none(r.bob.Presses(b))
		v, err := r.WaitForModal(r.ctx, "U2BOB")
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(v.Shown(), r.sealed("a1", "reason")) {
			t.Error("the form shows the sealed value")
		}
		r.none(r.bob.Dismisses())

		r.none(r.bob.Presses(b))
		if _, err := r.WaitForModal(r.ctx, "U2BOB"); err != nil {
			t.Fatal(err)
		}
		d := r.bob.Submits(map[string]string{"reason": "  not today & <never> "})
		e := r.one(d)
		if e.Kind() != core.KindClick || e.Subject() != "a1" || e.Address.Channel != "C1" ||
			e.Address.Thread != root.TS || e.Actor.ID != "slack:U2BOB" {
			t.Errorf("got %+v", e)
		}
		if c := r.click(e); c != (core.Click{Approval: "a1", Choice: core.Deny, Reason: "not today & <never>"}) {
			t.Errorf("Parse gave %+v", c)
		}
		if again := r.one(d.Again()); again.ID != e.ID {
			t.Errorf("submitted twice its ids are %q and %q", e.ID, again.ID)
		}
		if _, open := r.Modal("U2BOB"); open {
			t.Error("the form is still open")
		}
		r.none(r.bob.Presses(b))
		if e := r.one(r.bob.Submits(nil)); r.click(e) != (core.Click{Approval: "a1", Choice: core.Deny}) {
			t.Errorf("without a reason Parse gave %+v", r.click(e))
		}
	})
}

func TestAModalStaysOpenIfItsEventIsNotStored(t *testing.T) {
	r := start(t, setup{}).known()
	r.none(r.bob.Presses(r.button("C1", r.sealed("a1", "reason"))))
	r.inbox.Gate(busy)
	r.refused(r.bob.Submits(map[string]string{"reason": "no"}))
	if _, open := r.Modal("U2BOB"); !open {
		t.Fatal("the modal was closed, and the decision is lost")
	}
	r.unstored("C1", "U2BOB", 1)
	r.inbox.Gate(nil)
	r.taken()
	r.one(r.bob.Submits(map[string]string{"reason": "no"}))
}

func TestAnErrorMessageIsSentIfAModalCanNotBeOpened(t *testing.T) {
	for name, trouble := range map[string]slacktest.Trouble{
		"late": slacktest.Refused("expired_trigger_id"), "down": slacktest.ServerError(503), "cut": slacktest.Cut(),
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, setup{}).known()
			r.Inject(slacktest.Fault{Endpoint: "views.open", Trouble: trouble})
			r.none(r.bob.Presses(r.button("C1", r.sealed("a1", "reason"))))
			if _, err := r.WaitForEphemeral(r.ctx, "C1", "U2BOB", "nothing was decided"); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAModalIsOpenedBeforeItsTriggerExpires(t *testing.T) {
	r := start(t, setup{}).known()
	held := r.Inject(slacktest.Fault{Endpoint: "views.open", Trouble: slacktest.Held()})
	d := r.bob.Presses(r.button("C1", r.sealed("a1", "reason")))
	r.none(d)
	held.Lift()
	if took := d.Attempts()[0].Took; took > 3*time.Second {
		t.Errorf("Slack waited %v for the acknowledgement", took)
	}
}

func TestNoReasonModalForADecidedOrUnknownApproval(t *testing.T) {
	at := time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		card core.Card
		err  error
		text string
	}{
		"decided": {
			card: core.Card{Approval: "a1", State: core.Approved, DecidedBy: "slack:U1ANN", DecidedAt: at},
			text: "pproved",
		},
		"unknown": {err: core.Errorf(core.NotFound, "No."), text: wording.BuiltIn.PressUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t,
				setup{slack: core.Deps{Cards: adaptertest.CardFunc(
					func(context.Context, core.ApprovalID, bool) (core.Card, error) {
						return c.card, c.err
					})}}).known()
			r.none(r.bob.Presses(r.button("C1", r.sealed("a1", "reason"))))
			if _, err := r.WaitForEphemeral(r.ctx, "C1", "U2BOB", c.text); err != nil {
				t.Error(err)
			}
			if _, open := r.Modal("U2BOB"); open {
				t.Error("a form was opened")
			}
		})
	}
	t.Run("down", func(t *testing.T) {
		r := start(t,
			setup{slack: core.Deps{Cards: adaptertest.CardFunc(
				func(context.Context, core.ApprovalID, bool) (core.Card, error) {
					return core.Card{}, core.Errorf(core.StoreBusy, "The store is busy.")
				})}}).known()
		if status := r.refused(r.bob.Presses(r.button("C1", r.sealed("a1", "reason")))); status != 503 {
			t.Errorf("answered %d", status)
		}
		if text := r.told("C1", "U2BOB", 1); !strings.Contains(text, "nothing was decided. Press again") {
			t.Errorf("bob reads %q", text)
		}
		if log := r.log.String(); strings.Contains(log, "Slack sends it again") {
			t.Errorf("the log:\n%s", log)
		}
	})
}

func TestShowAllOpensTheArgumentsModal(t *testing.T) {
	r := start(t, setup{}).known()
	r.none(r.bob.Presses(r.button("C1", r.sealed("a1", "arguments"))))
	if _, err := r.WaitForModal(r.ctx, "U2BOB"); err != nil {
		t.Error(err)
	}
}

// TestAForgedModalSaysSo, at an input of it, and stays open: nothing is stored.
func TestAForgedModalSaysSo(t *testing.T) {
	r := start(t, setup{}).known()
	for callback, input := range map[string]string{
		"deny_reason": "reason", "edit_arguments": "arguments", "answer_question": "field_0",
	} {
		for _, metadata := range []string{
			"", "a1~reason~C1~", adaptertest.Signer(t, "the key of another gatehouse").Seal("a1", "reason", "C1", ""),
			r.sealed("a1", "approve", "C1", ""), r.sealed("a1", "reason"),
		} {
			body := `{"type":"view_submission","team":{"id":"T0GATE"},"user":{"id":"U2BOB"},"view":{"id":"V1",` +
				`"callback_id":"` +
				callback + `","private_metadata":"` + metadata + `","state":{"values":{}}}}`
			status, answer := r.send("/slack/interactions", formOf(body), nil)
			var said struct {
				Action string `json:"response_action"`
				Errors map[string]string
			}
			if err := json.Unmarshal([]byte(answer), &said); err != nil || status != 200 || said.Action != "errors" ||
				len(said.Errors) != 1 || said.Errors[input] != wording.BuiltIn.PressNotOurs {
				t.Errorf("%s %q: answered %d %s", callback, metadata, status, answer)
			}
		}
	}
	if got := r.inbox.Take(); len(got) != 0 {
		t.Errorf("stored: %+v", got)
	}
}

func TestOtherInteractionsAreAcknowledged(t *testing.T) {
	r := start(t, setup{}).known()
	for _, body := range []string{
		`{"type":"shortcut","user":{"id":"U2BOB"},"callback_id":"x"}`,
		`{"type":"message_action","user":{"id":"U2BOB"}}`,
		`{"type":"view_closed","user":{"id":"U2BOB"},"view":{"id":"V1"}}`,
		`{"type":"block_actions","user":{"id":"U2BOB"},"actions":[{"action_id":"link","type":"button"}]}`,
		`{"type":"block_actions"}`, `{}`,
	} {
		r.none(
			r.SendRaw(slacktest.Interactions, formOf(body),
				slacktest.WithContentType("application/x-www-form-urlencoded")))
	}
}
