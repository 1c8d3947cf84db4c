package main

import (
	"crypto/ed25519"
	"database/sql"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"gatehouse/adapters/discord/discordtest"
)

// stored counts the rows of a database table.
func (d *discordGateway) stored(table string) int {
	d.t.Helper()
	db, err := sql.Open("sqlite3", strings.TrimPrefix(d.db, "sqlite:"))
	noErr(d.t, err)
	defer db.Close()
	var n int
	noErr(d.t, db.QueryRow("select count(*) from "+table).Scan(&n))
	return n
}

// TestDiscordHTTPRefusesAndStoresNothing sends invalid requests to the webhook: each is answered with its status and
// stores nothing.
func TestDiscordHTTPRefusesAndStoresNothing(t *testing.T) {
	t.Parallel()
	d := serveDiscord(t, discordtest.Options{}, map[string]string{"DISCORD_PUBLIC_KEY": "set"})
	if err := d.discord.CheckURL(d.ctx()); err != nil {
		t.Fatalf("Discord does not accept the URL: %v", err)
	}
	ask := d.ann.Posts(channelID, d.discord.MentionOfBot()+" note add milk")
	card := d.card(ask.ID, "Add “milk” to the note book.")
	approve, _ := d.discord.FindButton(ask.ID, card.ID, "Approve")
	events, votes := d.stored("events"), d.stored("votes")
	_, another, err := ed25519.GenerateKey(nil)
	noErr(t, err)
	// press is a press of Approve by an approver, as Discord sends it, with some of the text replaced.
	press := func(change ...string) discordtest.ActionOption {
		body := fmt.Sprintf(
			`{"type":3,"id":"77","application_id":%q,"guild_id":%q,"channel_id":%q,"token":"t",`+
				`"member":{"user":{"id":%q}},"message":{"id":%q},"data":{"custom_id":%q}}`,
			d.discord.ApplicationID(), guildID, ask.ID, deciderID, card.ID, approve.CustomID)
		return discordtest.WithBody([]byte(strings.NewReplacer(change...).Replace(body)))
	}
	for name, c := range map[string]struct {
		status int
		hows   []discordtest.ActionOption
	}{
		"signed by another key": {
			http.StatusUnauthorized, []discordtest.ActionOption{discordtest.SignedWith(another)},
		},
		"changed on the way": {http.StatusUnauthorized, []discordtest.ActionOption{discordtest.Tampered()}},
		"unsigned":           {http.StatusUnauthorized, []discordtest.ActionOption{discordtest.Unsigned()}},
		"without a signature": {
			http.StatusUnauthorized, []discordtest.ActionOption{discordtest.WithoutHeader("X-Signature-Ed25519")},
		},
		"without a time": {
			http.StatusUnauthorized, []discordtest.ActionOption{discordtest.WithoutHeader("X-Signature-Timestamp")},
		},
		"six minutes old": {
			http.StatusUnauthorized, []discordtest.ActionOption{discordtest.SignedAt(time.Now().Add(-6 * time.Minute))},
		},
		"six minutes ahead": {
			http.StatusUnauthorized, []discordtest.ActionOption{discordtest.SignedAt(time.Now().Add(6 * time.Minute))},
		},
		"an invalid time": {
			http.StatusUnauthorized, []discordtest.ActionOption{discordtest.WithTimestamp("now")},
		},
		"too large": {
			http.StatusRequestEntityTooLarge,
			[]discordtest.ActionOption{discordtest.WithBody([]byte(`{"x":"` + strings.Repeat("x", 1<<20) + `"}`))},
		},
		"broken":             {http.StatusBadRequest, []discordtest.ActionOption{press(`"data":`, `"data":[`)}},
		"empty":              {http.StatusBadRequest, []discordtest.ActionOption{discordtest.WithBody([]byte{})}},
		"without a member":   {http.StatusBadRequest, []discordtest.ActionOption{press(`"member"`, `"nobody"`)}},
		"of an unknown kind": {http.StatusBadRequest, []discordtest.ActionOption{press(`"type":3`, `"type":9`)}},
		"for another application": {
			http.StatusForbidden, []discordtest.ActionOption{press(d.discord.ApplicationID(), "78")},
		},
		"a form": {
			http.StatusUnsupportedMediaType,
			[]discordtest.ActionOption{discordtest.WithContentType("application/x-www-form-urlencoded")},
		},
		"of no type of content": {
			http.StatusUnsupportedMediaType, []discordtest.ActionOption{discordtest.WithoutHeader("Content-Type")},
		},
		"not posted": {
			http.StatusMethodNotAllowed, []discordtest.ActionOption{discordtest.WithMethod(http.MethodPut)},
		},
		"posted somewhere else": {
			http.StatusNotFound, []discordtest.ActionOption{discordtest.SentTo(d.base + "/discord/events")},
		},
		"a ping for another app": {
			http.StatusForbidden,
			[]discordtest.ActionOption{discordtest.WithBody([]byte(`{"type":1,"application_id":"78"}`))},
		},
		"a press of a forged card": {
			http.StatusOK, []discordtest.ActionOption{press(approve.CustomID, strings.ToUpper(approve.CustomID))},
		},
	} {
		i := d.bob.Presses(approve, c.hows...)
		waitUntil(t, func() bool { return i.State().Attempt != nil }, name+" is answered")
		if a := i.State().Attempt; a.Status != c.status {
			t.Errorf("%s: it is answered with %d %s, want %d", name, a.Status, a.Err, c.status)
		}
		if e, v := d.stored("events"), d.stored("votes"); e != events || v != votes {
			t.Errorf("%s: there are %d events and %d votes, want %d and %d", name, e, v, events, votes)
		}
	}
	if m, _ := d.discord.Message(ask.ID, card.ID); len(m.Buttons()) == 0 {
		t.Error("the approval was decided")
	}
	i := d.bob.Presses(approve, press())
	noErr(t, i.Wait(d.ctx()))
	d.reads(ask.ID, "Done: “milk” is in the note book.")
	if d.stored("events") == events || d.stored("votes") != votes+1 {
		t.Error("the valid press is not stored")
	}
}
