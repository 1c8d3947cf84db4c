package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"gatehouse/adapters/slack/slacktest"
	"gatehouse/core"
	"gatehouse/core/audit"
)

// lonely is a policy under which nobody could approve some of what ann asks for, and what the agent ci asks for.
const lonely = `version: 1
people:
  ann: [slack:U1ANN, openharness:ann]
groups:
  mine: [person:ann]
rules:
  - {name: alone, tools: [note.add], when: 'args.text contains "alone"', action: ask, approvers: [slack:U1ANN]}
  - {name: group, tools: [note.add], when: 'args.text contains "group"', action: ask, approvers: [group:mine]}
  - {name: quorum, tools: [note.add], when: 'args.text contains "quorum"', action: ask,
     approvers: [group:mine, slack:U2BOB], quorum: 2}
  - {name: other, tools: [note.add], action: ask, approvers: [slack:U2BOB, person:ann]}
  - {name: agents, tools: [external.ci.deploy], action: ask, approvers: ["openharness:ci"], self: true,
     notify: ["slack:C1"]}
  - {name: agent and bob, tools: [external.ci.merge], action: ask, approvers: ["openharness:ci",
     "slack:U2BOB"], self: true, quorum: 2, notify: ["slack:C1"]}
asks:
  - {tools: ["external.ci.*"], to: ["openharness:ci", "slack:U2BOB"], notify: ["slack:C1"]}
`

// What nobody could ever approve is refused when it is asked for, with what to change. What somebody could is asked.
func TestARequestThatNobodyCouldApproveIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	s := serveSlack(t, slacktest.Options{}, map[string]string{
		"SLACK_SIGNING_SECRET": "8f742231b10e8888abcd99yyyzzz85a5", "GATEHOUSE_APPROVERS": "",
		"GATEHOUSE_APPROVAL_POLICY": policyFile(t, lonely), "GATEHOUSE_TOKENS": "ci=" + ciToken + ",ann=" + cdToken,
	})
	for text, want := range map[string]string{
		"alone": `Nobody could ever approve this: the rule "alone" needs 1 approval, and has no approver besides ` +
			`who asked. An admin can name more approvers in it or set self: true.`,
		"group": `Nobody could ever approve this: the rule "group" needs 1 approval, and has no approver besides ` +
			`who asked. An admin can name more approvers in it or set self: true.`,
		"quorum": `Nobody could ever approve this: the rule "quorum" needs 2 approvals, and has 1 approver besides ` +
			`who asked. An admin can name more approvers in it, lower its quorum or set self: true.`,
	} {
		ask := s.ann.Posts("C1", s.slack.MentionOfBot()+" note add "+text)
		s.reads("C1", ask.TS, want)
	}
	s.asked("other")
	ci := agentClient{t, s.base, ciToken}
	for action, want := range map[string]string{
		"deploy": `the rule "agents" needs 1 approval, and has no approver besides the agent's own token. An admin ` +
			`can name more approvers in it.`,
		"merge": `the rule "agent and bob" needs 2 approvals, and has 1 approver besides the agent's own token. ` +
			`An admin can name more approvers in it or lower its quorum.`,
	} {
		status, _, f := ci.do("POST", "/v1/approvals", "", `{"action":"`+action+`","summary":"Do it."}`)
		if status != 403 || !strings.Contains(f.Message, want) {
			t.Errorf("%s: %d %s", action, status, f.Message)
		}
	}
	if status, _, f := ci.do("POST", "/v1/approvals", "",
		`{"question":"Which?","of":["openharness:ci"]}`); status != 403 ||
		!strings.Contains(f.Message, "Nobody could ever answer this") {
		t.Errorf("%d %s", status, f.Message)
	}
	if _, out := s.command("approvals", "list", "--json"); strings.Count(out, `"state":`) != 1 {
		t.Errorf("the approvals are %s", out)
	}
}

// A request outside of its working hours is not reminded of and not escalated, and expires as it does within them.
func TestRemindersAndEscalationsWaitForWorkingHours(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e engine) {
		day := strings.ToLower(time.Now().UTC().Add(48 * time.Hour).Weekday().String())
		p := newSlackProcessOn(t, e, "GATEHOUSE_APPROVAL_POLICY="+policyFile(t, fmt.Sprintf(`version: 1
rules:
  - {name: late, tools: [note.add], when: 'args.text contains "late"', action: ask, approvers: [slack:U2BOB],
     expires: 3s, remind: [100ms], escalate: {after: 200ms, to: [slack:U3EVE]},
     hours: {zone: Pacific/Auckland, days: [%s], from: 14:00, to: 15:00}}
  - {name: now, tools: [note.add], action: ask, approvers: [slack:U2BOB], remind: [100ms],
     escalate: {after: 200ms, to: [slack:U3EVE]}, hours: {zone: UTC, days: mon-sun, from: '00:00', to: '24:00'}}
`, day)))
		p.open()
		ask := func(text string) (card slacktest.Message) {
			thread := p.ann.Posts("C1", p.slack.MentionOfBot()+" note add "+text).TS
			return p.card("C1", thread, "Asked by")
		}
		late := ask("late")
		ask("now")
		steps := func(rule string) (all []string) {
			log, err := p.store.AuditLog(t.Context(), 0, 0)
			noErr(t, err)
			for _, a := range p.approvals() {
				for _, entry := range log {
					if a.Rule.Name == rule && entry.Approval == a.ID && entry.Action != audit.Sent {
						all = append(all, entry.Action)
					}
				}
			}
			return all
		}
		p.until("the escalation", p.app, func() bool {
			return slices.Contains(steps("now"), audit.Escalated) && slices.Contains(steps("now"), audit.Reminded)
		})
		if got := steps("late"); !slices.Equal(got, []string{"opened"}) &&
			!slices.Equal(got, []string{"opened", "expired"}) {
			t.Errorf("outside of its hours there is %q", got)
		}
		p.until("the end", p.app, func() bool { return slices.Contains(steps("late"), string(core.Expired)) })
		if got := steps("late"); !slices.Equal(got, []string{"opened", "expired"}) {
			t.Errorf("outside of its hours there was %q", got)
		}
		p.shows("C1", late.TS, "Expired", 1)
	})
}

// What is probably not meant is logged when the policy is read, and when a server has come, whose tools are known only
// then.
func TestWarningsOfThePolicyAreLogged(t *testing.T) {
	t.Parallel()
	url, _ := pingServer(t)
	servers := serversFile(t, filepath.Join(t.TempDir(), "mcp.json"), map[string]string{"first": url})
	path, write := reloadablePolicy(t)
	write("deny\n    tools: [Note.Add]\n  - name: server\n    action: deny\n    tools: [first.pong]")
	p := newSlackProcess(t, "GATEHOUSE_MCP_CONFIG="+servers, "GATEHOUSE_APPROVAL_POLICY="+path)
	p.open()
	p.says(`approval policy: ` + path +
		`:3:11: tools of the rule \"all\": no tool has the name \"Note.Add\"; upper and lower case count: the tool ` +
		`is note.add`)
	p.says(`approval policy: ` + path +
		`:6:11: tools of the rule \"server\": no tool has the name \"first.pong\"; did you mean first.ping?`)
	write("allow\n    when: args.text <= 5\n    tools: [note.add]")
	p.signal(syscall.SIGHUP)
	p.says(`approval policy: ` + path + `:3:11: the rule \"all\" bounds args.text above and not below`)
	p.signal(syscall.SIGTERM)
	<-p.app.done
	if n := strings.Count(p.app.out.String(), `no tool has the name \"Note.Add\"`); n != 1 {
		t.Errorf("the warning is there %d times", n)
	}
}

// Accounts of one name on different platforms are asked about, where the policy does not say that they are one
// person's.
func TestDoctorAsksWhetherAccountsAreOnePersons(t *testing.T) {
	t.Parallel()
	const rules = "version: 1\n%srules:\n  - {name: notes, tools: [note.add], action: ask, approvers: [slack:U2BOB, " +
		"\"openharness:ann\"]}\n"
	file := policyFile(t, fmt.Sprintf(rules, ""))
	s := serveSlack(t, slacktest.Options{}, map[string]string{
		"SLACK_SIGNING_SECRET": "8f742231b10e8888abcd99yyyzzz85a5", "GATEHOUSE_APPROVERS": "",
		"GATEHOUSE_APPROVAL_POLICY": file, "GATEHOUSE_TOKENS": "ann=" + ciToken + ",eve=" + cdToken,
	})
	thread, card := s.asked("milk")
	s.bob.Clicks("C1", card.TS, "approve")
	s.reads("C1", thread, "Done")
	const question = `Are openharness:ann and slack:U1ANN one person? All are called "ann", and the policy does ` +
		`not say so`
	if _, out := s.command("doctor", "--quick"); strings.Count(out, "Are openharness:") != 1 ||
		!strings.Contains(out, "warn  people") || !strings.Contains(out, question) ||
		!strings.Contains(out, "no e-mail address is known") {
		t.Errorf("doctor says %s", out)
	}
	if err := os.WriteFile(file, fmt.Appendf(nil, rules, "people: {ann: [slack:U1ANN, \"openharness:ann\"]}\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	if _, out := s.command("doctor", "--quick"); strings.Contains(out, "one person?") ||
		!strings.Contains(out, "ok    policy") {
		t.Errorf("doctor says %s", out)
	}
}
