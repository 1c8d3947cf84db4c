package slack_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"gatehouse/adapters/internal/fakeserver"
	"gatehouse/adapters/slack"
	"gatehouse/adapters/slack/slacktest"
	"gatehouse/core"
)

func TestControlWords(t *testing.T) {
	r := start(t, setup{}).known()
	bot, dm := r.MentionOfBot(), r.DMWith("U1ANN")
	root := r.ann.Posts("C1", bot+" hello")
	r.one(root.Deliveries...)
	in := slacktest.InThread(root.TS)
	thread := core.ConversationID("slack:T0GATE:C1:" + root.TS)
	for _, c := range []struct {
		post         slacktest.Posted
		kind         core.Kind
		subject      string
		followUp     bool
		conversation core.ConversationID
	}{
		{r.ann.Says("!new"), core.KindReset, "", false, core.ConversationID("slack:T0GATE:" + dm)},
		{r.ann.Says("!STOP"), core.KindControl, "stop", false, core.ConversationID("slack:T0GATE:" + dm)},
		{r.ann.Says("  !status \n"), core.KindControl, "status", false, core.ConversationID("slack:T0GATE:" + dm)},
		{r.ann.Says("!help"), core.KindControl, "help", false, core.ConversationID("slack:T0GATE:" + dm)},
		{r.ann.Says("!cancel"), core.KindControl, "cancel", false, core.ConversationID("slack:T0GATE:" + dm)},
		{r.ann.Says("!newish"), core.KindMessage, "", false, core.ConversationID("slack:T0GATE:" + dm)},
		{r.ann.Says("!new things"), core.KindMessage, "", false, core.ConversationID("slack:T0GATE:" + dm)},
		{r.ann.Says("! new"), core.KindMessage, "", false, core.ConversationID("slack:T0GATE:" + dm)},
		{r.ann.Says("new"), core.KindMessage, "", false, core.ConversationID("slack:T0GATE:" + dm)},
		{r.ann.Says("!"), core.KindMessage, "", false, core.ConversationID("slack:T0GATE:" + dm)},
		{r.ann.Posts("C1", "!new", in), core.KindReset, "", true, thread},
		{r.ann.Posts("C1", bot+" !new", in), core.KindReset, "", false, thread},
		{r.ann.Posts("C1", bot+", !Stop ", in), core.KindControl, "stop", false, thread},
		{r.ann.Posts("C1", "!stop", in), core.KindControl, "stop", true, thread},
		{r.ann.Posts("G1", "!status"), core.KindControl, "status", true, "slack:T0GATE:G1"},
	} {
		for _, d := range c.post.Deliveries {
			if err := d.Wait(r.ctx); err != nil {
				t.Fatal(err)
			}
		}
		r.inbox.Lock()
		e := r.inbox.Stored["message/T0GATE/"+c.post.Channel+"/"+c.post.TS]
		r.inbox.Unlock()
		if e.Kind() != c.kind || e.Subject() != c.subject || e.FollowUp != c.followUp ||
			e.Conversation != c.conversation || e.Address.Channel != c.post.Channel {
			t.Errorf("%q: got %+v", c.post.Text, e)
		}
	}
}

// plain are the scopes of an app without the assistant view.
func plain() []string {
	return slices.DeleteFunc(slices.Clone(slacktest.AllScopes), func(s string) bool { return s == "assistant:write" })
}

func TestSlashCommands(t *testing.T) {
	onBoth(t, setup{fake: slacktest.Options{Scopes: plain()}}, func(t *testing.T, r *running) {
		dm := r.DMWith("U1ANN")
		for _, c := range []struct {
			line, subject string
			kind          core.Kind
		}{
			{"/gatehouse new", "", core.KindReset}, {"/gatehouse STATUS ", "status", core.KindControl},
			{"/gatehouse stop", "stop", core.KindControl},
			{"/gatehouse cancel", "cancel", core.KindControl},
		} {
			d := r.ann.Runs(dm, c.line)
			e := r.one(d)
			if e.Kind() != c.kind || e.Subject() != c.subject ||
				e.Conversation != core.ConversationID("slack:T0GATE:"+dm) ||
				e.Address != (core.Address{Platform: "slack", Channel: dm}) || e.Actor.ID != "slack:U1ANN" {
				t.Errorf("%s: got %+v", c.line, e)
			}
			if again := r.one(d.Again()); again.ID != e.ID {
				t.Errorf("%s: delivered twice its ids are %q and %q", c.line, e.ID, again.ID)
			}
			if other := r.one(r.ann.Runs(dm, c.line)); other.ID == e.ID {
				t.Errorf("%s: run twice its id is %q each time", c.line, e.ID)
			}
		}
		for line, want := range map[string]string{
			"/gatehouse": "direct message", "/gatehouse help": "direct message", "/gatehouse  HELP ": "direct message",
			"/gatehouse <!channel>&": "I do not know “&lt;!channel&gt;&amp;”",
		} {
			for _, where := range []string{dm, "C1"} {
				before := len(r.Ephemerals(where, "U1ANN"))
				r.none(r.ann.Runs(where, line))
				said := r.Ephemerals(where, "U1ANN")
				if len(said) != before+1 || !strings.Contains(said[before].Text, want) {
					t.Errorf("%s in %s was answered with %v", line, where, said)
				}
			}
		}
		r.none(r.ann.Runs("C1", "/gatehouse new"))
		if _, err := r.WaitForEphemeral(r.ctx, "C1", "U1ANN", "write !new in the thread"); err != nil {
			t.Error(err)
		}
	})
}

func TestCommandsNeedAThreadWithTheAssistantView(t *testing.T) {
	r := start(t, setup{}).known()
	r.none(r.ann.Runs(r.DMWith("U1ANN"), "/gatehouse new"))
	if _, err := r.WaitForEphemeral(r.ctx, r.DMWith("U1ANN"), "U1ANN", "write !new in the thread"); err != nil {
		t.Error(err)
	}
}

// TestHelpPromisesOnlyWhatTheCommandDoes: with the assistant view the command does nothing in direct messages either.
func TestHelpPromisesOnlyWhatTheCommandDoes(t *testing.T) {
	for name, c := range map[string]struct {
		scopes   []string
		promises bool
	}{"plain": {plain(), true}, "assistant": {slacktest.AllScopes, false}} {
		t.Run(name, func(t *testing.T) {
			r := start(t, setup{fake: slacktest.Options{Scopes: c.scopes}}).known()
			dm := r.DMWith("U1ANN")
			for n, line := range []string{"/gatehouse help", "/gatehouse", "/gatehouse dance"} {
				r.none(r.ann.Runs(dm, line))
				text := r.told(dm, "U1ANN", n+1)
				if !strings.Contains(text, "!stop stops what I am doing") ||
					strings.Contains(text, "/gatehouse new, stop, status and cancel do the same") != c.promises {
					t.Errorf("%s is answered with %q", line, text)
				}
			}
		})
	}
}

// Where every message needs a mention, a word alone does nothing.
func TestHelpSaysThatAWordNeedsAMention(t *testing.T) {
	for follow, needed := range map[string]bool{"thread": false, "mention": true} {
		t.Run(follow, func(t *testing.T) {
			r := start(t, setup{fake: slacktest.Options{Scopes: plain()}, config: func(c *slack.Config) {
				overHTTP(c)
				c.FollowUp = follow
			}}).known()
			root := r.ann.Posts("C1", r.MentionOfBot()+" hello")
			r.one(root.Deliveries...)
			stop := r.ann.Posts("C1", "!stop", slacktest.InThread(root.TS))
			if got := r.taken(stop.Deliveries...); (len(got) == 0) != needed {
				t.Errorf("a word alone became %v", got)
			}
			r.none(r.ann.Runs("C1", "/gatehouse help"))
			if text := r.told("C1", "U1ANN", 1); strings.Contains(text,
				"In a channel mention me before the word.") != needed {
				t.Errorf("help says %q", text)
			}
			r.none(r.ann.Runs("C1", "/gatehouse stop"))
			if text := r.told("C1", "U1ANN", 2); strings.Contains(text,
				"write !stop after a mention of me in the thread") != needed {
				t.Errorf("the command is answered with %q", text)
			}
		})
	}
}

// TestACommandInAGroupDirectMessage: all of it is one conversation, in which a message does what the command says.
func TestACommandInAGroupDirectMessage(t *testing.T) {
	for name, scopes := range map[string][]string{"plain": plain(), "assistant": slacktest.AllScopes} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, setup{fake: slacktest.Options{Scopes: scopes}}, func(t *testing.T, r *running) {
				for n, word := range []string{"stop", "new"} {
					r.none(r.ann.Runs("G1", "/gatehouse "+word))
					if text := r.told("G1", "U1ANN", n+1); text != "Here write !"+word+" as a message instead." {
						t.Errorf("ann reads %q", text)
					}
				}
				if e := r.one(r.ann.Posts("G1", "!stop").Deliveries...); e.Kind() != core.KindControl ||
					e.Conversation != "slack:T0GATE:G1" {
					t.Errorf("the message is %+v", e)
				}
			})
		})
	}
}

func TestACommandOfAnotherWorkspaceIsRefused(t *testing.T) {
	r := start(t, setup{}).known()
	if status := r.refused(
		r.ann.Runs(r.DMWith("U1ANN"), "/gatehouse new", slacktest.FromTeam("T9OTHER"))); status != 403 ||
		r.inbox.Tries() != 0 || len(r.log.Warnings()) != 1 {
		t.Errorf("answered %d, warned %v", status, r.log.Warnings())
	}
}

// TestACommandThatCannotBeStoredIsAnsweredWithThat: Slack sends no command again. The sentence is posted where the
// database took longer than Slack waits for an answer.
func TestACommandThatCannotBeStoredIsAnsweredWithThat(t *testing.T) {
	for name, delay := range map[string]time.Duration{"at once": 0, "late": 3 * time.Second} {
		t.Run(name, func(t *testing.T) {
			now := fakeserver.NewClock(time.Now())
			onBoth(t, setup{slack: core.Deps{Now: now.Now}, fake: slacktest.Options{Scopes: plain(), AckWithin: 1e8}},
				func(t *testing.T, r *running) {
					dm := r.DMWith("U1ANN")
					r.inbox.Gate(func(context.Context, core.Event) error {
						now.Advance(delay)
						return core.Errorf(core.StoreBusy, "The store is busy.")
					})
					d := r.ann.Runs(dm, "/gatehouse new")
					if delay == 0 {
						r.none(d)
					} else {
						r.refused(d)
					}
					if text := r.told(dm, "U1ANN", 1); text != "Your command could not be stored, so nothing was "+
						"done. Send the command again." {
						t.Errorf("ann reads %q", text)
					}
					if log := r.log.String(); strings.Contains(log, "Slack sends it again") ||
						!strings.Contains(log, "the person is asked to send the command again") {
						t.Errorf("the log:\n%s", log)
					}
				})
		})
	}
}

func TestACommandWithoutItsFieldsIsRefused(t *testing.T) {
	r := start(t, setup{fake: slacktest.Options{Scopes: plain()}, config: func(c *slack.Config) {
		overHTTP(c)
	}}).known()
	for _, form := range []string{
		"team_id=T0GATE&text=new&channel_id=D1&user_id=U1ANN", "team_id=T0GATE&text=new&trigger_id=1&user_id=U1ANN",
		"team_id=T0GATE&text=new&trigger_id=1&channel_id=D1",
	} {
		if status, _ := r.send("/slack/commands", []byte(form), nil); status != 400 || r.inbox.Tries() != 0 {
			t.Errorf("%s was answered with %d", form, status)
		}
	}
}
