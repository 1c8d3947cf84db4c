package policy_test

import (
	"encoding/json"
	"strings"
	"testing"

	"gatehouse/approvals/policy"
	"gatehouse/core"
)

// shopTools are the tools that the policies below are for.
var shopTools = []policy.Tool{
	{
		Call: core.Call{Tool: "shop.note"},
		Schema: json.RawMessage(
			`{"type":"object","properties":{"text":{"type":"string"},"amount":{"type":"integer"}}}`),
	},
	{
		Call:   core.Call{Tool: "shop.refund", Risk: core.Dangerous},
		Schema: json.RawMessage(`{"type":"object","properties":{"amount":{"type":"number"}}}`),
	},
	{Call: core.Call{Tool: "shop.list", Risk: core.ReadOnly}},
	{
		Call:   core.Call{Tool: "shop.give"},
		Schema: json.RawMessage(`{"type":"object","properties":{"amount":{"type":"number","minimum":0}}}`),
	},
	{Call: core.Call{Tool: "people.ask", Risk: core.ReadOnly}},
}

// TestARuleThatCanNeverMatchIsRefused: from the file alone, with the rule, its line and the remedy.
func TestARuleThatCanNeverMatchIsRefused(t *testing.T) {
	deny := func(rest string) string {
		return "  - {name: no notes, action: deny, " + rest +
			"}\n  - {name: shop, tools: [\"shop.*\"], action: allow}\n"
	}
	for _, tc := range []struct{ rules, want string }{
		{
			deny(`tools: ["shop.note "]`),
			`p.yaml:7:44: tools of the rule "no notes": "shop.note " has white space, which no tool's name has; ` +
				`write "shop.note"`,
		},
		{
			deny(`tools: [shop.note shop.refund]`),
			`p.yaml:7:44: tools of the rule "no notes": "shop.note shop.refund" has white space, which no tool's ` +
				`name has; write`,
		},
		{
			deny(`tools: ["shop.note,shop.refund"]`),
			`has several names in one text; write each as an entry, such as ["shop.note", "shop.refund"]`,
		},
		{
			deny(`tools: ["shop.{note,refund}"]`),
			`"shop.{note,refund}" has braces, which stand for themselves here; write each name out, such as ` +
				`["shop.note", "shop.refund"]`,
		},
		{
			deny(`tools: ["^shop.note$"]`),
			`"^shop.note$" is a regular expression, and names are compared as they are; write "shop.note"`,
		},
		{
			deny(`tools: ['shop\.note']`),
			`is a regular expression, and names are compared as they are; write "shop.note"`,
		},
		{deny(`tools: ['shop\..*']`), `is a regular expression, and names are compared as they are; write "shop.*"`},
		{deny(`tools: [".*"]`), `is a regular expression, and names are compared as they are; write "*"`},
		{
			deny(`tools: ["[Ss]hop.note"]`),
			`is a regular expression, and names are compared as they are; write each name out`,
		},
		{deny(`tools: ["shop.note|shop.refund"]`), `is a regular expression`},
		{deny(`tools: ["shоp.note"]`), `has "о", which no tool's name has; copy the tool's name`},
		{deny(`tools: ["shop/note"]`), `has "/", which no tool's name has; copy the tool's name`},
		{
			deny(`when: risk == "high"`),
			`p.yaml:7:42: when: risk is never "high", so the rule "no notes" does not say what is meant; use one ` +
				`of read, write, destructive`,
		},
		{deny(`when: 'risk in ["write", "Destructive"]'`), `risk is never "Destructive"`},
		{deny(`when: "'dangerous' == risk"`), `risk is never "dangerous"`},
		{deny(`when: 'let r = risk; r != "high"'`), `risk is never "high"`},
		{deny(`when: 'risk startsWith "dang"'`), `risk is never "dang"`},
		{
			deny(`when: requester.platform == "Slack"`),
			`requester.platform is never "Slack", so the rule "no notes" does not say what is meant; did you mean ` +
				`slack?`,
		},
		{deny(`when: 'requester["platform"] in ["teams"]'`), `requester.platform is never "teams"`},
		{
			deny(`when: '"opps" in requester.groups'`),
			`requester.groups never has "opps", so the rule "no notes" does not say what is meant; did you mean ` +
				`ops? or add it under groups`,
		},
		{
			deny(`when: 'not ("group:ops" in requester.groups)'`),
			`requester.groups never has "group:ops", so the rule "no notes" does not say what is meant; did you ` +
				`mean ops? or add it under groups`,
		},
		{
			deny(`when: '"slack:S0123ABCD" in requester.groups'`),
			`requester.groups never has "slack:S0123ABCD", so the rule "no notes" does not say what is meant; add ` +
				`a group with slack:S0123ABCD under groups, and write that group's name`,
		},
		{deny(`when: 'any(requester.groups, # == "opps")'`), `requester.groups never has "opps"`},
		{deny(`when: 'any(["ops", "opps"], # in requester.groups)'`), `requester.groups never has "opps"`},
		{deny(`when: 'requester.groups[0] == "opps"'`), `requester.groups never has "opps"`},
		{
			"  - {name: all, tools: [\"shop.*\"], action: allow}\n" + deny(`tools: [shop.note]`),
			`p.yaml:8:12: the rule "no notes" never gets to deny a call: "all" in line 7 allows all of them ` +
				`before; move it above, or make what comes before narrower`,
		},
		{
			"  - {name: all, tools: [\"*.*\"], action: allow}\n" + deny(`risk: [write]`),
			`the rule "no notes" never gets to deny a call: "all" in line 7 allows all of them before`,
		},
		{
			"  - {name: all, when: 'true', action: allow}\n" + deny(`risk: [write]`),
			`the rule "no notes" never gets to deny a call`,
		},
		{"  - {name: reads, risk: [read], action: allow}\n  - {name: others, risk: [write, destructive], action: " +
			"allow}\n" + deny(`tools: ["a.?"]`), `"reads" in line 7 and "others" in line 8 allows all of them before`},
	} {
		_, err := policy.Parse("p.yaml", []byte(head+tc.rules),
			policy.Defaults{Platforms: known, Approvers: []string{"slack:U9"}})
		if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), `"no notes"`) {
			t.Errorf("%s\ngot  %v\nwant %s", tc.rules, err, tc.want)
		}
	}
	for _, rules := range []string{
		deny(`tools: [shop.note]`),
		deny(`when: 'risk == "write" && "ops" in requester.groups && requester.platform != "slack"'`),
		deny(`when: 'risk contains "e" && args.risk == "high"'`),
		"  - {name: some, tools: [\"shop.n*\"], action: allow}\n" + deny(`tools: ["shop.*"]`),
		"  - {name: some, when: args.x == 1, action: allow}\n" + deny(`tools: ["shop.*"]`),
		"  - {name: reads, risk: [read], action: allow}\n" + deny(`tools: ["shop.*"]`),
		"  - {name: others, tools: [\"?*.note\"], action: allow}\n" + deny(`tools: ["*.?ote"]`),
	} {
		if _, err := policy.Parse("p.yaml", []byte(head+rules),
			policy.Defaults{Platforms: known, Approvers: []string{"slack:U9"}}); err != nil {
			t.Errorf("%s: %v", rules, err)
		}
	}
}

// TestWarnings: what is probably not meant is told, and what is meant is not.
func TestWarnings(t *testing.T) {
	const note = "  - {name: it, tools: [shop.note], "
	for _, tc := range []struct{ rules, want string }{
		{
			"  - {name: it, tools: [Shop.Note], action: deny}\n",
			`tools of the rule "it": no tool has the name "Shop.Note"; upper and lower case count: the tool is ` +
				`shop.note`,
		},
		{
			"  - {name: it, tools: [\"SHOP.*\"], action: deny}\n",
			`no tool has the name "SHOP.*"; upper and lower case count: the tool is shop.`,
		},
		{
			"  - {name: it, tools: [shop.notes], action: deny}\n",
			`no tool has the name "shop.notes"; did you mean shop.note?`,
		},
		{
			"  - {name: it, tools: [external.deploy], action: deny}\n",
			`no tool has the name "external.deploy"; write external.PRINCIPAL.ACTION`,
		},
		{
			"  - {name: it, tools: [\"external.ci.*\"], risk: [read], action: deny}\n",
			`the rule "it" decides no call: no tool that it names has the risk read`,
		},
		{
			note + "action: deny, when: args.amuont > 5}\n",
			`when of the rule "it": no tool that it is for has the argument "amuont"; did you mean amount?`,
		},
		{
			note + "action: deny, when: 'tool == \"shop.notes\"'}\n",
			`when of the rule "it": no tool has the name "shop.notes"; did you mean shop.note?`,
		},
		{
			note + "action: deny, when: requester.person == \"anne\"}\n",
			`requester.person is never "anne"; did you mean ann?`,
		},
		{
			note + "action: allow, when: args.amount > 5 && args.amount < 5}\n",
			`the rule "it" decides no call: its condition never holds`,
		},
		{
			note + "action: deny, when: args.text == \"a\" && args.text == \"b\"}\n",
			`the rule "it" decides no call: its condition never holds`,
		},
		{note + "action: deny, when: risk == \"read\"}\n", `the rule "it" decides no call: its condition never holds`},
		{
			note + "action: deny, risk: [read]}\n",
			`the rule "it" decides no call: no tool that it names has the risk read; remove risk, or name other tools`,
		},
		{
			"  - {name: a, action: deny}\n" + note + "action: allow}\n",
			`p.yaml:8:12: the rule "it" decides no call: "a" decides all of them before; move it above, or make ` +
				`what comes before narrower`,
		},
		{
			"  - {name: a, action: deny, when: args.amount > 5}\n  - {name: b, action: deny, when: args.amount <= " +
				"5}\n" +
				note + "action: allow, when: args.amount == 7}\n",
			`the rule "it" decides no call: "a" decides all of them before`,
		},
		{
			note + "action: allow, when: args.amount <= 100}\n",
			`p.yaml:7:12: the rule "it" bounds args.amount above and not below, so that every negative one ` +
				`passes; add args.amount >= 0, or the lowest that is meant`,
		},
		{
			note + "action: allow, when: '!(args.amount > 100) && args.text != \"\"'}\n",
			`bounds args.amount above and not below`,
		},
		{note + "action: allow, when: '100 >= (args.amount ?? 0)'}\n", `bounds args.amount above and not below`},
		{note + "action: allow, when: 'float(args.amount) < 100'}\n", `bounds args.amount above and not below`},
		{note + "action: allow, when: 'args.amount * 1.2 <= 100'}\n", `bounds args.amount above and not below`},
		{
			note + "action: allow, when: 'args[\"amount\"] <= 100 || args.text == \"free\"'}\n",
			`bounds args.amount above and not below`,
		},
		{
			"  - {name: it, tools: [shop.list], action: allow, when: args.amount <= args.limit}\n",
			`bounds args.amount above and not below`,
		},
		{
			"  - {name: it, tools: [shop.list], action: allow, when: args.refund.amount < 5}\n",
			`bounds args.refund.amount above and not below`,
		},
		{
			note + "action: ask, approvers: [slack:U1]}\n",
			`the rule "it" needs 1 approval, and has 1 approver: what one of these asks for is refused, since ` +
				`nobody could ever approve it; name more approvers, or set self: true`,
		},
		{
			note + "action: ask, approvers: [slack:U1, slack:U3], quorum: 2}\n",
			`the rule "it" needs 2 approvals, and has 2 approvers: what one of these asks for is refused`,
		},
		{
			"  - {name: it, tools: [\"shop.*\"], action: ask, approvers: [slack:U9, slack:U8], remember: {for: 1h}}\n",
			`the rule "it" remembers no approval of shop.refund, which is destructive; add destructive: true to ` +
				`remember, or leave that tool to another rule`,
		},
	} {
		warnings := told(t, head+tc.rules)
		if len(warnings) != 1 || !strings.Contains(warnings[0], tc.want) {
			t.Errorf("%s\ngot  %q\nwant %s", tc.rules, warnings, tc.want)
		}
	}
	if got := told(t, head+"asks:\n  - {tools: [people.aks], to: [requester]}\n"); len(got) != 1 ||
		!strings.Contains(got[0],
			`tools of an entry of asks: no tool has the name "people.aks"; did you mean people.ask?`) {
		t.Errorf("%q", got)
	}
	for _, rules := range []string{
		"  - {name: it, tools: [\"shop.*\"], action: ask, approvers: [slack:U9, slack:U8], remember: {for: 1h, " +
			"destructive: true}}\n",
		note + "action: ask, approvers: [slack:U9, slack:U8], remember: {for: 1h}}\n",
		note + "action: allow, when: args.amount >= 0 && args.amount <= 100}\n",
		note + "action: allow, when: 'args.amount in 1..100'}\n",
		note + "action: allow, when: abs(args.amount) <= 100}\n",
		"  - {name: it, tools: [shop.give], action: allow, when: args.amount <= 100}\n",
		note + "action: allow, when: 'len(args.text) <= 100'}\n",
		note + "action: allow, when: args.amount > 100}\n", note + "action: deny, when: args.amount <= 100}\n",
		"  - {name: low, action: deny, when: args.amount < 0}\n" + note + "action: allow, when: args.amount <= 100}\n",
		"  - {name: it, tools: [\"external.ci.*\", \"later.*\"], when: args.anything == 1, action: deny}\n",
		"  - {name: a, tools: [\"shop.*\", people.ask], action: allow}\n  - {name: rest, action: deny, tools: " +
			"[\"*\"]}\n",
		note + "action: deny, when: 'len(args.text) > 5 && len(args.text) < 3'}\n",
		note + "action: ask, approvers: [slack:S0123ABCD]}\n",
		note + "action: ask, approvers: [slack:U1], self: true}\n",
		note + "action: deny, when: '\"ops\" in requester.groups && requester.platform == \"slack\"'}\n",
		note + "action: allow, when: conversation == \"slack:C1\" && requester.person == \"ann\"}\n",
		"  - {name: it, tools: [\"later.*\"], action: allow, when: annotations.readOnly && !annotations.destructive}\n",
	} {
		if got := told(t, head+rules); len(got) > 0 {
			t.Errorf("%s: %q", rules, got)
		}
	}
}

func told(t *testing.T, text string) (all []string) {
	t.Helper()
	for _, w := range parse(t, text,
		policy.Defaults{Platforms: known, Approvers: []string{"slack:U9"}}).Warnings(shopTools, []string{"later"}) {
		all = append(all, w.String())
	}
	return all
}
