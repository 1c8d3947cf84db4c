package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gatehouse/adapters/slack/slacktest"
	"gatehouse/core"
)

// expense is a script that asks for an approval of what is above 100.
const expense = "GATEHOUSE_AGENT=script:testdata/expense.json"

const booked = "Approved: the expense of 250 is in the book (250 taxi)."

// expensePosts asks for an expense in Slack, and returns the thread and the card.
func (p *slackProcess) expensePosts() (thread string, card slacktest.Message) {
	p.t.Helper()
	ask := p.ann.Posts("C1", p.slack.MentionOfBot()+" expense 250 taxi")
	p.conversation = core.ConversationID("slack:" + p.slack.TeamID() + ":C1:" + ask.TS)
	return ask.TS, p.card("C1", ask.TS, "Add “250 taxi” to the note book.")
}

// saidOnce fails unless the bot said a text in a thread exactly once, and nothing of what a script writes for itself.
func (p *slackProcess) saidOnce(thread, text string) {
	p.t.Helper()
	p.reads("C1", thread, text)
	p.until("the end", p.app, p.settled)
	said := 0
	for _, m := range p.slack.Thread("C1", thread) {
		if m.BotID != "" && strings.Contains(m.Shown(), text) && !strings.Contains(m.Shown(), "Asked by") {
			said++
		}
	}
	if dump := p.slack.Dump(); said != 1 || strings.Contains(dump, "private:") {
		p.t.Errorf("%q was said %d times:\n%s", text, said, dump)
	}
}

// TestLaw2_ScriptKilledBetweenQuestionAndAnswer: a message starts a script, its call waits for an approval, kill -9, a
// new process, a click in Slack; the script goes on where it was, and its answer arrives once.
func TestLaw2_ScriptKilledBetweenQuestionAndAnswer(t *testing.T) {
	t.Parallel()
	for name, decide := range map[string]func(p *slackProcess, thread, card string){
		"approved": func(p *slackProcess, thread, card string) {
			p.bob.Clicks("C1", card, "approve")
			p.saidOnce(thread, booked)
			if notes := p.notes(); !slices.Equal(notes, []string{"250 taxi"}) {
				t.Errorf("notes %q", notes)
			}
		},
		"denied": func(p *slackProcess, thread, card string) {
			p.bob.Clicks("C1", card, "reason")
			if _, err := p.slack.WaitForModal(p.ctx(), "U2BOB"); err != nil {
				t.Fatal(err)
			}
			p.bob.Submits(map[string]string{"reason": "too much"})
			p.saidOnce(thread, "This was not done: Add “250 taxi” to the note book. Denied by ")
			p.reads("C1", thread, "too much")
			if notes := p.notes(); len(notes) > 0 {
				t.Errorf("notes %q", notes)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newSlackProcess(t, expense)
			p.open()
			thread, card := p.expensePosts()
			p.until("the pause", p.app, p.settled)
			p.app.kill()
			p.open()
			decide(p, thread, card.TS)
			p.app.kill()
		})
	}
}

// TestLaw2_ScriptKilledAtEveryPoint kills the process before and after every store call of the turn that a script is
// paused in, and of the turn that resumes it.
func TestLaw2_ScriptKilledAtEveryPoint(t *testing.T) {
	t.Parallel()
	bench := func(t *testing.T, e engine) *workbench {
		w := e.workbench(t, expense)
		w.asks, w.holds = "expense 250 taxi", func(point string) { wantExpense(w, point) }
		return w
	}
	w := bench(t, sqliteFile)
	w.scenario(approving, end, 0, "")
	approved := sqliteFile.startingWith(t, w.url)
	for phase, e := range map[string]engine{asking: sqliteFile, resuming: approved} {
		for _, point := range must[phase] {
			t.Run(phase+" "+point, func(t *testing.T) {
				t.Parallel()
				bench(t, e).scenario(phase, point, 1, "")
			})
		}
	}
}

// wantExpense checks what must hold after a kill at any point: one reply, and one note, or one at most and the reply
// that the outcome is unknown.
func wantExpense(w *workbench, point string) {
	w.t.Helper()
	reply, intent := w.endedOnce(point)
	notes := w.notes()
	unknown := intent.Result.Category == core.OutcomeUnknown
	switch {
	case unknown && slices.Contains(mustBeKnown, point), !unknown && slices.Contains(mustBeUnknown, point):
		w.t.Errorf("%s: the outcome is %+v", point, *intent.Result)
	case unknown && (len(notes) > 1 || !strings.Contains(reply, "The outcome of note.add is unknown")):
		w.t.Errorf("%s: notes %q, reply %q", point, notes, reply)
	case !unknown && (len(notes) != 1 || reply != booked):
		w.t.Errorf("%s: notes %q, reply %q", point, notes, reply)
	}
}

// A script that was changed while it waited is resumed by neither its old nor its new text.
func TestAScriptThatWasChangedWhileItWaitedDoesNotGoOn(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/expense.json")
	noErr(t, err)
	file := filepath.Join(t.TempDir(), "expense.json")
	write := func(text string) {
		noErr(t, os.WriteFile(file, []byte(text), 0o600))
	}
	write(string(text))
	w := newWorkbench(t, "GATEHOUSE_AGENT=script:"+file)
	w.asks = "expense 250 taxi"
	w.scenario(asking, end, 0, "")
	write(strings.ReplaceAll(string(text), "is in the book", "is in the new book"))
	doctor := w.start(nil, "doctor")
	doctor.ok(t)
	id := string(w.approvals(core.Open)[0].ID)
	if !strings.Contains(doctor.out.String(), "This build can't resume the turns that wait for these approvals: "+id) {
		t.Errorf("doctor says:\n%s", doctor.out)
	}
	w.start(nil, "approvals", "approve", id).ok(t)
	c := w.start(nil, "chat")
	w.until("the end", c, w.settled)
	c.ok(t)
	if out := c.out.String(); !strings.Contains(out, "The agent was changed while this waited, so it can't go on.") ||
		len(w.notes()) > 0 {
		t.Errorf("notes %q; it printed:\n%s", w.notes(), out)
	}
}

// TestLaw8_TextInAScriptStaysText: what people write, and a script inserts, is neither a template nor markup.
func TestLaw8_TextInAScriptStaysText(t *testing.T) {
	t.Parallel()
	env := map[string]string{"GATEHOUSE_AGENT": "script:testdata/expense.json"}
	for key, value := range transports["HTTP"] {
		env[key] = value
	}
	s := serveSlack(t, slacktest.Options{}, env)
	ask := s.ann.Posts("C1", s.slack.MentionOfBot()+" expense 7 {{vars.limit}} &lt;!channel&gt; {{input.text}} "+
		"&lt;@U2BOB&gt; @here")
	m := s.reads("C1", ask.TS, "needs no approval")
	for _, text := range []string{"{{vars.limit}}", "{{input.text}}"} {
		if !strings.Contains(m.Shown(), text) {
			t.Errorf("%s is not in %q", text, m.Shown())
		}
	}
	// Slack parses tokens in the message's text, and none in its rich text, where a mention is an element of its own.
	for _, b := range m.Blocks {
		if b["type"] != "rich_text" {
			t.Errorf("a block %v", b)
		}
	}
	for _, markup := range []string{"<!channel>", "<@U2BOB>", "<!here>", "@here"} {
		if strings.Contains(m.Text, markup) {
			t.Errorf("%s is in %s", markup, m.Text)
		}
	}
	raw := mustJSON(m.Blocks)
	for _, element := range []string{`"type":"broadcast"`, `"type":"user"`, `"type":"channel"`, `"type":"usergroup"`} {
		if strings.Contains(raw, element) {
			t.Errorf("%s is in %s", element, raw)
		}
	}
	if reaches := m.Reaches(); len(reaches) > 0 {
		t.Errorf("it reaches %+v", reaches)
	}
}

// The script in README has ten lines at most, and does what README says.
func TestScriptInReadmeDoesWhatReadmeSays(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../core/agent/README.md")
	noErr(t, err)
	_, section, _ := strings.Cut(string(readme), "## A script in ten lines\n")
	_, rest, _ := strings.Cut(section, "```json\n")
	script, rest, found := strings.Cut(rest, "```")
	if n := strings.Count(script, "\n"); !found || n > 10 {
		t.Fatalf("the script has %d lines:\n%s", n, script)
	}
	file := filepath.Join(t.TempDir(), "remember.json")
	noErr(t, os.WriteFile(file, []byte(script), 0o600))
	w := newWorkbench(t, "GATEHOUSE_AGENT=script:"+file)
	c := w.start(nil, "chat")
	for line := range strings.Lines(rest) {
		line = strings.TrimSpace(line)
		said, typed := strings.CutPrefix(line, "you> ")
		if answer, asked := strings.CutPrefix(line, "you (y/n)> "); asked {
			said, typed = answer, true
		}
		switch {
		case typed:
			c.typeLine(said)
		case strings.HasPrefix(line, "bot> "), strings.HasPrefix(line, "approval> "):
			w.until(line, c, func() bool { return strings.Contains(c.out.String(), line) })
		case strings.HasPrefix(line, "Every message"):
			c.ok(t)
			return
		}
	}
	t.Error("README does not show the script at work")
}
