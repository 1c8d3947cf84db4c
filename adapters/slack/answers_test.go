package slack_test

import (
	"testing"
	"time"

	"gatehouse/adapters/internal/fakeserver"
	"gatehouse/adapters/slack/slacktest"
	"gatehouse/core"
)

// Of an answer only what is needed is read: a block that nobody knows yet, in the copy of our own message that Slack
// sends back, does not make the answer count as lost.
func TestUnknownFieldsOfAnswersDoNotMatter(t *testing.T) {
	p, o := open(t, slacktest.Options{}, nil)
	o.AnswerStrangely()
	root := o.ann.Posts("C1", "hello", slacktest.WithoutEvent())
	for _, thread := range []string{"", root.TS} {
		d := core.Delivery{Post: core.Post{
			Key: "reply/" + thread, Kind: core.PostReply, Text: "hello",
			To: core.Address{Platform: "slack", Channel: "C1", Thread: thread},
		}, SentAt: time.Now()}
		ref, _, err := p.Post(t.Context(), d)
		if err != nil || ref == "" {
			t.Errorf("posting in the thread %q: %q, %v", thread, ref, err)
		}
		if found, err := p.Find(t.Context(), d); err != nil || found.Ref != ref {
			t.Errorf("finding %q again in the thread %q: %+v, %v", ref, thread, found, err)
		}
		if d.Text = "hello again"; p.Edit(t.Context(), ref, d) != nil {
			t.Errorf("editing %q: %v", ref, p.Edit(t.Context(), ref, d))
		}
	}
	private := core.Post{
		Key: "private/1", Kind: core.PostPrivate, Text: "only for you", Person: "slack:U2BOB",
		To: core.Address{Platform: "slack", Channel: "C1"},
	}
	if _, _, err := p.Post(t.Context(), core.Delivery{Post: private}); err != nil {
		t.Errorf("posting privately: %v", err)
	}
	private.To.Channel = o.dm() // Bob is not in it: he gets a direct message
	if _, _, err := p.Post(t.Context(), core.Delivery{Post: private}); err != nil {
		t.Errorf("posting to somebody who is not there: %v", err)
	}
	working := core.Post{
		Key: "working/1", Kind: core.PostWorking, On: true,
		To: core.Address{Platform: "slack", Channel: "C1", Message: root.TS},
	}
	if _, _, err := p.Post(t.Context(), core.Delivery{Post: working}); err != nil {
		t.Errorf("showing that it is working: %v", err)
	}
	if name := p.NameOf(t.Context(), core.Actor{ID: "slack:U1ANN"}); name != "ann" {
		t.Errorf("Ann's name is %q", name)
	}
	if _, outbound := p.Health(); outbound != nil {
		t.Errorf("outbound is reported as unhealthy: %v", outbound)
	}
}

func TestUnknownFieldsOfAnswersDoNotMatterToEvents(t *testing.T) {
	r := start(t, setup{config: overSocket, before: func(r *running) { r.AnswerStrangely() }}).known()
	p := r.ann.Posts("G1", r.MentionOfBot()+" hello", slacktest.OnlyEvent("app_mention"))
	if e := r.one(p.Deliveries...); e.Conversation != "slack:T0GATE:G1" {
		t.Errorf("got %+v", e)
	}
	if n := len(r.log.Warnings()); n != 0 {
		t.Errorf("it warned: %s", r.log)
	}
}

// An answer that does not say what Slack did is not taken for a success.
func TestAnAnswerWithoutAVerdictIsInDoubt(t *testing.T) {
	for body, want := range map[string]core.Category{
		`{}`: core.DeliveryInDoubt, `{"ts":"1.2","channel":"C1"}`: core.DeliveryInDoubt,
		`{"ok":"yes"}`: core.DeliveryInDoubt, `{"ok":true,"ts":12,"channel":"C1"}`: core.DeliveryInDoubt,
		`{"ok":false}`: core.DeliveryFailed,
		`{"ok":false,"error":"channel_not_found","errors":"all","response_metadata":[]}`: core.DeliveryForbidden,
	} {
		p, o := open(t, slacktest.Options{}, nil)
		o.Inject(
			slacktest.Fault{
				Endpoint: "chat.postMessage", Trouble: fakeserver.Trouble{Name: "strange", Status: 200, Body: body},
			})
		_, _, err := p.Post(t.Context(),
			core.Delivery{Post: core.Post{
				Key: "reply/1", Kind: core.PostReply, Text: "x", To: core.Address{Platform: "slack", Channel: "C1"},
			}})
		if core.CategoryOf(err) != want {
			t.Errorf("%s: got %v (%s), want %s", body, err, core.CategoryOf(err), want)
		}
	}
}
