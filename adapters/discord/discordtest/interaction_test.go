package discordtest_test

import (
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/discord/discordtest"
)

// app serves an interactions URL: it checks signatures with discordgo and answers as the test sets.
func app(t *testing.T, w *rig, answers func(i *discordgo.Interaction) (int, string)) *httptest.Server {
	t.Helper()
	key, err := hex.DecodeString(w.PublicKey())
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if !discordgo.VerifyInteraction(r, ed25519.PublicKey(key)) {
			rw.WriteHeader(http.StatusUnauthorized)
			return
		}
		body, _ := io.ReadAll(r.Body)
		var i discordgo.Interaction
		if json.Unmarshal(body, &i) != nil {
			rw.WriteHeader(http.StatusBadRequest)
			return
		}
		if i.Type == discordgo.InteractionPing {
			_, _ = rw.Write([]byte(`{"type":1}`))
			return
		}
		status, text := answers(&i)
		rw.WriteHeader(status)
		_, _ = rw.Write([]byte(text))
	}))
	t.Cleanup(web.Close)
	w.SetInteractionsURL(web.URL)
	return web
}

func (w *rig) card(t *testing.T) wire {
	t.Helper()
	var m wire
	w.call(t, "POST", "/channels/"+general+"/messages",
		fields{"content": "sure?", "components": []any{row(button("Approve", "yes"), button("Deny", "no"))}}, &m)
	return m
}

func TestInteractionsOverHTTP(t *testing.T) {
	w := newRig(t, discordtest.Options{})
	app(t, w, func(i *discordgo.Interaction) (int, string) {
		if i.MessageComponentData().CustomID == "yes" {
			return 200, `{"type":7,"data":{"content":"approved by <@` + i.Member.User.ID + `>","components":[]}}`
		}
		return 200, `{"type":4,"data":{"content":"not you","flags":64}}`
	})
	if err := w.CheckURL(w.ctx); err != nil {
		t.Fatal(err)
	}
	k := w.dial(t, "")
	k.ready(w.BotToken(), nil)
	card := w.card(t)
	stale, _ := w.FindButton(general, card.ID, "Approve")
	denied := w.alice.Clicks(general, card.ID, "Deny")
	if err := denied.Wait(w.ctx); err != nil {
		t.Fatal(err)
	}
	if m := w.Ephemerals(general, w.alice.ID); len(m) != 1 || m[0].Content != "not you" ||
		len(w.Ephemerals(general, w.bob.ID)) != 0 {
		t.Errorf("the ephemerals are %+v", m)
	}
	if err := w.bob.Clicks(general, card.ID, "yes").Wait(w.ctx); err != nil {
		t.Fatal(err)
	}
	if m, _ := w.Message(general, card.ID); m.Content != "approved by <@1002>" || len(m.Buttons()) != 0 {
		t.Errorf("the card is %+v", m)
	}
	if err := w.bob.Presses(stale).Wait(w.ctx); err != nil {
		t.Error(err)
	}
	w.alice.Posts(general, "last")
	for {
		p := k.next()
		if p.T == "INTERACTION_CREATE" {
			t.Error("an interaction came over the gateway too")
		}
		if strings.Contains(string(p.D), `"last"`) {
			break
		}
	}
}

func TestBadRequestsToTheURL(t *testing.T) {
	w := newRig(t, discordtest.Options{})
	app(t, w, func(*discordgo.Interaction) (int, string) { return 500, "" })
	card := w.card(t)
	_, other, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		how    discordtest.ActionOption
		status int
	}{
		"unsigned":          {discordtest.Unsigned(), 401},
		"another key":       {discordtest.SignedWith(other), 401},
		"tampered":          {discordtest.Tampered(), 401},
		"broken json":       {discordtest.WithBody([]byte("{")), 400},
		"a strange stamp":   {discordtest.WithTimestamp("x"), 500},
		"a stale stamp":     {discordtest.SignedAt(time.Now().Add(-time.Hour)), 500},
		"what goes through": {discordtest.WithContentType("application/json"), 500},
	} {
		i := w.bob.Clicks(general, card.ID, "Approve", tc.how)
		if err := i.Wait(w.ctx); err == nil || i.State().Attempt.Status != tc.status || i.State().Failed == "" {
			t.Errorf("%s: %v, %+v", name, err, i.State().Attempt)
		}
	}
}

func TestInteractionDeadlines(t *testing.T) {
	clock := discordtest.NewClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	w := newRig(t, discordtest.Options{Now: clock.Now})
	card := w.card(t)
	answers := func(i *discordtest.Interaction, body fields) (int, int) {
		var got refusal
		path := "/interactions/" + i.ID + "/" + i.Token + "/callback?with_response=true"
		return w.call(t, "POST", path, body, &got), got.Code
	}
	late := w.bob.Clicks(general, card.ID, "Approve")
	clock.Advance(4 * time.Second)
	if status, code := answers(late, fields{"type": 6}); status != 404 || code != 10062 || late.State().Failed == "" {
		t.Errorf("late: %d %d", status, code)
	}
	i := w.bob.Clicks(general, card.ID, "Approve")
	follow := "/webhooks/" + w.ApplicationID() + "/" + i.Token
	var got refusal
	if status := w.call(t, "POST", follow, fields{"content": "x"}, &got); status != 404 || got.Code != 10015 {
		t.Errorf("too early: %d %+v", status, got)
	}
	if status, _ := answers(i, fields{"type": 5, "data": fields{"flags": 64}}); status != 200 {
		t.Errorf("HTTP %d", status)
	}
	if status, code := answers(i, fields{"type": 4, "data": fields{"content": "x"}}); status != 400 || code != 40060 {
		t.Errorf("twice: %d %d", status, code)
	}
	if m := w.Ephemerals(general, w.bob.ID); len(m) != 1 || m[0].Shown() != "(thinking)" {
		t.Errorf("the ephemerals are %+v", m)
	}
	w.call(t, "POST", follow, fields{"content": "first"}, nil)
	w.call(t, "POST", follow, fields{"content": "second", "flags": 64}, nil)
	if m := w.Ephemerals(general, w.bob.ID); len(m) != 2 || m[0].Shown() != "first" || m[1].Shown() != "second" ||
		i.State().FollowUps != 1 {
		t.Errorf("the ephemerals are %+v", m)
	}
	if status := w.call(t, "PATCH", follow+"/messages/@original", fields{"content": "edited"}, nil); status != 200 {
		t.Errorf("HTTP %d", status)
	}
	if m, _ := i.Shown(); m.Content != "edited" {
		t.Errorf("shown is %+v", m)
	}
	update := w.bob.Clicks(general, card.ID, "Approve")
	if status, _ := answers(update, fields{"type": 6}); status != 200 {
		t.Errorf("HTTP %d", status)
	}
	original := "/webhooks/" + w.ApplicationID() + "/" + update.Token + "/messages/@original"
	if status := w.call(t, "PATCH", original, fields{"content": "done", "components": []any{}}, nil); status != 200 {
		t.Errorf("HTTP %d", status)
	}
	if m, _ := w.Message(general, card.ID); m.Content != "done" {
		t.Errorf("the card is %+v", m)
	}
	clock.Advance(16 * time.Minute)
	if status := w.call(t, "PATCH", original, fields{"content": "x"}, &got); status != 401 || got.Code != 50027 {
		t.Errorf("after its life: %d %+v", status, got)
	}
	if status := w.call(t, "PATCH", "/channels/"+general+"/messages/"+card.ID, fields{"content": "by the bot's token"},
		nil); status != 200 {
		t.Errorf("HTTP %d", status)
	}
}

func TestModals(t *testing.T) {
	w := newRig(t, discordtest.Options{})
	card := w.card(t)
	opens := func(kind int) int {
		i := w.bob.Clicks(general, card.ID, "Deny")
		return w.call(t, "POST", "/interactions/"+i.ID+"/"+i.Token+"/callback", fields{"type": kind, "data": fields{
			"custom_id": "why", "title": "Why?", "components": []any{
				row(fields{"type": 4, "custom_id": "a", "label": "A", "style": 2}),
				fields{
					"type": 18, "label": "B",
					"component": fields{"type": 4, "custom_id": "b", "style": 1, "required": false},
				},
			},
		}}, nil)
	}
	if status := opens(9); status != 204 {
		t.Errorf("HTTP %d", status)
	}
	m, _ := w.Modal(w.bob.ID)
	if m.Title != "Why?" || len(m.Inputs) != 2 || m.Inputs[1].Label != "B" || m.Inputs[1].Required ||
		!strings.Contains(w.Dump(), "modal of bob: Why?") {
		t.Errorf("the modal is %+v", m)
	}
	var sent struct {
		Type int
		Data struct {
			CustomID   string `json:"custom_id"`
			Components []struct {
				Type       int
				Components []struct{ Value string }
				Component  struct{ Value string }
			}
		}
		Message struct{ ID string }
		Member  struct{ Roles []string }
	}
	i := w.bob.Submits(map[string]string{"a": "because", "B": "and"})
	if err := json.Unmarshal(i.Body(), &sent); err != nil {
		t.Fatal(err)
	}
	if sent.Type != 5 || sent.Data.CustomID != "why" || sent.Data.Components[0].Components[0].Value != "because" ||
		sent.Data.Components[1].Component.Value != "and" ||
		sent.Message.ID != card.ID || len(sent.Member.Roles) != 1 {
		t.Errorf("sent %s", i.Body())
	}
	opens(9)
	w.bob.Dismisses()
	if _, open := w.Modal(w.bob.ID); open {
		t.Error("the modal is open still")
	}
	again := w.bob.SubmitsAgain(m, map[string]string{"A": "late"})
	if status := w.call(t, "POST", "/interactions/"+again.ID+"/"+again.Token+"/callback", fields{"type": 9},
		nil); status != 400 {
		t.Errorf("a modal after a modal: HTTP %d", status)
	}
}

func TestMisuseFailsTheTest(t *testing.T) {
	w := newRig(t, discordtest.Options{Fatalf: func(string, ...any) { panic("mistake") }})
	card := w.card(t)
	w.AddUser(discordtest.User{ID: "1003", Name: "eve"})
	for name, do := range map[string]func(){
		"no such button":  func() { w.bob.Clicks(general, card.ID, "Maybe") },
		"no such channel": func() { w.bob.Posts("99", "x") },
		"no such command": func() { w.bob.Runs(general, "/nope") },
		"not a member":    func() { w.Person("1003").Posts(general, "x") },
		"no modal":        func() { w.bob.Submits(nil) },
		"no such user":    func() { w.Person("99") },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no complaint", name)
				}
			}()
			do()
		}()
	}
	w.bob.Posts(general, "the lock is free")
}
