package discord_test

import (
	"bytes"
	"strings"
	"testing"

	"gatehouse/adapters/discord/discordtest"
	"gatehouse/core"
)

func TestAsk(t *testing.T) {
	onBoth(t, setup{}, func(t *testing.T, r *inbound) {
		r.registered()
		dm := r.DMWith(annID)
		thread := r.ann.OpensThread(general, r.ann.Posts(general, "work").ID, "work")
		for channel, want := range map[string]core.Event{
			general: {Lane: "discord:2001:3001", Address: core.Address{Platform: "discord", Channel: general}},
			thread:  {Lane: core.Lane("discord:2001:" + thread), Address: core.Address{Platform: "discord", Channel: general, Thread: thread}},
			dm:      {Lane: core.Lane("discord:@me:" + dm), Address: core.Address{Platform: "discord", Channel: dm}},
		} {
			i := r.ann.Runs(channel, "/ask why is *the* sky @everyone blue")
			e := r.event("command/" + i.ID)
			r.answered(i, discordtest.Reply)
			if e.Kind != core.KindMessage || e.Lane != want.Lane || e.Address != want.Address || e.Actor.ID != "discord:1001" || e.FollowUp {
				t.Errorf("got %+v", e)
			}
			if bytes.Contains(e.Payload, []byte(i.Token)) {
				t.Error("the payload has the token")
			}
			text := r.says(e).Content.String()
			if !strings.Contains(text, "why is *the* sky @everyone blue") || (channel != dm) != strings.Contains(text, "ann (discord:1001) says:") {
				t.Errorf("it says %q", text)
			}
			m, ok := i.Shown()
			if !ok || m.Ephemeral != "" || !strings.Contains(m.Content, "sky") || len(m.Reaches()) != 0 || strings.Contains(m.Content, "@everyone") {
				t.Errorf("all see %+v", m)
			}
		}
	})
}

func TestTheOtherCommands(t *testing.T) {
	onBoth(t, setup{}, func(t *testing.T, r *inbound) {
		r.registered()
		for name, want := range map[string]core.Kind{"new": core.KindReset, "status": core.KindControl} {
			i := r.ann.Runs(general, "/"+name)
			e := r.event("command/" + i.ID)
			r.answered(i, discordtest.Reply)
			if e.Kind != want || e.Lane != "discord:2001:3001" || want == core.KindControl && e.Subject != name {
				t.Errorf("/%s came as %+v", name, e)
			}
			if m, ok := i.Shown(); !ok || m.Ephemeral != annID {
				t.Errorf("/%s: ann sees %+v", name, m)
			}
		}
		before := len(r.ids())
		i := r.ann.Runs(general, "/help")
		r.answered(i, discordtest.Reply)
		if m, ok := i.Shown(); !ok || m.Ephemeral != annID || !strings.Contains(m.Content, "mention me") {
			t.Errorf("/help: ann sees %+v", m)
		}
		if len(r.ids()) != before {
			t.Error("/help is stored")
		}
	})
}
