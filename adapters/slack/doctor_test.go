package slack_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/internal/fakeserver"
	"gatehouse/adapters/slack"
	"gatehouse/adapters/slack/internal/doctor"
	"gatehouse/adapters/slack/slacktest"
	"gatehouse/core"
)

// checkupTest is a workspace without faults, and a checkup of it.
type checkupTest struct {
	*slacktest.Server
	checkup checkup
}

var clinicTime = time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)

func newCheckup(t *testing.T, o slacktest.Options) *checkupTest {
	t.Helper()
	o.Now = func() time.Time { return clinicTime }
	c := &checkupTest{Server: slacktest.Start(t, o)}
	c.AddUser(slacktest.User{ID: "U2BOB", Name: "bob", RealName: "Bob"})
	c.AddUser(slacktest.User{ID: "U9OLD", Name: "old", Deleted: true})
	c.AddUser(slacktest.User{ID: "U8BOT", Name: "robot", IsBot: true})
	c.AddGroup(slacktest.Group{ID: "S1OPS", Handle: "ops", Members: []string{"U2BOB"}})
	c.AddGroup(slacktest.Group{ID: "S2NONE", Handle: "none"})
	c.AddChannel(slacktest.Channel{ID: "C1", Name: "general", Members: []string{"U2BOB", c.BotUserID()}})
	c.AddChannel(slacktest.Channel{ID: "C2", Name: "elsewhere", Members: []string{"U2BOB"}})
	c.checkup = checkup{slack.Config{
		BotToken: c.BotToken(), AppToken: c.AppToken(), APIURL: c.APIURL(), FollowUp: "thread",
	}, core.Checkup{
		Listen: "127.0.0.1:8080", Approvers: []string{"slack:U2BOB", "slack:S1OPS", "console:ann"},
		Now: func() time.Time {
			return clinicTime
		},
		Inbox: received(clinicTime.Add(-time.Minute), nil),
	}}
	return c
}

// checkup is a configuration, and what its check may use.
type checkup struct {
	Config slack.Config
	core.Checkup
}

// Run makes the checks.
func (c checkup) Run(ctx context.Context) []core.Check { return c.Config.Check(ctx, c.Checkup) }

// received lists events of gatehouse's own, which tell nothing, and one that came from Slack, unless its time is zero.
func received(at time.Time, err error) adaptertest.Events {
	event := func(kind core.Kind, at time.Time, retryOf int64) core.EventRecord {
		return core.EventRecord{
			Event: core.Event{Platform: slack.Name, Body: core.BodyOf(kind, "")}, AcceptedAt: at, RetryOf: retryOf,
		}
	}
	all := []core.EventRecord{event(core.KindSignal, clinicTime, 0), event(core.KindMessage, clinicTime, 3)}
	if !at.IsZero() {
		all = append(all, event(core.KindMessage, at, 0))
	}
	return func(context.Context, core.EventFilter) ([]core.EventRecord, error) { return all, err }
}

// finds runs the checkup and returns the checks by name.
func (c *checkupTest) finds(t *testing.T) map[string]core.Check {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	found := map[string]core.Check{}
	for _, f := range c.checkup.Run(ctx) {
		if _, twice := found[f.Name]; twice {
			t.Errorf("%q was checked twice", f.Name)
		}
		if f.What == "" || f.State != core.CheckOK && f.Mend == "" {
			t.Errorf("%q has no text, or no hint how to fix it: %+v", f.Name, f)
		}
		for _, secret := range []string{c.BotToken(), c.AppToken(), c.SigningSecret(), "/link/"} {
			if strings.Contains(f.What+f.Mend, secret) {
				t.Errorf("%q contains a secret: %+v", f.Name, f)
			}
		}
		found[f.Name] = f
	}
	return found
}

// wantCheck fails the test unless a check has this state and its text contains each of the words.
func wantCheck(t *testing.T, found map[string]core.Check, name string, state core.CheckState, words ...string) {
	t.Helper()
	f, ok := found[name]
	if !ok || f.State != state {
		t.Fatalf("%q is %+v, want %s; found %+v", name, f, state, found)
	}
	for _, word := range words {
		if !strings.Contains(f.What+" "+f.Mend, word) {
			t.Errorf("%q does not contain %q: %+v", name, word, f)
		}
	}
}

func TestCheckupFindsNoFault(t *testing.T) {
	c := newCheckup(t, slacktest.Options{})
	found := c.finds(t)
	for name, f := range found {
		if f.State != core.CheckOK {
			t.Errorf("%s: %+v", name, f)
		}
	}
	wantCheck(t, found, "slack token", core.CheckOK, "@gatehouse", "U0BOT", "T0GATE")
	wantCheck(t, found, "slack socket", core.CheckOK)
	wantCheck(t, found, "slack scopes", core.CheckOK)
	wantCheck(t, found, "slack channels", core.CheckOK, "in #general.")
	wantCheck(t, found, "slack events", core.CheckOK, "1m0s")
	wantCheck(t, found, "slack approver slack:U2BOB", core.CheckOK, "is bob")
	wantCheck(t, found, "slack approver slack:S1OPS", core.CheckOK, "has 1 member.")
	if err := c.WaitForSockets(t.Context(), 0); err != nil || len(c.Sockets()) != 1 {
		t.Errorf("of %d sockets %d stay open, and Slack would send events over them", len(c.Sockets()), c.OpenSockets())
	}
	for _, call := range c.Calls() {
		if strings.HasPrefix(call.Method, "chat.") || strings.HasPrefix(call.Method, "reactions.") ||
			call.Method == "conversations.open" {
			t.Errorf("%s was called; a checkup changes nothing", call.Method)
		}
	}
}

func TestCheckupAcceptsTheManifestsScopes(t *testing.T) {
	var scopes []string
	for _, s := range doctor.Scopes {
		if s.Name != "assistant:write" {
			scopes = append(scopes, s.Name)
		}
	}
	wantCheck(t, newCheckup(t, slacktest.Options{Scopes: scopes}).finds(t), "slack scopes", core.CheckOK)
}

func TestCheckupReportsEachMissingScope(t *testing.T) {
	useful := map[string]bool{
		"channels:read": true, "groups:read": true, "im:read": true, "mpim:read": true, "im:write": true,
		"users:read":      true,
		"reactions:write": true, "files:read": true, "commands": true,
	}
	for _, s := range doctor.Scopes {
		t.Run(s.Name, func(t *testing.T) {
			c := newCheckup(t, slacktest.Options{})
			c.WithdrawScope(s.Name)
			found := c.finds(t)
			if s.Name == "assistant:write" { // the view is a choice
				wantCheck(t, found, "slack scopes", core.CheckOK)
				return
			}
			state := core.CheckFail
			if useful[s.Name] {
				state = core.CheckWarn
			}
			address := "https://api.slack.com/apps/A0GATE/oauth"
			if s.Name == "users:read" { // without it the app's id can't be found out
				address = "https://api.slack.com/apps,"
			}
			wantCheck(t, found, "slack scope "+s.Name, state, s.Without, address, "Reinstall")
			for name, f := range found {
				if strings.HasPrefix(name, "slack scope") && name != "slack scope "+s.Name {
					t.Errorf("%s: %+v", name, f)
				}
			}
		})
	}
}

func TestCheckupRequiresTheScopesOfTheConfiguration(t *testing.T) {
	c := newCheckup(t, slacktest.Options{})
	c.WithdrawScope("channels:history")
	c.WithdrawScope("usergroups:read")
	c.checkup.Config.FollowUp, c.checkup.Approvers = "mention", []string{"slack:U2BOB"}
	found := c.finds(t)
	wantCheck(t, found, "slack scope channels:history", core.CheckWarn)
	// none may approve
	wantCheck(t, found, "slack scope usergroups:read", core.CheckWarn, "sees user groups by their ids")
	c.checkup.Config.MentionGroups = "S1OPS"
	wantCheck(t, c.finds(t), "slack scope channels:history", core.CheckFail, "nor mentions of a group",
		"thread above a mention")
}

func TestCheckupToken(t *testing.T) {
	c := newCheckup(t, slacktest.Options{})
	c.checkup.Config.BotToken = "xoxb-another"
	found := c.finds(t)
	wantCheck(t, found, "slack token", core.CheckFail, "invalid_auth", "Bot User OAuth Token")
	wantCheck(t, found, "slack events", core.CheckOK)
	if _, ok := found["slack scopes"]; ok {
		t.Error("the scopes of an invalid token were checked")
	}
	c.checkup.Config.BotToken = c.BotToken()
	c.RevokeToken()
	wantCheck(t, c.finds(t), "slack token", core.CheckFail, "token_revoked")
	c.RestoreToken()
	c.DeactivateAccount()
	wantCheck(t, c.finds(t), "slack token", core.CheckFail, "account_inactive")
}

func TestCheckupSocket(t *testing.T) {
	c := newCheckup(t, slacktest.Options{})
	c.checkup.Config.AppToken = "xapp-another"
	wantCheck(t, c.finds(t), "slack socket", core.CheckFail, "SLACK_APP_TOKEN", "connections:write", "A0GATE/general")
	c.checkup.Config.AppToken = c.AppToken()
	for code, words := range map[string][]string{
		"link_disabled": {"link_disabled", "A0GATE/socket-mode"}, "missing_scope": {"connections:write"},
		"ratelimited": {"again in a minute"},
	} {
		fault := c.Inject(slacktest.Fault{Endpoint: "apps.connections.open", Trouble: slacktest.Refused(code)})
		state := core.CheckFail
		if code == "ratelimited" {
			state = core.CheckWarn
		}
		wantCheck(t, c.finds(t), "slack socket", state, words...)
		fault.Lift()
	}
	before := c.CountCalls("apps.connections.open")
	c.checkup.Quick = true
	if f, ok := c.finds(t)["slack socket"]; ok || c.CountCalls("apps.connections.open") != before {
		t.Errorf("a quick checkup asked for a socket: %+v", f)
	}
}

func TestCheckupBots(t *testing.T) {
	c := newCheckup(t, slacktest.Options{})
	c.AddUser(slacktest.User{ID: "U7FLOW", Name: "flow", IsBot: true, BotID: "B7FLOW"})
	c.checkup.Config.Bots = "B7FLOW,U7FLOW,B9NONE,U9NONE,U2BOB," + c.BotUserID()
	found := c.finds(t)
	wantCheck(t, found, "slack bot B7FLOW", core.CheckOK, "flow")
	wantCheck(t, found, "slack bot U7FLOW", core.CheckOK, "flow")
	wantCheck(t, found, "slack bot B9NONE", core.CheckFail, "is not known", "SLACK_BOTS")
	wantCheck(t, found, "slack bot U9NONE", core.CheckFail, "is not known", "SLACK_BOTS")
	wantCheck(t, found, "slack bot U2BOB", core.CheckWarn, "is a person", "bob")
	wantCheck(t, found, "slack bot "+c.BotUserID(), core.CheckWarn, "is this bot itself")
	c.WithdrawScope("users:read")
	wantCheck(t, c.finds(t), "slack bot B7FLOW", core.CheckWarn, "users:read")
}

func TestCheckupHTTP(t *testing.T) {
	c := newCheckup(t, slacktest.Options{})
	c.checkup.Config.AppToken, c.checkup.Config.SigningSecret = "", c.SigningSecret()
	c.checkup.Inbox = adaptertest.Events(func(context.Context, core.EventFilter) ([]core.EventRecord, error) {
		return nil, nil
	})
	found := c.finds(t)
	wantCheck(t, found, "slack http", core.CheckOK, "127.0.0.1:8080", "public https address", "/slack/events")
	wantCheck(t, found, "slack events", core.CheckWarn, "No event", "Request URL", "Verified")
	if _, ok := found["slack socket"]; ok {
		t.Error("a socket was requested without an app token")
	}
}

func TestCheckupChannels(t *testing.T) {
	c := newCheckup(t, slacktest.Options{})
	c.Invite("C2", c.BotUserID())
	wantCheck(t, c.finds(t), "slack channels", core.CheckOK, "in #general and 1 more.")
	c.Remove("C1", c.BotUserID())
	c.Remove("C2", c.BotUserID())
	wantCheck(t, c.finds(t), "slack channels", core.CheckFail, "/invite @gatehouse")
	c.DMWith("U2BOB")
	wantCheck(t, c.finds(t), "slack channels", core.CheckOK, "1 direct conversation.")
	for _, scope := range []string{"channels:read", "groups:read", "im:read", "mpim:read"} {
		c.WithdrawScope(scope)
	}
	if f, ok := c.finds(t)["slack channels"]; ok {
		t.Errorf("the bot's channels are unknown, but there is a check: %+v", f)
	}
}

func TestCheckupEvents(t *testing.T) {
	c := newCheckup(t, slacktest.Options{})
	at := time.Time{}
	var err error
	c.checkup.Inbox = adaptertest.Events(func(ctx context.Context, f core.EventFilter) ([]core.EventRecord, error) {
		return received(at, err)(ctx, f)
	})
	wantCheck(t, c.finds(t), "slack events", core.CheckWarn, "No event has come", "@gatehouse hello",
		"A0GATE/event-subscriptions", "message.channels", "Socket Mode is on")
	at = clinicTime.Add(-2 * time.Hour)
	wantCheck(t, c.finds(t), "slack events", core.CheckWarn, "The last event came", "@gatehouse hello")
	at = clinicTime.Add(-time.Hour)
	wantCheck(t, c.finds(t), "slack events", core.CheckOK)
	err = errors.New("the disk is gone")
	found := c.finds(t)
	wantCheck(t, found, "slack events", core.CheckFail, "the disk is gone")
	c.checkup.Inbox = nil
	if f, ok := c.finds(t)["slack events"]; ok {
		t.Errorf("the last event is unknown, but there is a check: %+v", f)
	}
}

func TestCheckupApprovers(t *testing.T) {
	c := newCheckup(t, slacktest.Options{})
	c.checkup.Approvers = []string{
		"slack:U404", "slack:U9OLD", "slack:U8BOT", "slack:S404", "slack:S2NONE", "slack:bob",
	}
	found := c.finds(t)
	wantCheck(t, found, "slack approver slack:U404", core.CheckFail, "not a member of this workspace", "Copy member ID")
	wantCheck(t, found, "slack approver slack:U9OLD", core.CheckFail, "deactivated")
	wantCheck(t, found, "slack approver slack:U8BOT", core.CheckFail, "bot")
	wantCheck(t, found, "slack approver slack:S404", core.CheckFail, "no user group")
	wantCheck(t, found, "slack approver slack:S2NONE", core.CheckFail, "no members")
	wantCheck(t, found, "slack approver slack:bob", core.CheckFail, "neither the id of a person")
	c.checkup.Approvers = nil
	wantCheck(t, c.finds(t), "slack approvers", core.CheckWarn, "No approvers are configured", "GATEHOUSE_APPROVERS")
	c.checkup.Approvers = []string{"console:ann"}
	wantCheck(t, c.finds(t), "slack approvers", core.CheckWarn, "None of the configured approvers is on Slack")
}

func TestCheckupWhenSlackDoesNotAnswer(t *testing.T) {
	c := newCheckup(t, slacktest.Options{})
	for _, tc := range []struct {
		trouble slacktest.Trouble
		state   core.CheckState
		words   []string
	}{
		{slacktest.Cut(), core.CheckFail, []string{"does not answer as Slack does (EOF)"}},
		{slacktest.ServerError(503), core.CheckFail, []string{"does not answer as Slack does", "503"}},
		{fakeserver.Garbled(), core.CheckFail, []string{"does not answer as Slack does"}},
		{
			slacktest.Refused("internal_error"), core.CheckFail,
			[]string{"does not answer as Slack does", "internal_error"},
		},
		{slacktest.RateLimited(time.Second), core.CheckWarn, []string{"again in a minute"}},
		{slacktest.RateLimitedInBody(), core.CheckWarn, []string{"again in a minute"}},
	} {
		fault := c.Inject(slacktest.Fault{Endpoint: "auth.test", Trouble: tc.trouble})
		wantCheck(t, c.finds(t), "slack token", tc.state, tc.words...)
		fault.Lift()
	}
	fault := c.Inject(slacktest.Fault{Endpoint: "users.conversations", Trouble: slacktest.Refused("access_denied")})
	wantCheck(t, c.finds(t), "slack channels", core.CheckFail, "Slack refuses to answer: access_denied")
	fault.Lift()
	c.checkup.Config.APIURL = c.URL() + "/nothing/"
	wantCheck(t, c.finds(t), "slack token", core.CheckFail,
		"What answers at "+c.URL()+"/nothing/ does not answer as Slack does", "404", "SLACK_API_URL")
	c.checkup.Config.APIURL = c.APIURL()
	c.Close()
	found := c.finds(t)
	wantCheck(t, found, "slack token", core.CheckFail, "Slack can't be reached at "+c.APIURL(), "connection refused",
		"SLACK_API_URL")
	if strings.Contains(found["slack token"].What, "auth.test") {
		t.Errorf("the text contains the address of the call: %+v", found)
	}
}

func TestCheckupWhenSlackAnswersTooLate(t *testing.T) {
	c := newCheckup(t, slacktest.Options{})
	held := c.Inject(slacktest.Fault{Endpoint: "auth.test", Trouble: slacktest.Held()})
	defer held.Lift()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	found := c.checkup.Run(ctx)
	if found[0].State != core.CheckFail || !strings.Contains(found[0].What, "does not answer in time at "+c.APIURL()) {
		t.Errorf("got %+v", found[0])
	}
}

func TestTheCheckupReportsPeopleOfOtherWorkspaces(t *testing.T) {
	c := newCheckup(t, slacktest.Options{})
	if f, ok := c.finds(t)["slack connect"]; ok {
		t.Errorf("nothing is shared, and it says %+v", f)
	}
	c.checkup.Config.Connect = "allow"
	wantCheck(t, c.finds(t), "slack connect", core.CheckOK, "0 conversations", "SLACK_CONNECT=allow", "can't decide")
	c.checkup.Config.Connect = "deny"
	c.AddChannel(slacktest.Channel{ID: "C9", Name: "partners", ExtShared: true, Members: []string{c.BotUserID()}})
	c.AddUser(slacktest.User{ID: "U9EVE", Name: "eve", TeamID: "T9OTHER"})
	c.checkup.Approvers = append(c.checkup.Approvers, "slack:U9EVE")
	found := c.finds(t)
	wantCheck(t, found, "slack connect", core.CheckOK, "1 conversation shared", "does not answer",
		"SLACK_CONNECT=allow")
	wantCheck(t, found, "slack approver slack:U9EVE", core.CheckFail, "another workspace")
}

func TestTheSettingForOtherWorkspaces(t *testing.T) {
	for value, valid := range map[string]bool{"": true, "deny": true, "allow": true, "yes": false, "Allow": false} {
		faults := slack.Config{APIURL: "https://slack.com/api/", FollowUp: "thread", Connect: value}.Validate()
		if (len(faults) == 0) != valid || !valid && !strings.Contains(faults[0], "SLACK_CONNECT") {
			t.Errorf("%q: %v", value, faults)
		}
	}
}
