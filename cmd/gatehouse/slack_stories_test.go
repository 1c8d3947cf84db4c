package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"gatehouse/adapters/slack/slacktest"
	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/core"
	"gatehouse/core/agent"
	"gatehouse/core/llm"
	"gatehouse/storage/postgres/postgrestest"
)

// asked posts a request for a note, and returns the thread and the card.
func (s *testGateway) asked(note string) (thread string, card slacktest.Message) {
	s.t.Helper()
	ask := s.ann.Posts("C1", s.slack.MentionOfBot()+" note add "+note)
	return ask.TS, s.card("C1", ask.TS, "Add “"+note+"” to the note book.")
}

// shows waits until a message has a text and this number of buttons.
func (s *testGateway) shows(channel, ts, text string, buttons int) {
	s.t.Helper()
	waitUntil(s.t, func() bool {
		m, _ := s.slack.Message(channel, ts)
		return strings.Contains(m.Shown(), text) && len(m.Buttons()) == buttons
	}, text+" on "+ts)
}

func (s *testGateway) readsEphemeral(channel, user, text string) {
	s.t.Helper()
	if _, err := s.slack.WaitForEphemeral(s.ctx(), channel, user, text); err != nil {
		s.t.Fatalf("%s received no ephemeral message %q: %v\n%s", user, text, err, s.slack.Dump())
	}
}

func TestSlackDenyWithReason(t *testing.T) {
	t.Parallel()
	s := serveSlack(t, slacktest.Options{}, transports["HTTP"])
	thread, card := s.asked("milk")
	s.bob.Clicks("C1", card.TS, "reason")
	if _, err := s.slack.WaitForModal(s.ctx(), "U2BOB"); err != nil {
		t.Fatal(err)
	}
	s.bob.Submits(map[string]string{"reason": "we have <!channel> enough"})
	s.reads("C1", thread, "Denied by")
	s.shows("C1", card.TS, "enough", 0)
}

func TestSlackButtonsWorkAfterARestart(t *testing.T) {
	t.Parallel()
	s := serveSlack(t, slacktest.Options{}, transports["HTTP"])
	thread, card := s.asked("milk")
	late, _ := s.slack.FindButton("C1", card.TS, "reason")
	s.stop()
	s.start()
	s.bob.Clicks("C1", card.TS, "approve")
	s.reads("C1", thread, "Done: “milk”")
	s.shows("C1", card.TS, "pproved", 0)
	s.bob.Presses(late) // a client that still shows the button
	s.readsEphemeral("C1", "U2BOB", "This was approved by")
}

func TestSlackCardsGoToApproversWhoDoNotSeeTheConversation(t *testing.T) {
	t.Parallel()
	s := serveSlack(t, slacktest.Options{}, transports["Socket Mode"])
	s.ann.Says("hello")
	s.reads(s.dm, "", "Hello!")
	ask := s.ann.Says("note add milk")
	mine := s.card(s.dm, "", "Add “milk”")
	his := s.slack.DMWith("U2BOB")
	copied := s.card(his, "", "Add “milk”")
	for _, context := range []string{"Hello!", "note add milk"} {
		if !strings.Contains(copied.Shown(), context) {
			t.Errorf("the copy does not contain %q:\n%s", context, copied.Shown())
		}
	}
	if link := strings.ReplaceAll(ask.TS, ".", ""); !strings.Contains(mustJSON(copied.Blocks), link) {
		t.Errorf("the copy has no link to the request:\n%s", mustJSON(copied.Blocks))
	}
	s.bob.Clicks(his, copied.TS, "approve")
	s.reads(s.dm, "", "Done: “milk”")
	s.shows(s.dm, mine.TS, "pproved", 0)
	s.shows(his, copied.TS, "pproved", 1) // the link to the conversation stays
}

func mustJSON(v any) string {
	text, _ := json.Marshal(v)
	return string(text)
}

func TestSlackCardThatCannotBePostedReachesItsApproversAnyway(t *testing.T) {
	t.Parallel()
	s := serveSlack(t, slacktest.Options{}, transports["HTTP"])
	s.slack.Inject(
		slacktest.Fault{
			Endpoint: "chat.postMessage", Trouble: slacktest.Refused("channel_not_found"),
			When: func(c slacktest.Call) bool {
				return c.Args["channel"] == "C1" && strings.Contains(c.Args["blocks"], `"action_id":"reason"`)
			},
		})
	ask := s.ann.Posts("C1", s.slack.MentionOfBot()+" note add milk")
	his := s.slack.DMWith("U2BOB")
	card := s.card(his, "", "Add “milk”")
	s.reads(s.dm, "", "direct message")
	s.bob.Clicks(his, card.TS, "approve")
	s.reads("C1", ask.TS, "Done: “milk”")
}

// blockedModel is a model that repeats the last message, once let is closed.
type blockedModel struct{ let chan struct{} }

func (m blockedModel) Next(ctx context.Context, h core.History, _ json.RawMessage) (agent.Answer, error) {
	select {
	case <-m.let:
	case <-ctx.Done():
		return agent.Answer{}, context.Cause(ctx)
	}
	tail, err := h.Tail(ctx, 1)
	if err != nil {
		return agent.Answer{}, err
	}
	return agent.Answer{Message: core.Message{
		Role: core.Assistant, Content: core.Text("echo: " + tail[0].Content.Own()),
	}, Finish: llm.FinishStop}, nil
}

func TestSlackEditsAndDeletions(t *testing.T) {
	t.Parallel()
	model := blockedModel{let: make(chan struct{})}
	s := serveSlackWith(t, slacktest.Options{}, transports["Socket Mode"], model)
	first := s.ann.Posts("C1", s.slack.MentionOfBot()+" one")
	second := s.ann.Posts("C1", "two", slacktest.InThread(first.TS))
	third := s.ann.Posts("C1", "three", slacktest.InThread(first.TS))
	fourth := s.ann.Posts("C1", "four", slacktest.InThread(first.TS))
	noErr(t, s.slack.WaitDelivered(s.ctx()))
	s.ann.Edits("C1", second.TS, "two, rather")
	s.ann.Deletes("C1", third.TS)
	s.slack.Unfurl("C1", fourth.TS, "https://example.com")
	noErr(t, s.slack.WaitDelivered(s.ctx()))
	close(model.let)
	s.reads("C1", first.TS, "echo: four")
	s.ann.Edits("C1", first.TS, s.slack.MentionOfBot()+" one, but late")
	s.ann.Posts("C1", "five", slacktest.InThread(first.TS))
	s.reads("C1", first.TS, "echo: five")
	var got []string
	for _, m := range s.slack.Thread("C1", first.TS) {
		if text, ok := strings.CutPrefix(m.Shown(), "echo: "); ok && m.BotID != "" {
			got = append(got, strings.TrimSpace(text))
		}
	}
	if want := []string{"one", "two, rather", "four", "five"}; !slices.Equal(got, want) {
		t.Errorf("the bot answered %q, want %q", got, want)
	}
}

func TestSlackACardShowsThatItsRequestWasChanged(t *testing.T) {
	t.Parallel()
	s := serveSlack(t, slacktest.Options{}, transports["HTTP"])
	thread, card := s.asked("milk")
	s.ann.Edits("C1", thread, s.slack.MentionOfBot()+" note add <https://evil.example|butter>")
	s.shows("C1", card.TS, "butter", len(card.Buttons()))
	s.bob.Clicks("C1", card.TS, "approve")
	s.reads("C1", thread, "Done: “milk”")
}

func TestSlackWorkingStateNeverSticks(t *testing.T) {
	t.Parallel()
	for name, scopes := range map[string][]string{
		"status": slacktest.AllScopes, "reaction": scopesBut(slacktest.AllScopes, "assistant:write"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model := blockedModel{let: make(chan struct{})}
			s := serveSlackWith(t, slacktest.Options{Scopes: scopes}, transports["Socket Mode"], model)
			s.ready(http.StatusOK)
			post := s.ann.Posts("C1", s.slack.MentionOfBot()+" one")
			works := func() bool {
				m, _ := s.slack.Message("C1", post.TS)
				return len(m.Reactions) > 0 || s.slack.Status("C1", post.TS) != ""
			}
			waitUntil(t, works, "the working state")
			close(model.let)
			s.reads("C1", post.TS, "echo: one")
			waitUntil(t, func() bool { return !works() }, "the end of the working state")
		})
	}
}

func scopesBut(all []string, gone ...string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return slices.Contains(gone, s) })
}

func TestSlackInDoubtWithoutHistoryIsUnknownAndVisible(t *testing.T) {
	t.Parallel()
	scopes := scopesBut(slacktest.AllScopes, "channels:history", "groups:history", "im:history", "mpim:history")
	s := serveSlack(t, slacktest.Options{Scopes: scopes, Subscriptions: slacktest.AllEvents}, map[string]string{
		"SLACK_SIGNING_SECRET": "8f742231b10e8888abcd99yyyzzz85a5", "GATEHOUSE_AGENT": "echo",
	})
	s.slack.Inject(slacktest.Fault{Endpoint: "chat.postMessage", Trouble: slacktest.AnswerLost(), Times: 1})
	post := s.ann.Posts("C1", s.slack.MentionOfBot()+" one")
	s.reads("C1", post.TS, "echo: one")
	var dead []struct {
		Post struct {
			Seq   int64
			State core.RowState
		}
	}
	waitUntil(t, func() bool {
		code, out := s.command("deadletters", "list", "--json")
		return code == cli.ExitDone && json.Unmarshal([]byte(out), &dead) == nil && len(dead) == 1 &&
			dead[0].Post.State == core.RowUnknown
	}, "the dead letter")
	if n := s.slack.CountFromBot(); n != 1 {
		t.Errorf("%d posts", n)
	}
	if code, out := s.command("deadletters", "retry", fmt.Sprintf("post:%d", dead[0].Post.Seq)); code != cli.ExitDone {
		t.Fatalf("the post is not sent again: %s", out)
	}
	waitUntil(t, func() bool { return s.slack.CountFromBot() == 2 }, "the second post, which an admin requested")
}

// Without the history scopes, gatehouse can't find out whether a card was posted if the response was lost. A press of
// its button proves it.
func TestSlackACardInDoubtThatIsPressedShowsTheDecision(t *testing.T) {
	t.Parallel()
	scopes := scopesBut(slacktest.AllScopes, "channels:history", "groups:history", "im:history", "mpim:history")
	s := serveSlack(t, slacktest.Options{Scopes: scopes, Subscriptions: slacktest.AllEvents}, transports["Socket Mode"])
	s.slack.Inject(
		slacktest.Fault{
			Endpoint: "chat.postMessage", Trouble: slacktest.AnswerLost(), Times: 1, When: func(c slacktest.Call) bool {
				return strings.Contains(c.Args["blocks"], `"action_id":"reason"`)
			},
		})
	thread, card := s.asked("milk")
	waitUntil(t, func() bool {
		code, out := s.command("deadletters", "list", "--json")
		return code == cli.ExitDone && strings.Contains(out, `"unknown"`)
	}, "the doubt")
	s.bob.Clicks("C1", card.TS, "approve")
	s.shows("C1", card.TS, "pproved", 0)
	s.reads("C1", thread, "Done: “milk”")
}

// Two processes on one Postgres server, which make the tables at first, serve one Slack: whichever handles an event,
// everything happens once.
func TestSlackOnPostgresWithTwoReplicas(t *testing.T) {
	t.Parallel()
	env := map[string]string{"GATEHOUSE_DATABASE_URL": postgrestest.New(t), "SLACK_APP_TOKEN": "xapp-slacktest"}
	s := serveSlack(t, slacktest.Options{}, env)
	second := *s
	second.start()
	noErr(t, s.slack.WaitForSockets(s.ctx(), 2))
	for i := range 10 {
		thread, card := s.asked("milk")
		s.bob.Clicks("C1", card.TS, "approve")
		s.bob.Clicks("C1", card.TS, "approve")
		s.reads("C1", thread, "Done: “milk”")
		s.shows("C1", card.TS, "pproved", 0)
		if got := slices.DeleteFunc(s.slack.Thread("C1", thread), steps); len(got) != 3 {
			t.Errorf("round %d: %d messages in the thread, want the request, the card and the reply:\n%s", i, len(got),
				s.slack.DumpChannel("C1"))
		}
	}
}

// command runs a gatehouse command while serve is running.
func (s *testGateway) command(args ...string) (int, string) {
	var out strings.Builder
	code := 0
	s.settings.during(func() {
		code = run(s.t.Context(), args, cli.Stdio{In: strings.NewReader(""), Out: &out, Err: &out}, s.drivers())
	})
	return code, out.String()
}

// A socket that goes silent is detected: /readyz answers 503 meanwhile, and nothing is lost.
func TestLaw9_ASilentSocketIsNotReady(t *testing.T) { // not parallel: it depends on timing
	s := serveSlack(t, slacktest.Options{PingEvery: 200 * time.Millisecond}, transports["Socket Mode"])
	s.ready(http.StatusOK)
	noErr(t, s.slack.WaitForSockets(s.ctx(), 1))
	waitUntil(t, func() bool { return s.slack.Sockets()[0].State().Pongs >= 5 }, "some pings")
	held := s.slack.Inject(slacktest.Fault{Endpoint: slacktest.DialSocket, Trouble: slacktest.Held()})
	s.slack.Sockets()[0].GoSilent()
	post := s.ann.Posts("C1", s.slack.MentionOfBot()+" calc 1+1")
	s.ready(http.StatusServiceUnavailable)
	held.Lift()
	s.ready(http.StatusOK)
	s.reads("C1", post.TS, "1+1 = 2")
}

func TestSlackThatCannotBeReachedAtStart(t *testing.T) {
	t.Parallel()
	o := slacktest.Options{}
	s := serveSlack(t, o, transports["HTTP"])
	s.stop()
	<-s.code
	down := s.slack.Inject(slacktest.Fault{Trouble: slacktest.ServerError(503)})
	s.start()
	s.ready(http.StatusServiceUnavailable)
	post := s.ann.Posts("C1", s.slack.MentionOfBot()+" calc 1+1")
	if err := s.slack.WaitDelivered(s.ctx()); err != nil || !acked(post.Deliveries) {
		t.Fatalf("the message is not acknowledged meanwhile: %v", err)
	}
	down.Lift()
	s.reads("C1", post.TS, "1+1 = 2")
	s.ready(http.StatusOK)
}

// With pacing, a busy channel gets no more posts than its rate, and does not delay other channels.
func TestSlackPacingIsPerChannel(t *testing.T) { // not parallel: it depends on timing
	const rps, posts, burst = 4, 12, 3
	s := serveSlack(t, slacktest.Options{},
		map[string]string{"SLACK_APP_TOKEN": "xapp-slacktest", "SLACK_CHANNEL_RPS": "4"})
	rooms := s.addChannels(2)
	busy, quiet := rooms[0], rooms[1]
	for range posts {
		s.ann.Posts(busy, s.slack.MentionOfBot()+" calc 1+1")
	}
	if err := s.slack.WaitFor(s.ctx(), func(f *slacktest.Server) bool {
		return len(f.FromBot(busy)) >= burst
	}); err != nil {
		t.Fatal(err)
	}
	s.ann.Posts(quiet, s.slack.MentionOfBot()+" calc 2+2")
	if err := s.slack.WaitFor(s.ctx(), func(f *slacktest.Server) bool {
		return len(f.FromBot(quiet)) == 1
	}); err != nil {
		t.Fatal(err)
	}
	if n := len(s.slack.FromBot(busy)); n == posts {
		t.Errorf("the quiet channel waited for all %d posts of the busy one", n)
	}
	if err := s.slack.WaitFor(s.ctx(), func(f *slacktest.Server) bool {
		return len(f.FromBot(busy)) == posts
	}); err != nil {
		t.Fatal(err)
	}
	var at []time.Time
	for _, m := range s.slack.FromBot(busy) {
		at = append(at, m.PostedAt)
	}
	slices.SortFunc(at, time.Time.Compare)
	for i := burst + 1; i < len(at); i++ { // burst+k posts take at least k/rps, less the duration of a call
		if took := at[i].Sub(at[0]); took < time.Duration(i-burst)*time.Second/rps-200*time.Millisecond {
			t.Errorf("%d posts within %s", i+1, took)
		}
	}
}
