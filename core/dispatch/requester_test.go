package dispatch_test

import (
	"testing"

	"gatehouse/adapters/discord"
	"gatehouse/adapters/slack"
	"gatehouse/approvals/policy"
	"gatehouse/core"
	"gatehouse/core/dispatch"
)

// outsiders denies what people of a user group of Slack ask for, and allows the rest.
const outsiders = `
version: 1
people:
  ann: [slack:U1, discord:11]
groups:
  outside: [slack:S9]
rules:
  - {name: no, when: '"outside" in requester.groups', action: deny, why: Not for outsiders.}
  - {name: yes, action: allow}
`

// TestAGroupCountsFromAnyAccount: who is in a group by one account is in it by all. A group that can't be looked up
// refuses the message.
func TestAGroupCountsFromAnyAccount(t *testing.T) {
	rules, err := policy.Parse("p.yaml", []byte(outsiders),
		policy.Defaults{Platforms: core.PlatformsOf([]core.Driver{new(slack.Config), new(discord.Config)})})
	if err != nil {
		t.Fatal(err)
	}
	const done, denied = "Done:", "Not for outsiders."
	for name, c := range map[string]struct {
		members []string
		down    error
		without bool // Slack does not run here
		want    string
	}{
		"in it by the other account": {members: []string{"slack:U1"}, want: denied},
		"in it by no account":        {members: []string{"slack:U2"}, want: done},
		"it can't be looked up now": {
			down: core.Errorf(core.NotAllowed, "Slack can't be asked."), want: "Slack can't be asked.",
		},
		"the platform does not run": {
			without: true, want: "An admin has to configure it, or remove this account from the policy.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, setup{policy: rules.Rule, options: func(o *dispatch.Options) {
				o.Policy = rules
				if !c.without {
					there := &room{name: "slack"}
					o.Platforms = append(o.Platforms,
						withDirectory{there, map[string][]string{"slack:S9": c.members}, c.down})
				}
			}})
			b.accept(
				core.Event{
					Conversation: "room:1", Body: core.MessageEvent{}, Actor: core.Actor{ID: "discord:11"},
					Payload: []byte(`"note add milk"`),
				})
			b.expect(c.want)
		})
	}
}
