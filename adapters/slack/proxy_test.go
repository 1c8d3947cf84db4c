package slack_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"gatehouse/adapters/slack/slacktest"
	"gatehouse/core"
)

// proxied is what a proxy answers in place of Slack.
func proxied(status int, header map[string]string) slacktest.Trouble {
	all := map[string]string{"Content-Type": "text/html"}
	for key, value := range header {
		all[key] = value
	}
	body := "<html><title>Blocked</title>Your organization's proxy refuses this request.</html>"
	if status == http.StatusNoContent {
		body = ""
	}
	return slacktest.Trouble{Name: fmt.Sprint("proxy ", status), Status: status, Header: all, Body: body}
}

// What is not Slack's own answer refuses nothing: the call is made again later, and Slack counts as unreachable.
func TestAnswerThatIsNotSlacksRefusesNothing(t *testing.T) {
	reply := core.Delivery{Post: core.Post{
		Key: "reply/1", Kind: core.PostReply, Text: "x", To: core.Address{Platform: "slack", Channel: "C1"},
	}}
	for status, want := range map[int]core.Category{
		200: core.DeliveryInDoubt, 204: core.DeliveryInDoubt, 302: core.DeliveryLater, 307: core.DeliveryLater,
		400: core.DeliveryLater, 401: core.DeliveryLater, 403: core.DeliveryLater, 404: core.DeliveryLater,
		405: core.DeliveryLater, 407: core.DeliveryLater, 408: core.DeliveryLater, 410: core.DeliveryLater,
		413: core.DeliveryLater, 421: core.DeliveryLater, 425: core.DeliveryLater, 451: core.DeliveryLater,
		499: core.DeliveryInDoubt, 502: core.DeliveryInDoubt,
	} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			p, o := open(t, slacktest.Options{}, nil)
			ref, _, err := p.Post(t.Context(), reply)
			if err != nil {
				t.Fatal(err)
			}
			o.Inject(slacktest.Fault{Trouble: proxied(status, nil)})
			again := reply
			again.Key = "reply/2"
			_, _, posting := p.Post(t.Context(), again)
			editing := p.Edit(t.Context(), ref, reply)
			for what, err := range map[string]error{"a post": posting, "an edit": editing} {
				if core.CategoryOf(err) != want || core.RetryAfterOf(err) != 0 || core.MessageOf(err) == "" {
					t.Errorf("%s: %v", what, err)
				}
			}
			if _, out := p.Health(); out == nil {
				t.Error("Slack counts as reachable")
			}
			if _, err := p.Find(t.Context(), again); core.CategoryOf(err) != core.DeliveryLater {
				t.Errorf("a look-up: %v", err)
			}
			if err := p.Delete(t.Context(), ref); core.CategoryOf(err) != core.DeliveryLater {
				t.Errorf("a deletion: %v", err)
			}
		})
	}
}

// Slack's own refusals count with any status.
func TestRefusalOfSlackCountsWithAnyStatus(t *testing.T) {
	for status, want := range map[int]map[string]core.Category{
		401: {"invalid_auth": core.DeliveryLater}, 403: {"not_in_channel": core.DeliveryForbidden},
		404: {"thread_not_found": core.DeliveryFailed}, 500: {"internal_error": core.DeliveryInDoubt},
		503: {"service_unavailable": core.DeliveryLater},
	} {
		for code, category := range want {
			p, o := open(t, slacktest.Options{}, nil)
			trouble := slacktest.Refused(code)
			trouble.Status = status
			o.Inject(slacktest.Fault{Endpoint: "chat.postMessage", Trouble: trouble})
			_, _, err := p.Post(t.Context(), core.Delivery{Post: core.Post{
				Key: "reply/1", Kind: core.PostReply, Text: "x", To: core.Address{Platform: "slack", Channel: "C1"},
			}})
			if core.CategoryOf(err) != category || !strings.Contains(err.Error(), code) && status != 503 {
				t.Errorf("%d %s: %v", status, code, err)
			}
		}
	}
}

// A change of what is there already is not kept for a day where the channel is archived: the posts after it would wait.
func TestEditInAnArchivedChannelDelaysNoPost(t *testing.T) {
	p, o := open(t, slacktest.Options{}, nil)
	reply := core.Delivery{Post: core.Post{
		Key: "reply/1", Kind: core.PostReply, Text: "x", To: core.Address{Platform: "slack", Channel: "C1"},
	}}
	ref, _, err := p.Post(t.Context(), reply)
	if err != nil {
		t.Fatal(err)
	}
	o.Archive("C1")
	if err := p.Edit(t.Context(), ref, reply); core.CategoryOf(err) != core.DeliveryFailed {
		t.Errorf("an edit: %v", err)
	}
	if _, _, err := p.Post(t.Context(), reply); core.CategoryOf(err) != core.DeliveryForbidden {
		t.Errorf("a post: %v", err)
	}
}

// A redirect is not followed: the token would go along.
func TestRedirectGetsNoToken(t *testing.T) {
	followed := make(chan *http.Request, 10)
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { followed <- r }))
	defer elsewhere.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		p, o := open(t, slacktest.Options{}, nil)
		o.Inject(slacktest.Fault{Trouble: proxied(status, map[string]string{"Location": elsewhere.URL})})
		_, _, err := p.Post(t.Context(), core.Delivery{Post: core.Post{
			Key: "reply/1", Kind: core.PostReply, Text: "x", To: core.Address{Platform: "slack", Channel: "C1"},
		}})
		if core.CategoryOf(err) != core.DeliveryLater || len(followed) > 0 {
			t.Errorf("%d: %v; %d requests went elsewhere", status, err, len(followed))
		}
	}
}

// A wait of a month is cut to a quarter of an hour, for the channel and for the post.
func TestSlackIsAskedAgainAfterAQuarterOfAnHour(t *testing.T) {
	const most = 15 * time.Minute
	now := time.Now()
	p, o := open(t, slacktest.Options{}, func(d *core.Deps) { d.Now = func() time.Time { return now } })
	asked := slacktest.RateLimited(2592000 * time.Second)
	o.Inject(slacktest.Fault{Endpoint: "chat.postMessage", Times: 1, Trouble: asked})
	reply := core.Delivery{Post: core.Post{
		Key: "reply/1", Kind: core.PostReply, Text: "x", To: core.Address{Platform: "slack", Channel: "C1"},
	}}
	_, _, err := p.Post(t.Context(), reply)
	if core.RetryAfterOf(err) != most || !strings.Contains(core.MessageOf(err), "720h0m0s") {
		t.Errorf("%v", err)
	}
	_, _, err = p.Post(t.Context(), reply)
	if wait := core.RetryAfterOf(err); wait > most || wait <= 0 || core.CategoryOf(err) != core.DeliveryNotYet {
		t.Errorf("meanwhile: %v", err)
	}
	now = now.Add(most)
	if _, _, err = p.Post(t.Context(), reply); err != nil {
		t.Errorf("after that: %v", err)
	}
}
