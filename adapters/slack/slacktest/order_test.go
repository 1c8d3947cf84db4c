package slacktest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	slackgo "github.com/slack-go/slack"
	"github.com/slack-go/slack/socketmode"

	"gatehouse/adapters/slack/slacktest"
)

func TestEventsOfAConversationAreDeliveredInOrder(t *testing.T) {
	w := newWorkspace(t, slacktest.Options{})
	a := newApp(t, w.SigningSecret())
	w.SendTo(a.everything())
	for i := range 30 {
		w.alice.Says(fmt.Sprint("message ", i))
	}
	if err := w.WaitDelivered(w.ctx); err != nil {
		t.Fatal(err)
	}
	for i, c := range a.all() {
		if !strings.Contains(string(c.body), fmt.Sprintf(`"message %d"`, i)) {
			t.Fatalf("the %dth is %s", i, c.body)
		}
	}
}

func TestWaitControlsRetries(t *testing.T) {
	gate := make(chan struct{})
	w := newWorkspace(t, slacktest.Options{Wait: func(ctx context.Context, _ int) {
		select {
		case <-gate:
		case <-ctx.Done():
		}
	}})
	a := newApp(t, w.SigningSecret())
	a.status = func(n int, _ *http.Request) int {
		if n == 1 {
			return http.StatusServiceUnavailable
		}
		return http.StatusOK
	}
	w.SendTo(a.everything())
	d := w.alice.Says("hello").Deliveries[0]
	if err := w.WaitFor(w.ctx, func(*slacktest.Server) bool { return len(d.Attempts()) == 1 }); err != nil || d.Over() {
		t.Fatal(err, d.Over())
	}
	close(gate)
	if err := d.Wait(w.ctx); err != nil {
		t.Fatal(err)
	}
	if err := d.Again().Wait(w.ctx); err != nil {
		t.Fatal(err)
	}
	if all := a.all(); len(all) != 3 || string(all[2].body) != string(all[0].body) || all[2].retry != "1" {
		t.Errorf("%+v", all)
	}
}

func TestClicksModalsAndCommandsOverASocket(t *testing.T) {
	w := newWorkspace(t, slacktest.Options{Subscriptions: []string{}})
	k := w.dial(t)
	_, ts, err := w.api.PostMessage("C1", card("May I?"))
	if err != nil {
		t.Fatal(err)
	}
	click := w.bob.Clicks("C1", ts, "Deny")
	frame := k.next()
	var callback slackgo.InteractionCallback
	if err := json.Unmarshal(frame.Payload, &callback); err != nil || frame.Type != "interactive" ||
		frame.AcceptsResponsePayload || callback.TriggerID != click.TriggerID {
		t.Errorf("%v %+v", err, frame)
	}
	k.ack(frame.EnvelopeID)
	if _, err := w.api.OpenView(callback.TriggerID, modal()); err != nil {
		t.Fatal(err)
	}
	w.bob.Submits(map[string]string{"reason": "no"})
	frame = k.next()
	if !frame.AcceptsResponsePayload {
		t.Errorf("%+v", frame)
	}
	refusal := slackgo.NewErrorsViewSubmissionResponse(map[string]string{"why": "Too short."})
	if err := k.WriteJSON(socketmode.Response{EnvelopeID: frame.EnvelopeID, Payload: refusal}); err != nil {
		t.Fatal(err)
	}
	if err := w.WaitFor(w.ctx, func(*slacktest.Server) bool {
		v, _ := w.Modal("U2")
		return v.Errors["why"] == "Too short."
	}); err != nil {
		t.Error(err)
	}
	w.alice.Runs("C1", "/gatehouse help")
	frame = k.next()
	var command slackgo.SlashCommand
	if err := json.Unmarshal(frame.Payload, &command); err != nil || frame.Type != "slash_commands" ||
		command.Text != "help" {
		t.Errorf("%v %+v", err, command)
	}
	if err := k.WriteJSON(
		socketmode.Response{
			EnvelopeID: frame.EnvelopeID, Payload: map[string]string{"text": "Help is near."},
		}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.WaitForEphemeral(w.ctx, "C1", "U1", "near"); err != nil {
		t.Error(err)
	}
	w.Sockets()[0].Close()
	if err := w.alice.Runs("C1", "/gatehouse help").Wait(w.ctx); err == nil {
		t.Error("a command that finds no socket fails")
	}
}

func TestCallsWithJSONBodies(t *testing.T) {
	w := newWorkspace(t, slacktest.Options{})
	body := `{"channel":"C1","text":"hi","unfurl_links":false,` +
		`"blocks":[{"type":"section","text":{"type":"mrkdwn","text":"*hi*"}}]}`
	r, err := http.NewRequest(http.MethodPost, w.APIURL()+"chat.postMessage", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json; charset=utf-8")
	r.Header.Set("Authorization", "Bearer "+w.BotToken())
	response, err := newClient(t).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if got := w.FromBot("C1"); len(got) != 1 || got[0].Shown() != "*hi*" ||
		w.Calls("chat.postMessage")[0].Args["unfurl_links"] != "false" {
		t.Errorf("%+v", got)
	}
}
