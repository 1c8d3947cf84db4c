package slacktest_test

import (
	"context"
	"testing"
	"time"

	slackgo "github.com/slack-go/slack"
	"go.uber.org/goleak"

	"gatehouse/adapters/slack/slacktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// workspace is a fake workspace with two people, another bot, and a channel of each kind.
type workspace struct {
	*slacktest.Server
	api        *slackgo.Client
	alice, bob *slacktest.Person
	robot      *slacktest.Person
	ctx        context.Context
}

func newWorkspace(t *testing.T, o slacktest.Options) *workspace {
	t.Helper()
	s := slacktest.Start(t, o)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	w := &workspace{Server: s, ctx: ctx}
	w.alice = s.AddUser(slacktest.User{ID: "U1", Name: "alice", TZ: "Europe/Berlin", TZOffset: 3600})
	w.bob = s.AddUser(slacktest.User{ID: "U2", Name: "bob"})
	w.robot = s.AddUser(slacktest.User{ID: "U9", Name: "robot", IsBot: true})
	everyone := []string{"U1", "U2", "U9", s.BotUserID()}
	s.AddChannel(slacktest.Channel{ID: "C1", Name: "general", Members: everyone})
	s.AddChannel(slacktest.Channel{ID: "C2", Name: "elsewhere", Members: []string{"U1"}})
	s.AddChannel(slacktest.Channel{ID: "G1", Name: "secret", Kind: slacktest.Private, Members: everyone})
	s.AddChannel(slacktest.Channel{ID: "G2", Name: "hidden", Kind: slacktest.Private, Members: []string{"U1"}})
	s.AddChannel(slacktest.Channel{ID: "G3", Name: "mpdm", Kind: slacktest.GroupDM, Members: everyone})
	s.AddGroup(slacktest.Group{ID: "S1", Handle: "approvers", Members: []string{"U1", "U2"}})
	client := newClient(t)
	w.api = slackgo.New(s.BotToken(), slackgo.OptionAPIURL(s.APIURL()), slackgo.OptionAppLevelToken(s.AppToken()),
		slackgo.OptionHTTPClient(client))
	return w
}
