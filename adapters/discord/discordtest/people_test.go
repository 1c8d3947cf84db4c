package discordtest_test

import (
	"encoding/json"
	"testing"

	"gatehouse/adapters/discord/discordtest"
)

// eventData is the part of a gateway event that is checked.
type eventData struct {
	ID       string
	Content  string
	Type     int
	Edited   *string `json:"edited_timestamp"`
	Author   struct{ Bot bool }
	Mentions []struct{ ID string }
	Embeds   []any
	Emoji    struct{ Name string }
	Member   *struct{ Roles []string }
}

// receives returns the next event, which must have this name.
func (k *socket) receives(name string) eventData {
	k.t.Helper()
	p := k.next()
	var m eventData
	if err := json.Unmarshal(p.D, &m); err != nil || p.T != name {
		k.t.Fatalf("in place of %s came %+v", name, p)
	}
	return m
}

func TestActionsOfPeopleSendEvents(t *testing.T) {
	w := newRig(t, discordtest.Options{})
	k := w.dial(t, "")
	k.ready(w.BotToken(), nil)
	k.until("GUILD_CREATE")

	post := w.bob.Posts(general, "one")
	if m := k.receives("MESSAGE_CREATE"); m.ID != post.ID || m.Member == nil || len(m.Member.Roles) != 1 ||
		m.Author.Bot {
		t.Errorf("heard %+v", m)
	}
	w.bob.Edits(general, post.ID, "two")
	if m := k.receives("MESSAGE_UPDATE"); m.Content != "two" || m.Edited == nil {
		t.Errorf("heard %+v", m)
	}
	other := w.alice.Posts(general, "see https://a.test", discordtest.WithoutEvent())
	w.Unfurl(general, other.ID, "https://a.test")
	if m := k.receives("MESSAGE_UPDATE"); m.Edited != nil || len(m.Embeds) != 1 || m.Content != "see https://a.test" {
		t.Errorf("heard %+v", m)
	}
	w.alice.Posts(general, "doubled", discordtest.Twice())
	if a, b := k.receives("MESSAGE_CREATE"), k.receives("MESSAGE_CREATE"); a.ID != b.ID {
		t.Errorf("heard %+v, %+v", a, b)
	}
	w.robot.Posts(general, "beep", discordtest.WithEmbeds(map[string]any{"title": "boop"}))
	if m := k.receives("MESSAGE_CREATE"); !m.Author.Bot || len(m.Embeds) != 1 {
		t.Errorf("heard %+v", m)
	}
	var said wire
	w.call(t, "POST", "/channels/"+general+"/messages", fields{"content": "mine", "nonce": "n1"}, &said)
	if m := k.receives("MESSAGE_CREATE"); m.ID != said.ID || !m.Author.Bot {
		t.Errorf("heard %+v", m)
	}
	w.alice.Replies(general, said.ID, "to you")
	if m := k.receives("MESSAGE_CREATE"); m.Type != discordtest.TypeReply || len(m.Mentions) != 1 ||
		m.Mentions[0].ID != w.BotUserID() {
		t.Errorf("heard %+v", m)
	}
	w.alice.Replies(general, said.ID, "quietly", discordtest.WithoutPing())
	if m := k.receives("MESSAGE_CREATE"); len(m.Mentions) != 0 {
		t.Errorf("heard %+v", m)
	}
	w.bob.Deletes(general, post.ID)
	if m := k.receives("MESSAGE_DELETE"); m.ID != post.ID {
		t.Errorf("heard %+v", m)
	}
	thread := w.alice.OpensThread(general, other.ID, "more")
	k.receives("THREAD_CREATE")
	k.receives("MESSAGE_UPDATE")
	if m := k.receives("MESSAGE_CREATE"); m.Type != discordtest.TypeThreadStarter {
		t.Errorf("heard %+v", m)
	}
	w.alice.Posts(thread, "in here")
	if m := k.receives("MESSAGE_CREATE"); m.Content != "in here" {
		t.Errorf("heard %+v", m)
	}
	w.DenyBot(general, discordtest.ViewChannel)
	w.alice.Posts(general, "behind your back")
	w.Dispatch(guildID, "MESSAGE_CREATE", json.RawMessage(`{"id":"undecodable","content":"x"}`))
	if m := k.receives("MESSAGE_CREATE"); m.ID != "undecodable" {
		t.Errorf("heard %+v", m)
	}
}
