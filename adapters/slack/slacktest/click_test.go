package slacktest_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	slackgo "github.com/slack-go/slack"

	"gatehouse/adapters/internal/fakeserver"
	"gatehouse/adapters/slack/slacktest"
)

func card(question string) slackgo.MsgOption {
	word := func(s string) *slackgo.TextBlockObject {
		return slackgo.NewTextBlockObject("plain_text", s, false, false)
	}
	deny := slackgo.NewButtonBlockElement("deny", "n1", word("Deny")).
		WithConfirm(
			slackgo.NewConfirmationBlockObject(word("Sure?"), word("It can't be undone."), word("Yes"), word("No")))
	return slackgo.MsgOptionBlocks(
		slackgo.NewSectionBlock(slackgo.NewTextBlockObject("mrkdwn", question, false, false), nil, nil),
		slackgo.NewActionBlock("choice", slackgo.NewButtonBlockElement("approve", "y1", word("Approve")), deny),
	)
}

func modal() slackgo.ModalViewRequest {
	word := func(s string) *slackgo.TextBlockObject {
		return slackgo.NewTextBlockObject("plain_text", s, false, false)
	}
	return slackgo.ModalViewRequest{
		Type: slackgo.VTModal, Title: word("Why not?"), Submit: word("Send"), CallbackID: "refusal",
		PrivateMetadata: "a1", NotifyOnClose: true,
		Blocks: slackgo.Blocks{BlockSet: []slackgo.Block{
			slackgo.NewInputBlock("why", word("Reason"), nil, slackgo.NewPlainTextInputBlockElement(nil, "reason")),
		}},
	}
}

// interaction decodes the last request to the app, as slack-go does.
func (a *app) interaction(t *testing.T) slackgo.InteractionCallback {
	t.Helper()
	all := a.all()
	r, err := http.NewRequest(http.MethodPost, "/", strings.NewReader(string(all[len(all)-1].body)))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	callback, err := slackgo.InteractionCallbackParse(r)
	if err != nil {
		t.Fatal(err)
	}
	return callback
}

func TestAClickContainsTheCurrentMessage(t *testing.T) {
	w := newWorkspace(t, slacktest.Options{})
	a := newApp(t, w.SigningSecret())
	w.SendTo(slacktest.Addresses{Interactions: a.URL})
	parent := w.alice.Posts("C1", "do it", slacktest.WithoutEvent()).TS
	_, ts, err := w.api.PostMessage("C1", card("May I?"), slackgo.MsgOptionTS(parent))
	if err != nil {
		t.Fatal(err)
	}
	d := w.bob.Clicks("C1", ts, "Deny")
	if err := d.Wait(w.ctx); err != nil {
		t.Fatal(err)
	}
	got := a.interaction(t)
	action := got.ActionCallback.BlockActions[0]
	if got.Type != slackgo.InteractionTypeBlockActions || got.User.ID != "U2" || got.Channel.ID != "C1" ||
		got.Message.Timestamp != ts ||
		got.Container.MessageTs != ts || got.Container.ThreadTs != parent || got.Team.ID != w.TeamID() ||
		got.APIAppID != w.AppID() ||
		got.ResponseURL != d.ResponseURL || got.TriggerID != d.TriggerID || got.BlockActionState == nil {
		t.Errorf("%+v", got)
	}
	if action.ActionID != "deny" || action.Value != "n1" || action.BlockID != "choice" || action.ActionTs == "" ||
		action.Text.Text != "Deny" {
		t.Errorf("%+v", action)
	}
	old, ok := w.FindButton("C1", ts, "approve")
	if _, _, _, err := w.api.UpdateMessage("C1", ts, text("Denied."), slackgo.MsgOptionBlocks()); err != nil || !ok {
		t.Fatal(err, ok)
	}
	if _, still := w.FindButton("C1", ts, "approve"); still {
		t.Error("the buttons should be gone")
	}
	if err := w.alice.Presses(old).Wait(w.ctx); err != nil {
		t.Fatal(err)
	}
	if got := a.interaction(t); got.Message.Text != "Denied." || got.ActionCallback.BlockActions[0].Value != "y1" {
		t.Errorf("%+v", got)
	}
	if c := a.all()[0]; c.bad != nil {
		t.Error(c.bad)
	}
}

func TestATriggerOpensOneModalWithinThreeSeconds(t *testing.T) {
	clock := fakeserver.NewClock(time.Now())
	w := newWorkspace(t, slacktest.Options{Now: clock.Now})
	a := newApp(t, w.SigningSecret())
	w.SendTo(slacktest.Addresses{Interactions: a.URL})
	_, ts, err := w.api.PostMessage("C1", card("May I?"))
	if err != nil {
		t.Fatal(err)
	}
	click := func() string {
		t.Helper()
		d := w.bob.Clicks("C1", ts, "Deny")
		if err := d.Wait(w.ctx); err != nil {
			t.Fatal(err)
		}
		return d.TriggerID
	}
	late := click()
	clock.Advance(4 * time.Second)
	_, err = w.api.OpenView(late, modal())
	wantError(t, err, "expired_trigger_id")
	trigger := click()
	opened, err := w.api.OpenView(trigger, modal())
	if err != nil || opened.ID == "" || opened.CallbackID != "refusal" {
		t.Fatal(err, opened)
	}
	_, err = w.api.OpenView(trigger, modal())
	wantError(t, err, "exchanged_trigger_id")
	_, err = w.api.OpenView("1.2.3", modal())
	wantError(t, err, "invalid_trigger_id")
	unlabelled := modal()
	unlabelled.Submit = nil
	_, err = w.api.OpenView(click(), unlabelled)
	wantError(t, err, "invalid_arguments")

	v, ok := w.Modal("U2")
	if !ok || v.Title != "Why not?" || v.PrivateMetadata != "a1" {
		t.Fatalf("%+v", v)
	}
	errs, _ := json.Marshal(slackgo.NewErrorsViewSubmissionResponse(map[string]string{"why": "Too short."}))
	a.answersWith(string(errs))
	if err := w.bob.Submits(map[string]string{"reason": "no"}).Wait(w.ctx); err != nil {
		t.Fatal(err)
	}
	if v, _ := w.Modal("U2"); v.Errors["why"] != "Too short." {
		t.Errorf("%+v", v)
	}
	a.answersWith("")
	if err := w.bob.Submits(map[string]string{"why": "not today"}).Wait(w.ctx); err != nil {
		t.Fatal(err)
	}
	got := a.interaction(t)
	if got.Type != slackgo.InteractionTypeViewSubmission ||
		got.View.State.Values["why"]["reason"].Value != "not today" || got.View.PrivateMetadata != "a1" {
		t.Errorf("%+v", got.View)
	}
	if _, open := w.Modal("U2"); open {
		t.Error("the modal should be closed")
	}
	if _, err := w.api.OpenView(click(), modal()); err != nil {
		t.Fatal(err)
	}
	if err := w.bob.Dismisses().Wait(w.ctx); err != nil {
		t.Fatal(err)
	}
	if got := a.interaction(t); got.Type != slackgo.InteractionTypeViewClosed || got.View.CallbackID != "refusal" {
		t.Errorf("%+v", got)
	}
}

func TestAnEphemeralIsSeenByOneAndItsButtonWorks(t *testing.T) {
	w := newWorkspace(t, slacktest.Options{})
	a := newApp(t, w.SigningSecret())
	w.SendTo(slacktest.Addresses{Interactions: a.URL})
	ts, err := w.api.PostEphemeral("C1", "U2", card("Only you"))
	if err != nil {
		t.Fatal(err)
	}
	if got := w.Ephemerals("C1", "U2"); len(got) != 1 || got[0].TS != ts || len(w.Ephemerals("C1", "U1")) != 0 ||
		len(w.Messages("C1")) != 0 {
		t.Errorf("%+v", got)
	}
	if err := w.bob.Clicks("C1", ts, "Approve").Wait(w.ctx); err != nil {
		t.Fatal(err)
	}
	if got := a.interaction(t); !got.Container.IsEphemeral || got.Message.Timestamp != "" {
		t.Errorf("%+v", got)
	}
	_, err = w.api.PostEphemeral("C1", "U404", text("x"))
	wantError(t, err, "user_not_found")
}

func TestASlashCommandIsAFormAndItsAnswerIsShown(t *testing.T) {
	w := newWorkspace(t, slacktest.Options{})
	a := newApp(t, w.SigningSecret())
	a.answer = "All is well."
	w.SendTo(slacktest.Addresses{Commands: a.URL})
	if err := w.alice.Runs("C1", "/gatehouse status now").Wait(w.ctx); err != nil {
		t.Fatal(err)
	}
	r, _ := http.NewRequest(http.MethodPost, "/", strings.NewReader(string(a.all()[0].body)))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	got, err := slackgo.SlashCommandParse(r)
	if err != nil || got.Command != "/gatehouse" || got.Text != "status now" || got.UserID != "U1" ||
		got.ChannelID != "C1" || got.TeamID != w.TeamID() {
		t.Errorf("%v %+v", err, got)
	}
	if _, err := w.WaitForEphemeral(w.ctx, "C1", "U1", "All is well."); err != nil {
		t.Error(err)
	}
}
