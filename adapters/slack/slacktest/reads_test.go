package slacktest_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	slackgo "github.com/slack-go/slack"

	"gatehouse/adapters/slack/slacktest"
)

// TestAThreadIsReadFromItsBeginning: the message that began it, whatever the time range, and then the oldest first;
// page by page.
func TestAThreadIsReadFromItsBeginning(t *testing.T) {
	now := time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)
	s := slacktest.Start(t, slacktest.Options{Now: func() time.Time { return now }})
	ann := s.AddUser(slacktest.User{ID: "U1ANN", Name: "ann"})
	s.AddChannel(slacktest.Channel{ID: "C1", Members: []string{"U1ANN", s.BotUserID()}})
	root := ann.Posts("C1", "0", slacktest.WithoutEvent())
	ts := []string{root.TS}
	for i := 1; i <= 40; i++ {
		ts = append(ts, ann.Posts("C1", fmt.Sprint(i), slacktest.InThread(root.TS), slacktest.WithoutEvent()).TS)
	}
	client := slackgo.New(s.BotToken(), slackgo.OptionAPIURL(s.APIURL()))
	read := func(p slackgo.GetConversationRepliesParameters) (texts, next string, err error) {
		p.ChannelID, p.Timestamp = "C1", root.TS
		messages, more, next, err := client.GetConversationRepliesContext(t.Context(), &p)
		var all []string
		for _, m := range messages {
			all = append(all, m.Text)
		}
		if more != (next != "") {
			t.Errorf("more: %v, but the next page is %q", more, next)
		}
		return strings.Join(all, " "), next, err
	}
	first, next, _ := read(slackgo.GetConversationRepliesParameters{Limit: 3})
	second, _, _ := read(slackgo.GetConversationRepliesParameters{Limit: 3, Cursor: next})
	middle, _, _ := read(slackgo.GetConversationRepliesParameters{Oldest: ts[37], Latest: ts[40]})
	ends, _, _ := read(slackgo.GetConversationRepliesParameters{Oldest: ts[37], Latest: ts[39], Inclusive: true})
	if got := first + "|" + second + "|" + middle + "|" + ends; got != "0 1 2|3 4 5|0 38 39|0 37 38 39" {
		t.Errorf("it was read as %s", got)
	}
	if _, _, err := read(slackgo.GetConversationRepliesParameters{Limit: 1001}); err == nil {
		t.Error("a page of 1001 was given")
	}
	s.LimitReads()
	all, next, err := read(slackgo.GetConversationRepliesParameters{Limit: 999})
	if all != "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14" || next == "" || err != nil {
		t.Errorf("a limited app reads %s, %v", all, err)
	}
	now = now.Add(15 * time.Second)
	_, _, err = read(slackgo.GetConversationRepliesParameters{})
	var limited *slackgo.RateLimitedError
	if !errors.As(err, &limited) || limited.RetryAfter != 45*time.Second {
		t.Errorf("a second call within a minute got %v", err)
	}
	history := &slackgo.GetConversationHistoryParameters{ChannelID: "C1", Limit: 200}
	if _, err := client.GetConversationHistoryContext(t.Context(), history); err != nil {
		t.Error(err) // each method has a limit of its own
	}
	now = now.Add(45 * time.Second)
	if _, _, err := read(slackgo.GetConversationRepliesParameters{}); err != nil {
		t.Error(err)
	}
}

// TestAWorkflowsMessageHasNoUser.
func TestAWorkflowsMessageHasNoUser(t *testing.T) {
	s := slacktest.Start(t, slacktest.Options{})
	workflow := s.AddUser(slacktest.User{
		ID: "U0WF", Name: "Deploy workflow", IsBot: true, BotID: "B0WF", AppID: "A0WF", Workflow: true,
	})
	s.AddChannel(slacktest.Channel{ID: "C1", Members: []string{"U0WF", s.BotUserID()}})
	for _, d := range workflow.Posts("C1", s.MentionOfBot()+" deploy").Deliveries {
		body := string(d.Body())
		for _, want := range []string{
			`"bot_id":"B0WF"`, `"app_id":"A0WF"`, `"is_workflow_bot":true`, `"username":"Deploy workflow"`,
		} {
			if !strings.Contains(body, want) {
				t.Errorf("%s is not in %s", want, body)
			}
		}
		if strings.Contains(body, `"user":`) {
			t.Errorf("a person wrote %s", body)
		}
	}
}
