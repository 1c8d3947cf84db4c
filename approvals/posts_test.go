package approvals_test

import (
	"slices"
	"strings"
	"testing"

	"gatehouse/adapters/discord"
	"gatehouse/adapters/slack"
	"gatehouse/approvals"
	"gatehouse/core"
)

// Each card is described as its key and where it goes; ! means that it notifies nobody by itself, + that it notifies
// instead of such a card.
func TestWhoIsTold(t *testing.T) {
	people := map[string]string{"slack:U1": "ann", "discord:11": "ann"}
	for name, c := range map[string]struct {
		platforms string
		rule      core.Rule
		want      []string
	}{
		"here alone": {
			"slack discord", core.Rule{Approvers: []string{"slack:U2", "slack:S3", "local"}},
			[]string{"card/a slack C1"},
		},
		"people of another platform": {
			"slack discord", core.Rule{Approvers: []string{"slack:U2", "discord:22", "discord:role:3", "discord:22"}},
			[]string{"card/a slack C1", "card/a/discord:22 discord person"},
		},
		"a platform that is not there": {
			"slack", core.Rule{Approvers: []string{"discord:22"}}, []string{"card/a slack C1"},
		},
		"a person with an account here": {
			"slack discord", core.Rule{Approvers: []string{"discord:11", "slack:U1"}, People: people},
			[]string{"card/a slack C1"},
		},
		"a person with none here": {
			"slack discord",
			core.Rule{
				Approvers: []string{"discord:11", "discord:12"},
				People:    map[string]string{"discord:11": "x", "discord:12": "x"},
			}, []string{"card/a slack C1", "card/a/discord:11 discord person"},
		},
		"here and channels": {
			"slack discord",
			core.Rule{Approvers: []string{"slack:U2"}, Notify: []string{"here", "slack:C9", "discord:99"}},
			[]string{"card/a slack C1", "card/a/slack:C9 slack C9", "card/a/discord:99 discord 99"},
		},
		"channels alone": {
			"slack discord", core.Rule{Approvers: []string{"slack:U2", "discord:22"}, Notify: []string{"slack:C9"}},
			[]string{"card/a slack C1 !", "card/a/slack:C9 slack C9 +"},
		},
		"channels that are not there": {
			"slack", core.Rule{Approvers: []string{"slack:U2"}, Notify: []string{"discord:99"}},
			[]string{"card/a slack C1"},
		},
		"direct messages": {
			"slack discord", core.Rule{Approvers: []string{"slack:U2", "discord:22"}, Notify: []string{"dm"}},
			[]string{"card/a slack C1 !", "card/a/discord:22 discord person +"},
		},
	} {
		drivers := []core.Driver{&slack.Config{}, &discord.Config{}}
		if drivers[0] = (&slack.Config{BotToken: "x"}); strings.Contains(c.platforms, "discord") {
			drivers[1] = &discord.Config{BotToken: "x"}
		}
		service := approvals.NewService(nil, nil, core.PlatformsOf(drivers)...)
		turn := core.Turn{Conversation: "slack:T:C1", Address: core.Address{Platform: "slack", Channel: "C1"}, Event: 7}
		c.rule.Verdict = core.VerdictAsk
		_, posts, ok := service.Open(turn,
			"s",
			core.Suspended{Descriptor: core.Descriptor{SignalID: "a", Approval: &core.ApprovalRequest{Rule: c.rule}}})
		var got []string
		for i, p := range posts {
			text := p.Key + " " + p.To.Platform + " " + p.To.Channel
			if p.To.Channel == "" {
				text += "person"
			}
			if p.Quiet {
				text += " !"
			}
			if p.Instead == "card/a" {
				text += " +"
			}
			if p.Kind != core.PostCard || p.Approval != "a" || p.Event != 7 || p.Copy != (i > 0) ||
				p.Conversation != "slack:T:C1" || (p.To.Channel == "") != (p.Person != "") {
				t.Errorf("%s: %+v", name, p)
			}
			got = append(got, text)
		}
		if !ok || !slices.Equal(got, c.want) {
			t.Errorf("%s: got\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}
