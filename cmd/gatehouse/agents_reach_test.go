package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"gatehouse/adapters/agents"
	"gatehouse/adapters/discord/discordtest"
	"gatehouse/adapters/slack/slacktest"
	"gatehouse/core"
)

// reachPolicy has a rule for each way in which a request may reach nobody, and for a group.
const reachPolicy = `version: 1
people: {bob: [slack:U2BOB], gone: [slack:U9GONE]}
rules:
  - {name: typo, tools: ["external.ci.typo"], action: ask, approvers: [person:bob], notify: ["slack:C404"]}
  - {name: gone, tools: ["external.ci.gone"], action: ask, approvers: [person:gone], notify: [dm]}
  - {name: archived, tools: ["external.ci.archived"], action: ask, approvers: [person:bob], notify: ["slack:C2"]}
  - {name: direct, tools: ["external.ci.direct"], action: ask, approvers: [person:bob], notify: [dm]}
  - {name: members, tools: ["external.ci.members"], action: ask, approvers: ["slack:S1OPS"], notify: [dm]}
`

func serveReach(t *testing.T) (*testGateway, agentClient) {
	t.Helper()
	s := serveAgents(t, map[string]string{"GATEHOUSE_APPROVAL_POLICY": policyFile(t, reachPolicy)})
	s.slack.AddGroup(ops("U2BOB", "U3EVE"))
	s.slack.AddUser(slacktest.User{ID: "U9GONE", Name: "gone", Deleted: true})
	s.slack.AddChannel(slacktest.Channel{ID: "C2", Name: "old", Members: []string{"U2BOB", s.slack.BotUserID()}})
	s.slack.Archive("C2")
	return s, agentClient{t, s.base, ciToken}
}

func asksFor(action string) string {
	return `{"action":"` + action + `","summary":"Do ` + action + `."}`
}

// TestARequestThatCanReachNobodyIsRefused at once, with what to change; nothing is opened, over HTTP as over MCP.
func TestARequestThatCanReachNobodyIsRefused(t *testing.T) {
	t.Parallel()
	s, ci := serveReach(t)
	for action, why := range map[string]string{
		"typo": `Nobody can be told of this request, so it was not opened: Slack has no channel slack:C404 that ` +
			`the bot may ` +
			`see. An admin has to change the approvers or notify: of the rule "typo".`,
		"gone": `the account slack:U9GONE is deactivated in Slack.`,
	} {
		status, _, f := ci.do("POST", "/v1/approvals", action, asksFor(action))
		if status != http.StatusForbidden || !strings.Contains(f.Message, why) {
			t.Errorf("%s: %d %s", action, status, f.Message)
		}
	}
	if _, out := s.command("approvals", "list", "--json"); firstID.MatchString(out) {
		t.Errorf("a request was opened: %s", out)
	}
}

// TestARequestFallsBackToDirectMessages where its channel was archived; a press there decides.
func TestARequestFallsBackToDirectMessages(t *testing.T) {
	t.Parallel()
	s, ci := serveReach(t)
	asked := ci.must("POST", "/v1/approvals", "k", asksFor("archived"))
	his := s.slack.DMWith("U2BOB")
	card := s.card(his, "", "Do archived.")
	s.bob.Clicks(his, card.TS, "approve")
	got := ci.must("GET", "/v1/approvals/"+string(asked.ID)+"?wait=30", "", "")
	if got.State != core.Approved || got.Delivery != nil {
		t.Errorf("%+v", got)
	}
}

// TestAGroupWithDirectMessagesReachesEachMember of it.
func TestAGroupWithDirectMessagesReachesEachMember(t *testing.T) {
	t.Parallel()
	s, ci := serveReach(t)
	asked := ci.must("POST", "/v1/approvals", "k", asksFor("members"))
	his, hers := s.slack.DMWith("U2BOB"), s.slack.DMWith("U3EVE")
	s.card(his, "", "Do members.")
	card := s.card(hers, "", "Do members.")
	s.eve.Clicks(hers, card.TS, "approve")
	got := ci.must("GET", "/v1/approvals/"+string(asked.ID)+"?wait=30", "", "")
	if got.State != core.Approved || got.DecidedBy.ID != "slack:U3EVE" {
		t.Errorf("%+v", got)
	}
	s.shows(his, s.slack.FromBot(his)[0].TS, "Approved", 0)
	if n := len(s.slack.FromBot(his)) + len(s.slack.FromBot(hers)); n != 2 {
		t.Errorf("%d direct messages, want one for each\n%s", n, s.slack.Dump())
	}
}

// readyNow is what /readyz says.
func (s *testGateway) readyNow() (all readiness) {
	s.t.Helper()
	answer, err := http.Get(s.base + "/readyz")
	noErr(s.t, err)
	defer answer.Body.Close()
	noErr(s.t, json.NewDecoder(answer.Body).Decode(&all))
	return all
}

// TestARequestThatReachedNobodySaysSo: to its agent, in the audit log and at /readyz, until it is decided.
func TestARequestThatReachedNobodySaysSo(t *testing.T) {
	t.Parallel()
	for _, action := range []string{"direct", "archived"} {
		t.Run(action, func(t *testing.T) {
			t.Parallel()
			s, ci := serveReach(t)
			his := s.slack.DMWith("U2BOB")
			s.slack.Inject(slacktest.Fault{
				Endpoint: "chat.postMessage", Trouble: slacktest.Refused("messages_tab_disabled"),
				When: func(c slacktest.Call) bool { return c.Args["channel"] == his },
			})
			asked := ci.must("POST", "/v1/approvals", "k", asksFor(action))
			var got agents.State
			for deadline := time.Now().Add(patience); got.Delivery == nil && time.Now().Before(deadline); {
				got = ci.must("GET", "/v1/approvals/"+string(asked.ID)+"?wait=1", "", "")
			}
			d := got.Delivery
			if got.State != core.Open || d == nil || d.State != "undelivered" ||
				!strings.Contains(d.Why, "No approver was told") {
				t.Errorf("it is %+v, delivery %+v", got, got.Delivery)
			}
			now := ci.call("check_approval", `{"id":"`+string(asked.ID)+`"}`)
			if now.Delivery == nil || now.Delivery.State != "undelivered" {
				t.Errorf("over MCP it is %+v", now)
			}
			said := func() bool { return strings.Contains(strings.Join(s.readyNow().Notes, " "), string(asked.ID)) }
			waitUntil(t, said, "/readyz says it")
			if !s.readyNow().Ready {
				t.Error("gatehouse is not ready: others could not be told either")
			}
			_, log := s.command("approvals", "log")
			if n := strings.Count(log, "undelivered"); n != 1 {
				t.Errorf("the audit log says it %d times:\n%s", n, log)
			}
			if code, out := s.command("approvals", "log", "--verify"); code != 0 {
				t.Errorf("%d: %s", code, out)
			}
			s.command("approvals", "approve", string(asked.ID))
			waitUntil(t, func() bool { return !said() }, "/readyz says it no more")
		})
	}
}

// TestDiscordARequestThatCanReachNobodyIsRefused: a channel that is not there, and a role, whose members Discord does
// not list.
func TestDiscordARequestThatCanReachNobodyIsRefused(t *testing.T) {
	t.Parallel()
	const person, role = `"discord:` + deciderID + `"`, `"discord:role:` + roleID + `"`
	const policy = `version: 1
rules:
  - {name: typo, tools: ["external.ci.typo"], action: ask, approvers: [` + person + `], notify: ["discord:999"]}
  - {name: role, tools: ["external.ci.role"], action: ask, approvers: [` + role + `], notify: [dm]}
  - {name: both, tools: ["external.ci.both"], action: ask, approvers: [` + role + `, ` + person + `], notify: [dm]}
`
	d := serveDiscord(t, discordtest.Options{}, map[string]string{
		"GATEHOUSE_APPROVERS": "", "GATEHOUSE_APPROVAL_POLICY": policyFile(t, policy),
		"GATEHOUSE_TOKENS": "ci=" + ciToken,
	})
	ci := agentClient{t, d.base, ciToken}
	for action, why := range map[string]string{
		"typo": "Discord has no channel discord:999",
		"role": "Discord does not say who has the role discord:role:" + roleID,
	} {
		status, _, f := ci.do("POST", "/v1/approvals", action, asksFor(action))
		if status != http.StatusForbidden || !strings.Contains(f.Message, why) {
			t.Errorf("%s: %d %s", action, status, f.Message)
		}
	}
	ci.must("POST", "/v1/approvals", "both", asksFor("both"))
	d.card(d.discord.DMWith(deciderID), "Do both.")
}
