package policy_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatehouse/approvals/policy"
	"gatehouse/core"
)

// shop is a policy with every kind of rule.
const shop = `
version: 1
people:
  ann: [slack:U1, discord:11]
  bob: [slack:U2]
groups:
  leads: [person:bob, slack:U7]
  ops: [person:ann, slack:U3, slack:S456, discord:role:789, group:leads]
rules:
  - name: reading secrets
    tools: ["secret.*"]
    risk: [read]
    action: deny
    why: Secrets stay where they are.
  - name: small refunds
    tools: [billing.refund]
    when: args.amount <= 100 && "ops" in requester.groups
    action: allow
  - name: big refunds
    tools: ["billing.refund", "billing.c*"]
    risk: [write, destructive]
    when: args.amount > 1000 && requester.platform == "slack"
    action: ask
    why: More than 1000.
    approvers: [group:ops, slack:U9]
    quorum: 2
    expires: 2d
    remind: [6h, 1h]
    escalate: {after: 4h, to: [group:leads, slack:U8]}
    notify: [dm, "slack:C123"]
    reason: required
    remember: {for: 1h}
    edit: true
    batch: true
  - name: refunds
    tools: ["billing.?efund"]
    action: ask
    approvers: [person:ann, slack:U2]
    self: true
    expires: never
  - name: production
    when: args.env == "prod"
    risk: [destructive]
    action: deny
    why: Not in production.
  - name: at the desk
    tools: [desk]
    action: ask
    approvers: [local]
  - name: by default
    tools: [plain]
    action: ask
`

// TestDecisions: policies, people and calls.
func TestDecisions(t *testing.T) {
	p := parse(t, shop,
		policy.Defaults{Platforms: known, Approvers: []string{"slack:U9", "console:root"}, Timeout: time.Hour})
	none := parse(t, shop, policy.Defaults{Platforms: known})
	bare := policy.New(policy.Defaults{Platforms: known, Approvers: []string{"slack:U9"}})
	empty := policy.New(policy.Defaults{Platforms: known})
	const read, write, destructive = core.ReadOnly, core.Ordinary, core.Dangerous
	for i, tc := range []struct {
		p     *policy.Policy
		tool  string
		risk  core.Risk
		args  string
		as    string // the requester; platform groups after a space
		rule  string // "" = none of the file
		want  core.Verdict
		by    string // may decide
		notBy string
	}{
		{p, "secret.get", read, `{}`, "slack:U1", "reading secrets", "deny", "", "slack:U9"},
		{p, "secret.get", write, `{"env":"dev"}`, "slack:U1", "", "ask", "slack:U9", "slack:U3"},
		{p, "secret.set", destructive, `{"env":"dev"}`, "slack:U1", "", "ask", "console:root", "slack:U1"},
		{p, "secret", read, `{}`, "slack:U1", "", "allow", "", ""},
		{p, "Secret.get", read, `{}`, "slack:U1", "", "allow", "", ""},
		{p, "my.secret.get", read, `{}`, "slack:U1", "", "allow", "", ""},
		{p, "secret.", read, `{}`, "slack:U1", "reading secrets", "deny", "", ""},
		{p, "secret.a.b.c", read, `{}`, "slack:U1", "reading secrets", "deny", "", ""},

		{p, "billing.refund", write, `{"amount":100}`, "slack:U1", "small refunds", "allow", "", "slack:U9"},
		{p, "billing.refund", write, `{"amount":100}`, "discord:11", "small refunds", "allow", "", ""},
		{p, "billing.refund", write, `{"amount":100}`, "slack:U2", "small refunds", "allow", "", ""},
		{p, "billing.refund", write, `{"amount":100}`, "slack:U5 slack:S456", "small refunds", "allow", "", ""},
		{p, "billing.refund", write, `{"amount":100}`, "discord:5 discord:role:789", "small refunds", "allow", "", ""},
		{p, "billing.refund", write, `{"amount":100}`, "slack:U5", "refunds", "ask", "slack:U1", "slack:U5"},
		{p, "billing.refund", write, `{"amount":100}`, "slack:U5 slack:S457", "refunds", "ask", "slack:U2", "slack:U3"},
		{p, "billing.refund", write, `{"amount":"1"}`, "slack:U1", "big refunds", "ask", "slack:U3", ""},
		{p, "billing.refund", write, `{}`, "slack:U1", "big refunds", "ask", "slack:U3", "discord:11"},
		{p, "billing.refund", write, `{"amount":null}`, "slack:U1", "big refunds", "ask", "slack:U3", "slack:U1"},
		{p, "billing.refund", write, `{"amount":1e999}`, "slack:U1", "big refunds", "ask", "slack:U3", ""},
		{p, "billing.refund", write, `nonsense`, "slack:U1", "big refunds", "ask", "slack:U3", ""},
		{p, "billing.refund", read, `{}`, "slack:U1", "refunds", "ask", "slack:U1", ""},

		{p, "billing.refund", write, `{"amount":1001}`, "slack:U1", "big refunds", "ask", "slack:U9", "slack:U1"},
		{p, "billing.refund", write, `{"amount":1001}`, "slack:U1", "big refunds", "ask", "slack:U2", "discord:11"},
		{p, "billing.refund", write, `{"amount":1001}`, "slack:U1", "big refunds", "ask", "slack:U7", "slack:U8"},
		{
			p, "billing.refund", write, `{"amount":1001}`, "slack:U1", "big refunds", "ask", "slack:U6 slack:S456",
			"slack:U6",
		},
		{
			p, "billing.refund", write, `{"amount":1001}`, "slack:U1", "big refunds", "ask",
			"discord:6 discord:role:789", "discord:6 discord:role:788",
		},
		{p, "billing.refund", write, `{"amount":1001}`, "slack:U9", "big refunds", "ask", "discord:11", "slack:U9"},
		{
			p, "billing.refund", write, `{"amount":1001}`, "slack:U5 slack:S456", "big refunds", "ask",
			"slack:U6 slack:S456", "slack:U5 slack:S456",
		},
		{p, "billing.refund", destructive, `{"amount":1001}`, "slack:U1", "big refunds", "ask", "slack:U9", ""},
		{p, "billing.refund", "odd", `{"amount":1001}`, "slack:U1", "big refunds", "ask", "slack:U9", ""},
		{p, "billing.refund", read, `{"amount":1001}`, "slack:U1", "refunds", "ask", "slack:U2", ""},
		{p, "billing.refund", write, `{"amount":1001}`, "discord:11", "refunds", "ask", "discord:11", "slack:U9"},
		{p, "billing.refund", write, `{"amount":1000}`, "slack:U1", "refunds", "ask", "slack:U1", "slack:U3"},
		{p, "billing.refund", write, `{"amount":1000}`, "slack:U1", "refunds", "ask", "discord:11", ""},
		{p, "billing.refund", write, `{"amount":1000.01}`, "slack:U1", "big refunds", "ask", "slack:U9", ""},
		{p, "billing.charge", write, `{"amount":5000}`, "slack:U1", "big refunds", "ask", "slack:U3", ""},
		{p, "billing.c", write, `{"amount":5000}`, "slack:U1", "big refunds", "ask", "slack:U3", ""},
		{p, "billing.charge", write, `{"amount":5}`, "slack:U1", "", "ask", "slack:U9", "slack:U3"},
		{p, "billing.Charge", write, `{"amount":5000}`, "slack:U1", "", "ask", "slack:U9", ""},
		{p, "billing.Refund", write, `{"amount":5000}`, "slack:U1", "refunds", "ask", "slack:U2", "slack:U3"},
		{p, "billing.refunds", write, `{"amount":5000}`, "slack:U1", "", "ask", "slack:U9", ""},
		{p, "billing_refund", write, `{"amount":5000}`, "slack:U1", "", "ask", "slack:U9", ""},

		{p, "deploy", destructive, `{"env":"prod"}`, "slack:U1", "production", "deny", "", "slack:U9"},
		{p, "deploy", destructive, `{}`, "slack:U1", "production", "deny", "", ""},
		{p, "deploy", destructive, `{"env":["dev"]}`, "slack:U1", "production", "deny", "", ""},
		{p, "deploy", destructive, `{"env":"dev"}`, "slack:U1", "", "ask", "slack:U9", ""},
		{p, "deploy", "unknown", `{"env":"prod"}`, "slack:U1", "production", "deny", "", ""},
		{p, "deploy", write, `{"env":"prod"}`, "slack:U1", "", "ask", "slack:U9", ""},
		{p, "deploy", read, `{"env":"prod"}`, "slack:U1", "", "allow", "", ""},

		{p, "desk", write, `{}`, "slack:U1", "at the desk", "ask", "console:me", "slack:U9"},
		{p, "desk", write, `{}`, "console:me", "at the desk", "ask", "local:other", "console:me"},
		{p, "plain", write, `{}`, "slack:U1", "by default", "ask", "slack:U9", "slack:U1"},
		{p, "plain", write, `{}`, "slack:U9", "by default", "ask", "console:root", "slack:U9"},
		{p, "plain", read, `{}`, "slack:U1", "by default", "ask", "slack:U9", ""},
		{p, "other", write, `{}`, "slack:U9", "", "ask", "slack:U9", "slack:U1"},
		{p, "other", read, `{}`, "slack:U9", "", "allow", "", ""},

		{none, "plain", write, `{}`, "slack:U1", "by default", "deny", "", "slack:U9"},
		{none, "plain", write, `{}`, "console:me", "by default", "ask", "console:me", "slack:U9"},
		{none, "other", write, `{}`, "slack:U1", "", "deny", "", "slack:U9"},
		{none, "other", write, `{}`, "console:me", "", "ask", "console:me", "slack:U1"},
		{none, "other", read, `{}`, "slack:U1", "", "allow", "", ""},
		{none, "billing.refund", write, `{"amount":1001}`, "slack:U1", "big refunds", "ask", "slack:U9", "slack:U1"},

		{bare, "any", write, `{}`, "slack:U9", "", "ask", "slack:U9", "slack:U1"},
		{bare, "any", destructive, `{}`, "console:me", "", "ask", "slack:U9", "console:me"},
		{bare, "any", read, `{}`, "slack:U1", "", "allow", "", ""},
		{empty, "any", write, `{}`, "slack:U1", "", "deny", "", ""},
		{empty, "any", read, `{}`, "slack:U1", "", "allow", "", ""},
		{empty, "any", destructive, `{}`, "console:me", "", "ask", "console:me", "slack:U1"},
	} {
		t.Run(fmt.Sprint(i, tc.tool, tc.risk, tc.args, tc.as), func(t *testing.T) {
			requester := actor(tc.as)
			d := tc.p.Decide(core.Turn{Actor: requester},
				core.Call{Tool: tc.tool, Risk: tc.risk, Arguments: json.RawMessage(tc.args)})
			if d.Rule.Verdict != tc.want || d.Matched != (tc.rule != "") || d.Matched && d.Rule.Name != tc.rule {
				t.Errorf("%+v", d)
			}
			if tc.by != "" && !d.Rule.MayDecide(actor(tc.by), requester) {
				t.Errorf("%s may not decide: %+v", tc.by, d.Rule)
			}
			if tc.notBy != "" && d.Rule.Verdict == core.VerdictAsk && d.Rule.MayDecide(actor(tc.notBy), requester) {
				t.Errorf("%s may decide: %+v", tc.notBy, d.Rule)
			}
			if tc.want == core.VerdictDeny && d.Rule.Why == "" {
				t.Error("a denial has no reason")
			}
		})
	}
}

// actor makes an actor of an id and the groups of the platform that they are in.
func actor(text string) core.Actor {
	parts := strings.Fields(text)
	local := strings.HasPrefix(parts[0], "console:") || strings.HasPrefix(parts[0], "local")
	return core.Actor{ID: parts[0], Groups: parts[1:], Local: local}
}

func parse(t *testing.T, text string, defaults policy.Defaults) *policy.Policy {
	t.Helper()
	p, err := policy.Parse("p.yaml", []byte(text), defaults)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestSnapshot: all that a rule says is in the snapshot, with ids in place of names.
func TestSnapshot(t *testing.T) {
	p := parse(t, shop, policy.Defaults{Platforms: known, Approvers: []string{"slack:U9"}, Timeout: time.Hour})
	everybody := map[string]string{"slack:U1": "ann", "discord:11": "ann", "slack:U2": "bob"}
	rule := func(tool, args, as string) core.Rule {
		return p.Rule(core.Turn{Actor: actor(as)}, core.Call{Tool: tool, Arguments: json.RawMessage(args)})
	}
	for name, tc := range map[string]struct{ got, want core.Rule }{
		"everything": {rule("billing.charge", `{"amount":2000}`, "slack:U5"), core.Rule{
			Name: "big refunds", Verdict: core.VerdictAsk, Why: "More than 1000.",
			Approvers: []string{
				"slack:U1", "discord:11", "slack:U3", "slack:S456", "discord:role:789", "slack:U2", "slack:U7",
				"slack:U9",
			},
			Quorum: 2, Vetoes: 1, Timeout: 48 * time.Hour, Remind: []time.Duration{time.Hour, 6 * time.Hour},
			Escalate: core.Escalation{After: 4 * time.Hour, To: []string{"slack:U2", "slack:U7", "slack:U8"}},
			Notify:   []string{"dm", "slack:C123"},
			Reason:   true, Remember: time.Hour, Edit: true, Batch: true, People: everybody,
		}},
		"the defaults of a rule": {rule("plain", `{}`, "slack:U5"), core.Rule{
			Name: "by default", Verdict: core.VerdictAsk, Approvers: []string{"slack:U9"}, Quorum: 1, Vetoes: 1,
			Timeout: 24 * time.Hour, People: map[string]string{},
		}},
		"never": {rule("billing.refund", `{"amount":500}`, "slack:U5"), core.Rule{
			Name: "refunds", Verdict: core.VerdictAsk, Approvers: []string{"slack:U1", "discord:11", "slack:U2"},
			Quorum: 1, Vetoes: 1, Self: true, People: everybody,
		}},
		"no rule": {
			rule("x", `{}`, "discord:11"),
			core.Rule{
				Name: "approvers", Verdict: core.VerdictAsk, Approvers: []string{"slack:U9"}, Self: true,
				Timeout: time.Hour, People: map[string]string{"slack:U1": "ann", "discord:11": "ann"},
			},
		},
		"the local people": {
			rule("desk", `{}`, "slack:U5"),
			core.Rule{
				Name: "at the desk", Verdict: core.VerdictAsk, Approvers: []string{"local"}, Quorum: 1, Vetoes: 1,
				Timeout: 24 * time.Hour, People: everybody,
			},
		},
		"an allowed call": {
			rule("billing.refund", `{"amount":1}`, "slack:U2"),
			core.Rule{Name: "small refunds", Verdict: core.VerdictAllow},
		},
		"one that is asked": {
			rule("plain", `{}`, "slack:U2"),
			core.Rule{
				Name: "by default", Verdict: core.VerdictAsk, Approvers: []string{"slack:U9"}, Quorum: 1, Vetoes: 1,
				Timeout: 24 * time.Hour, People: map[string]string{"slack:U2": "bob"},
			},
		},
	} {
		if diff := cmp.Diff(tc.want, tc.got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestAnUnrelatedEditChangesNoSnapshot: people, groups and rules that do not concern a call are not in its rule.
func TestAnUnrelatedEditChangesNoSnapshot(t *testing.T) {
	edited := strings.NewReplacer(
		"  bob: [slack:U2]\n", "  bob: [slack:U2]\n  eve: [slack:U66, discord:66]\n",
		"groups:\n", "groups:\n  more: [slack:U66]\n",
		"action: deny\n", "action: deny # as ever\n",
		"  - name: by default\n",
		"  - name: another\n    tools: [another]\n    action: allow\n  - name: by default\n    notify: here\n",
	).Replace(shop)
	before, after := parse(t, shop, policy.Defaults{Platforms: known}),
		parse(t, edited, policy.Defaults{Platforms: known})
	for _, call := range []core.Call{
		{Tool: "billing.refund", Arguments: json.RawMessage(`{"amount":500}`)},
		{Tool: "billing.refund", Arguments: json.RawMessage(`{"amount":1}`)},
		{Tool: "secret.x", Risk: core.ReadOnly}, {Tool: "other"}, {Tool: "plain"},
	} {
		for _, who := range []string{"slack:U1", "slack:U2", "slack:U5"} {
			turn := core.Turn{Actor: actor(who)}
			if diff := cmp.Diff(before.Rule(turn, call), after.Rule(turn, call)); diff != "" {
				t.Errorf("%s by %s: %s", call.Tool, who, diff)
			}
		}
	}
}

// TestApproversOfAll: what is checked at the start of the program covers every rule.
func TestApproversOfAll(t *testing.T) {
	p := parse(t, shop, policy.Defaults{Platforms: known, Approvers: []string{"console:root"}})
	want := []string{
		"console:root", "discord:11", "discord:role:789", "local", "slack:S456", "slack:U1", "slack:U2", "slack:U3",
		"slack:U7", "slack:U8", "slack:U9",
	}
	if got := p.Approvers(); !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	both := map[string][]string{"slack:U1": {"slack:S456"}, "discord:11": {"discord:role:789"}}
	if diff := cmp.Diff(both, p.RequesterGroups("discord:11")); diff != "" {
		t.Error(diff)
	}
	if got := policy.New(policy.Defaults{Platforms: known}).Approvers(); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

// TestQuorumsThatCanBeReached are no faults: people of an escalation count, and nobody knows how many are in a
// platform's group.
func TestQuorumsThatCanBeReached(t *testing.T) {
	for _, approvers := range []string{
		"[slack:S1]", "[discord:role:1]", "[local]", "[slack:U1, slack:U2, slack:U3]",
		"[slack:U1]\n    escalate: {after: 1h, to: [slack:U2, slack:U3]}",
		"[slack:U1]\n    escalate: {after: 1h, to: [slack:S1]}",
	} {
		parse(t,
			"version: 1\nrules:\n  - name: a\n    action: ask\n    quorum: 3\n    vetoes: 3\n    approvers: "+approvers+
				"\n", policy.Defaults{Platforms: known})
	}
	parse(t, "version: 1\nrules:\n  - {name: a, action: ask, quorum: 3}\n", policy.Defaults{Platforms: known})
	parse(t, "version: 1\n", policy.Defaults{Platforms: known})
	parse(t, "version: 1\npeople:\ngroups:\nrules:\n", policy.Defaults{Platforms: known})
}

// TestGlobs: a star stands for any characters, a question mark for one, and nothing else is special.
func TestGlobs(t *testing.T) {
	for _, tc := range []struct {
		glob, tool string
		want       bool
	}{
		{"*", "", true}, {"*", "a.b/c", true}, {"a", "a", true}, {"a", "A", false}, {"a*", "a", true},
		{"a*c", "abbc", true}, {"a*c", "abbcd", false},
		{"*.x.*", "a.x.b", true}, {"*.x.*", "a.xx.b", false}, {"a?c", "abc", true}, {"a?c", "ac", false},
		{"a?c", "aüc", true}, {"a**b", "ab", true},
		{"a*b*c", "a-b-b-c", true},
		{"*a*a*a*a*a*b", strings.Repeat("a", 200), false}, {"", "a", false},
	} {
		if tc.glob == "" {
			continue // a fault
		}
		glob, _ := json.Marshal(tc.glob)
		p := parse(t, fmt.Sprintf("version: 1\nrules: [{name: it, tools: [%s], action: allow}]", glob),
			policy.Defaults{Platforms: known})
		if got := p.Rule(core.Turn{}, core.Call{Tool: tc.tool}).Name == "it"; got != tc.want {
			t.Errorf("%s matches %s: %v", tc.glob, tc.tool, got)
		}
	}
	for _, glob := range []string{"[ab]", "a[*", `a\*`, "{a,b}"} { // what is special elsewhere is refused
		text, _ := json.Marshal(glob)
		if _, err := policy.Parse("p.yaml",
			fmt.Appendf(nil, "version: 1\nrules: [{name: it, tools: [%s], action: allow}]", text),
			policy.Defaults{Platforms: known}); err == nil {
			t.Errorf("%s is a glob", glob)
		}
	}
}

// TestDurations: Go's, with days.
func TestDurations(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"90s": 90 * time.Second, "1h30m": 90 * time.Minute, "1d": 24 * time.Hour, "1.5d": 36 * time.Hour,
		"2d12h": 60 * time.Hour,
	} {
		p := parse(t, "version: 1\nrules: [{name: it, action: ask, approvers: [slack:U1], expires: "+text+"}]",
			policy.Defaults{Platforms: known})
		d := p.Decide(core.Turn{}, core.Call{})
		if d.Rule.Timeout != want || d.Expires != text {
			t.Errorf("%s is %s, %s", text, d.Rule.Timeout, d.Expires)
		}
	}
	for _, text := range []string{
		"1w", "d", "1d-1h", "1d+1h", "1e9d", "200000d", "0x1d", "infd", "nand", "1d2d", "99999999999999h", "106751d24h",
	} {
		if p, err := policy.Parse("p",
			[]byte("version: 1\nrules: [{name: it, action: ask, approvers: [slack:U1], expires: "+text+"}]"),
			policy.Defaults{Platforms: known}); err == nil {
			t.Errorf("%s is %s", text, p.Rule(core.Turn{}, core.Call{}).Timeout)
		}
	}
	for d, want := range map[time.Duration]string{
		0: "never", time.Hour: "1h", 90 * time.Minute: "1h30m", 24 * time.Hour: "24h", 90 * time.Second: "1m30s",
		10 * time.Minute: "10m", 20 * time.Second: "20s",
	} {
		if got := policy.Written(d); got != want {
			t.Errorf("%v is written %s", d, got)
		}
	}
}

// TestSnapshotsAreTheirOwn: who changes a rule does not change the policy.
func TestSnapshotsAreTheirOwn(t *testing.T) {
	p := parse(t, shop, policy.Defaults{Platforms: known, Approvers: []string{"slack:U9"}})
	for _, call := range []core.Call{
		{Tool: "billing.charge", Arguments: json.RawMessage(`{"amount":2000}`)}, {Tool: "other"}, {Tool: "plain"},
	} {
		turn := core.Turn{Actor: actor("slack:U1")}
		first := p.Rule(turn, call)
		before, _ := json.Marshal(first)
		for _, list := range [][]string{first.Approvers, first.Escalate.To, first.Notify} {
			for i := range list {
				list[i] = "changed"
			}
		}
		first.People["slack:U1"] = "changed"
		if after, _ := json.Marshal(p.Rule(turn, call)); string(after) != string(before) {
			t.Errorf("%s: %s", call.Tool, after)
		}
	}
}
