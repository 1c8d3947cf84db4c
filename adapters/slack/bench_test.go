package slack_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/slack"
	"gatehouse/adapters/slack/slacktest"
	"gatehouse/core"
)

// mention is a mention of the bot in a thread, with the fields that Slack sends.
const mention = `{"token":"verification","team_id":"T1","context_team_id":"T1","context_enterprise_id":null,` +
	`"api_app_id":"A1","event":{"user":"U1ANN","type":"app_mention",` +
	`"ts":"1.3","client_msg_id":"5f9c1d2e-0000-4000-8000-000000000001",` +
	`"text":"<@UBOT> how are you?\nAnd \"the others\"?","team":"T1","thread_ts":"1.2","parent_user_id":"U1ANN",` +
	`"blocks":[{"type":"rich_text","block_id":"b1","elements":[{"type":"rich_text_section",` +
	`"elements":[{"type":"user","user_id":"UBOT"},` +
	`{"type":"text","text":" how are you?\nAnd \"the others\"?"}]}]}],"channel":"C1","event_ts":"1.3"},` +
	`"type":"event_callback","event_id":"Ev1","event_time":1800000000,` +
	`"authorizations":[{"enterprise_id":null,"team_id":"T1","user_id":"UBOT","is_bot":true,` +
	`"is_enterprise_install":false}],"is_ext_shared_channel":false,"event_context":"4-1"}`

// answered is an HTTP connection to Slack that answers every call at once.
type answered string

func (a answered) RoundTrip(r *http.Request) (*http.Response, error) {
	_, _ = io.Copy(io.Discard, r.Body)
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"X-Oauth-Scopes": {"chat:write,users:read"}},
		Body: io.NopCloser(strings.NewReader(string(a))), Request: r,
	}, nil
}

func benched(b *testing.B) *slack.Slack {
	s := slack.New(core.Deps{
		Signer: adaptertest.Signer(b, testKey), Cards: adaptertest.Cards(), Blobs: &adaptertest.Blobs{},
	}, slack.Config{BotToken: "xoxb-1", SigningSecret: "s", APIURL: "http://slack.invalid/api/", FollowUp: "thread"})
	s.Connect(
		answered(
			`{"ok":true,"channel":"C1","ts":"2.1","user":{"name":"ann"},"message":{"type":"message","text":"Fine.",` +
				`"blocks":[{"type":"markdown","text":"Fine."}]}}`))
	return s
}

// BenchmarkReceive takes one mention over HTTP, but for the connection and the commit.
func BenchmarkReceive(b *testing.B) {
	s := benched(b)
	routes := s.Routes(func(context.Context, core.Event) (core.Receipt, error) {
		return core.Receipt{Fresh: true}, nil
	})
	now, header := time.Now(), http.Header{"Content-Type": {"application/json"}}
	header.Set("X-Slack-Request-Timestamp", fmt.Sprint(now.Unix()))
	header.Set("X-Slack-Signature", slacktest.Sign("s", now, []byte(mention)))
	b.ReportAllocs()
	for b.Loop() {
		q, _ := http.NewRequestWithContext(b.Context(), http.MethodPost, "http://localhost/slack/events",
			bytes.NewReader([]byte(mention)))
		q.Header = header
		w := httptest.NewRecorder()
		if routes["POST /slack/events"].ServeHTTP(w, q); w.Code != http.StatusOK {
			b.Fatal(w.Code, w.Body)
		}
	}
}

// BenchmarkParse reads the mention for its turn.
func BenchmarkParse(b *testing.B) {
	s := benched(b)
	var e core.Event
	if s.Take(b.Context(), "events_api", []byte(mention),
		func(_ context.Context, taken core.Event) (core.Receipt, error) {
			e = taken
			return core.Receipt{}, nil
		}) {
		b.Fatal("it is refused")
	}
	b.ReportAllocs()
	for b.Loop() {
		if in, err := s.Parse(b.Context(), e); err != nil || in.Message == nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPost sends answers, but for the connection.
func BenchmarkPost(b *testing.B) {
	for name, text := range map[string]string{
		"plain": "I am fine, thanks. And how are you today?",
		"markdown": strings.Repeat(
			"# Head\n\nSee **this** and `that < code`, [a link](https://example.org) and @here:\n\n- one\n- "+
				"two\n\n```go\nfunc main() {}\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n", 1),
		"long": strings.Repeat("These are some words of a long answer without any marks, in one paragraph.\n\n", 60),
	} {
		b.Run(name, func(b *testing.B) {
			s := benched(b)
			d := core.Delivery{Post: core.Post{
				Key: "reply/1", Kind: core.PostReply, Text: text,
				To: core.Address{Platform: "slack", Channel: "C1", Thread: "1.2"},
			}}
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := s.Post(b.Context(), d); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
