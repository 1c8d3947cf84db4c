package discord_test

import (
	"crypto/ed25519"
	"strings"
	"testing"
	"time"

	"gatehouse/adapters/discord/discordtest"
)

func TestPing(t *testing.T) {
	r := hear(t, setup{http: true}).known()
	if err := r.CheckURL(r.ctx); err != nil {
		t.Errorf("Discord does not take the address: %v", err)
	}
}

func TestWhatIsRefusedOverHTTP(t *testing.T) {
	r := hear(t, setup{http: true}).known()
	b := r.button(general, r.sealed("a1", "approve"))
	_, another, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		how    discordtest.How
		status int
	}{
		"another key":     {discordtest.SignedWith(another), 401},
		"no signature":    {discordtest.Unsigned(), 401},
		"changed":         {discordtest.Tampered(), 401},
		"stale":           {discordtest.SignedAt(time.Now().Add(-6 * time.Minute)), 401},
		"from the future": {discordtest.SignedAt(time.Now().Add(6 * time.Minute)), 401},
		"no time":         {discordtest.StampedAs("noon"), 401},
		"too large":       {discordtest.WithBody([]byte(`{"secret words":"` + strings.Repeat("x", 1<<20) + `"}`)), 413},
		"broken JSON":     {discordtest.WithBody([]byte(`{"secret words":`)), 400},
		"of another form": {discordtest.WithBody([]byte(`{"type":3,"data":"secret words"}`)), 400},
		"nobody's":        {discordtest.WithBody([]byte(`{"type":3,"id":"1","channel_id":"3001","data":{"custom_id":"secret words"}}`)), 400},
	} {
		before := len(r.log.warnings())
		i := r.bob.Presses(b, c.how)
		if err := i.Wait(r.ctx); err == nil {
			t.Errorf("%s: it was answered", name)
		}
		if a := i.State().Attempt; a == nil || a.Status != c.status {
			t.Errorf("%s: got %+v, want %d", name, a, c.status)
		}
		if warned := r.log.warnings()[before:]; len(warned) != 1 || strings.Contains(warned[0], "secret words") {
			t.Errorf("%s: the log says %q, want one line without the body", name, warned)
		}
	}
	if got := r.ids(); len(got) != 0 {
		t.Errorf("stored: %v", got)
	}
}
