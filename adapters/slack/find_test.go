package slack_test

import (
	"slices"
	"testing"
	"time"

	"gatehouse/adapters/internal/fakeserver"
	"gatehouse/adapters/slack/slacktest"
	"gatehouse/core"
)

// A look-up changes nothing in Slack, so after a failure of Slack it is repeated later. Otherwise a reply whose answer
// was lost at the beginning of an outage would be given up after a few seconds.
func TestFindIsRetriedAfterATemporaryFailure(t *testing.T) {
	for name, c := range map[string]struct {
		trouble slacktest.Trouble
		want    core.Category
	}{
		"Slack is down":        {slacktest.ServerError(503), core.DeliveryLater},
		"no answer":            {slacktest.Cut(), core.DeliveryLater},
		"half an answer":       {fakeserver.Garbled(), core.DeliveryLater},
		"an inner error":       {slacktest.Refused("internal_error"), core.DeliveryLater},
		"the token is revoked": {slacktest.Refused("token_revoked"), core.DeliveryLater},
		"too many calls":       {slacktest.RateLimitedInBody(), core.DeliveryLater},
		"no scope":             {slacktest.MissesScope("channels:history"), core.Unsupported},
		"no such channel":      {slacktest.Refused("channel_not_found"), core.DeliveryFailed},
	} {
		t.Run(name, func(t *testing.T) {
			p, o := open(t, slacktest.Options{}, nil)
			for _, method := range []string{"conversations.replies", "conversations.history"} {
				o.Inject(slacktest.Fault{Endpoint: method, Trouble: c.trouble})
			}
			for _, thread := range []string{"", "1700000000.000100"} {
				d := core.Delivery{Post: core.Post{
					Key: "a", Kind: core.PostReply, Text: "a",
					To: core.Address{Platform: "slack", Channel: "C1", Thread: thread},
				}}
				if found, err := p.Find(t.Context(), d); found.Ref != "" || core.CategoryOf(err) != c.want {
					t.Errorf("in the thread %q: got %q, %v (%s), want %s", thread, found.Ref, err, core.CategoryOf(err),
						c.want)
				}
			}
		})
	}
}

// A look-up says whether it shows anything newer than the end of the send, in the thread of the post, or else in the
// channel.
func TestFindSeesSomethingNewer(t *testing.T) {
	for name, inThread := range map[string]bool{"in a thread": true, "in a channel": false} {
		t.Run(name, func(t *testing.T) {
			p, o := open(t, slacktest.Options{}, nil)
			root := o.ann.Posts("C1", "root").TS
			d := core.Delivery{Post: core.Post{
				Key: "a", Kind: core.PostReply, Text: "a", To: core.Address{Platform: "slack", Channel: "C1"},
			}}
			var how []slacktest.ActionOption
			if inThread {
				d.To.Thread, how = root, []slacktest.ActionOption{slacktest.InThread(root)}
			}
			o.ann.Posts("C1", "before", how...)
			find := func(want bool) {
				t.Helper()
				found, err := p.Find(t.Context(), d)
				if err != nil || found.Ref != "" || !found.Late || found.Newer != want {
					t.Errorf("%+v, %v", found, err)
				}
			}
			find(false) // it is not known when the send ended
			d.SentAt, d.LostAt = time.Now(), time.Now()
			find(false)
			o.ann.Posts("C1", "after", how...)
			find(true)
		})
	}
}

// All messages of a part are found, with whether people have replied or reacted, and one can be deleted.
func TestCopiesOfAPart(t *testing.T) {
	p, o := open(t, slacktest.Options{}, nil)
	d := core.Delivery{Post: core.Post{
		Key: "a", Kind: core.PostReply, Text: "a", To: core.Address{Platform: "slack", Channel: "C1"},
	}}
	var refs []core.Ref
	for range 4 {
		ref, _, err := p.Post(t.Context(), d)
		if err != nil {
			t.Fatal(err)
		}
		refs = append(refs, ref)
	}
	ts := func(i int) string { return o.FromBot("C1")[i].TS }
	o.ann.Posts("C1", "a reply", slacktest.InThread(ts(1)))
	o.ann.Reacts("C1", ts(2), "eyes")
	if err := p.Delete(t.Context(), refs[3]); err != nil {
		t.Fatal(err)
	}
	if err := p.Delete(t.Context(), refs[3]); err != nil {
		t.Errorf("once more: %v", err)
	}
	got, err := p.Copies(t.Context(), d)
	want := []core.Copy{{Ref: refs[0]}, {Ref: refs[1], Touched: true}, {Ref: refs[2], Touched: true}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
}
