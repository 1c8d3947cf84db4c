package policy_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatehouse/approvals/policy"
	"gatehouse/core"
)

const asking = `
version: 1
people:
  ann: [slack:U1, discord:11]
  bob: [slack:U2]
groups:
  finance: [person:ann, slack:U3]
asks:
  - name: finance questions
    tools: [people.ask]
    to: [requester, group:finance, slack:S456]
    expires: 2h
    remind: [30m, 1h]
    notify: [dm]
  - tools: ["external.ci.*"]
    to: [person:bob]
    notify: ["slack:C9"]
`

func TestAsks(t *testing.T) {
	p := parse(t, asking, policy.Defaults{Platforms: known})
	turn := core.Turn{Actor: core.Actor{ID: "slack:U7"}}
	for name, c := range map[string]struct {
		tool    string
		of      []string
		expires time.Duration
		agent   bool
		want    []string // the approvers; nil: denied
		says    string   // the rule's name or, if it denies, a part of why
		within  time.Duration
	}{
		"the requester by default": {
			tool: "people.ask", want: []string{"slack:U7"}, says: "finance questions", within: 2 * time.Hour,
		},
		"a group": {
			tool: "people.ask", of: []string{"group:finance"}, want: []string{"discord:11", "slack:U1", "slack:U3"},
			says: "finance questions", within: 2 * time.Hour,
		},
		"a group by its bare name": {
			tool: "people.ask", of: []string{"finance"}, want: []string{"discord:11", "slack:U1", "slack:U3"},
			says: "finance questions", within: 2 * time.Hour,
		},
		"one of the group": {
			tool: "people.ask", of: []string{"ann"}, want: []string{"discord:11", "slack:U1"},
			says: "finance questions", within: 2 * time.Hour,
		},
		"an account of one of the group": {
			tool: "people.ask", of: []string{"slack:U1"}, want: []string{"discord:11", "slack:U1"},
			says: "finance questions", within: 2 * time.Hour,
		},
		"a platform's group": {
			tool: "people.ask", of: []string{"slack:S456"}, want: []string{"slack:S456"}, says: "finance questions",
			within: 2 * time.Hour,
		},
		"several": {
			tool: "people.ask", of: []string{"requester", "slack:U3"}, want: []string{"slack:U3", "slack:U7"},
			says: "finance questions", within: 2 * time.Hour,
		},
		"a shorter time": {
			tool: "people.ask", expires: time.Minute, want: []string{"slack:U7"}, says: "finance questions",
			within: time.Minute,
		},
		"a longer time": {
			tool: "people.ask", expires: 9 * time.Hour, want: []string{"slack:U7"}, says: "finance questions",
			within: 2 * time.Hour,
		},
		"somebody else": {
			tool: "people.ask", of: []string{"person:bob"},
			says: "The policy does not let people.ask ask person:bob. It may ask: group:finance, requester, " +
				"slack:S456.",
		},
		"one of them is somebody else": {tool: "people.ask", of: []string{"finance", "bob"}, says: "does not let"},
		"nobody of that name":          {tool: "people.ask", of: []string{"group:fin"}, says: "does not let"},
		"a tool that no entry names": {
			tool: "hr.ask", want: []string{"slack:U7"}, says: "requester", within: 24 * time.Hour,
		},
		"such a tool, somebody": {tool: "hr.ask", of: []string{"bob"}, says: "It may ask: requester."},
		"another agent, whoever": {
			tool: "external.ci.ask", agent: true, want: []string{"slack:U2"}, says: "asks", within: 24 * time.Hour,
		},
		"another agent, its requester": {
			tool: "external.ci.ask", agent: true, of: []string{"requester"}, says: "It may ask: person:bob.",
		},
		"another agent, unnamed": {
			tool: "external.cd.ask", agent: true, says: "The policy lets external.cd.ask ask nobody.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := p.Asks(turn, core.Call{Tool: c.tool, Risk: core.ReadOnly}, c.of, c.expires, c.agent)
			if c.want == nil {
				if r.Verdict != core.VerdictDeny || !strings.Contains(r.Why, c.says) {
					t.Errorf("it is %s: %s", r.Verdict, r.Why)
				}
				return
			}
			if r.Verdict != core.VerdictAsk || r.Name != c.says || r.Timeout != c.within || !r.Self ||
				!cmp.Equal(r.Approvers, c.want) {
				t.Errorf("the rule is %+v", r)
			}
			for _, d := range r.Remind {
				if d >= r.Timeout {
					t.Errorf("a reminder after %s, and it ends after %s", d, r.Timeout)
				}
			}
		})
	}
}

// A local person is asked on the page of the same machine, too.
func TestALocalRequesterMayAnswerFromTheirMachine(t *testing.T) {
	r := policy.New(policy.Defaults{Platforms: known}).Asks(core.Turn{Actor: core.Actor{ID: "console:me", Local: true}},
		core.Call{Tool: "people.ask", Risk: core.ReadOnly}, nil, 0, false)
	if !r.MayDecide(core.Actor{ID: "openharness:local", Local: true}, core.Actor{ID: "console:me"}) ||
		r.MayDecide(core.Actor{ID: "slack:U1"}, core.Actor{ID: "console:me"}) {
		t.Errorf("the rule is %+v", r)
	}
}

func TestFaultsOfAsks(t *testing.T) {
	for text, want := range map[string]string{
		"asks: [{tools: [people.ask]}]":        "does not say who may be asked",
		"asks: [{to: [group:nobody]}]":         "unknown group",
		"asks: [{to: [requester], quorum: 2}]": `unknown key "quorum" in an entry of asks`,
		"asks: [{to: [requester], expires: 1h, remind: [2h]}]": "remind is 2h, but the request expires " +
			"after 1h",
		"asks: [{to: [requester], notify: [somewhere]}]":                 "somewhere",
		"asks: {to: [requester]}":                                        "asks is",
		"asks: [requester]":                                              "an entry of asks is",
		"asks: [{to: [requester], tools: [people.ask], expires: never}]": "",
	} {
		_, err := policy.Parse("p.yaml", []byte("version: 1\n"+text+"\n"), policy.Defaults{Platforms: known})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s gives %v", text, err)
		}
	}
}
