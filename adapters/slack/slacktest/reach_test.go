package slacktest_test

import (
	"testing"

	slackgo "github.com/slack-go/slack"

	"gatehouse/adapters/slack/slacktest"
)

func TestReachesSearchesEveryField(t *testing.T) {
	w := newWorkspace(t, slacktest.Options{})
	_, ts, err := w.api.PostMessage("C1",
		text("<!channel> &lt;!here&gt; https://example.com <https://example.com>"),
		slackgo.MsgOptionDisableLinkUnfurl(), slackgo.MsgOptionDisableMediaUnfurl(),
		slackgo.MsgOptionBlocks(
			slackgo.NewSectionBlock(slackgo.NewTextBlockObject("mrkdwn", "<@U1> <!date^1700000000^{date}|then> "+
				"<https://evil.example|bank>", false, false), nil, nil),
			slackgo.NewSectionBlock(slackgo.NewTextBlockObject("plain_text", "<@U2>", false, false), nil, nil),
			slackgo.NewSectionBlock(slackgo.NewTextBlockObject("mrkdwn", "<!subteam^S1>", false, false), nil, nil),
		))
	if err != nil {
		t.Fatal(err)
	}
	m, _ := w.Message("C1", ts)
	got := map[slacktest.Reach]bool{}
	for _, r := range m.Reaches() {
		got[r] = true
	}
	want := []slacktest.Reach{
		{Kind: "broadcast", Target: "channel", Where: "text"},
		{Kind: "user", Target: "U1", Where: "blocks/0/text/text"},
		{Kind: "link", Target: "https://evil.example", Label: "bank", Where: "blocks/0/text/text"},
		{Kind: "group", Target: "S1", Where: "blocks/2/text/text"},
	}
	for _, r := range want {
		if !got[r] {
			t.Errorf("not found: %+v", r)
		}
	}
	if len(got) != len(want) || m.Unfurls {
		t.Errorf("got %+v, unfurls %v", got, m.Unfurls)
	}
	if _, ts, err = w.api.PostMessage("C1", text("https://example.com")); err != nil {
		t.Fatal(err)
	}
	if m, _ := w.Message("C1", ts); !m.Unfurls || len(m.Reaches()) != 0 {
		t.Errorf("%+v", m)
	}
}
