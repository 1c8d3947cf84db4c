package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gatehouse/adapters/slack/slacktest"
	"gatehouse/core"
)

// askPeople makes ann mention the bot in C1 so that it asks her a question with a schema, and returns the thread and
// the card.
func (s *testGateway) askPeople(question, schema string, more ...string) (thread string, card slacktest.Message) {
	s.t.Helper()
	fields := append([]string{fmt.Sprintf(`"question":%q`, question), `"schema":` + schema}, more...)
	ask := s.ann.Posts("C1", s.slack.MentionOfBot()+" call people.ask {"+strings.Join(fields, ",")+"}")
	return ask.TS, s.card("C1", ask.TS, question)
}

// answers returns what the bot reports in a thread of what became of questions.
func (s *testGateway) answers(thread string) (all []string) {
	for _, m := range s.slack.Thread("C1", thread) {
		if text := strings.TrimSpace(m.Shown()); strings.Contains(text, " answered: ") ||
			text == "Nobody answered in time." {
			all = append(all, text)
		}
	}
	return all
}

const colours = `{"enum":["red","blue"]}`

func TestSlackAQuestionIsAnsweredByAButton(t *testing.T) {
	t.Parallel()
	for name, env := range transports {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serveSlack(t, slacktest.Options{}, env)
			thread, card := s.askPeople("Which colour?", colours)
			if shown := card.Shown(); !strings.Contains(shown, "Question from the bot, for ") ||
				strings.Contains(shown, "Arguments") || len(card.Buttons()) != 3 {
				t.Errorf("the card shows %q", shown)
			}
			s.ann.Clicks("C1", card.TS, "blue")
			s.reads("C1", thread, `ann answered: "blue"`)
			s.shows("C1", card.TS, "Answered by", 0)
		})
	}
}

func TestSlackAQuestionIsAnsweredFromAMenu(t *testing.T) {
	t.Parallel()
	s := serveSlack(t, slacktest.Options{}, transports["HTTP"])
	thread, card := s.askPeople("How many?", `{"enum":[1,2,3,4,5,6,7]}`)
	s.ann.Chooses("C1", card.TS, "6")
	s.reads("C1", thread, "ann answered: 6")
	s.shows("C1", card.TS, "Answered by", 0)
}

// TestSlackAQuestionIsAnsweredByAForm: what is refused is shown in the form at once, and can be mended there.
func TestSlackAQuestionIsAnsweredByAForm(t *testing.T) {
	t.Parallel()
	for name, env := range transports {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serveSlack(t, slacktest.Options{}, env)
			thread, card := s.askPeople("What shall I order?",
				`{"type":"object","required":["size","count","why"],"properties":{"size":{"enum":["s","m"]},`+
					`"count":{"type":"integer","minimum":3},"why":{"type":"string","title":"Why?"}}}`)
			s.ann.Clicks("C1", card.TS, "Answer")
			if v, err := s.slack.WaitForModal(s.ctx(), "U1ANN"); err != nil ||
				!strings.Contains(v.Shown(), "What shall I order?") {
				t.Fatalf("%v: %s", err, v.Shown())
			}
			if err := s.ann.Submits(map[string]string{"field_0": "m", "field_1": "4", "field_2": " "}).Wait(
				s.ctx()); err != nil {
				t.Fatal(err)
			}
			if v, open := s.slack.Modal("U1ANN"); !open || len(v.Errors) != 1 ||
				v.Errors["field_2"] != "This must not be empty." {
				t.Errorf("the form is open: %v, with the errors %q", open, v.Errors)
			}
			s.ann.Submits(map[string]string{"field_0": "m", "field_1": "4", "field_2": "it rains"})
			s.reads("C1", thread, `ann answered: {"size":"m","count":4,"why":"it rains"}`)
			s.shows("C1", card.TS, "Why?: it rains", 0)
			if _, open := s.slack.Modal("U1ANN"); open {
				t.Error("the form stays open")
			}
		})
	}
}

func TestSlackAQuestionExpires(t *testing.T) {
	t.Parallel()
	s := serveSlack(t, slacktest.Options{}, transports["Socket Mode"])
	thread, card := s.askPeople("Which colour?", colours, `"expires":"1s"`)
	late, _ := s.slack.FindButton("C1", card.TS, "red")
	s.reads("C1", thread, "Nobody answered in time.")
	s.shows("C1", card.TS, "Expired", 1) // to ask again
	s.ann.Presses(late)                  // a client that still shows the button
	s.readsEphemeral("C1", "U1ANN", "This question expired at")
	if got := s.answers(thread); !slices.Equal(got, []string{"Nobody answered in time."}) {
		t.Errorf("the bot reports %q", got)
	}
}

func TestSlackAQuestionIsAnsweredOnce(t *testing.T) {
	t.Parallel()
	s := serveSlack(t, slacktest.Options{}, transports["HTTP"])
	thread, card := s.askPeople("Which colour?", colours)
	red, _ := s.slack.FindButton("C1", card.TS, "red")
	s.ann.Clicks("C1", card.TS, "blue", slacktest.Twice())
	s.ann.Presses(red)
	s.readsEphemeral("C1", "U1ANN", "This was answered by ann at")
	s.reads("C1", thread, "ann answered: ")
	s.shows("C1", card.TS, "Answered by", 0)
	waitUntil(t, s.delivered, "the last post")
	if got := s.answers(thread); len(got) != 1 {
		t.Errorf("the bot reports %q", got)
	}
}

func TestSlackAQuestionIsForSomebody(t *testing.T) {
	t.Parallel()
	s := serveSlack(t, slacktest.Options{}, transports["HTTP"])
	thread, card := s.askPeople("Which colour?", colours)
	s.eve.Clicks("C1", card.TS, "red")
	s.readsEphemeral("C1", "U3EVE", "This question is for somebody else.")
	s.bob.Clicks("C1", card.TS, "withdraw") // an approver of other requests
	s.readsEphemeral("C1", "U2BOB", "Only the person who asked can withdraw this")
	s.shows("C1", card.TS, "Question from the bot", 3)
	s.ann.Clicks("C1", card.TS, "blue")
	s.reads("C1", thread, `ann answered: "blue"`)
}

func TestSlackAQuestionIsWithdrawn(t *testing.T) {
	t.Parallel()
	s := serveSlack(t, slacktest.Options{}, transports["HTTP"])
	thread, card := s.askPeople("Why?", `{"type":"string"}`)
	s.ann.Clicks("C1", card.TS, "withdraw")
	s.reads("C1", thread, "The question was withdrawn")
	s.shows("C1", card.TS, "Withdrawn", 0)
}

// slackQuestionScenario asks a question in Slack and answers it. The process is killed at the n-th pass of a point, and
// started again.
func slackQuestionScenario(t *testing.T, point string, nth int, record string) {
	p := newSlackProcess(t)
	p.open(armed(point, nth, record)...)
	survive := func(holds func() bool) { t.Helper(); p.untilRestarting("the next step", holds) }
	var ask slacktest.Posted
	for !acked(ask.Deliveries) {
		ask = p.ann.Posts("C1",
			p.slack.MentionOfBot()+` call people.ask {"question":"Which colour?","schema":`+colours+`}`)
		survive(func() bool {
			return !slices.ContainsFunc(ask.Deliveries, func(d *slacktest.Delivery) bool { return !d.Over() })
		})
	}
	card := func() (slacktest.Message, bool) {
		for _, m := range p.slack.Thread("C1", ask.TS) {
			if strings.Contains(m.Shown(), "Which colour?") && m.BotID != "" {
				return m, true
			}
		}
		return slacktest.Message{}, false
	}
	survive(func() bool { _, there := card(); return there })
	for acked := false; !acked; {
		m, _ := card()
		button, there := p.slack.FindButton("C1", m.TS, "blue")
		if !there {
			break // the previous press was counted, though its response was lost
		}
		press := p.ann.Presses(button)
		survive(press.Over)
		acked = press.Acked()
	}
	survive(func() bool { return p.settled() && len(p.approvals(core.Open)) == 0 })
	p.app.kill()
	p.wantOneAnswer(point, ask.TS)
}

// wantOneAnswer checks that a question was answered once, and that the model received the answer once.
func (p *slackProcess) wantOneAnswer(point, thread string) {
	t := p.serveProcess.t
	t.Helper()
	all := p.approvals()
	if len(all) != 1 || all[0].State != core.Answered || len(all[0].Votes) != 1 || string(all[0].Answer()) != `"blue"` {
		t.Fatalf("%s: the questions are %+v", point, all)
	}
	var signals []core.EventRecord
	for _, e := range p.events(core.EventFilter{}) {
		if e.Kind() == core.KindSignal {
			signals = append(signals, e)
		}
		if e.EndedAt.IsZero() || e.End.Kind == core.EndDead || e.End.Kind == core.EndErrored {
			t.Errorf("%s: event %d ended as %+v", point, e.Seq, e.End)
		}
	}
	if len(signals) != 1 {
		t.Fatalf("%s: %d signals, want 1", point, len(signals))
	}
	const want = `ann answered: "blue"`
	if got := p.workbench.replies(signals[0].Seq); !slices.Equal(got, []string{want}) {
		t.Errorf("%s: the replies after the answer are %q", point, got)
	}
	if got := p.answers(thread); !slices.Equal(got, []string{want}) {
		t.Errorf("%s: people read %q", point, got)
	}
	p.wantOneResult(point, all[0])
	if r := verified(t, p.store, p.store.Signer(), ""); len(r.Faults) > 0 {
		t.Errorf("%s: the audit log: %q", point, r.Faults)
	}
}

// wantOneResult checks that the conversation has one result of the call that asked, with the answer.
func (p *slackProcess) wantOneResult(point string, asked core.Approval) {
	t := p.serveProcess.t
	t.Helper()
	rec, err := p.store.LoadSession(t.Context(), asked.Session, core.Writer{})
	if err != nil || rec == nil {
		t.Fatalf("%s: no session: %v", point, err)
	}
	tail, err := rec.Messages.Tail(t.Context(), 100)
	noErr(t, err)
	var results []string
	for _, m := range tail {
		if m.Role == core.ToolRole {
			results = append(results, m.Content.String())
		}
	}
	if len(results) != 1 || !strings.Contains(results[0], `"answer":"blue"`) {
		t.Errorf("%s: the model received %q", point, results)
	}
}

// TestLaw2_SlackQuestionKilledAtEveryPoint kills the process before and after every store call of a question in Slack.
func TestLaw2_SlackQuestionKilledAtEveryPoint(t *testing.T) {
	t.Parallel()
	record := filepath.Join(t.TempDir(), "points")
	slackQuestionScenario(t, "", 0, record)
	all := passes(t, record)
	for _, p := range []string{
		"Accept.after", "Decide.before", "Decide.after", "LoadPaused.after", "LoadApproval.after", "SaveSession.before",
		"SaveSession.after", "Finish.before", "Finish.after", "ReleasePost.after",
	} {
		if all[p] == nil {
			t.Errorf("%s is never passed, so the test proves nothing", p)
		}
	}
	for point, nths := range passes(t, record, "Accept", "Decide", "LoadPaused", "SaveSession", "Finish",
		"ReleasePost") {
		for _, nth := range nths {
			t.Run(fmt.Sprintf("%s %d", point, nth), func(t *testing.T) {
				t.Parallel()
				slackQuestionScenario(t, point, nth, "")
			})
		}
	}
}
