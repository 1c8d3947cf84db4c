package slack_test

import (
	"context"
	"strings"
	"testing"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/slack"
	"gatehouse/core"
)

// unconnected returns a platform whose API can't be reached.
func unconnected(t testing.TB) *slack.Slack {
	return slack.New(core.Deps{
		Signer: adaptertest.Signer(t, testKey), Cards: adaptertest.Cards(), Blobs: &adaptertest.Blobs{},
	}, slack.Config{BotToken: "xoxb-1", SigningSecret: "s", APIURL: "http://127.0.0.1:1/", FollowUp: "thread"})
}

// fuzzBodies passes arbitrary bodies of a kind to the platform: every event that is stored is complete and can be
// parsed.
func fuzzBodies(f *testing.F, kind string, seeds ...string) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	p := unconnected(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // nothing is looked up
		p.Take(ctx, kind, body, func(_ context.Context, e core.Event) (core.Receipt, error) {
			if e.Platform != slack.Name || e.ID == "" || strings.HasSuffix(e.ID, "/") || e.Conversation == "" ||
				e.Kind() == "" || e.Actor.ID == "slack:" || !strings.HasPrefix(e.Actor.ID, "slack:") {
				t.Errorf("%q came as %+v", body, e)
			}
			if e.Kind() == core.KindMessage {
				if in, err := p.Parse(ctx, e); err == nil && in.Message == nil {
					t.Errorf("Parse of %q gave nothing", body)
				}
			}
			if e.Kind() == core.KindClick {
				if _, err := core.ClickOf(e); err != nil {
					t.Errorf("the payload of %q is no click: %v", body, err)
				}
				_, _ = p.OldClick(core.Event{Body: e.Body, Payload: body}) // whatever it is, it does not panic
			}
			return core.Receipt{Seq: 1, Fresh: true}, nil
		})
	})
}

const authorized = `"type":"event_callback","team_id":"T1","authorizations":[{"team_id":"T1","user_id":"U0",` +
	`"is_bot":true}]`

func FuzzEvent(f *testing.F) {
	fuzzBodies(f, "events_api",
		`{`+authorized+
			`,"event":{"type":"message","user":"U1","channel":"D1","channel_type":"im","ts":"1.2","text":"hello"}}`,
		`{`+authorized+
			`,"event":{"type":"app_mention","user":"U1","channel":"C1","ts":"1.2","thread_ts":"1.1",`+
			`"text":"<@U0> !new"}}`,
		`{`+authorized+
			`,"event":{"type":"message","user":"U1","channel":"C1","channel_type":"channel","ts":"1.2",`+
			`"thread_ts":"1.1","text":"x","files":[{"name":"a","size":1}]}}`,
		`{`+authorized+
			`,"event":{"type":"message","subtype":"message_changed","channel":"C1","event_ts":"1.4",`+
			`"message":{"user":"U1","ts":"1.2","text":"b","edited":{"user":"U1","ts":"1.3"}},`+
			`"previous_message":{"user":"U1","ts":"1.2","text":"a"}}}`,
		`{`+authorized+
			`,"event":{"type":"message","subtype":"message_changed","channel":"C1","event_ts":"1.4",`+
			`"message":{"subtype":"tombstone","user":"USLACKBOT","ts":"1.2"},"previous_message":{"user":"U1",`+
			`"ts":"1.2","text":"a"}}}`,
		`{`+authorized+
			`,"event":{"type":"message","subtype":"message_deleted","channel":"C1","event_ts":"1.4",`+
			`"deleted_ts":"1.2","previous_message":{"user":"U1","ts":"1.2","text":"a"}}}`,
		`{`+authorized+
			`,"event":{"type":"message","user":"U1","channel":"D1","channel_type":"im","ts":"1.2","text":"",`+
			`"attachments":[{"is_share":true,"author_id":"U2","ts":"1.1","text":"x <#C2>","files":[{"id":"F1"}],`+
			`"message_blocks":[{"message":{"blocks":[{"type":"rich_text","elements":[{"type":"rich_text_section",`+
			`"elements":[{"type":"text","text":"x"}]}]}]}}]},{"blocks":[{"type":"table","rows":[[{"type":"raw_text",`+
			`"text":"a"}]]}]}]}}`,
		`{`+authorized+
			`,"event":{"type":"message","subtype":"message_changed","channel":"C1","event_ts":"1.4",`+
			`"message":{"user":"U1","ts":"1.2","text":"a","attachments":[{"from_url":"https://x","title":"t"}]},`+
			`"previous_message":{"user":"U1","ts":"1.2","text":"a"}}}`,
		`{"type":"app_rate_limited"}`, `{}`, `null`, `[`,
	)
}

func FuzzInteraction(f *testing.F) {
	s := adaptertest.Signer(f, testKey)
	press := func(value string) string {
		return `{"type":"block_actions","team":{"id":"T1"},"user":{"id":"U1"},"trigger_id":"1.2",` +
			`"container":{"channel_id":"C1"},"actions":[{"action_id":"x","value":"` +
			value + `","action_ts":"1.3"}]}`
	}
	fuzzBodies(f, "interactive",
		press(s.Seal("a1", "approve")), press(s.Seal("a1", "deny")),
		press(s.Seal("again", "17", "slack:T1:C1", "C1", "")), press(s.Seal("new", "17", "slack:T1:C1", "C1", "1.1")),
		press("x"),
		`{"type":"view_submission","user":{"id":"U1"},"view":{"id":"V1","callback_id":"deny_reason",`+
			`"private_metadata":"`+
			s.Seal("a1", "reason", "C1", "")+
			`","state":{"values":{"reason":{"reason":{"type":"plain_text_input","value":"no"}}}}}}`, `{}`, `null`,
	)
}

func FuzzCommand(f *testing.F) {
	fuzzBodies(f, "slash_commands",
		`{"command":"/gatehouse","text":"new","team_id":"T1","channel_id":"D1","user_id":"U1","trigger_id":"1.2"}`,
		`{"command":"/gatehouse","text":"status","team_id":"T1","channel_id":"C1","user_id":"U1","trigger_id":"1.2"}`,
		`{"team_id":"T1"}`, `{}`, `null`, `[]`,
	)
}

func FuzzForm(f *testing.F) {
	for _, s := range []string{"payload=%7B%7D", "payload=", "a=b&a=c", "%zz", ";", "=", ""} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(_ *testing.T, body []byte) { slack.Forms(body) })
}
