package discord

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"gatehouse/adapters/discord/internal/heard"

	"gatehouse/adapters/discord/internal/address"

	"gatehouse/adapters/discord/discordtest"
	"gatehouse/adapters/discord/internal/rest"
	"gatehouse/core"
)

// A 403 or 404 by a proxy in front of Discord says nothing about a channel: no thread is taken for a plain channel, and
// no post is given up.
func TestRefusalsByAProxyAreNotDiscords(t *testing.T) {
	for _, status := range []int{http.StatusForbidden, http.StatusNotFound} {
		w := newRig(t, nil)
		thread := w.alice.OpensThread(general, w.alice.Posts(general, "work").ID, "work")
		page := discordtest.ServerError(status)
		w.Inject(discordtest.Fault{Endpoint: "GET /channels/{channel}", Trouble: page, Times: 1})
		if _, err := w.d.guilds.Channel(w.ctx(), thread); core.CategoryOf(err) != core.ProviderUnavailable {
			t.Errorf("%d: where the message stands: %v", status, err)
		}
		if at, err := w.d.guilds.Channel(w.ctx(), thread); err != nil || !at.IsThread() {
			t.Errorf("%d: then: %+v, %v", status, at, err)
		}
		w.Inject(discordtest.Fault{Endpoint: discordtest.CreateMessage, Trouble: page, Times: 1})
		d := answerTo("reply/1", "hello", core.Address{Platform: address.Platform, Channel: general, Thread: thread})
		if _, _, err := w.d.Post(w.ctx(), d); status == http.StatusForbidden &&
			core.CategoryOf(err) != core.DeliveryLater {
			t.Errorf("%d: a post: %v", status, err)
		}
	}
}

// An interaction's token lets anyone who has it answer in the bot's name for fifteen minutes. It is part of the
// addresses of calls.
func TestErrorsContainNoInteractionTokens(t *testing.T) {
	w := newRig(t, nil)
	const token = "aSecretOfFifteenMinutes"
	for name, route := range map[string]string{"unreachable": "http://127.0.0.1:1/api/v10", "cut": ""} {
		if route != "" {
			w.d.rest = rest.New(rest.Options{Token: w.BotToken(), URL: route})
		} else {
			w.d.rest = rest.New(rest.Options{Token: w.BotToken(), URL: w.APIURL()})
			w.Inject(discordtest.Fault{Endpoint: "POST /webhooks/{application}/{token}", Trouble: discordtest.Cut()})
		}
		t.Cleanup(w.d.rest.Close)
		d := core.Delivery{Post: core.Post{
			Key: "private/" + name, Kind: core.PostPrivate, Text: "You may not.", Person: "discord:1001",
			To: w.pressedWith(address.PressPrefix, "5", token),
		}}
		_, _, err := w.d.Post(w.ctx(), d)
		if err == nil || strings.Contains(err.Error(), token) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Slow mode applies to one channel, whatever the headers contain; other channels go on.
func TestRouteLimitBlocksOneChannel(t *testing.T) {
	w := newRig(t, nil)
	const wait = 10 * time.Minute
	slow := discordtest.RateLimited(wait, "")
	w.Inject(discordtest.Fault{Endpoint: discordtest.CreateMessage, Trouble: slow, Times: 1})
	d := answerTo("reply/1", "hello", core.Address{Platform: address.Platform, Channel: general})
	if _, _, err := w.d.Post(w.ctx(), d); core.RetryAfterOf(err) != wait {
		t.Errorf("%v", err)
	}
	if w.waits(d) <= 0 {
		t.Error("the channel is not left alone")
	}
	other := answerTo("reply/2", "hello", core.Address{Platform: address.Platform, Channel: secret})
	if wait := w.waits(other); wait > 0 {
		t.Errorf("another channel waits for %s", wait)
	}
}

// A file's address is valid for a day, for anyone who has it.
func TestErrorsContainNoFileAddresses(t *testing.T) {
	w := newRig(t, nil)
	w.d.Config.APIURL = "http://127.0.0.1:1/api/v10"
	var m heard.Message
	m.Attachments.It = []heard.Attachment{
		{Name: "a.png", Type: "image/png", URL: "http://127.0.0.1:1/attachments/1/2/a.png?hm=signature"},
	}
	_, err := w.d.files(w.ctx(), core.Event{}, m, "", w.d.names(""))
	if core.CategoryOf(err) != core.ProviderUnavailable || strings.Contains(err.Error(), "signature") {
		t.Errorf("%v", err)
	}
}

// The global limit does not block answers to interactions, which are due in three seconds. A block by a proxy does.
func TestGlobalLimitDoesNotBlockInteractionAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		trouble discordtest.Trouble
		answers int
	}{
		"the global limit": {discordtest.RateLimited(time.Minute, discordtest.ScopeGlobal), 1},
		"a proxy":          {discordtest.RateLimitedByProxy(time.Minute), 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := newRig(t, nil)
			w.Inject(discordtest.Fault{Endpoint: discordtest.CreateMessage, Trouble: c.trouble, Times: 1})
			d := answerTo("reply/1", "hello", core.Address{Platform: address.Platform, Channel: general})
			if _, _, err := w.d.Post(w.ctx(), d); core.RetryAfterOf(err) != time.Minute {
				t.Fatalf("%v", err)
			}
			_ = w.d.Call(w.ctx(), http.MethodPost, "/interactions/1/token/callback", acknowledged(), nil)
			if n := w.CountCalls("POST /interactions/{interaction}/{token}/callback"); n != c.answers {
				t.Errorf("%d answers were given", n)
			}
			if _, _, err := w.d.Post(w.ctx(), d); core.RetryAfterOf(err) == 0 || w.waits(d) == 0 {
				t.Errorf("another post does not wait: %v", err)
			}
		})
	}
}

// Discord counts some routes together, and says so in its answers.
func TestRoutesOfOneBucketShareItsLimit(t *testing.T) {
	clock := discordtest.NewClock(time.Now())
	limit := discordtest.Limit{Calls: 3, Per: time.Hour, Bucket: "messages"}
	w := newRig(t, func(o *discordtest.Options) {
		o.Limits, o.LimitNow = discordtest.Limits{discordtest.CreateMessage: limit, discordtest.EditMessage: limit},
			clock.Now
	})
	at := core.Address{Platform: address.Platform, Channel: general}
	ref := w.say(answerTo("reply/1", "hello", at))[0]
	for range 2 {
		if err := w.d.Edit(w.ctx(), ref, answerTo("reply/1", "hello again", at)); err != nil {
			t.Fatal(err)
		}
	}
	if w.waits(answerTo("reply/2", "hello", at)) <= 0 {
		t.Error("the third call of the bucket is followed by a fourth")
	}
	other := answerTo("reply/3", "hello", core.Address{Platform: address.Platform, Channel: secret})
	if wait := w.waits(other); wait > 0 {
		t.Errorf("another channel waits %s", wait)
	}
	if n := w.InvalidRequests(); n != 0 {
		t.Errorf("%d calls were too many", n)
	}
}

// However many posts wait for the global limit, the calls that a start needs are made.
func TestPostsLeaveCallsToAStart(t *testing.T) {
	w := newRig(t, nil)
	for i := 0; ; i++ {
		_, _, err := w.d.Post(w.ctx(),
			answerTo(fmt.Sprint("reply/", i), "hello", core.Address{Platform: address.Platform, Channel: general}))
		if core.CategoryOf(err) == core.DeliveryNotYet {
			break
		}
		if err != nil || i == 100 {
			t.Fatalf("after %d posts: %v", i, err)
		}
	}
	if err := w.d.askIdentity(w.ctx()); err != nil {
		t.Errorf("who the bot is: %v", err)
	}
	if err := w.d.Call(w.ctx(), http.MethodGet, "/gateway/bot", nil, nil); err != nil {
		t.Errorf("the gateway: %v", err)
	}
	again := answerTo("reply/0", "hello again", core.Address{Platform: address.Platform, Channel: general})
	err := w.d.Edit(w.ctx(), core.Ref(general+"/1"), again)
	if core.CategoryOf(err) != core.DeliveryNotYet {
		t.Errorf("an edit: %v", err)
	}
}
