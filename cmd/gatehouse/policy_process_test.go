package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gatehouse/adapters/discord/discordtest"
	"gatehouse/adapters/slack/slacktest"
	"gatehouse/core"
	"gatehouse/core/audit"
)

// bothProcess is a real gatehouse process that is connected to a fake Slack and to a fake Discord, with a policy of its
// own.
type bothProcess struct {
	*slackProcess
	discord *discordGateway
}

func newBothProcess(t *testing.T, e engine, policy string, env ...string) *bothProcess {
	t.Helper()
	p := &bothProcess{
		slackProcess: newSlackProcessOn(t, e, env...), discord: newDiscordGateway(t, discordtest.Options{}),
	}
	p.env = append(p.env, "GATEHOUSE_APPROVAL_POLICY="+policyFile(t, policy),
		"DISCORD_BOT_TOKEN="+p.discord.discord.BotToken(), "DISCORD_API_URL="+p.discord.discord.APIURL())
	return p
}

// policyFile writes a policy to a file.
func policyFile(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "policy.yaml")
	noErr(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

// quorum is a policy with two of three approvers, who are on both platforms. ann asks, and is one of them; so is bob,
// who has two accounts.
const quorum = `
version: 1
people:
  ann: [slack:U1ANN, discord:` + askerID + `]
  bob: [slack:U2BOB, discord:` + deciderID + `]
groups:
  deciders: [person:bob, discord:` + otherID + `]
rules:
  - name: notes
    tools: ["note.*"]
    risk: [write]
    action: ask
    approvers: [group:deciders, person:ann]
    quorum: 2
    expires: never
    notify: [here, discord:` + channelID + `]
`

// asks posts a request in Slack and returns its card there.
func (p *bothProcess) asks(text string) (thread string, card slacktest.Message) {
	ask := p.ann.Posts("C1", p.slack.MentionOfBot()+" "+text)
	return ask.TS, p.card("C1", ask.TS, "Asked by")
}

// copyOf returns the copy of a request's card in Discord's channel.
func (p *bothProcess) copyOf(text string) discordtest.Message { return p.discord.card(channelID, text) }

// told waits for a message that only one person sees in Slack.
func (p *bothProcess) told(user, text string) {
	p.workbench.t.Helper()
	if _, err := p.slack.WaitForEphemeral(p.ctx(), "C1", user, text); err != nil {
		p.workbench.t.Fatalf("%v\n%s", err, p.slack.Dump())
	}
}

// TestLaw7_AQuorumOfPeopleOnTwoPlatforms: a request in Slack is approved by one person there and one on Discord, and
// runs once. Who asked may not decide, a veto ends a request, and a late press gets its sentence.
func TestLaw7_AQuorumOfPeopleOnTwoPlatforms(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e engine) {
		p := newBothProcess(t, e, quorum)
		p.open()
		(&discordProcess{p.serveProcess, p.discord}).waitConnected()
		thread, card := p.asks("note add milk")
		p.conversation = core.ConversationID("slack:" + p.slack.TeamID() + ":C1:" + thread)
		approve, _ := p.slack.FindButton("C1", card.TS, "approve")
		p.ann.Presses(approve)
		p.told("U1ANN", "You asked for this yourself")
		p.bob.Presses(approve)
		p.reads("C1", thread, "1 of 2")
		copied := p.copyOf("“milk”")
		p.discord.ann.Clicks(channelID, copied.ID, "Approve") // who asked, from her other account
		p.discord.readsEphemeral(channelID, askerID, "You asked for this yourself")
		p.discord.bob.Clicks(channelID, copied.ID, "Approve") // the same person as bob in Slack
		p.discord.readsEphemeral(channelID, deciderID, "You have already voted")
		p.discord.eve.Clicks(channelID, copied.ID, "Approve")
		p.reads("C1", thread, "Done: “milk” is in the note book.")
		p.discord.shows(channelID, copied.ID, "Approved")
		p.ann.Presses(approve)
		p.told("U1ANN", "This was approved by eve")

		thread, card = p.asks("note add bread")
		approve, _ = p.slack.FindButton("C1", card.TS, "approve")
		copied = p.copyOf("“bread”")
		p.discord.eve.Clicks(channelID, copied.ID, "Deny")
		if _, err := p.discord.discord.WaitForModal(p.ctx(), otherID); err != nil {
			t.Fatal(err)
		}
		p.discord.eve.Submits(map[string]string{"reason": "too much"})
		p.reads("C1", thread, "Denied by eve: too much")
		p.bob.Presses(approve)
		p.told("U2BOB", "This was denied by eve")
		p.until("the end of all", p.app, p.settled)
		if notes := p.notes(); len(notes) != 1 || !strings.Contains(notes[0], "milk") {
			t.Errorf("the notes are %q", notes)
		}
		if n := len(p.approvals(core.Approved)); n != 1 {
			t.Errorf("%d approvals are approved", n)
		}
	})
}

// nagging is a policy whose requests are reminded of twice and escalated, all within seconds.
func nagging(expires string) string {
	return `
version: 1
rules:
  - name: notes
    action: ask
    risk: [write]
    approvers: [slack:U2BOB]
    remind: [400ms, 800ms]
    escalate: {after: 1200ms, to: [slack:U3EVE]}
    expires: ` + expires
}

// addLast adds a task that is due after all others, and of which the process says that it drops it. If there is one, it
// stays.
func addLast(l *serveProcess) {
	l.t.Helper()
	const wait = 1100 * time.Millisecond // after what a killed process held is taken up again
	noErr(l.t, l.store.AddTask(l.t.Context(), core.Task{Key: "last", Kind: "last"}, wait))
}

// naggingScenario lets a request be reminded of and escalated, and expire if it does. The process is killed at the n-th
// pass of a point, and started again: nobody knows when, so only a request that does not expire is certain to be
// reminded of and escalated.
func naggingScenario(t *testing.T, e engine, expires, point string, nth int, record string) {
	p := newSlackProcessOn(t, e, "GATEHOUSE_APPROVAL_POLICY="+policyFile(t, nagging(expires)))
	p.open(armed(point, nth, record)...)
	survive := func(what string, holds func() bool) { t.Helper(); p.untilRestarting(what, holds) }
	var ask slacktest.Posted
	for {
		ask = p.ann.Posts("C1", p.slack.MentionOfBot()+" note add milk")
		survive("the acknowledgement", func() bool {
			return slices.IndexFunc(ask.Deliveries, func(d *slacktest.Delivery) bool { return !d.Over() }) < 0
		})
		if acked(ask.Deliveries) {
			break
		}
	}
	said := func() map[string]int {
		log, err := p.store.AuditLog(t.Context(), 0, 0)
		noErr(t, err)
		counts := map[string]int{}
		for _, entry := range log {
			counts[entry.Action]++
		}
		return counts
	}
	lasts := expires == "never"
	if lasts {
		survive("the reminders and the escalation", func() bool {
			counts := said() // while the process is down, the second reminder may overtake the first
			return counts[audit.Reminded]+counts[audit.Overtaken] >= 2 && counts[audit.Escalated] > 0
		})
		addLast(p.serveProcess)
	}
	app := p.app
	survive("the end", func() bool {
		if lasts && app != p.app { // it may have been killed as it ended its last task
			app = p.app
			addLast(p.serveProcess)
		}
		return (lasts && strings.Contains(p.app.out.String(), "dropped a task of an unknown kind") ||
			said()[string(core.Expired)] > 0) && p.settled()
	})
	p.app.kill()
	counts := said()
	reminders, escalations, ends := counts[audit.Reminded]+counts[audit.Overtaken], counts[audit.Escalated],
		counts[string(core.Expired)]
	if reminders > 2 || escalations > 1 || ends > 1 || lasts && (ends > 0 || counts[audit.Reminded] < 1) {
		t.Errorf("%s: the log has %v", point, counts)
	}
	cards, replies := 0, 0
	for _, m := range p.slack.Thread("C1", ask.TS) {
		switch text := m.Shown(); {
		case m.BotID == "" || steps(m):
		case strings.Contains(text, "Asked by"):
			cards++
			if !lasts && (len(m.Buttons()) != 1 || !strings.Contains(text, "Expired")) {
				t.Errorf("%s: a card is not that of an expired request:\n%s", point, text)
			}
		case strings.Contains(text, "/archives/"):
			if reminders--; len(m.Buttons()) > 0 || lasts && !strings.Contains(text, "Reminder") ||
				!strings.Contains(text, "milk") {
				t.Errorf("%s: a reminder is no line with a link to its card:\n%s", point, text)
			}
		default:
			replies++
		}
	}
	if cards != 1+escalations || reminders != counts[audit.Overtaken] || replies != ends {
		t.Errorf("%s: %d cards and %d replies, and the log has %v\n%s", point, cards, replies, counts, p.slack.Dump())
	}
}

// TestLaw7_RemindersComeOnceWhereverTheProcessIsKilled kills the process before and after the store calls that remind,
// escalate and expire.
func TestLaw7_RemindersComeOnceWhereverTheProcessIsKilled(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e engine) {
		var all sync.WaitGroup
		defer all.Wait()
		slots := make(chan struct{}, 6) // they wait most of the time
		for _, expires := range []string{"never", "1500ms"} {
			record := filepath.Join(t.TempDir(), "points")
			naggingScenario(t, e, expires, "", 0, record)
			for point, nths := range passes(t, record) {
				if method, _, _ := strings.Cut(point, "."); method != "Decide" && method != "EndTask" {
					continue
				}
				for _, nth := range wide(nths, nths[:1]) {
					all.Go(func() {
						slots <- struct{}{}
						defer func() { <-slots }()
						t.Run(fmt.Sprintf("%s %s %d", expires, point, nth), func(t *testing.T) {
							naggingScenario(t, e, expires, point, nth, "")
						})
					})
				}
			}
		}
	})
}

// edited is a policy whose rule for notes has an approver, and which has another rule with a reason.
func edited(approver, why string) string {
	return `
version: 1
people:
  somebody: [slack:U9, discord:9]
rules:
  - {name: notes, tools: [note.add], action: ask, approvers: ["` + approver + `"], expires: never}
  - {name: others, tools: [other], action: deny, why: "` + why + `"}
`
}

// TestLaw5_AnEditedPolicy: while a request waits, its snapshot says who may decide. An edit of other rules changes
// nothing. An edit of its rule makes the call be asked for again, once, under today's rule, and the reply says so. An
// invalid file changes nothing.
func TestLaw5_AnEditedPolicy(t *testing.T) {
	t.Parallel()
	file := policyFile(t, edited("slack:U2BOB", "no"))
	p := newSlackProcess(t, "GATEHOUSE_APPROVAL_POLICY="+file)
	p.open()
	reload := func(policy, logged string) {
		t.Helper()
		before := strings.Count(p.app.out.String(), logged)
		noErr(t, os.WriteFile(file, []byte(policy), 0o600))
		noErr(t, p.app.cmd.Process.Signal(syscall.SIGHUP))
		p.until(logged, p.app, func() bool { return strings.Count(p.app.out.String(), logged) > before })
	}
	const read, stays = "the configuration was read again: ", "so nothing was changed"
	ask := func(what string) (thread string) {
		return p.ann.Posts("C1", p.slack.MentionOfBot()+" note add "+what).TS
	}

	thread := ask("milk")
	card := p.card("C1", thread, "Asked by")
	reload(strings.Replace(edited("slack:U2BOB", "not today"), "somebody", "nobody", 1), read)
	reload("version: 2", stays)
	p.bob.Clicks("C1", card.TS, "approve")
	p.reads("C1", thread, "Done: “milk”")

	thread = ask("bread")
	card = p.card("C1", thread, "Asked by")
	reload(edited("slack:U3EVE", "no"), read)
	p.eve.Clicks("C1", card.TS, "approve")
	if _, err := p.slack.WaitForEphemeral(p.ctx(), "C1", "U3EVE", "You are not an approver"); err != nil {
		t.Fatal(err)
	}
	p.bob.Clicks("C1", card.TS, "approve")
	p.reads("C1", thread, "The rules for this have changed, so I need an approval again")
	again := p.card("C1", thread, "Asked by")
	if again.TS == card.TS {
		t.Fatal("there is no new card")
	}
	p.eve.Clicks("C1", again.TS, "approve")
	p.reads("C1", thread, "Done: “bread”")
	p.until("the end of all", p.app, p.settled)
	if n := len(p.approvals(core.Approved)); n != 3 {
		t.Errorf("%d approvals, want 3", n)
	}
}

// TestLaw5_ChangedArgumentsRun: where the rule allows it, the arguments can be changed. The card shows who did so,
// earlier approvals do not count, and what runs is what was approved. Arguments for which another rule holds are
// refused.
func TestLaw5_ChangedArgumentsRun(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e engine) {
		p := newSlackProcessOn(t, e, "GATEHOUSE_APPROVAL_POLICY="+policyFile(t, `
version: 1
rules:
  - {name: wine, tools: [note.add], action: ask, when: 'args.text contains "wine"', approvers: [slack:U9], edit: true}
  - {name: notes, tools: [note.add], action: ask, approvers: [slack:U2BOB, slack:U3EVE], quorum: 2, edit: true}
`))
		p.open()
		ask := p.ann.Posts("C1", p.slack.MentionOfBot()+" note add milk")
		card := p.card("C1", ask.TS, "Asked by")
		p.bob.Clicks("C1", card.TS, "approve")
		p.reads("C1", ask.TS, "1 of 2")
		id := string(p.approvals(core.Open)[0].ID)
		edit := func(args, says string, code int) {
			t.Helper()
			c := p.workbench.start(nil, "approvals", "edit", id, "--args", args, "--as", "Cid")
			c.quit(t)
			if got := c.cmd.ProcessState.ExitCode(); got != code || !strings.Contains(c.out.String(), says) {
				t.Errorf("%s: exit code %d\n%s", args, got, c.out)
			}
		}
		edit(`{"text":"wine"}`, "another rule of the policy applies (wine)", 2)
		edit(`{"txt":"bread"}`, "Nothing was changed", 2)
		edit(`[`, "must be a JSON object", 2)
		edit(`{"text":"bread"}`, "The arguments were changed. This is waiting for a decision now: Add “bread” to the "+
			"note book.", 0)
		p.reads("C1", ask.TS, "Changed by Cid (local-admin): text milk → bread")
		p.reads("C1", ask.TS, "0 of 2")
		p.bob.Clicks("C1", card.TS, "approve")
		p.reads("C1", ask.TS, "1 of 2")
		p.eve.Clicks("C1", card.TS, "approve")
		p.until("the end", p.app, func() bool { return len(p.approvals(core.Approved)) == 1 && p.settled() })
		p.conversation = core.ConversationID("slack:" + p.slack.TeamID() + ":C1:" + ask.TS)
		if notes := p.notes(); len(notes) != 1 || notes[0] != "bread" {
			t.Errorf("the notes are %q\n%s", notes, p.slack.Dump())
		}
		p.workbench.start(nil, "approvals", "log", "--verify", "--database-key").ok(t)
	})
}
