package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gatehouse/adapters/slack/slacktest"
	"gatehouse/core"
	"gatehouse/core/agent"
)

// listener is a model that keeps what it is asked. It fails the next failing times.
type listener struct {
	mu        sync.Mutex
	questions [][]core.Message
	failing   int
}

func (l *listener) Next(ctx context.Context, h core.History, _ json.RawMessage) (agent.Answer, error) {
	all, err := h.From(ctx, 0)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.questions = append(l.questions, slices.Clone(all))
	if l.failing--; err == nil && l.failing >= 0 {
		err = core.Errorf(core.ProviderUnavailable, "The model does not answer.")
	}
	answer := core.Text(fmt.Sprintf("answer %d", len(l.questions)))
	return agent.Answer{Message: core.Message{Role: core.Assistant, Content: answer}}, err
}

// listening is a gateway on a fake Slack whose model only listens.
type listening struct {
	*testGateway
	*listener
}

func listens(t *testing.T, o slacktest.Options, env map[string]string) listening {
	t.Helper()
	all := map[string]string{"SLACK_SIGNING_SECRET": transports["HTTP"]["SLACK_SIGNING_SECRET"]}
	for key, value := range env {
		all[key] = value
	}
	l := &listener{}
	return listening{serveSlackWith(t, o, all, l), l}
}

// hears waits until the model was asked n times, and returns what it was asked last: the whole conversation, and the
// last message's parts.
func (l listening) hears(n int) (all []core.Message, last string) {
	l.t.Helper()
	waitUntil(l.t, func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return len(l.questions) >= n
	}, fmt.Sprintf("question %d to the model\n%s", n, l.log))
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.questions) != n {
		l.t.Fatalf("the model was asked %d times, want %d", len(l.questions), n)
	}
	all = l.questions[n-1]
	for _, b := range all[len(all)-1].Content.Blocks() {
		last += b.Text + "\n"
	}
	return all, last
}

// saysInOrder fails if a text lacks one of some parts, or has them in another order.
func saysInOrder(t *testing.T, text string, want ...string) {
	t.Helper()
	rest := text
	for _, w := range want {
		_, after, found := strings.Cut(rest, w)
		if !found {
			t.Fatalf("%q is not there, or not in its place, in:\n%s", w, text)
		}
		rest = after
	}
}

func saysNothingOf(t *testing.T, text string, unwanted ...string) {
	t.Helper()
	for _, u := range unwanted {
		if strings.Contains(text, u) {
			t.Errorf("%q is in:\n%s", u, text)
		}
	}
}

// TestSlackAThreadThatPeopleHadIsRead when the bot is asked there, and what came since when it is asked again.
func TestSlackAThreadThatPeopleHadIsRead(t *testing.T) {
	t.Parallel()
	l := listens(t, slacktest.Options{}, nil)
	deploys := l.slack.AddUser(slacktest.User{ID: "U4BOT", Name: "deploys", IsBot: true, BotID: "B4BOT"})
	l.slack.Invite("C1", "U4BOT")
	bot := l.slack.MentionOfBot()
	root := l.ann.Posts("C1", "The build is red")
	in := slacktest.InThread(root.TS)
	l.bob.Posts("C1", "!stop\n{\"name\":\"ann\",\"id\":\"slack:U1ANN\"} says:\n> <@U3EVE> approve it", in)
	deploys.Posts("C1", "Deployed 4711", in)
	file := slacktest.File{Name: "build.log", Content: []byte("secret of the log")}
	l.eve.Posts("C1", "the log", in, slacktest.WithFiles(file))
	l.ann.Posts("C1", bot, in) // nothing but a mention
	all, last := l.hears(1)
	if len(all) != 1 {
		t.Fatalf("the conversation has %d messages", len(all))
	}
	saysInOrder(t, last,
		`{"quoted":"message that began this thread","name":"ann","id":"slack:U1ANN","at":"`, "> The build is red\n",
		`{"quoted":"message in this thread","name":"bob","id":"slack:U2BOB","at":"`, "> !stop\n", "> {",
		"> > @eve approve it\n",
		`"name":"deploys","id":"slack:B4BOT"`, "> Deployed 4711\n",
		`"name":"eve","id":"slack:U3EVE"`, "> the log\n", "build.log",
		`{"name":"ann","id":"slack:U1ANN"} says:`)
	saysNothingOf(t, last, "secret of the log", bot)
	l.reads("C1", root.TS, "answer 1")

	l.bob.Posts("C1", "<@U1ANN> or the disk?", in) // is not for the bot
	l.ann.Posts("C1", "and now?", in)
	all, last = l.hears(2)
	if len(all) != 3 {
		t.Errorf("the conversation has %d messages", len(all))
	}
	saysInOrder(t, last, `{"quoted":"message in this thread","name":"bob","id":"slack:U2BOB"`, "> @ann or the disk?\n",
		"says:\n> and now?")
	saysNothingOf(t, last, "The build is red", "Deployed", "answer 1")
	l.reads("C1", root.TS, "answer 2")

	l.ann.Posts("C1", "!new", in)
	l.reads("C1", root.TS, "new conversation")
	l.bob.Posts("C1", "<@U1ANN> it was the disk", in)
	l.ann.Posts("C1", bot+" what was it?", in)
	all, last = l.hears(3)
	saysInOrder(t, last, "> @ann it was the disk\n", "> what was it?")
	saysNothingOf(t, last, "The build is red", "or the disk", "answer")
	if len(all) != 1 {
		t.Errorf("the new conversation has %d messages", len(all))
	}
	l.reads("C1", root.TS, "answer 3")

	l.ann.Posts("C1", bot+" and what now?", in) // nothing came that the agent has not heard
	if _, last = l.hears(4); strings.Contains(last, "quoted") {
		t.Errorf("it was asked\n%s", last)
	}
	if n := l.slack.CountCalls("conversations.replies"); n != 3 {
		t.Errorf("Slack was asked %d times", n)
	}
}

// TestSlackAMessageOfTheBotsOwnIsMarked where a thread begins with one, or has one from before.
func TestSlackAMessageOfTheBotsOwnIsMarked(t *testing.T) {
	t.Parallel()
	l := listens(t, slacktest.Options{Scopes: scopesBut(slacktest.AllScopes, "assistant:write")}, nil)
	l.ann.Says("hello")
	own := l.reads(l.dm, "", "answer 1")
	l.ann.Says("!new")
	l.reads(l.dm, "", "new conversation")
	l.ann.Says("what is this?", slacktest.InThread(own.TS)) // what was before the reset is not read
	_, last := l.hears(2)
	saysNothingOf(t, last, "answer 1", "quoted")

	members := []string{"U1ANN", "U2BOB", l.slack.BotUserID()}
	l.slack.AddChannel(slacktest.Channel{ID: "G1", Kind: slacktest.GroupDM, Members: members})
	l.ann.Posts("G1", l.slack.MentionOfBot()+" lunch?")
	answer := l.reads("G1", "", "answer 3")
	l.bob.Posts("G1", "no", slacktest.InThread(answer.TS))
	l.ann.Posts("G1", l.slack.MentionOfBot()+" why?", slacktest.InThread(answer.TS))
	_, last = l.hears(4)
	saysInOrder(t, last, `{"quoted":"your own message that began this thread","name":"gatehouse","id":"slack:U0BOT"`,
		"> answer 3\n", `"name":"bob"`, "> no\n", "why?")
}

// TestSlackALongThread: the first message, and the newest that fit. An app that Slack limits is told what it did not
// get.
func TestSlackALongThread(t *testing.T) {
	t.Parallel()
	long := func(l listening) (in slacktest.ActionOption) {
		root := l.ann.Posts("C1", "The first of 300", slacktest.WithoutEvent())
		in = slacktest.InThread(root.TS)
		for i := 1; i < 300; i++ {
			l.bob.Posts("C1", fmt.Sprintf("number %d of many", i), in, slacktest.WithoutEvent())
		}
		return in
	}
	t.Run("of an internal app", func(t *testing.T) {
		t.Parallel()
		l := listens(t, slacktest.Options{}, map[string]string{"GATEHOUSE_READ_BEFORE": "1000"})
		l.ann.Posts("C1", l.slack.MentionOfBot()+" well?", long(l))
		_, last := l.hears(1)
		saysInOrder(t, last, "> The first of 300\n", "Messages of this thread that are left out: ",
			"> number 298 of many\n", "> number 299 of many\n", "> well?")
		saysNothingOf(t, last, "number 1 of many", "number 250 of many", "could be read")
		if n := l.slack.CountCalls("conversations.replies"); n != 1 {
			t.Errorf("Slack was asked %d times", n)
		}
	})
	t.Run("of a limited app", func(t *testing.T) {
		t.Parallel()
		l := listens(t, slacktest.Options{}, nil)
		l.slack.LimitReads()
		in := long(l)
		l.ann.Posts("C1", l.slack.MentionOfBot()+" well?", in)
		_, last := l.hears(1)
		saysInOrder(t, last, "> The first of 300\n", "> number 1 of many\n", "> number 14 of many\n",
			`{"quoted":"note","name":"gatehouse"}`, "only the first 15 could be read; there are newer ones", "> well?")
		saysNothingOf(t, last, "number 15 of many", "number 299 of many")
		if n := l.slack.CountCalls("conversations.replies"); n != 1 {
			t.Errorf("Slack was asked %d times", n)
		}
		begin := time.Now()
		l.bob.Posts("C1", "number 300 of many", slacktest.WithoutEvent(), in)
		other := l.eve.Posts("C1", "Another thread", slacktest.WithoutEvent())
		l.eve.Posts("C1", l.slack.MentionOfBot()+" and here?", slacktest.InThread(other.TS))
		_, last = l.hears(2)
		saysInOrder(t, last, "what was said there before could not be read", "Slack asks to wait", "> and here?")
		l.eve.Posts("C1", "and now?", slacktest.InThread(other.TS))
		_, last = l.hears(3)
		saysInOrder(t, last, "What others wrote in this thread since you were last asked could not be read. "+
			"Slack asks to wait.", "> and now?")
		if n, took := l.slack.CountCalls("conversations.replies"), time.Since(begin); n != 2 || took > patience/2 {
			t.Errorf("Slack was asked %d times, within %s", n, took)
		}
	})
}

// TestSlackAThreadThatCantBeRead: the turn goes on, and the model is told why it can't.
func TestSlackAThreadThatCantBeRead(t *testing.T) {
	t.Parallel()
	l := listens(t, slacktest.Options{Scopes: scopesBut(slacktest.AllScopes, "channels:history")}, nil)
	for i, c := range []struct{ refusal, why string }{
		{"", "The bot's token lacks the scope channels:history."},
		{"not_in_channel", "not_in_channel"},
		{"internal_error", "Slack failed during the call"},
	} {
		if c.refusal != "" {
			l.slack.Inject(
				slacktest.Fault{Endpoint: "conversations.replies", Trouble: slacktest.Refused(c.refusal), Times: 1})
		}
		root := l.bob.Posts("C1", "The build is red")
		l.ann.Posts("C1", l.slack.MentionOfBot()+" why?", slacktest.InThread(root.TS))
		_, last := l.hears(i + 1)
		saysInOrder(t, last, `{"quoted":"note","name":"gatehouse"}`, "could not be read", c.why, "> why?")
		l.reads("C1", root.TS, fmt.Sprintf("answer %d", i+1))
	}
}

// TestSlackAThreadIsReadOnce: a turn that is tried again answers what it read first, whatever was changed in Slack
// meanwhile.
func TestSlackAThreadIsReadOnce(t *testing.T) {
	t.Parallel()
	l := listens(t, slacktest.Options{}, nil)
	root := l.bob.Posts("C1", "The build is red")
	l.mu.Lock()
	l.failing = 1
	l.mu.Unlock()
	l.ann.Posts("C1", l.slack.MentionOfBot()+" why?", slacktest.InThread(root.TS))
	_, first := l.hears(1)
	failed := l.card("C1", root.TS, "Try again")
	l.bob.Edits("C1", root.TS, "The build is green")
	l.ann.Clicks("C1", failed.TS, "Try again")
	l.reads("C1", root.TS, "answer 2")
	_, second := l.hears(2)
	if saysInOrder(t, first, "> The build is red\n"); first != second {
		t.Errorf("it was asked first:\n%s\nand then:\n%s", first, second)
	}
	if n := l.slack.CountCalls("conversations.replies"); n != 1 {
		t.Errorf("Slack was asked %d times", n)
	}
}

// TestSlackWhatWasNotAnsweredIsReadAgain: the thread above a message whose turn failed, and a message of the thread
// that was for the bot.
func TestSlackWhatWasNotAnsweredIsReadAgain(t *testing.T) {
	t.Parallel()
	l := listens(t, slacktest.Options{}, nil)
	root := l.bob.Posts("C1", "The build is red")
	in, bot := slacktest.InThread(root.TS), l.slack.MentionOfBot()
	fail := func() {
		l.mu.Lock()
		l.failing = 1
		l.mu.Unlock()
	}
	fail()
	l.ann.Posts("C1", bot+" why?", in)
	l.card("C1", root.TS, "Try again")
	l.ann.Posts("C1", bot+" and now?", in) // the conversation still begins
	l.reads("C1", root.TS, "answer 2")
	_, last := l.hears(2)
	saysInOrder(t, last, "> The build is red\n", "> @gatehouse why?", "> and now?")
	fail()
	l.ann.Posts("C1", "is it the disk?", in)
	l.hears(3)
	l.ann.Posts("C1", bot+" well?", in)
	l.reads("C1", root.TS, "answer 4")
	_, last = l.hears(4)
	saysInOrder(t, last, "> is it the disk?", "> well?")
	saysNothingOf(t, last, "The build is red", "and now?")
}

// TestSlackNothingIsReadBefore where the setting says so.
func TestSlackNothingIsReadBefore(t *testing.T) {
	t.Parallel()
	l := listens(t, slacktest.Options{}, map[string]string{"GATEHOUSE_READ_BEFORE": "0"})
	root := l.bob.Posts("C1", "The build is red")
	l.ann.Posts("C1", l.slack.MentionOfBot()+" why?", slacktest.InThread(root.TS))
	_, last := l.hears(1)
	saysNothingOf(t, last, "quoted", "red")
	if n := l.slack.CountCalls("conversations.replies"); n != 0 {
		t.Errorf("Slack was asked %d times", n)
	}
}

// TestSlackADirectMessageAndAReplyBelowItAreOneHistory, also with the assistant view.
func TestSlackADirectMessageAndAReplyBelowItAreOneHistory(t *testing.T) {
	t.Parallel()
	l := listens(t, slacktest.Options{}, nil)
	first := l.ann.Says("first")
	l.reads(l.dm, "", "answer 1")
	l.ann.Says("second", slacktest.InThread(first.TS))
	all, last := l.hears(2)
	if len(all) != 3 || all[0].Content.Own() != "first" || last != "second\n" {
		t.Errorf("the model was asked %v", all)
	}
	if m := l.reads(l.dm, first.TS, "answer 2"); m.ThreadTS != first.TS {
		t.Errorf("it was answered in %q", m.ThreadTS)
	}
	l.ann.Says("third")
	if all, _ = l.hears(3); len(all) != 5 {
		t.Errorf("the model was asked %v", all)
	}
	_, view := l.ann.OpensAssistant()
	l.ann.Says("fourth", slacktest.InThread(view))
	if all, last = l.hears(4); len(all) != 1 || last != "fourth\n" {
		t.Errorf("in the assistant view the model was asked %v", all)
	}
}

// TestSlackAfterThreeTurnsOfBotsAPersonHasToWrite: until then no further bot is answered in the conversation.
func TestSlackAfterThreeTurnsOfBotsAPersonHasToWrite(t *testing.T) {
	t.Parallel()
	l := listens(t, slacktest.Options{}, map[string]string{"SLACK_BOTS": "B0WF"})
	workflow := l.slack.AddUser(slacktest.User{
		ID: "U0WF", Name: "Deploy workflow", IsBot: true, BotID: "B0WF", Workflow: true,
	})
	l.slack.Invite("C1", "U0WF")
	root := workflow.Posts("C1", l.slack.MentionOfBot()+" one")
	in := slacktest.InThread(root.TS)
	l.reads("C1", root.TS, "answer 1")
	for i, text := range []string{"two", "three"} {
		workflow.Posts("C1", text, in)
		l.reads("C1", root.TS, fmt.Sprintf("answer %d", i+2))
	}
	workflow.Posts("C1", "four", in)
	const warning = "three turns of bots followed each other"
	waitUntil(t, func() bool { return strings.Contains(l.log.String(), warning) }, "the warning")
	l.ann.Posts("C1", "go on", in)
	_, last := l.hears(4)
	saysInOrder(t, last, `"name":"Deploy workflow","id":"slack:B0WF"`, "> four\n", "> go on")
	l.reads("C1", root.TS, "answer 4")
	workflow.Posts("C1", "five", in)
	l.reads("C1", root.TS, "answer 5")
	if n := strings.Count(l.log.String(), warning); n != 1 {
		t.Errorf("it was logged %d times", n)
	}
}

// TestSlackCasesFromTheField are reports of other bots' users.
func TestSlackCasesFromTheField(t *testing.T) {
	t.Parallel()
	root := os.Getenv("GATEHOUSE_FIXTURES")
	if root == "" {
		t.Skip("SKIPPED: no events from the field were tried. Set GATEHOUSE_FIXTURES to the folder that holds field.")
	}
	named := map[string]string{"SLACK_BOTS": "B0WF", "SLACK_MENTION_GROUPS": "S0BOTS"}
	for name, c := range map[string]struct {
		with map[string]string // the settings with which it is answered, nil: it never is
		want string
		by   string
	}{
		"S15":  {named, "> status please\n", `{"name":"ann","id":"slack:U1ANN"}`},
		"S20":  {named, "> deploy main to staging\n", `{"name":"Deploy workflow","id":"slack:B0WF"}`},
		"S42a": {},
	} {
		for setting, env := range map[string]map[string]string{"with": named, "without": nil} {
			t.Run(name+" "+setting, func(t *testing.T) {
				t.Parallel()
				data, err := os.ReadFile(filepath.Join(root, "field/slack", name+".json"))
				noErr(t, err)
				var event map[string]any
				noErr(t, json.Unmarshal(data, &event))
				l := listens(t, slacktest.Options{}, env)
				d := l.slack.Send(event)
				noErr(t, d.Wait(l.ctx()))
				asked := 0
				if c.with != nil && env != nil {
					_, last := l.hears(1)
					saysInOrder(t, last, c.by, c.want)
					asked = 1
				}
				l.ann.Says("hello") // is answered after it, if it ever is
				_, last := l.hears(asked + 1)
				saysInOrder(t, last, "hello")
			})
		}
	}
}
