package slack_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/internal/fakeserver"
	"gatehouse/adapters/slack/slacktest"
	"gatehouse/core"
)

// reading is a platform that reads what is above a message, in a channel where bob has begun a thread. It notes its
// waits.
func reading(t *testing.T) (r *running, in slacktest.ActionOption, waits *[]time.Duration) {
	t.Helper()
	waits = new([]time.Duration)
	r = start(t, setup{
		slack: core.Deps{ReadBefore: 4000},
		before: func(r *running) {
			r.p.Sleeping(func(ctx context.Context, d time.Duration) {
				if d > 20*time.Second { // between two questions who the bot is
					<-ctx.Done()
					return
				}
				*waits = append(*waits, d)
			})
		},
	}).known()
	return r, slacktest.InThread(r.bob.Posts("C1", "The build is red").TS), waits
}

// TestAThreadIsNotWaitedForLong: three seconds in all, for Slack's limit.
func TestAThreadIsNotWaitedForLong(t *testing.T) {
	for name, c := range map[string]struct {
		after []int // the seconds that Slack asks to wait, at one call after the other
		waits string
		read  bool
	}{
		"a short wait": {[]int{2}, "[2s]", true}, "two": {[]int{2, 1}, "[2s 1s]", true},
		"too many": {[]int{2, 2}, "[2s]", false}, "a long wait": {[]int{4}, "[]", false},
		"a minute": {[]int{60}, "[]", false},
	} {
		t.Run(name, func(t *testing.T) {
			r, in, waits := reading(t)
			for _, seconds := range c.after {
				limited := slacktest.RateLimited(time.Duration(seconds) * time.Second)
				r.Inject(slacktest.Fault{Endpoint: "conversations.replies", Trouble: limited, Times: 1})
			}
			text := r.message(r.one(r.ann.Posts("C1", r.MentionOfBot()+" why?", in).Deliveries...)).Content.String()
			told := strings.Contains(text, "could not be read. Slack asks to wait.")
			if strings.Contains(text, "> The build is red") != c.read || told == c.read {
				t.Errorf("it reads %s", text)
			}
			if got := fmt.Sprint(*waits); got != c.waits {
				t.Errorf("it waited %s, want %s", got, c.waits)
			}
		})
	}
}

// TestAThreadOfManyPagesIsReadToABound.
func TestAThreadOfManyPagesIsReadToABound(t *testing.T) {
	page := func(last bool) slacktest.Fault {
		body := `{"ok":true,"has_more":true,"response_metadata":{"next_cursor":"bmV4dDox"},"messages":[5,{"ts":7,` +
			`"text":[]}`
		if last {
			body = `{"ok":true,"has_more":false,"messages":[{"ts":"1.000000","text":"old"}`
		}
		for i := range 20 {
			const form = `,{"type":"message","user":"U2BOB","ts":"1500000000.%06d","text":"line %d",` +
				`"blocks":7,"bot_profile":"x","username":{}}`
			body += fmt.Sprintf(form, i, i)
		}
		answer := fakeserver.Trouble{Name: "a page", Status: 200, Body: body + "]}"}
		return slacktest.Fault{Endpoint: "conversations.replies", Trouble: answer}
	}
	for last, calls := range map[bool]int{true: 1, false: 10} {
		t.Run(fmt.Sprint(last), func(t *testing.T) {
			r, in, _ := reading(t)
			r.Inject(page(last))
			text := r.message(r.one(r.ann.Posts("C1", r.MentionOfBot()+" why?", in).Deliveries...)).Content.String()
			if !strings.Contains(text, "> line 19") || strings.Contains(text, "there are newer ones") == last {
				t.Errorf("it reads %s", text)
			}
			if n := r.CountCalls("conversations.replies"); n != calls {
				t.Errorf("Slack was asked %d times, want %d", n, calls)
			}
		})
	}
}

// TestATokenOfTheAssistantHidesNoThread: Slack sends one with mentions in channels, too.
func TestATokenOfTheAssistantHidesNoThread(t *testing.T) {
	r, _, _ := reading(t)
	e := r.one(r.Send(map[string]any{
		"type": "app_mention", "user": "U1ANN", "text": r.MentionOfBot() + " why?", "channel": "C1",
		"ts": "1900000001.000100", "thread_ts": r.Messages("C1")[0].TS,
		"assistant_thread": map[string]any{"action_token": "1"},
	}))
	if text := r.message(e).Content.String(); !strings.Contains(text, "> The build is red") {
		t.Errorf("it reads %s", text)
	}
}

// TestTheStoreIsNotAskedWhatTheProcessKnows: that the turn of the last message in a thread ended well.
func TestTheStoreIsNotAskedWhatTheProcessKnows(t *testing.T) {
	asked := 0
	r := start(t, setup{slack: core.Deps{
		ReadBefore: 4000,
		Inbox: adaptertest.Events(func(context.Context, core.EventFilter) ([]core.EventRecord, error) {
			asked++
			return nil, nil
		}),
	}}).known()
	in := slacktest.InThread(r.bob.Posts("C1", "The build is red").TS)
	ask := func(what string, wantAsked, wantRead int) core.Event {
		t.Helper()
		asked = 0
		before := r.CountCalls("conversations.replies")
		e := r.one(r.ann.Posts("C1", r.MentionOfBot()+" why?", in).Deliveries...)
		r.message(e)
		if read := r.CountCalls("conversations.replies") - before; asked != wantAsked || read != wantRead {
			t.Errorf("%s: the store was asked %d times, Slack %d times", what, asked, read)
		}
		return e
	}
	r.p.Heard(ask("the first", 1, 1))
	r.p.Heard(ask("all was heard", 0, 0))
	ask("all was heard again", 0, 0)
	ask("the turn before failed", 1, 1)
}
