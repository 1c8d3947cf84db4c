package slack_test

import (
	"strings"
	"testing"
	"time"

	"gatehouse/adapters/internal/fakeserver"
	"gatehouse/adapters/slack"
	"gatehouse/adapters/slack/slacktest"
	"gatehouse/core"
)

const (
	talksOnly   = "I only talk with people in my own workspace"
	pressesOnly = "Only people in my own workspace can use this button"
)

// shared adds a channel that is shared with another workspace, and a person of that workspace who is in it.
func (r *running) shared() (eve *slacktest.Person) {
	eve = r.AddUser(slacktest.User{ID: "U9EVE", Name: "eve", TeamID: "T9OTHER"})
	r.AddChannel(
		slacktest.Channel{
			ID: "C9", Name: "partners", ExtShared: true, Members: []string{"U1ANN", "U2BOB", "U9EVE", r.BotUserID()},
		})
	return eve
}

// told waits until a person has got this many private sentences in a channel, and returns the last.
func (r *running) told(channel, person string, n int) string {
	r.t.Helper()
	if err := r.WaitFor(r.ctx, func(*slacktest.Server) bool {
		return len(r.Ephemerals(channel, person)) >= n
	}); err != nil {
		r.t.Fatalf("%v\n%s", err, r.Dump())
	}
	all := r.Ephemerals(channel, person)
	if len(all) != n {
		r.t.Fatalf("%s was told %d times, want %d", person, len(all), n)
	}
	return all[n-1].Shown()
}

func allow(c *slack.Config) { c.Connect = "allow" }

func TestStrangersAreRefusedPolitely(t *testing.T) {
	clock := fakeserver.NewClock(time.Now())
	onBoth(t, setup{slack: core.Deps{Now: clock.Now}, fake: slacktest.Options{Now: clock.Now}},
		func(t *testing.T, r *running) {
			eve := r.shared()
			mention := eve.Posts("C9", r.MentionOfBot()+" hello")
			r.none(mention.Deliveries...)
			if text := r.told("C9", "U9EVE", 1); !strings.Contains(text, talksOnly) {
				t.Errorf("eve reads %q", text)
			}
			for _, text := range []string{" again", " !stop", " !new"} { // within the minute nothing more is said
				r.none(eve.Posts("C9", r.MentionOfBot()+text).Deliveries...)
			}
			work := r.ann.Posts("C9", r.MentionOfBot()+" work")
			r.one(work.Deliveries...)
			// that was not said to the bot
			r.none(eve.Posts("C9", "I agree", slacktest.InThread(work.TS)).Deliveries...)
			r.none(eve.Edits("C9", mention.TS, r.MentionOfBot()+" hello?")...)
			if n := len(r.Ephemerals("C9", "U9EVE")); n != 1 {
				t.Errorf("within a minute eve was told %d times", n)
			}
			dm := r.DMWith("U9EVE")
			r.none(eve.Says("hello").Deliveries...)
			if n := len(r.Ephemerals(dm, "U9EVE")); n != 0 {
				t.Errorf("within a minute eve was told again: %d", n)
			}
			clock.Advance(61 * time.Second)
			r.none(eve.Says("hello").Deliveries...)
			r.told(dm, "U9EVE", 1)
			if strings.Contains(r.log.String(), "hello") {
				t.Errorf("the log has what a stranger said:\n%s", r.log)
			}
		})
}

func TestAStrangerIsKnownByEachFieldThatSaysSo(t *testing.T) {
	r := start(t, setup{}).known()
	r.shared()
	r.AddUser(slacktest.User{ID: "U8OUT", Name: "out", TeamID: "T9OTHER"})
	event := func(fields string) string {
		return `{"type":"event_callback","team_id":"T9OTHER","authorizations":[{"team_id":"T0GATE","user_id":"` +
			r.BotUserID() + `","is_bot":true}],` +
			`"is_ext_shared_channel":true,"event":{"type":"app_mention","channel":"C9","ts":"1.2","text":"` +
			r.MentionOfBot() + ` hello",` + fields + `}}`
	}
	for fields, own := range map[string]bool{
		`"user":"U9EVE","user_team":"T9OTHER","team":"T0GATE"`:         false,
		`"user":"U9EVE","source_team":"T9OTHER"`:                       false,
		`"user":"U9EVE","team":"T9OTHER"`:                              false,
		`"user":"U9EVE","user_team":"T9OTHER","USER_TEAM":"T0GATE"`:    false,
		`"user":"U9EVE","user_team":"E9ORG"`:                           false,
		`"user":"U9EVE"`:                                               false, // as Slack says when it is asked
		`"user":"U0NONE"`:                                              false, // Slack can't say
		`"user":"U1ANN"`:                                               true,
		`"user":"U1ANN","user_team":"T0GATE","team":"T0GATE"`:          true,
		`"user":"U1ANN","user_team":null,"source_team":"","team":null`: true,
	} {
		if status, answer := r.send("/slack/events", []byte(event(fields)), nil); status != 200 {
			t.Errorf("%s: %d %s", fields, status, answer)
		}
		if got := r.inbox.Take(); (len(got) == 1) != own {
			t.Errorf("%s: stored %+v", fields, got)
		}
	}
	r.none(r.Person("U8OUT").Runs(r.DMWith("U8OUT"), "/gatehouse new"))
	if text := r.told(r.DMWith("U8OUT"), "U8OUT", 1); !strings.Contains(text, talksOnly) {
		t.Errorf("the command was answered with %q", text)
	}
	r.none(r.Person("U8OUT").Runs(r.DMWith("U8OUT"), "/gatehouse new"))
	r.told(r.DMWith("U8OUT"), "U8OUT", 1)
}

func TestStrangersMayTalkIfAllowedAndNeverDecide(t *testing.T) {
	onBoth(t, setup{config: allow, fake: slacktest.Options{Scopes: plain()}}, func(t *testing.T, r *running) {
		eve := r.shared()
		if e := r.one(eve.Posts("C9", r.MentionOfBot()+" hello").Deliveries...); e.Actor.ID != "slack:U9EVE" ||
			!strings.HasPrefix(string(e.Conversation), "slack:T0GATE:C9:") {
			t.Errorf("got %+v", e)
		}
		r.one(eve.Says("hello").Deliveries...)
		r.one(eve.Runs(r.DMWith("U9EVE"), "/gatehouse new"))
		r.one(eve.Presses(r.button("C9", r.sealed("again", "7", "slack:T0GATE:C9:1.2", "C9", "1.2"))))
		r.none(eve.Presses(r.button("C9", r.sealed("a1", "approve"))))
		if text := r.told("C9", "U9EVE", 1); !strings.Contains(text, pressesOnly) {
			t.Errorf("eve reads %q", text)
		}
	})
}

// TestAStrangersPressIsRefusedPrivately: on every button, and for a modal that a stranger could not have opened.
func TestAStrangersPressIsRefusedPrivately(t *testing.T) {
	onBoth(t, setup{}, func(t *testing.T, r *running) {
		eve := r.shared()
		views := len(r.Calls("views.open"))
		for _, fields := range [][]string{
			{"a1", "approve"}, {"a1", "deny"}, {"a1", "reason"}, {"a1", "arguments"},
			{"again", "7", "slack:T0GATE:C9:1.2", "C9", "1.2"}, {"new", "7", "slack:T0GATE:C9:1.2", "C9", "1.2"},
		} {
			r.none(eve.Presses(r.button("C9", r.sealed(fields...))))
			r.none(eve.Presses(r.button("C9", r.sealed(fields...)), slacktest.FromTeam("T9OTHER")))
		}
		if text := r.told("C9", "U9EVE", 1); !strings.Contains(text, pressesOnly) {
			t.Errorf("eve reads %q", text)
		}
		if n := len(r.Calls("views.open")); n != views {
			t.Error("a modal was opened")
		}
		if e := r.one(r.bob.Presses(r.button("C9", r.sealed("a1", "approve")))); e.Actor.ID != "slack:U2BOB" {
			t.Errorf("bob's press is %+v", e)
		}
	})
	r := start(t, setup{}).known()
	r.shared()
	value := r.sealed("a1", "approve")
	for who, own := range map[string]bool{
		`"team":{"id":"T0GATE"},"user":{"id":"U9EVE","team_id":"T9OTHER"}`:                         false,
		`"team":{"id":"T0GATE"},"user":{"id":"U9EVE","team_id":"T9OTHER","TEAM_ID":"T0GATE"}`:      false,
		`"team":{"id":"T9OTHER"},"user":{"id":"U9EVE"}`:                                            false,
		`"team":null,"user":{"id":"U9EVE"}`:                                                        false,
		`"team":null,"user":{"id":"U0NONE"}`:                                                       false,
		`"team":{"id":"T9OTHER"},"user":{"id":"U9EVE","team_id":"T9OTHER"},"enterprise":{"id":""}`: false,
		`"team":null,"user":{"id":"U2BOB"}`:                                                        true,
		`"team":{"id":"T9OTHER"},"user":{"id":"U2BOB","team_id":"T0GATE"}`:                         true,
	} {
		press := `{"type":"block_actions",` + who +
			`,"channel":{"id":"C9"},"message":{"ts":"1.2"},"actions":[{"action_id":"x","value":"` + value +
			`","action_ts":"5.6"}]}`
		if status, answer := r.send("/slack/interactions", formOf(press), nil); status != 200 {
			t.Errorf("%s: %d %s", who, status, answer)
		}
		if got := r.inbox.Take(); (len(got) == 1) != own {
			t.Errorf("%s: stored %+v", who, got)
		}
	}
	form := `{"type":"view_submission","team":{"id":"T9OTHER"},"user":{"id":"U9EVE","team_id":"T9OTHER"},` +
		`"view":{"id":"V1","callback_id":"deny_reason","private_metadata":"` +
		r.sealed("a1", "reason", "C9", "1.2") + `"}}`
	if status, _ := r.send("/slack/interactions", formOf(form), nil); status != 200 || len(r.inbox.Take()) != 0 {
		t.Errorf("a stranger's form was answered with %d", status)
	}
}

// On Enterprise Grid other workspaces of the organisation are the bot's own people.
func TestTheOrganisationOfTheBotIsItsOwn(t *testing.T) {
	s := setup{before: func(r *running) {
		r.Inject(slacktest.Fault{Endpoint: "auth.test", Trouble: slacktest.Trouble{
			Name: "of an organisation", Status: 200,
			Body: `{"ok":true,"team_id":"T0GATE","user_id":"` + r.BotUserID() + `","enterprise_id":"E0ORG"}`,
		}})
	}}
	r := start(t, s).known()
	r.shared()
	event := func(shared, fields string) string {
		return `{"type":"event_callback","team_id":"T0GATE","is_ext_shared_channel":` + shared +
			`,"event":{"type":"app_mention","channel":"C9","ts":"1.2","text":"` + r.MentionOfBot() +
			` hello",` + fields + `}}`
	}
	for body, own := range map[string]bool{
		event("false", `"user":"U5SIB","team":"T5SIBLING"`):  true,
		event("true", `"user":"U5SIB","user_team":"E0ORG"`):  true,
		event("true", `"user":"U9EVE","user_team":"E9ORG"`):  false,
		event("true", `"user":"U9EVE","team":"T9OTHER"`):     false,
		event("true", `"user":"U1ANN","user_team":"T0GATE"`): true,
	} {
		if status, answer := r.send("/slack/events", []byte(body), nil); status != 200 {
			t.Errorf("%s: %d %s", body, status, answer)
		}
		if got := r.inbox.Take(); (len(got) == 1) != own {
			t.Errorf("%s: stored %+v", body, got)
		}
	}
}
