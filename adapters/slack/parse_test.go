package slack_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"gatehouse/adapters/internal/fakeserver"
	"gatehouse/adapters/slack"
	"gatehouse/adapters/slack/slacktest"
	"gatehouse/core"
)

func TestParseMessage(t *testing.T) {
	r := start(t, setup{}).known()
	bot := r.MentionOfBot()
	for text, want := range map[string]string{
		"hello":                              "hello",
		bot + " hello":                       "hello",
		bot + ": " + bot + ", hello":         "hello",
		"  hello\n":                          "hello",
		"ask <@U2BOB> and <@U9NOBODY>":       "ask @bob and @U9NOBODY",
		"&lt;@U2BOB&gt; &amp;amp; We've":     "<@U2BOB> &amp; We've",
		"see <https://example.org|this>":     "see this (https://example.org)",
		"in <#C1|general> for <!subteam^S1>": "in #general for @S1",
	} {
		m := r.message(r.one(r.ann.Says(text).Deliveries...))
		if m.Role != core.User || m.Content.IsList() || m.Content.String() != want {
			t.Errorf("%q: the agent reads %q, want %q", text, m.Content, want)
		}
	}
	for _, where := range []string{"C1", "G1"} {
		m := r.message(r.one(r.ann.Posts(where, bot+" hello").Deliveries...))
		if s, ok := m.Content.Speaker(); !ok || s.ID != "slack:U1ANN" || s.Name == "" || m.Content.Own() != "hello" {
			t.Errorf("in %s the agent reads %q", where, m.Content)
		}
	}
}

func TestNamesAreCached(t *testing.T) {
	clock := fakeserver.NewClock(time.Now())
	r := start(t, setup{slack: core.Deps{Now: clock.Now}, config: overSocket}).known()
	e := r.one(r.ann.Says("ask <@U2BOB>, <@U2BOB>").Deliveries...)
	r.message(e)
	r.message(e)
	if n := r.CountCalls("users.info"); n != 1 {
		t.Errorf("Slack was asked %d times, want once", n)
	}
	r.AddUser(slacktest.User{ID: "U2BOB", Name: "robert", RealName: "Robert"})
	clock.Advance(slack.NameLasts)
	if got := r.message(e).Content.String(); !strings.Contains(strings.ToLower(got), "robert") {
		t.Errorf("afterwards it reads %q", got)
	}
	fault := r.Inject(slacktest.Fault{Endpoint: "users.info", Trouble: slacktest.ServerError(503)})
	clock.Advance(slack.NameLasts)
	if got := r.message(e).Content.String(); !strings.Contains(strings.ToLower(got), "robert") {
		t.Errorf("with Slack down it reads %q", got)
	}
	other := r.one(r.ann.Says("ask <@U1ANN>, <@U1ANN> and <@U1ANN>").Deliveries...)
	before := fault.Hits()
	if got := r.message(other).Content.String(); got != "ask @U1ANN, @U1ANN and @U1ANN" || fault.Hits() != before+1 {
		t.Errorf("it reads %q; Slack was asked %d times", got, fault.Hits()-before)
	}
}

func TestAnEmptyMessageIsRefusedWithAnExplanation(t *testing.T) {
	r := start(t, setup{}).known()
	for _, e := range []core.Event{
		r.one(r.ann.Posts("C1", r.MentionOfBot()).Deliveries...), r.one(r.ann.Says("  ").Deliveries...),
	} {
		if _, err := r.p.Parse(r.ctx, e); core.CategoryOf(err) != core.ChatMessageShapeInvalid ||
			!strings.Contains(core.MessageOf(err), "Write what you would like") {
			t.Errorf("Parse gave %v", err)
		}
	}
}

func TestUnreadablePayloadsAreUserCorrectable(t *testing.T) {
	r := start(t, setup{}).known()
	message := r.one(r.ann.Says("hello").Deliveries...)
	click := core.Event{Platform: "slack", Body: core.ClickEvent{Approval: "a1"}}
	for _, payload := range []string{
		"", "null", "[]", "{", "42", `"text"`, "{}", `{"event":null}`, `{"event":[]}`, `{"event":{}}`,
		`{"event":{"user":"U1"}}`, `{"event":{"text":"x"}}`,
		`{"event":{"user":5,"text":"x"}}`, `{"event":{"user":"U1","text":{}}}`, `{"actions":5}`,
		`{"actions":[{"value":"a1~approve"}]}`, `{"view":{"private_metadata":7}}`,
		strings.Repeat("[", 5000), "{\"event\":\"\xff\"}",
	} {
		message.Payload, click.Payload = json.RawMessage(payload), json.RawMessage(payload)
		_, unread := r.p.Parse(r.ctx, message)
		_, unclear := r.p.OldClick(click)
		for name, err := range map[string]error{"Parse": unread, "OldClick": unclear} {
			if core.BucketOf(core.CategoryOf(err)) != core.UserCorrectable || core.MessageOf(err) == "" {
				t.Errorf("%s of %.40q gave %v", name, payload, err)
			}
		}
	}
	big := r.one(r.ann.Says("hello \x00 there").Deliveries...)
	r.message(big)
}

// TestManyMentionsAreFewLookUps: of 2,500 people in one message the first 50 are looked up, and the others stay ids.
func TestManyMentionsAreFewLookUps(t *testing.T) {
	r := start(t, setup{}).known()
	var mentions strings.Builder
	for i := range 2500 {
		id := fmt.Sprintf("U7P%05d", i)
		if i < 60 {
			r.AddUser(slacktest.User{ID: id, Name: fmt.Sprintf("person%d", i)})
		}
		mentions.WriteString("<@" + id + "> ")
	}
	text := mentions.String()
	e := r.one(r.ann.Says("ask " + text + text).Deliveries...)
	for range 2 {
		got := r.message(e).Content.String()
		words := strings.Fields(got)
		if len(words) != 5001 || words[1] != "@person0" || words[50] != "@person49" || words[51] != "@U7P00050" ||
			words[2500] != "@U7P02499" || words[2501] != "@person0" {
			t.Fatalf("it reads %.300s…", got)
		}
		if n := r.CountCalls("users.info"); n != 50 {
			t.Errorf("Slack was asked %d times, want 50", n)
		}
	}
}
