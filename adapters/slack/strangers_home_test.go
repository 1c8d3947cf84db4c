package slack_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/slack"
	"gatehouse/adapters/slack/internal/doctor"
	"gatehouse/adapters/slack/slacktest"
	"gatehouse/core"
)

const cannotCheck = "I could not check which workspace you are in. Press again."

// temporary are the ways in which Slack can't be asked for a while.
var temporary = map[string]slacktest.Trouble{
	"rate limit": slacktest.RateLimited(30 * time.Second), "limit in body": slacktest.RateLimitedInBody(),
	"server error":  slacktest.ServerError(503),
	"no connection": slacktest.Cut(), "revoked": slacktest.Refused("token_revoked"),
}

// organised makes the bot's workspace one of an organisation, and Slack know somebody of another workspace of it.
func organised(r *running) {
	r.Inject(slacktest.Fault{Endpoint: "auth.test", Trouble: slacktest.Trouble{
		Name: "of an organisation", Status: 200,
		Body: `{"ok":true,"team_id":"T0GATE","user_id":"` + r.BotUserID() + `","enterprise_id":"E0ORG"}`,
	}})
}

// sibling makes Slack say that somebody is of another workspace of the organisation.
func (r *running) sibling(user string) {
	r.Inject(slacktest.Fault{Endpoint: "users.info", When: func(c slacktest.Call) bool {
		return c.Args["user"] == user
	}, Trouble: slacktest.Trouble{
		Name: "a sibling", Status: 200,
		Body: `{"ok":true,"user":{"id":"` + user +
			`","team_id":"T5SIBLING","enterprise_user":{"enterprise_id":"E0ORG"}}}`,
	}})
}

// inShared returns the body of an event in a shared channel; a message event says nothing of its person's workspace
// unless its fields do.
func (r *running) inShared(fields string) []byte {
	return []byte(`{"type":"event_callback","team_id":"T0GATE","authorizations":[{"team_id":"T0GATE","user_id":"` +
		r.BotUserID() + `","is_bot":true}],` +
		`"is_ext_shared_channel":true,"event":{"channel":"C9","channel_type":"channel",` + fields + `}}`)
}

// TestAMessageIsSentAgainIfItsPersonsWorkspaceCannotBeAsked: nobody is taken for a stranger because Slack does not
// answer.
func TestAMessageIsSentAgainIfItsPersonsWorkspaceCannotBeAsked(t *testing.T) {
	for name, trouble := range temporary {
		t.Run(name, func(t *testing.T) {
			r := start(t, setup{before: organised}).known()
			r.shared()
			bodies := map[string][]byte{
				"mention": r.inShared(`"type":"app_mention","user":"U1ANN","ts":"1.2","text":"` +
					r.MentionOfBot() + ` hello"`),
				"follow-up": r.inShared(
					`"type":"message","user":"U1ANN","ts":"1.3","thread_ts":"1.2","text":"and more"`),
				"edit": r.inShared(
					`"type":"message","subtype":"message_changed","ts":"1.4","message":{"user":"U1ANN","ts":"1.2",` +
						`"text":"new","edited":{"user":"U1ANN","ts":"1.4"}},"previous_message":{"user":"U1ANN",` +
						`"ts":"1.2","text":"old"}`),
				"by a colleague": r.inShared(
					`"type":"app_mention","user":"U5SIB","user_team":"T5SIBLING","ts":"1.5","text":"` +
						r.MentionOfBot() + ` hello"`),
			}
			down := r.Inject(slacktest.Fault{Endpoint: "users.info", Trouble: trouble})
			for kind, body := range bodies {
				before := len(r.log.Warnings())
				if status, answer := r.send("/slack/events", body, nil); status != 503 || r.inbox.Tries() != 0 {
					t.Errorf("the %s is answered with %d %s", kind, status, answer)
				}
				if lines := r.log.Warnings(); len(lines) != before+1 ||
					!strings.Contains(lines[before], "Slack sends it again") {
					t.Errorf("after the %s the log warns %q", kind, lines)
				}
			}
			down.Lift()
			r.sibling("U5SIB")
			for kind, body := range bodies {
				if status, _ := r.send("/slack/events", body, nil); status != 200 || len(r.inbox.Take()) != 1 {
					t.Errorf("once Slack answers, the %s is answered with %d", kind, status)
				}
			}
			if said := r.Ephemerals("C9", "U1ANN"); len(said) != 0 {
				t.Errorf("ann was told %q", said[0].Shown())
			}
		})
	}
}

// TestNobodyIsAStrangerBeforeTheBotKnowsItsOrganisation: nor is anybody of another workspace refused until Slack has
// said whether it is one of the bot's organisation.
func TestNobodyIsAStrangerBeforeTheBotKnowsItsOrganisation(t *testing.T) {
	var down interface{ Lift() }
	r := start(t, setup{before: func(r *running) {
		down = r.Inject(slacktest.Fault{Endpoint: "auth.test", Trouble: slacktest.ServerError(503)})
	}})
	body := []byte(
		`{"type":"event_callback","team_id":"T0GATE","event":{"type":"app_mention","channel":"C1","ts":"1.2","text":"` +
			r.MentionOfBot() + ` hello","user":"U5SIB","team":"T5SIBLING"}}`)
	if status, answer := r.send("/slack/events", body, nil); status != 503 || r.inbox.Tries() != 0 {
		t.Errorf("it is answered with %d %s", status, answer)
	}
	organised(r)
	down.Lift()
	r.known()
	if status, answer := r.send("/slack/events", body, nil); status != 200 || len(r.inbox.Take()) != 1 {
		t.Errorf("once Slack has said it, it is answered with %d %s", status, answer)
	}
}

// TestSlackSendsAMessageAgainUntilItsPersonsWorkspaceIsKnown: the whole way, with Slack's own retries.
func TestSlackSendsAMessageAgainUntilItsPersonsWorkspaceIsKnown(t *testing.T) {
	onBoth(t, setup{before: organised, fake: slacktest.Options{AckWithin: 1e8}}, func(t *testing.T, r *running) {
		r.AddUser(slacktest.User{ID: "U5SIB", Name: "sib", TeamID: "T5SIBLING"})
		r.AddChannel(
			slacktest.Channel{ID: "C9", Name: "partners", ExtShared: true, Members: []string{"U5SIB", r.BotUserID()}})
		r.Inject(slacktest.Fault{Endpoint: "users.info", Trouble: slacktest.RateLimited(time.Second), Times: 2})
		r.sibling("U5SIB")
		d := r.Person("U5SIB").Posts("C9", r.MentionOfBot()+" hello", slacktest.OnlyEvent("message")).Deliveries[0]
		r.one(d)
		if n := len(d.Attempts()); n != 3 {
			t.Errorf("Slack sent it %d times, want 3", n)
		}
	})
}

func TestAPressIsNotTakenIfItsPersonsWorkspaceCannotBeAsked(t *testing.T) {
	for name, trouble := range temporary {
		t.Run(name, func(t *testing.T) {
			everyone := adaptertest.Cards("slack:U1ANN", "slack:U2BOB", "slack:U9EVE")
			r := start(t, setup{before: organised, slack: core.Deps{Cards: everyone}}).known()
			r.shared()
			press := func(who string) []byte {
				return formOf(`{"type":"block_actions",` + who +
					`,"channel":{"id":"C9"},"message":{"ts":"1.2"},"actions":[{"action_id":"x","value":"` +
					r.sealed("a1", "approve") + `","action_ts":"5.6"}]}`)
			}
			form := func(who string) []byte {
				return formOf(`{"type":"view_submission",` + who +
					`,"view":{"id":"V1","callback_id":"deny_reason","private_metadata":"` +
					r.sealed("a1", "reason", "C9", "1.2") + `"}}`)
			}
			ann, sib, eve := `"team":null,"user":{"id":"U1ANN"}`,
				`"team":{"id":"T5SIBLING"},"user":{"id":"U2BOB","team_id":"T5SIBLING"}`,
				`"team":{"id":"T9OTHER"},"user":{"id":"U9EVE","team_id":"T9OTHER"}`
			down := r.Inject(slacktest.Fault{Endpoint: "users.info", Trouble: trouble})
			for n, body := range [][]byte{press(ann), form(ann)} {
				if status, _ := r.send("/slack/interactions", body, nil); status != 503 || r.inbox.Tries() != 0 {
					t.Errorf("it is answered with %d", status)
				}
				if text := r.told("C9", "U1ANN", n+1); text != cannotCheck {
					t.Errorf("ann reads %q", text)
				}
			}
			for person, body := range map[string][]byte{"U2BOB": press(sib), "U9EVE": press(eve)} {
				if status, _ := r.send("/slack/interactions", body, nil); status != 503 || r.inbox.Tries() != 0 {
					t.Errorf("the press of %s is answered with %d", person, status)
				}
				if text := r.told("C9", person, 1); text != cannotCheck {
					t.Errorf("%s reads %q", person, text)
				}
			}
			down.Lift()
			r.sibling("U2BOB")
			for _, body := range [][]byte{press(ann), form(ann), press(sib)} {
				if status, _ := r.send("/slack/interactions", body, nil); status != 200 || len(r.inbox.Take()) != 1 {
					t.Errorf("once Slack answers, it is answered with %d", status)
				}
			}
			if status, _ := r.send("/slack/interactions", press(eve), nil); status != 200 || r.inbox.Tries() != 0 {
				t.Errorf("once Slack answers, the press of a stranger is answered with %d", status)
			}
			if text := r.told("C9", "U9EVE", 2); !strings.Contains(text, pressesOnly) {
				t.Errorf("eve reads %q", text)
			}
		})
	}
}

func TestALookUpWithoutAnAnswerIsMadeAgain(t *testing.T) {
	r := start(t, setup{before: organised}).known()
	r.shared()
	body := r.inShared(`"type":"app_mention","user":"U1ANN","ts":"1.2","text":"` + r.MentionOfBot() + ` hello"`)
	ctx, cancel := context.WithCancel(r.ctx)
	cancel()
	if !r.p.Take(ctx, "events_api", body, r.inbox.Accept) || r.inbox.Tries() != 0 {
		t.Error("after a cancelled look-up it was taken")
	}
	held := r.Inject(slacktest.Fault{Endpoint: "users.info", Trouble: slacktest.Held()})
	if status, _ := r.send("/slack/events", body, nil); status != 503 || r.inbox.Tries() != 0 {
		t.Errorf("without an answer in time it is answered with %d", status)
	}
	held.Lift()
	if status, _ := r.send("/slack/events", body, nil); status != 200 || len(r.inbox.Take()) != 1 {
		t.Errorf("once Slack answers, it is answered with %d", status)
	}
}

// Before Slack has said who the bot is, its organisation is not known.
func TestAPressOfAColleagueBeforeTheBotIsKnown(t *testing.T) {
	var down interface{ Lift() }
	r := start(t, setup{before: func(r *running) {
		down = r.Inject(slacktest.Fault{Endpoint: "auth.test", Trouble: slacktest.Cut()})
		organised(r)
		r.sibling("U2BOB")
	}})
	press := formOf(
		`{"type":"block_actions","team":{"id":"T0GATE"},"user":{"id":"U2BOB","team_id":"T5SIBLING"},` +
			`"channel":{"id":"C1"},"message":{"ts":"1.2"},` +
			`"actions":[{"action_id":"x","value":"` + r.sealed("a1", "approve") + `","action_ts":"5.6"}]}`)
	if status, _ := r.send("/slack/interactions", press, nil); status != 503 || r.inbox.Tries() != 0 {
		t.Errorf("it is answered with %d", status)
	}
	if text := r.told("C1", "U2BOB", 1); text != cannotCheck {
		t.Errorf("bob reads %q", text)
	}
	down.Lift()
	r.eventually("once the bot is known, the press is taken", func() bool {
		status, _ := r.send("/slack/interactions", press, nil)
		return status == 200
	})
	if n := len(r.inbox.Take()); n != 1 {
		t.Errorf("the press became %d events", n)
	}
}

// TestWithoutUsersReadWhoeverIsNotNamedIsAStranger: the table of scopes says so.
func TestWithoutUsersReadWhoeverIsNotNamedIsAStranger(t *testing.T) {
	r := start(t, setup{}).known()
	r.shared()
	r.WithdrawScope("users:read")
	press := formOf(
		`{"type":"block_actions","team":null,"user":{"id":"U2BOB"},"channel":{"id":"C9"},"message":{"ts":"1.2"},` +
			`"actions":[{"action_id":"x","value":"` + r.sealed("a1", "approve") + `","action_ts":"5.6"}]}`)
	if status, _ := r.send("/slack/interactions", press, nil); status != 200 || r.inbox.Tries() != 0 {
		t.Errorf("it is answered with %d", status)
	}
	if text := r.told("C9", "U2BOB", 1); !strings.Contains(text, pressesOnly) {
		t.Errorf("bob reads %q", text)
	}
	for _, s := range doctor.Scopes {
		if s.Name == "users:read" &&
			(!strings.Contains(s.For, "workspace") || !strings.Contains(s.Without, "taken for a stranger")) {
			t.Errorf("the scope %s does not say so: %s", s.Name, s.Without)
		}
	}
}

// With SLACK_CONNECT=allow the workspace of who talks does not matter, so it is not asked for.
func TestNobodyIsLookedUpWhereStrangersMayTalk(t *testing.T) {
	r := start(t, setup{before: organised, config: func(c *slack.Config) { overHTTP(c); allow(c) }}).known()
	r.shared()
	r.Inject(slacktest.Fault{Endpoint: "users.info", Trouble: slacktest.RateLimited(time.Second)})
	body := r.inShared(`"type":"app_mention","user":"U9EVE","ts":"1.2","text":"` + r.MentionOfBot() + ` hello"`)
	if status, _ := r.send("/slack/events", body, nil); status != 200 || len(r.inbox.Take()) != 1 {
		t.Errorf("it is answered with %d", status)
	}
}
