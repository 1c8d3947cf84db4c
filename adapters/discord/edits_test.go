package discord_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"gatehouse/core"
)

// about returns the ids of a message's events, in order.
func (r *inbound) about(message string) (ids []string) {
	r.settled()
	for _, id := range r.inbox.IDs() {
		if strings.Contains(id, message) {
			ids = append(ids, id)
		}
	}
	return ids
}

func TestEditThatAddsAMentionIsAnEvent(t *testing.T) {
	r := newInbound(t, setup{}).known()
	m := r.ann.Posts(general, "hello")
	r.none(m)
	r.ann.Edits(general, m.ID, r.MentionOfBot()+" hello")
	e := r.of(m)
	if e.Kind() != core.KindMessage || e.Address.Thread != m.ID || e.FollowUp ||
		!strings.Contains(r.says(e).Content.String(), "hello") {
		t.Errorf("it came as %+v", e)
	}
	r.Unfurl(general, m.ID, "https://example.org")
	if ids := r.about(m.ID); len(ids) != 2 || ids[0] != e.ID || !strings.HasPrefix(ids[1], "amend/") {
		t.Errorf("there are %v, want the message and the change that it came with", ids)
	}
	r.ann.Edits(general, m.ID, "never mind")
	if ids := r.about(m.ID); len(ids) != 3 || !strings.HasPrefix(ids[2], "amend/") {
		t.Errorf("there are %v, want one more change", ids)
	}
}

// An update by Discord itself, such as for a thread, does not make an old message new.
func TestOldEditIsNotANewMessage(t *testing.T) {
	r := newInbound(t, setup{}).known()
	for id, edited := range map[string]string{
		"91": time.Now().Add(-time.Hour).UTC().Format(time.RFC3339Nano), "92": "some day",
	} {
		r.Dispatch(guild,
			"MESSAGE_UPDATE",
			[]byte(`{"id":"`+id+`","channel_id":"`+general+`","guild_id":"`+guild+
				`","type":0,"content":"`+r.MentionOfBot()+` hi",
			"author":{"id":"`+annID+`","username":"ann"},"edited_timestamp":"`+edited+`","flags":32}`))
		if ids := r.about("/" + id); len(ids) != 1 || !strings.HasPrefix(ids[0], "amend/") {
			t.Errorf("it came as %v", ids)
		}
	}
}

// An edited message that is fetched later has one amendment; updates by Discord itself add none.
func TestFetchedEditedMessageIsAmendedOnce(t *testing.T) {
	r := newInbound(t, setup{}).known()
	body := []byte(`{"id":"93","channel_id":"` + general + `","guild_id":"` + guild +
		`","type":0,"content":"` + r.MentionOfBot() + ` hi",
		"author":{"id":"` + annID + `","username":"ann"},"edited_timestamp":"2026-11-01T10:00:00.000000+00:00"}`)
	r.Dispatch(guild, "MESSAGE_CREATE", body)
	first := r.about("/93")
	if len(first) != 2 || first[0] != "message/"+general+"/93" ||
		first[1] != "amend/"+general+"/93/2026-11-01T10:00:00.000000+00:00" {
		t.Errorf("it came as %v", first)
	}
	r.Dispatch(guild, "MESSAGE_UPDATE", body)
	if ids := r.about("/93"); len(ids) != len(first) {
		t.Errorf("then there are %v", ids)
	}
}

func amendment(t *testing.T, e core.Event) core.Amendment {
	t.Helper()
	var a core.Amendment
	if err := json.Unmarshal(e.Payload, &a); err != nil {
		t.Fatal(err)
	}
	return a
}
