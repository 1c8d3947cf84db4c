package policy_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gatehouse/approvals/policy"
	"gatehouse/core"
	"gatehouse/core/strictyaml"
)

// head is the beginning of the policies below: six lines.
const head = `version: 1
people:
  ann: [slack:U1, discord:11]
groups:
  ops: [person:ann, slack:U3]
rules:
`

// TestFaults: each fault of a file names its place and the remedy, and all are reported at once.
func TestFaults(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"empty", "", "p.yaml:1: the file is empty; begin with version: 1, then people, groups and rules"},
		{
			"only a comment", "# nothing\n",
			"p.yaml:1: the file is empty; begin with version: 1, then people, groups and rules",
		},
		{"null", "null\n", "p.yaml:1: the file is empty; begin with version: 1, then people, groups and rules"},
		{"a list", "[]\n", "p.yaml:1:1: the policy is an empty list, not a mapping; write it as keys and values"},
		{
			"no YAML", "version: 1\nrules: [\n",
			"p.yaml:2: the file is no valid YAML: did not find expected node content; correct the YAML there or just " +
				"before it",
		},
		{
			"several documents", "version: 1\n---\nversion: 1\n",
			"p.yaml:2:1: the file has several documents; remove the line --- and what follows it",
		},
		{"too large", strings.Repeat("#", 1<<20+1), "p.yaml: the file is too large; keep it under 1 MiB"},

		{"no version", "rules: []\n", "p.yaml:1:1: the version is missing; add version: 1"},
		{"version 2", "version: 2\n", `p.yaml:1:10: unknown version "2"; write version: 1`},
		{"version as text", "version: '1'\n", `p.yaml:1:10: unknown version "1"; write version: 1`},
		{
			"unknown section", "version: 1\nrule: []\n",
			`p.yaml:2:1: unknown key "rule" in the policy; did you mean rules?`,
		},
		{
			"unknown section far off", "version: 1\nextensions: []\n",
			`p.yaml:2:1: unknown key "extensions" in the policy; use one of version, people, groups, rules, asks`,
		},
		{
			"repeated section", "version: 1\nrules: []\nrules: []\n",
			`p.yaml:3:1: the key "rules" is there twice, in line 2 too; remove one of the two`,
		},
		{
			"repeated key", head + "  - name: a\n    action: ask\n    self: true\n    action: deny\n",
			`p.yaml:10:5: the key "action" is there twice, in line 8 too; remove one of the two`,
		},
		{
			"merge key", "version: 1\nrules:\n  - &a {name: a, action: ask}\n  - {<<: *a, name: b}\n",
			`p.yaml:4:5: the rule "b" has no action; add action: allow, ask or deny` + "\n" +
				`p.yaml:4:6: << can't be used here; write the keys out`,
		},
		{
			"rules no list", "version: 1\nrules: {a: b}\n",
			"p.yaml:2:8: rules is a mapping, not a list; write it as a list, such as [{name: reads, risk: [read], " +
				"action: allow}]",
		},
		{
			"rule no mapping", "version: 1\nrules:\n  - deny\n",
			"p.yaml:3:5: a rule is \"deny\", not a mapping; write it as keys and values",
		},

		{
			"unknown key", head + "  - {name: a, action: ask, aprovers: [slack:U1]}\n",
			`p.yaml:7:28: unknown key "aprovers" in a rule; did you mean approvers?`,
		},
		{"no name", head + "  - action: ask\n", "p.yaml:7:5: a rule has no name; add name: and a few words"},
		{
			"empty name", head + "  - name: ''\n    action: ask\n",
			"p.yaml:7:11: name is empty; write a text, such as big refunds",
		},
		{
			"repeated name", head + "  - {name: a, action: ask}\n  - {name: b, action: ask}\n  - name: a\n    " +
				"action: deny\n",
			`p.yaml:9:11: the name "a" is that of two rules, in line 7 too; give each rule a name of its own`,
		},
		{"no action", head + "  - name: a\n", `p.yaml:7:5: the rule "a" has no action; add action: allow, ask or deny`},
		{
			"unknown action", head + "  - name: a\n    action: alow\n",
			`p.yaml:8:13: unknown action "alow"; did you mean allow?`,
		},
		{
			"unknown action far off", head + "  - name: a\n    action: permit\n",
			`p.yaml:8:13: unknown action "permit"; use one of allow, ask, deny`,
		},
		{
			"unknown risk", head + "  - name: a\n    action: ask\n    risk: [write, dangerous]\n",
			`p.yaml:9:19: unknown risk "dangerous"; use one of read, write, destructive`,
		},
		{
			"risk no list", head + "  - name: a\n    action: ask\n    risk: write\n",
			`p.yaml:9:11: risk is "write", not a list; write it as a list, such as [write, destructive]`,
		},
		{
			"tools empty", head + "  - name: a\n    action: ask\n    tools: []\n",
			`p.yaml:9:12: tools is an empty list; add to it, such as ["billing.*"], or leave the key out`,
		},
		{
			"approvers empty", head + "  - name: a\n    action: ask\n    approvers: []\n",
			"p.yaml:9:16: approvers is an empty list; add to it, such as [slack:U0123ABCD], or leave the key out",
		},
		{
			"unknown group", head + "  - name: a\n    action: ask\n    approvers: [group:opps]\n",
			`p.yaml:9:17: unknown group "opps"; did you mean ops? or add it under groups`,
		},
		{
			"unknown person", head + "  - name: a\n    action: ask\n    approvers:\n      - person:anne\n",
			`p.yaml:10:9: unknown person "anne"; did you mean ann? or add it under people`,
		},
		{
			"unknown group in a group", "version: 1\ngroups:\n  ops: [slack:U1, group:leads]\n",
			`p.yaml:3:19: unknown group "leads"; use one of ops or add it under groups`,
		},
		{
			"unknown person without people", "version: 1\ngroups:\n  ops: [person:ann]\n",
			`p.yaml:3:9: unknown person "ann"; there is none yet or add it under people`,
		},
		{
			"id without platform", head + "  - name: a\n    action: ask\n    approvers: [U1]\n",
			`p.yaml:9:17: "U1" is no id; write PLATFORM:ID, such as slack:U0123ABCD, or person:NAME or group:NAME`,
		},
		{
			"a name without platform", head + "  - name: a\n    action: ask\n    approvers: [bob]\n",
			`p.yaml:9:17: "bob" is no id; write PLATFORM:ID, such as openharness:bob, or person:NAME or group:NAME`,
		},
		{
			"unknown platform", head + "  - name: a\n    action: ask\n    approvers: [slak:U1]\n",
			`p.yaml:9:17: "slak:U1" is of the unknown platform "slak"; did you mean slack?`,
		},
		{
			"unknown platform far off", head + "  - name: a\n    action: ask\n    approvers: [telegram:5]\n",
			`p.yaml:9:17: "telegram:5" is of the unknown platform "telegram"; use one of slack, discord, ` +
				`openharness, console, local`,
		},
		{
			"malformed id of Slack", head + "  - name: a\n    action: ask\n    approvers: [slack:ann]\n",
			`p.yaml:9:17: "slack:ann" is no id of a person or user group of Slack; copy the id from Slack, such ` +
				`as slack:U0123ABCD or slack:S0123ABCD`,
		},
		{
			"id of Slack without id", head + "  - name: a\n    action: ask\n    approvers: ['slack:']\n",
			`p.yaml:9:17: "slack:" is no id of a person or user group of Slack; copy the id from Slack, such as ` +
				`slack:U0123ABCD or slack:S0123ABCD`,
		},
		{
			"malformed role", head + "  - name: a\n    action: ask\n    approvers: [discord:role:ops]\n",
			`p.yaml:9:17: "discord:role:ops" is no id of a person or role of Discord; copy the id from Discord, ` +
				`such as discord:80351110224678912 or discord:role:41771983423143936`,
		},
		{
			"malformed id of a holder of a token",
			head + "  - name: a\n    action: ask\n    approvers: ['openharness:an n']\n",
			`p.yaml:9:17: "openharness:an n" is no id of a holder of a token; write openharness:NAME with a name ` +
				`of GATEHOUSE_TOKENS`,
		},
		{
			"malformed id of the console", head + "  - name: a\n    action: ask\n    approvers: ['console:']\n",
			`p.yaml:9:17: "console:" is no id; write console:NAME with a name without spaces`,
		},
		{
			"an approver that is a mapping", head + "  - name: a\n    action: ask\n    approvers: [person: ann]\n",
			"p.yaml:9:17: an entry of approvers is a mapping, not a text; write a text, such as slack:U0123ABCD",
		},
		{
			"a group as a person", "version: 1\npeople:\n  ann: [slack:S1]\n",
			"p.yaml:3:9: slack:S1 is no single person; name the accounts of one person here, and groups under groups",
		},
		{
			"one id in two people", "version: 1\npeople:\n  ann: [slack:U1]\n  bob:\n    - discord:1\n    - slack:U1\n",
			`p.yaml:6:7: slack:U1 is the id of two people, "bob" and, in line 3, "ann"; leave it with one of them`,
		},
		{
			"a person twice", "version: 1\npeople:\n  ann: [slack:U1]\n  ann: [slack:U2]\n",
			`p.yaml:4:3: the key "ann" is there twice, in line 3 too; remove one of the two`,
		},
		{
			"name of a person", "version: 1\npeople:\n  'ann:x': [slack:U1]\n",
			`p.yaml:3:3: the name of the person "ann:x" can't be used; use letters, digits, _, . and -, and not local`,
		},
		{
			"group cycle", "version: 1\ngroups:\n  a: [group:b]\n  b: [slack:U1, group:c]\n  c: [group:a]\n",
			"p.yaml:3:3: groups contain each other: a → b → c → a; remove one of them from the next",
		},
		{
			"group in itself", "version: 1\ngroups:\n  a: [slack:U1, group:a]\n",
			"p.yaml:3:3: groups contain each other: a → a; remove one of them from the next",
		},

		{
			"quorum 0", head + "  - name: a\n    action: ask\n    quorum: 0\n",
			`p.yaml:9:13: quorum is "0"; write a whole number from 1`,
		},
		{
			"quorum no integer", head + "  - name: a\n    action: ask\n    quorum: 1.5\n",
			`p.yaml:9:13: quorum is "1.5"; write a whole number from 1`,
		},
		{
			"quorum as text", head + "  - name: a\n    action: ask\n    quorum: two\n",
			`p.yaml:9:13: quorum is "two"; write a whole number from 1`,
		},
		{
			"vetoes 0", head + "  - name: a\n    action: ask\n    vetoes: -1\n",
			`p.yaml:9:13: vetoes is "-1"; write a whole number from 1`,
		},
		{
			"quorum out of reach", head + "  - name: a\n    action: ask\n    approvers: [group:ops, slack:U1, " +
				"discord:11]\n    quorum: 3\n",
			"p.yaml:10:13: nobody can reach the quorum of 3: the approvers are 2 people; lower the quorum, or name " +
				"more approvers",
		},
		{
			"quorum of one person's accounts",
			head + "  - name: a\n    action: ask\n    approvers: [slack:U1, discord:11]\n    quorum: 2\n",
			"p.yaml:10:13: nobody can reach the quorum of 2: the approvers are 1 person; lower the quorum, or name " +
				"more approvers",
		},
		{
			"quorum of the defaults", head + "  - name: a\n    action: ask\n    quorum: 2\n",
			"p.yaml:9:13: nobody can reach the quorum of 2: the approvers are 1 person; lower the quorum, or name " +
				"more approvers",
		},
		{
			"vetoes of one person's accounts",
			head + "  - name: a\n    action: ask\n    approvers: [slack:U1, discord:11]\n    vetoes: 2\n",
			"p.yaml:10:13: nobody can reach the vetoes of 2: the approvers are 1 person; lower the vetoes, or name " +
				"more approvers",
		},
		{
			"vetoes of the defaults", head + "  - name: a\n    action: ask\n    vetoes: 2\n",
			"p.yaml:9:13: nobody can reach the vetoes of 2: the approvers are 1 person; lower the vetoes, or name " +
				"more approvers",
		},
		{
			"vetoes above all bounds",
			head + "  - name: a\n    action: ask\n    approvers: [slack:S1]\n    vetoes: 1001\n",
			"p.yaml:10:13: vetoes: 1001 is too high; use 1000 at most",
		},
		{
			"self", head + "  - name: a\n    action: ask\n    self: maybe\n",
			`p.yaml:9:11: self is "maybe"; write true or false`,
		},
		{"edit", head + "  - name: a\n    action: ask\n    edit: 1\n", `p.yaml:9:11: edit is "1"; write true or false`},
		{
			"batch", head + "  - name: a\n    action: ask\n    batch: sometimes\n",
			`p.yaml:9:12: batch is "sometimes"; write true or false`,
		},

		{
			"expires", head + "  - name: a\n    action: ask\n    expires: soon\n",
			`p.yaml:9:14: expires is "soon", no duration; write a duration, such as 24h, 7d or never`,
		},
		{
			"expires without a unit", head + "  - name: a\n    action: ask\n    expires: 24\n",
			`p.yaml:9:14: expires is "24", no duration; write a duration, such as 24h, 7d or never`,
		},
		{
			"expires 0", head + "  - name: a\n    action: ask\n    expires: 0s\n",
			`p.yaml:9:14: expires is "0s"; use a duration above 0, such as 24h, 7d or never`,
		},
		{
			"expires negative", head + "  - name: a\n    action: ask\n    expires: -1h\n",
			`p.yaml:9:14: expires is "-1h"; use a duration above 0, such as 24h, 7d or never`,
		},
		{
			"expires negative days", head + "  - name: a\n    action: ask\n    expires: -1d\n",
			`p.yaml:9:14: expires is "-1d", no duration; write a duration, such as 24h, 7d or never`,
		},
		{
			"remind late", head + "  - name: a\n    action: ask\n    remind: [1h, 24h]\n",
			"p.yaml:9:18: remind is 24h, but the request expires after 24h; use a shorter time, or a longer expires",
		},
		{
			"remind never", head + "  - name: a\n    action: ask\n    remind: [never]\n",
			`p.yaml:9:14: remind is "never", no duration; write a duration, such as 1h`,
		},
		{
			"escalate without to", head + "  - name: a\n    action: ask\n    escalate: {after: 4h}\n",
			"p.yaml:9:15: escalate has no to; write it like escalate: {after: 4h, to: [group:leads]}",
		},
		{
			"escalate without after", head + "  - name: a\n    action: ask\n    escalate: {to: [slack:U1]}\n",
			"p.yaml:9:15: escalate has no after; write it like escalate: {after: 4h, to: [group:leads]}",
		},
		{
			"escalate late", head + "  - name: a\n    action: ask\n    expires: 2h\n    escalate: {after: 2h, to: " +
				"[slack:U1]}\n", "p.yaml:10:23: escalate after is 2h, but the request expires after 2h; use a " +
				"shorter time, or a longer expires",
		},
		{
			"escalate to nobody known",
			head + "  - name: a\n    action: ask\n    escalate: {after: 2h, to: [group:x]}\n",
			`p.yaml:9:32: unknown group "x"; use one of ops or add it under groups`,
		},
		{
			"escalate with an unknown key",
			head + "  - name: a\n    action: ask\n    escalate: {afer: 2h, to: [slack:U1]}\n",
			"p.yaml:9:15: escalate has no after; write it like escalate: {after: 4h, to: [group:leads]}\n" +
				`p.yaml:9:16: unknown key "afer" in escalate; did you mean after?`,
		},
		{
			"remember without for", head + "  - name: a\n    action: ask\n    remember: {}\n",
			"p.yaml:9:15: remember has no for; write it like remember: {for: 1h, uses: 5}",
		},
		{
			"remember no mapping", head + "  - name: a\n    action: ask\n    remember: 1h\n",
			"p.yaml:9:15: remember is \"1h\", not a mapping; write it as keys and values",
		},
		{
			"remember without uses", head + "  - name: a\n    action: ask\n    remember: {for: 1h, uses: 0}\n",
			"p.yaml:9:31: uses is \"0\"; write a whole number from 1",
		},
		{
			"remember maybe", head + "  - name: a\n    action: ask\n    remember: {for: 1h, destructive: perhaps}\n",
			"p.yaml:9:38: destructive is \"perhaps\"; write true or false",
		},
		{
			"remember 0", head + "  - name: a\n    action: ask\n    remember: {for: 0s}\n",
			`p.yaml:9:21: for is "0s"; use a duration above 0, such as 1h`,
		},
		{
			"notify", head + "  - name: a\n    action: ask\n    notify: there\n",
			`p.yaml:9:13: "there" is no place to notify; use here, dm, slack:C0123ABCD or discord:41771983423143936`,
		},
		{
			"notify a person", head + "  - name: a\n    action: ask\n    notify:\n      - dm\n      - slack:U1\n",
			`p.yaml:11:9: "slack:U1" is no place to notify; use here, dm, slack:C0123ABCD or discord:41771983423143936`,
		},
		{
			"reason", head + "  - name: a\n    action: ask\n    reason: always\n",
			`p.yaml:9:13: unknown reason "always"; use one of optional, required`,
		},
		{
			"keys of ask on deny", head + "  - name: a\n    action: deny\n    approvers: [slack:U1]\n    quorum: 2\n",
			"p.yaml:9:5: approvers makes no sense in a rule whose action is deny; remove it, or use action: ask\n" +
				"p.yaml:10:5: quorum makes no sense in a rule whose action is deny; remove it, or use action: ask",
		},
		{
			"keys of ask on allow", head + "  - name: a\n    action: allow\n    expires: never\n",
			"p.yaml:9:5: expires makes no sense in a rule whose action is allow; remove it, or use action: ask",
		},

		{
			"unknown variable", head + "  - name: a\n    action: ask\n    when: amount > 5\n",
			"p.yaml:9:11: when: unknown variable amount; use one of args, tool, risk, requester, conversation, " +
				"annotations",
		},
		{
			"unknown variable, nearly", head + "  - name: a\n    action: ask\n    when: arg.amount > 5\n",
			"p.yaml:9:11: when: unknown variable arg; did you mean args?",
		},
		{
			"all unknown variables", head + "  - name: a\n    action: ask\n    when: arg.amount > limit && tol == " +
				"'x' && limit > 1\n", "p.yaml:9:11: when: unknown variable arg; did you mean args?\n" +
				"p.yaml:9:11: when: unknown variable limit; use one of args, tool, risk, requester, conversation, " +
				"annotations\n" +
				"p.yaml:9:11: when: unknown variable tol; did you mean tool?",
		},
		{
			"unknown variables in a block",
			head + "  - name: a\n    action: ask\n    when: |\n      let ü = 'ü'; tol == ü &&\n      amount > 5\n",
			"p.yaml:10: when: unknown variable tol; did you mean tool?\n" +
				"p.yaml:11: when: unknown variable amount; use one of args, tool, risk, requester, conversation, " +
				"annotations",
		},
		{
			"a variable outside of its declaration",
			head + "  - name: a\n    action: ask\n    when: (let x = args.a; x > 0) && x > 2\n",
			"p.yaml:9:11: when: unknown variable x; use one of args, tool, risk, requester, conversation, annotations",
		},
		{
			"unknown field", head + "  - name: a\n    action: ask\n    when: requester.nme == 'x'\n",
			"p.yaml:9:11: when: requester has no nme; use one of id, platform, person, groups",
		},
		{
			"unknown function", head + "  - name: a\n    action: ask\n    when: now() != nil\n",
			"p.yaml:9:11: when: unknown variable now; use one of args, tool, risk, requester, conversation, " +
				"annotations",
		},
		{
			"the environment itself", head + "  - name: a\n    action: ask\n    when: $env.tool == 'x'\n",
			"p.yaml:9:11: when: unknown variable $env; use one of args, tool, risk, requester, conversation, " +
				"annotations",
		},
		{
			"no bool", head + "  - name: a\n    action: ask\n    when: len(tool)\n",
			"p.yaml:9:11: when: the expression is no bool but of type int; correct the expression; its variables are " +
				"args, tool, risk, requester, conversation and annotations",
		},
		{
			"no bool: an object", head + "  - name: a\n    action: ask\n    when: args\n",
			"p.yaml:9:11: when: the expression is no bool but an object; correct the expression; its variables are " +
				"args, tool, risk, requester, conversation and annotations",
		},
		{
			"types that can't be compared", head + "  - name: a\n    action: ask\n    when: tool > 5\n",
			"p.yaml:9:11: when: invalid operation: > (mismatched types string and int); correct the expression; its " +
				"variables are args, tool, risk, requester, conversation and annotations",
		},
		{
			"syntax", head + "  - name: a\n    action: ask\n    when: args.amount >\n",
			"p.yaml:9:11: when: unexpected token EOF; correct the expression; its variables are args, tool, risk, " +
				"requester, conversation and annotations",
		},
		{
			"syntax in a block", head + "  - name: a\n    action: ask\n    when: |\n      args.amount > 5 &&\n      " +
				"args.amount ><\n", "p.yaml:11: when: unexpected token Operator(\"<\"); correct the expression; its " +
				"variables are args, tool, risk, requester, conversation and annotations",
		},
		{
			"empty condition", head + "  - name: a\n    action: ask\n    when:\n",
			"p.yaml:9:10: when is empty; write a text, such as args.amount > 1000",
		},
		{
			"long condition", head + "  - name: a\n    action: ask\n    when: " + strings.Repeat("(", 5000) + "\n",
			"p.yaml:9:11: when: the expression is longer than 4096 characters; correct the expression; its variables " +
				"are args, tool, risk, requester, conversation and annotations",
		},

		{
			"all at once", "version: 3\npeople:\n  ann: [slack:x]\ngroups:\n  a: [group:a]\nrules:\n  - {name: a, " +
				"action: ask, quorum: 0, expires: x}\n  - {action: maybe}\n",
			"p.yaml:1:10: unknown version \"3\"; write version: 1\n" +
				"p.yaml:3:9: \"slack:x\" is no id of a person or user group of Slack; copy the id from Slack, such " +
				"as slack:U0123ABCD or slack:S0123ABCD\n" +
				"p.yaml:5:3: groups contain each other: a → a; remove one of them from the next\n" +
				"p.yaml:7:36: quorum is \"0\"; write a whole number from 1\n" +
				"p.yaml:7:48: expires is \"x\", no duration; write a duration, such as 24h, 7d or never\n" +
				"p.yaml:8:5: a rule has no name; add name: and a few words\n" +
				"p.yaml:8:14: unknown action \"maybe\"; use one of allow, ask, deny",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p, err := policy.Parse("p.yaml", []byte(tc.text),
				policy.Defaults{Platforms: known, Approvers: []string{"slack:U9"}})
			if err == nil || p != nil || err.Error() != tc.want || core.CategoryOf(err) != core.Invalid {
				t.Errorf("got  %v\nwant %s", err, tc.want)
			}
		})
	}
}

func TestAFileThatCantBeRead(t *testing.T) {
	for path, want := range map[string]string{
		filepath.Join(t.TempDir(),
			"no.yaml"): "the file can't be read: no such file or directory; correct the path, or let gatehouse read " +
			"the file",
		t.TempDir(): "the file can't be read: is a directory; name a file that gatehouse can read",
	} {
		_, err := policy.Load(path, policy.Defaults{Platforms: known})
		var faults strictyaml.Faults
		if !errors.As(err, &faults) || len(faults) != 1 || err.Error() != path+": "+want {
			t.Errorf("%v", err)
		}
	}
}

// TestAliases: they can be used, but not to make a small file large.
func TestAliases(t *testing.T) {
	const good = "version: 1\ngroups:\n  ops: &ops [slack:U1, slack:U2]\nrules:\n  - {name: a, action: ask, " +
		"approvers: *ops}\n"
	if _, err := policy.Parse("p.yaml", []byte(good), policy.Defaults{Platforms: known}); err != nil {
		t.Error(err)
	}
	many := "version: 1\ngroups:\n  ops: &ops [" + strings.Repeat("slack:U1, ", 1000) +
		"]\nrules:\n" + strings.Repeat("  - {name: a, action: ask, approvers: *ops}\n", 1000)
	if _, err := policy.Parse("p.yaml", []byte(many), policy.Defaults{Platforms: known}); err == nil ||
		!strings.Contains(err.Error(),
			"the file has more than 200000 values, with all that it repeats written out; "+
				"use fewer values and aliases") {
		t.Errorf("%.200v", err)
	}
	for _, bad := range []string{
		"version: 1\nrules: &a [*a]\n", "a: &a [*a, *a]\n",
		"version: 1\nrules:\n  - &r {name: x, action: ask, escalate: *r}\n", "version: *v\n",
	} {
		if p, err := policy.Parse("p.yaml", []byte(bad), policy.Defaults{Platforms: known}); err == nil || p != nil {
			t.Errorf("%s is valid", bad)
		}
	}
}

// TestGroupsThatGrow: groups that contain groups do not make a small file large either.
func TestGroupsThatGrow(t *testing.T) {
	var b strings.Builder
	b.WriteString("version: 1\ngroups:\n")
	for i := range 5000 {
		b.WriteString("  g" + name(i) + ": [slack:U" + name(i))
		if i > 0 {
			b.WriteString(", group:g" + name(i-1))
		}
		b.WriteString("]\n")
	}
	if _, err := policy.Parse("p.yaml", []byte(b.String()), policy.Defaults{Platforms: known}); err == nil ||
		!strings.Contains(err.Error(), "more than 200000 values") {
		t.Errorf("%.200v", err)
	}
}

// TestLargeFiles: whatever a file of the largest size holds, it is refused or read in a short time.
func TestLargeFiles(t *testing.T) {
	fill := func(begin, part string) string {
		return begin + strings.Repeat(part, (wide(1<<20, 1<<18)-len(begin))/len(part))
	}
	var cyclic strings.Builder
	cyclic.WriteString("version: 1\ngroups:\n")
	for i := range wide(15000, 4000) {
		cyclic.WriteString("  g" + name(i) + ": [group:gAAA, group:g" + name(i+1) + "]\n")
	}
	for what, text := range map[string]string{
		"brackets": fill("version: 1\nrules: ", "["), "braces": fill("", "{a: "), "keys": fill("", "? "),
		"anchors": fill("a: ", "&a "), "documents": fill("", "---\n"),
		"unknown groups": fill("version: 1\ngroups: {a: [", "group:x, "),
		"rules":          fill("version: 1\nrules:\n", "  - {name: a, when: x, action: b}\n"),
		"cycles":         cyclic.String(),
		"aliases": fill("version: 1\nrules:\n  - &a {name: x, action: ask, approvers: [slack:U1, slack:U1, "+
			"slack:U1, slack:U1]}\n", "  - *a\n"),
	} {
		if _, err := policy.Parse("p.yaml", []byte(text), policy.Defaults{Platforms: known}); err == nil {
			t.Errorf("%s: no fault", what)
		}
	}
}

// TestLargePolicies: a valid file of thousands of rules is read, and warned of, in a short time.
func TestLargePolicies(t *testing.T) {
	for what, rules := range map[string]func(i int) string{
		"each after all": func(i int) string {
			return fmt.Sprintf("{name: r%d, tools: [s.%s], action: %s}", i, name(i),
				[]string{"allow", "deny"}[i/1500%2])
		},
		"all alike": func(i int) string {
			return fmt.Sprintf("{name: r%d, tools: [\"s.*%s*\"], when: args.n == %d, action: allow}", i, name(i), i)
		},
		"one for all": func(i int) string {
			return fmt.Sprintf("{name: r%d, when: args.n%d > 1 && args.m < %d, action: allow}", i, i, i)
		},
		"people": func(i int) string {
			return fmt.Sprintf("{name: r%d, when: 'requester.id != \"slack:U%d\"', action: allow}", i, i)
		},
	} {
		var text strings.Builder
		text.WriteString(head)
		for i := 0; text.Len() < wide(1<<18, 1<<16); i++ {
			text.WriteString("  - " + rules(i) + "\n")
		}
		began := time.Now()
		p := parse(t, text.String(), policy.Defaults{Platforms: known})
		read := time.Now()
		p.Warnings(shopTools, nil)
		if took := time.Since(began); took > time.Duration(wide(60, 20))*time.Second {
			t.Errorf("%s took %s", what, took)
		}
		t.Logf("%s: read in %s, warned of in %s", what, read.Sub(began), time.Since(read))
	}
}

// wide returns all if the tests are to be as wide as .ci/nightly has them, else enough.
func wide(all, enough int) int {
	if os.Getenv("GATEHOUSE_TEST_WIDE") != "" {
		return all
	}
	return enough
}

func name(i int) string {
	return strings.ToUpper(string([]byte{'A' + byte(i/26/26%26), 'A' + byte(i/26%26), 'A' + byte(i%26)}))
}

// TestTheExampleOfTheReadme is valid.
func TestTheExampleOfTheReadme(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rules, _ := strings.Cut(string(text), "\n## The rules\n")
	_, rest, _ := strings.Cut(rules, "```yaml\nversion: 1\n")
	example, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("the page explains no policy")
	}
	p, err := policy.Parse("README.md", []byte("version: 1\n"+example), policy.Defaults{Platforms: known})
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range p.Warnings(nil, []string{"billing"}) {
		if !strings.Contains(w.What, "no tool has the name") {
			t.Error(w)
		}
	}
}

// A fault does not hide the others.
func TestAQuorumOutOfReachIsNamedBesideOtherFaults(t *testing.T) {
	rule := "  - name: a\n    action: ask\n    approvers: [slack:U9]\n    quorum: 2\n"
	for name, text := range map[string]string{
		"a duration":            head + rule + "    expires: soon\n",
		"where people are told": head + rule + "    notify: irc:1\n",
		"a group cycle":         "version: 1\ngroups:\n  a: [group:a]\nrules:\n" + rule,
		"one id in two people":  "version: 1\npeople:\n  ann: [slack:U1]\n  bob: [slack:U1]\nrules:\n" + rule,
	} {
		_, err := policy.Parse("p.yaml", []byte(text), policy.Defaults{Platforms: known})
		if err == nil || !strings.Contains(err.Error(), "nobody can reach the quorum of 2") ||
			strings.Count(err.Error(), "\n") != 1 {
			t.Errorf("%s: %v", name, err)
		}
	}
	unknown := "version: 1\ngroups:\n  a: [group:a]\nrules:\n" + strings.Replace(rule, "slack:U9", "group:a", 1)
	if _, err := policy.Parse("p.yaml", []byte(unknown), policy.Defaults{Platforms: known}); err == nil ||
		strings.Contains(err.Error(), "quorum") {
		t.Errorf("of a group that is at fault nobody knows the people: %v", err)
	}
}

// The kinds of arguments are not known, but that of a sum is.
func TestAnExpressionThatCanBeNoBoolIsAFault(t *testing.T) {
	for _, when := range []string{"args.amount + 1", "-args.x", "args.x ?? 0", "args.a ** 2", "true ? args.x - 1 : 1"} {
		_, err := policy.Parse("p.yaml", []byte(head+"  - name: a\n    action: ask\n    when: '"+when+"'\n"),
			policy.Defaults{Platforms: known, Approvers: []string{"slack:U9"}})
		if err == nil || !strings.Contains(err.Error(), "p.yaml:9:11: when: the expression is no bool but ") {
			t.Errorf("%s: %v", when, err)
		}
	}
	for _, when := range []string{"args.x", "args.x ?? false", "args.a + 1 > 2", "get(args, 'x') ?? true"} {
		if _, err := policy.Parse("p.yaml", []byte(head+"  - name: a\n    action: ask\n    when: \""+when+"\"\n"),
			policy.Defaults{Platforms: known, Approvers: []string{"slack:U9"}}); err != nil {
			t.Errorf("%s: %v", when, err)
		}
	}
}
