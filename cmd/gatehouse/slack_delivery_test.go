package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"gatehouse/adapters/slack/slacktest"
)

// proxyPage is what a proxy answers in place of a platform.
func proxyPage(status int) slacktest.Trouble {
	return slacktest.Trouble{
		Name: fmt.Sprint("proxy ", status), Status: status, Header: map[string]string{"Content-Type": "text/html"},
		Body: "<html><title>Access denied</title></html>",
	}
}

// get is the answer to a request of the gateway.
func (s *testGateway) get(path string) string {
	s.t.Helper()
	answer, err := http.Get(s.base + path)
	noErr(s.t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	noErr(s.t, err)
	return string(text)
}

// counted reports whether a delivery event of Slack has been counted so often.
func (s *testGateway) counted(event string, n int) bool {
	line := fmt.Sprintf(`gatehouse_post_events_total{event=%q,platform="slack"} %d`, event, n)
	return strings.Contains(s.get("/metrics"), line+"\n")
}

// A proxy in front of Slack refuses calls for a while. No reply and no card is lost or doubled, and meanwhile gatehouse
// is not ready, and says why posts wait.
func TestLaw2_AProxysRefusalLosesNoPost(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		endpoint string
		trouble  slacktest.Trouble
	}{
		"403":                        {"", proxyPage(403)},
		"407":                        {"", proxyPage(407)},
		"a redirect":                 {"", proxyPage(302)},
		"413 to messages alone":      {"chat.postMessage", proxyPage(413)},
		"a failure of messages only": {"chat.postMessage", slacktest.Refused("service_unavailable")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serveSlack(t, slacktest.Options{}, transports["HTTP"])
			s.ready(http.StatusOK)
			down := s.slack.Inject(slacktest.Fault{Endpoint: c.endpoint, Trouble: c.trouble})
			var threads []string
			for i := range 8 {
				threads = append(threads, s.ann.Posts("C1", fmt.Sprintf("%s calc %d+1", s.slack.MentionOfBot(), i)).TS)
			}
			ask := s.ann.Posts("C1", s.slack.MentionOfBot()+" note add milk").TS
			waitUntil(t, func() bool { return down.Hits() > 12 }, "calls that fail")
			if c.trouble.Status != http.StatusOK {
				s.ready(http.StatusServiceUnavailable)
				if said := s.readyNow().Platforms["slack"].Outbound; !strings.Contains(said, "proxy") {
					t.Errorf("/readyz says %q", said)
				}
			}
			waitUntil(t, func() bool {
				_, out := s.command("queue", "--json")
				return strings.Contains(out, `"cause": "delivery_later: `) && strings.Contains(out, `"waits_until": "`)
			}, "gatehouse queue says why posts wait, and until when")
			down.Lift()
			for i, thread := range threads {
				s.reads("C1", thread, fmt.Sprintf("%d+1 = %d", i, i+1))
			}
			s.card("C1", ask, "Add “milk” to the note book.")
			s.ready(http.StatusOK)
			for _, thread := range append(threads, ask) {
				if n := len(s.slack.Thread("C1", thread)); n != 2 {
					t.Errorf("a thread has %d messages\n%s", n, s.slack.Dump())
				}
			}
		})
	}
}

// Posts fail although all other calls succeed: gatehouse is not ready until one is taken.
func TestLaw9_APlatformThatTakesNoPostsIsNotReady(t *testing.T) {
	t.Parallel()
	s := serveSlack(t, slacktest.Options{}, transports["HTTP"])
	s.ready(http.StatusOK)
	down := s.slack.Inject(slacktest.Fault{Endpoint: "chat.postMessage", Trouble: slacktest.ServerError(503)})
	post := s.ann.Posts("C1", s.slack.MentionOfBot()+" calc 1+1")
	for i := range 5 {
		s.ann.Posts("C1", fmt.Sprintf("%s calc %d+1", s.slack.MentionOfBot(), i))
	}
	waitUntil(t, func() bool { return s.counted("outage", 1) }, "the outage is counted")
	s.ready(http.StatusServiceUnavailable)
	down.Lift()
	s.reads("C1", post.TS, "1+1 = 2")
	s.ready(http.StatusOK)
}

// The answer to a post is lost, and the post can't be read for a while. It is sent again, and once it stands twice, one
// of the two is deleted; it is all counted.
func TestLaw2_PostThatAppearsLateDoesNotStandTwice(t *testing.T) {
	t.Parallel()
	s := serveSlack(t, slacktest.Options{}, transports["HTTP"])
	s.slack.LagReads(8)
	lost := s.slack.Inject(slacktest.Fault{Endpoint: "chat.postMessage", Trouble: slacktest.AnswerLost(), Times: 1})
	ask := s.ann.Posts("C1", s.slack.MentionOfBot()+" calc 1+1")
	waitUntil(t, func() bool { return lost.Hits() == 1 }, "the post")
	s.slack.LagReads(0)
	waitUntil(t, func() bool { return s.slack.CountCalls("chat.delete") == 1 }, "the deletion of one")
	waitUntil(t, func() bool { return s.counted("twin_deleted", 1) }, "the count of the twin")
	if !s.counted("in_doubt", 1) || !s.counted("again_unseen", 1) {
		t.Errorf("the metrics are %s", s.get("/metrics"))
	}
	if thread := s.slack.Thread("C1", ask.TS); len(thread) != 2 {
		t.Errorf("the thread is %+v", thread)
	}
}

// A post that did not arrive is sent again as soon as anything newer is seen.
func TestSlackShowsSomethingNewer(t *testing.T) {
	t.Parallel()
	s := serveSlack(t, slacktest.Options{}, transports["HTTP"])
	cut := s.slack.Inject(slacktest.Fault{Endpoint: "chat.postMessage", Trouble: slacktest.Cut(), Times: 1})
	ask := s.ann.Posts("C1", s.slack.MentionOfBot()+" calc 1+1")
	waitUntil(t, func() bool { return cut.Hits() == 1 }, "the post")
	waitUntil(t, func() bool { return s.counted("in_doubt", 1) }, "the doubt")
	s.eve.Posts("C1", "<@U1ANN> look at this", slacktest.InThread(ask.TS))
	s.reads("C1", ask.TS, "1+1 = 2")
	if !s.counted("again_newer", 1) {
		t.Errorf("the metrics are %s", s.get("/metrics"))
	}
}
