package slacktest_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	slackgo "github.com/slack-go/slack"

	"gatehouse/adapters/slack/slacktest"
)

// BenchmarkMentionAndReply measures the fake itself: a mention delivered over HTTP, and a reply in its thread.
func BenchmarkMentionAndReply(b *testing.B) {
	s := slacktest.Start(b, slacktest.Options{Subscriptions: []string{"app_mention"}})
	alice := s.AddUser(slacktest.User{ID: "U1", Name: "alice"})
	s.AddChannel(slacktest.Channel{ID: "C1", Name: "general", Members: []string{"U1", s.BotUserID()}})
	transport := &http.Transport{MaxIdleConnsPerHost: 100}
	defer transport.CloseIdleConnections()
	api := slackgo.New(s.BotToken(), slackgo.OptionAPIURL(s.APIURL()),
		slackgo.OptionHTTPClient(&http.Client{Transport: transport}))
	app := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
	}))
	defer app.Close()
	s.SendTo(slacktest.Addresses{Events: app.URL})
	ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
	defer cancel()
	for i := 0; b.Loop(); i++ {
		post := alice.Posts("C1", s.MentionOfBot()+" hello")
		if _, _, err := api.PostMessageContext(ctx, "C1", slackgo.MsgOptionText(fmt.Sprint(i), false),
			slackgo.MsgOptionTS(post.TS)); err != nil {
			b.Fatal(err)
		}
	}
	if err := s.WaitDelivered(ctx); err != nil {
		b.Fatal(err)
	}
}
