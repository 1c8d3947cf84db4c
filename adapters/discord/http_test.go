package discord_test

import (
	"crypto/ed25519"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gatehouse/adapters/discord/discordtest"
	"gatehouse/core"
)

func TestPing(t *testing.T) {
	r := newInbound(t, setup{http: true}).known()
	if err := r.CheckURL(r.ctx); err != nil {
		t.Errorf("Discord does not take the address: %v", err)
	}
}

func TestRefusedHTTPRequests(t *testing.T) {
	// The clock goes on from case to case, so that each refusal is logged.
	var gone atomic.Int64
	now := func() time.Time { return time.Now().Add(time.Duration(gone.Load())) }
	r := newInbound(t, setup{http: true, discord: core.Deps{Now: now}, fake: discordtest.Options{Now: now}}).known()
	b := r.button(general, r.sealed("a1", "approve"))
	_, another, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		how    discordtest.ActionOption
		status int
	}{
		"another key":     {discordtest.SignedWith(another), 401},
		"no signature":    {discordtest.Unsigned(), 401},
		"changed":         {discordtest.Tampered(), 401},
		"stale":           {discordtest.SignedAt(now().Add(-6 * time.Minute)), 401},
		"from the future": {discordtest.SignedAt(now().Add(6 * time.Minute)), 401},
		"no time":         {discordtest.WithTimestamp("adaptertest.Noon"), 401},
		"too large":       {discordtest.WithBody([]byte(`{"secret words":"` + strings.Repeat("x", 1<<20) + `"}`)), 413},
		"broken JSON":     {discordtest.WithBody([]byte(`{"secret words":`)), 400},
		"of another form": {discordtest.WithBody([]byte(`{"type":3,"data":"secret words"}`)), 400},
		"nobody's": {discordtest.WithBody(
			[]byte(`{"type":3,"id":"1","channel_id":"3001","data":{"custom_id":"secret words"}}`)), 400},
		"no body": {discordtest.WithBody([]byte{}), 400},
		"an unknown type": {discordtest.WithBody(
			[]byte(
				`{"type":99,"id":"1","channel_id":"3001","user":{"id":"1002"},"data":{"custom_id":"secret words"}}`)),
			400},
		"no type": {discordtest.WithBody(
			[]byte(`{"id":"1","channel_id":"3001","user":{"id":"1002"},"data":{"custom_id":"secret words"}}`)), 400},
		"of another app": {discordtest.WithBody([]byte(
			`{"type":2,"id":"1","application_id":"77","channel_id":"3001",` +
				`"user":{"id":"1002"},"data":{"name":"ask","options":[{"name":"text","value":"secret words"}]}}`)),
			403},
		"a ping of another app": {discordtest.WithBody([]byte(`{"type":1,"id":"1","application_id":"77"}`)), 403},
		"only a time":           {discordtest.WithoutHeader("X-Signature-Ed25519"), 401},
		"only a signature":      {discordtest.WithoutHeader("X-Signature-Timestamp"), 401},
		"no content type":       {discordtest.WithoutHeader("Content-Type"), 415},
		"a form":                {discordtest.WithContentType("application/x-www-form-urlencoded"), 415},
		"plain text":            {discordtest.WithContentType("text/plain"), 415},
	} {
		gone.Add(int64(time.Second))
		before := len(r.log.Warnings())
		i := r.bob.Presses(b, c.how)
		if err := i.Wait(r.ctx); err == nil {
			t.Errorf("%s: it was answered", name)
		}
		if a := i.State().Attempt; a == nil || a.Status != c.status {
			t.Errorf("%s: got %+v, want %d", name, a, c.status)
		}
		if warned := r.log.Warnings()[before:]; len(warned) != 1 || strings.Contains(warned[0], "secret words") {
			t.Errorf("%s: the log says %q, want one line without the body", name, warned)
		}
	}
	if got := r.inbox.IDs(); len(got) != 0 {
		t.Errorf("stored: %v", got)
	}
}

func TestOnlyPOSTIsAccepted(t *testing.T) {
	r := newInbound(t, setup{http: true}).known()
	for _, method := range []string{"GET", "PUT", "PATCH", "DELETE", "OPTIONS"} {
		i := r.Pings(discordtest.WithMethod(method))
		if err := i.Wait(r.ctx); err == nil || i.State().Attempt.Status != 405 {
			t.Errorf("%s: got %+v", method, i.State().Attempt)
		}
	}
	charset := r.Pings(discordtest.WithContentType("application/json; charset=utf-8"))
	if err := charset.Wait(r.ctx); err != nil {
		t.Error(err)
	}
}

// An interaction that is refused over HTTP is skipped if it comes over the gateway; later events are received.
func TestUnreadableInteractionsOverTheGatewayAreSkipped(t *testing.T) {
	r := newInbound(t, setup{}).known()
	b := r.button(general, r.sealed("a1", "approve"))
	press := func(kind, app string) {
		r.Dispatch(guild,
			"INTERACTION_CREATE",
			[]byte(`{"type":`+kind+`,"id":"7`+kind+`","application_id":"`+app+
				`","guild_id":"2001","channel_id":"3001","token":"t",`+
				`"member":{"user":{"id":"1002"}},"data":{"custom_id":"`+b.CustomID+`"}}`))
	}
	press("3", "77")
	press("99", r.ApplicationID())
	m := r.ann.Says("hello")
	r.of(m)
	r.eventually("both warnings", func() bool { // a press is taken beside what follows it
		warned := strings.Join(r.log.Warnings(), "\n")
		return strings.Contains(warned, "another application") && strings.Contains(warned, "unknown kind")
	})
	if got := r.inbox.IDs(); len(got) != 1 {
		t.Errorf("stored: %v", got)
	}
	if n := len(r.Calls(discordtest.AnswerInteraction)); n != 0 {
		t.Errorf("it answered %d of them", n)
	}
}
