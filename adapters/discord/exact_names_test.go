package discord_test

import (
	"encoding/json"
	"strings"
	"testing"

	"gatehouse/adapters/discord/discordtest"
	"gatehouse/core"
)

// interactionBody is a press of a button by bob, with more JSON in three places.
func (r *inbound) interactionBody(id, outer, user, data string) []byte {
	return []byte(`{"type":3,"id":"` + id + `","application_id":"` + r.ApplicationID() +
		`","guild_id":"2001","channel_id":"` + general + `","token":"t"` + outer +
		`,"member":{"user":{"id":"1002"` + user +
		`},"roles":[]},"message":{"id":"5001"},"data":{"component_type":2,"custom_id":"` + r.sealed("a1", "deny") +
		`"` + data + `}}`)
}

// TestWhoDidWhatIsReadFromExactNames: a key that differs in its case only says nothing, wherever it stands.
func TestWhoDidWhatIsReadFromExactNames(t *testing.T) {
	r := newInbound(t, setup{}).known()
	outer := `,"TYPE":2,"Id":"9","Application_ID":"77","CHANNEL_ID":"3009",` +
		`"MEMBER":{"user":{"id":"1001"}},"User":{"id":"1001"},"DATA":{"name":"new"}`
	r.Dispatch(guild,
		"INTERACTION_CREATE",
		r.interactionBody("7001", outer, `,"ID":"1001"`, `,"CUSTOM_ID":"`+r.sealed("a1", "approve")+`"`))
	e := r.inbox.Event("vote/a1/1002/7001")
	if e.Actor.ID != "discord:1002" || e.Address.Channel != general {
		t.Errorf("the press is %+v", e)
	}
	if c := r.click(e); c.Choice != core.Deny {
		t.Errorf("it decides %+v", c)
	}
	r.Dispatch(guild,
		"MESSAGE_CREATE",
		json.RawMessage(`{"id":"7002","ID":"7003","channel_id":"`+general+
			`","Channel_Id":"3009","guild_id":"2001","GUILD_ID":"2002","type":0,"TYPE":7,`+
			`"content":"`+r.MentionOfBot()+
			` hello","CONTENT":"!new","author":{"id":"1002","Id":"1001","username":"bob",`+
			`"BOT":true},"AUTHOR":{"id":"1001"},"mentions":[]}`))
	if e := r.inbox.Event("message/" + general + "/7002"); e.Actor.ID != "discord:1002" ||
		e.Kind() != core.KindMessage || e.Conversation != "discord:2001:7002" {
		t.Errorf("the message is %+v", e)
	}
}

// TestARepeatedFieldIsRefused: of two values of a field that says who did what, neither is believed.
func TestARepeatedFieldIsRefused(t *testing.T) {
	onBoth(t, setup{}, func(t *testing.T, r *inbound) {
		b := r.button(general, r.sealed("a1", "approve"))
		for name, body := range map[string][]byte{
			"person":      r.interactionBody("7001", "", `,"id":"1001"`, ""),
			"member":      r.interactionBody("7001", `,"member":{"user":{"id":"1001"}}`, "", ""),
			"value":       r.interactionBody("7001", "", "", `,"custom_id":"x"`),
			"application": r.interactionBody("7001", `,"application_id":"`+r.ApplicationID()+`"`, "", ""),
			"channel":     r.interactionBody("7001", `,"\u0063hannel_id":"3009"`, "", ""),
		} {
			before := len(r.log.Warnings())
			if r.web == nil {
				r.Dispatch(guild, "INTERACTION_CREATE", body)
			} else {
				i := r.bob.Presses(b, discordtest.WithBody(body))
				if err := i.Wait(r.ctx); err == nil || i.State().Attempt == nil || i.State().Attempt.Status != 400 {
					t.Errorf("%s: %v, %+v, want 400", name, err, i.State().Attempt)
				}
			}
			r.eventually("a warning about the "+name, func() bool { return len(r.log.Warnings()) > before })
			if w := r.log.Warnings()[before]; !strings.Contains(w, "is repeated") {
				t.Errorf("%s: the log says %s", name, w)
			}
		}
		r.Dispatch(guild,
			"MESSAGE_CREATE",
			json.RawMessage(`{"id":"7002","channel_id":"`+general+`","guild_id":"2001","type":0,"content":"`+
				r.MentionOfBot()+` hello",`+
				`"author":{"id":"1002"},"author":{"id":"1001"}}`))
		r.of(r.ann.Says("hello")) // what follows is received
		if got := r.inbox.IDs(); len(got) != 1 {
			t.Errorf("stored: %v", got)
		}
	})
}
