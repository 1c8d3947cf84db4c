package policy_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatehouse/approvals/policy"
	"gatehouse/core"
)

// conditional is a policy in which only a rule with this condition and action could match.
func conditional(t *testing.T, action, when string) *policy.Policy {
	t.Helper()
	text, _ := json.Marshal(when)
	p, err := policy.Parse("p.yaml", fmt.Appendf(nil, `
version: 1
people:
  ann: [slack:U1, discord:11]
groups:
  ops: [person:ann, slack:S456]
  leads: [group:ops, slack:U7]
  desk: [local]
rules:
  - name: it
    when: %s
    action: %s
  - {name: rest, action: ask}
`, text, action), policy.Defaults{Platforms: known, Approvers: []string{"slack:U9"}})
	if err != nil {
		t.Fatalf("%s: %v", when, err)
	}
	return p
}

// TestConditions: what a condition is for some arguments: true, false, or failed. One that failed never allows, and
// never lets a call past a rule that asks or denies.
func TestConditions(t *testing.T) {
	for _, tc := range []struct{ when, args, want string }{
		{`args.amount > 1000`, `{"amount":2000}`, "true"},
		{`args.amount > 1000`, `{"amount":1000}`, "false"},
		{`args.amount > 1000`, `{"amount":1000.5}`, "true"},
		{`args.amount > 1000`, `{"amount":"2000"}`, "fails"},
		{`args.amount > 1000`, `{"amount":null}`, "fails"},
		{`args.amount > 1000`, `{"amount":[2000]}`, "fails"},
		{`args.amount > 1000`, `{}`, "args.amount is not there"},
		{`args.amount > 1000`, ``, "args.amount is not there"},
		{`args.amount > 1000`, `[]`, "no JSON object"},
		{`args.amount > 1000`, `{"amount":1,"amount":2000}`, "not valid JSON"},
		{`args.amount > 1000`, `{"amount":1e400}`, "can't be represented exactly"},
		{`args.amount > 1000`, `{"amount":12345678901234567890123}`, "can't be represented exactly"},
		// a float64, exactly
		{`args.amount > 1000`, `{"amount":0.1000000000000000055511151231257827021181583404541015625}`, "false"},
		{`args.amount > 1000`, `{"amount":0.10000000000000000001}`, "can't be represented exactly"},
		{`args.amount > 1000`, `{"amount":9223372036854775808}`, "true"},
		{`args.amount > 1000`, `{"amount":1e-400}`, "can't be represented exactly"},
		{`args.amount == 1000`, `{"amount":1e3}`, "true"},
		{`args.amount == 1000`, `{"amount":1000.0}`, "true"},
		{`args.amount == 9007199254740993`, `{"amount":9007199254740993}`, "true"},
		{`args.amount == 9007199254740993`, `{"amount":9007199254740992}`, "false"},
		{`args.amount == 0`, `{"amount":-0}`, "true"},
		{`args.amount == 0.1`, `{"amount":0.1}`, "true"},
		{`args.amount + args.fee < 100`, `{"amount":9223372036854775807,"fee":1}`, "too large"},
		{`args.amount - args.fee < 100`, `{"amount":-9223372036854775807,"fee":2}`, "too large"},
		{`args.amount * args.fee < 100`, `{"amount":9223372036854775807,"fee":2}`, "too large"},
		{`args.amount * 2 < 100`, `{"amount":-9223372036854775808}`, "too large"},
		{`args.amount * -1 < 100`, `{"amount":9223372036854775807}`, "true"},
		{`args.amount + args.fee == 3`, `{"amount":1,"fee":2}`, "true"},
		{`-args.amount < 100`, `{"amount":-9223372036854775808}`, "too large"},
		{`-args.amount < 100`, `{"amount":5}`, "true"},
		{`-args.amount < 100`, `{"amount":-100.5}`, "false"},
		{`abs(args.amount) < 100`, `{"amount":-9223372036854775808}`, "too large"},
		{`abs(args.amount) < 100`, `{"amount":-99}`, "true"},
		{`int(args.amount) < 100`, `{"amount":1e300}`, "too large"},
		{`int(args.amount) < 100`, `{"amount":"99"}`, "true"},
		{`args.amount / args.n < 100`, `{"amount":-1,"n":0}`, "no finite number"},
		{`args.amount / args.n < 100`, `{"amount":1,"n":4}`, "true"},
		{`args.amount % args.n < 100`, `{"amount":1,"n":0}`, "fails"},
		{`args.amount ** args.n > 100`, `{"amount":10,"n":1000}`, "no finite number"},
		{`args.amount ** args.n == 100`, `{"amount":10,"n":2}`, "true"},
		{`args.a + args.b == "xy"`, `{"a":"x","b":"y"}`, "true"},
		{`sum(args.items, .amount) < 100`, `{"items":[{"amount":9223372036854775807},{"amount":1}]}`, "too large"},
		{`sum(args.items, .amount) == 3`, `{"items":[{"amount":1},{"amount":2}]}`, "true"},
		{`sum(args.items) == 3.5`, `{"items":[1,2.5]}`, "true"},
		{`sum(args.items) == 3`, `{"items":[1,"2"]}`, "no number to add"},

		{`args.env != "prod"`, `{"env":"dev"}`, "true"},
		{`args.env != "prod"`, `{"env":"prod"}`, "false"},
		{`args.env != "prod"`, `{}`, "args.env is not there"},
		{`args.env != "prod"`, `{"env":null}`, "null is compared with a string"},
		{`args.env != "prod"`, `{"env":["prod"]}`, "a list is compared with a string"},
		{`args.env == "prod"`, `{}`, "args.env is not there"},
		{`args.env == "prod"`, `{"Env":"prod"}`, "args.env is not there"},
		{`args["env"] == "prod"`, `{}`, "args.env is not there"},
		{`args["a b"] == "prod"`, `{}`, "is not there"},
		{`args[tool] == 1`, `{"deploy":1}`, "true"},
		{`args[tool] == 1`, `{}`, "is not there"},
		{`args.env == nil`, `{"env":null}`, "true"},
		{`args.env == nil`, `{}`, "args.env is not there"},
		{`args.a.b == 1`, `{"a":{"b":1}}`, "true"},
		{`args.a.b == 1`, `{"a":{}}`, "args.a.b is not there"},
		{`args.a.b == 1`, `{}`, "args.a is not there"},
		{`args.a.b == 1`, `{"a":null}`, "no value to take it from"},
		{`args.a.b == 1`, `{"a":"b"}`, "a string has no parts"},
		{`args.l[0] == 1`, `{"l":[1]}`, "true"},
		{`args.l[-1] == 2`, `{"l":[1,2]}`, "true"},
		{`args.l[1] == 1`, `{"l":[1]}`, "is not there"},
		{`args.l[-2] == 1`, `{"l":[1]}`, "is not there"},
		{`args.l["x"] == 1`, `{"l":[1]}`, "no place in a list"},
		{`args.l[len(args.l) - 1] == 2`, `{"l":[1,2]}`, "true"},
		{`not (args.env == "prod")`, `{}`, "args.env is not there"},
		{`!args.force`, `{}`, "args.force is not there"},
		{`!args.force`, `{"force":"yes"}`, "fails"},
		{`args.force`, `{"force":true}`, "true"},
		{`args.force`, `{"force":"true"}`, "no bool"},
		{`args.force`, `{"force":null}`, "no bool"},
		{`args.force && args.sure`, `{"force":true,"sure":null}`, "no bool"},
		{`args.force || args.sure`, `{"force":false,"sure":"x"}`, "no bool"},
		{`args.force && true`, `{"force":null}`, "fails"},
		{`args.force ? true : false`, `{"force":1}`, "fails"},

		{`args.x ?? 0 == 0`, ``, "refused"},
		{`(args.x ?? 0) == 0`, `{}`, "true"},
		{`(args.x ?? 0) == 0`, `{"x":null}`, "true"},
		{`(args.x ?? 0) > 5`, `{"x":6}`, "true"},
		{`(args.a.b ?? 0) == 0`, `{"a":{}}`, "true"},
		{`(args.a.b ?? 0) == 0`, `{}`, "args.a is not there"},
		{`(args.l[5] ?? 0) == 0`, `{"l":[1]}`, "true"},
		{`(args["x"] ?? "none") == "none"`, `{}`, "true"},
		{`(args.x ?? args.y ?? 3) == 3`, `{}`, "true"},
		{`(args.x ?? args.y) == 3`, `{}`, "args.y is not there"},
		{`args?.x == nil`, `{}`, "true"},
		{`args?.x != "prod"`, `{}`, "true"},
		{`args?.x != "prod"`, `{"x":["prod"]}`, "a list is compared with a string"},
		{`args?.x > 5`, `{}`, "fails"},
		{`args?.a?.b == nil`, `{}`, "true"},
		{`args.a?.b == nil`, `{}`, "true"},
		{`args.a?.b == 1`, `{"a":{"b":1}}`, "true"},
		{`(args?.a?.b ?? 7) == 7`, `{}`, "true"},
		{`"x" in args`, `{}`, "false"},
		{`"x" in args`, `{"x":null}`, "true"},
		{`"x" in args && args.x == 1`, `{}`, "false"},
		{`"x" in args && args.x == 1`, `{"x":1}`, "true"},
		{`"x" not in args || args.x == 1`, `{}`, "true"},
		{`tool == "deploy" || args.x == 1`, `{}`, "true"},
		{`tool == "other" && args.x == 1`, `{}`, "false"},
		{`tool == "deploy" && args.x == 1`, `{}`, "args.x is not there"},
		{`"x" in args ? args.x > 5 : true`, `{}`, "true"},
		{`"x" in args ? args.x > 5 : true`, `{"x":1}`, "false"},
		{`let x = args.x; x == 1`, `{}`, "args.x is not there"},
		{`let x = args?.x; x != 1`, `{}`, "true"},
		{`let x = args.x; x != 1`, `{"x":null}`, "null is compared with a number"},
		{`let x = args.x ?? "none"; x == "none"`, `{}`, "true"},
		{`(args.x?.y.z ?? 1) == 1`, `{}`, "true"},
		{`(args.x?.y.z ?? 1) == 1`, `{"x":{"y":{}}}`, "true"},
		{`(args.x?.y.z ?? 1) == 1`, `{"x":{}}`, "no value to take it from"},
		{`args?.x.y == 1 || true`, `{}`, "no value to take it from"},
		{`args[args?.k ?? "d"] == 1`, `{"d":1}`, "true"},
		{`{"low": 1}[args.k] == 1`, `{"k":"low"}`, "true"},
		{`{"low": 1}[args.k] == 1`, `{"k":"high"}`, "is not there"},
		{`if "x" in args { args.x == 1 } else { true }`, `{}`, "true"},
		{`all(args.items, # != "prod")`, `{"items":[null]}`, "null is compared with a string"},
		{`find(args.items, .id == 5)?.name == "x"`, `{"items":[{"id":4}]}`, "false"},
		{`map(args.items, .id) == [1, 2]`, `{"items":[{"id":1},{"id":2}]}`, "true"},
		{`args.x.y() == 1`, `{"x":{"y":1}}`, "fails"},
		{`date(args.day).Year() == 2026`, `{"day":"2026-11-22"}`, "true"},
		{`date(args.day).Year() == 2026`, `{"day":7}`, "fails"},
		{`args == {"a": 1}`, `{"a":1}`, "true"},
		{`"ann" == requester.person && args.n in [1, "a"]`, `{"n":"a"}`, "true"},
		{`get(args, "x") == nil`, `{}`, "true"},

		{`args.env in ["dev", "test"]`, `{"env":"dev"}`, "true"},
		{`args.env in ["dev", "test"]`, `{"env":"prod"}`, "false"},
		{`args.env in ["dev", "test"]`, `{}`, "args.env is not there"},
		{`args.env not in ["prod"]`, `{"env":["prod"]}`, "is looked for where there is none"},
		{`args.env not in ["prod"]`, `{"env":null}`, "is looked for where there is none"},
		{`"x" in args.tags`, `{"tags":["x"]}`, "true"},
		{`"x" not in args.tags`, `{"tags":null}`, "on null"},
		{`"x" not in args.tags`, `{"tags":"x"}`, "fails"},
		{`"x" not in args.tags`, `{"tags":[]}`, "true"},
		{`args.n in args`, `{"n":5}`, "no key of an object"},
		{`args.n in 1..5`, `{"n":5}`, "true"},
		{`args.n in 1..5`, `{"n":6}`, "false"},
		{`args.n in [1, 2]`, `{"n":12345678901234567890123}`, "can't be represented exactly"},
		{`args.url startsWith "https://"`, `{"url":"https://x"}`, "true"},
		{`args.url startsWith "https://"`, `{"url":null}`, "null is used as a string"},
		{`not (args.url contains "prod")`, `{"url":["prod"]}`, "a list is used as a string"},
		{`not (args.url contains "prod")`, `{"url":null}`, "null is used as a string"},
		{`args.url matches "^a+$"`, `{"url":"aaa"}`, "true"},
		{`args.url matches args.pattern`, `{"url":"aaa","pattern":"("}`, "fails"},
		{`any(args.items, .kind == "x")`, `{"items":[{"kind":"x"}]}`, "true"},
		{`any(args.items, .kind == "x")`, `{"items":[{}]}`, "kind is not there"},
		{`all(args.items, # > 1)`, `{"items":[2,3]}`, "true"},
		{`all(args.items, # > 1)`, `{"items":[2,12345678901234567890123]}`, "fails"},
		{`all(args.items, # != 1)`, `{"items":[12345678901234567890123]}`, "can't be represented exactly"},
		{`all(args.items, # > 1)`, `{}`, "args.items is not there"},
		{`len(args.items) == 0`, `{"items":[]}`, "true"},
		{`len(args.items) == 0`, `{"items":null}`, "fails"},
		{`args.items == [1, 2]`, `{"items":[1,2]}`, "true"},
		{`args.items == [1, 2]`, `{"items":[1,12345678901234567890123]}`, "can't be represented exactly"},
		{`len(repeat("x", args.n)) > 0`, `{"n":100000000}`, "fails"},
		{`len(1..args.n) > 0`, `{"n":100000000}`, "fails"},
		{`lower(args.env) == "prod"`, `{"env":"PROD"}`, "true"},
		{`lower(args.env) == "prod"`, `{"env":7}`, "fails"},

		{`tool == "deploy"`, `not JSON`, "true"},
		{`risk == "write"`, `{}`, "true"},
		{`conversation == "slack:C1/2"`, `{}`, "true"},
		{`requester.id == "slack:U1"`, `{}`, "true"},
		{`requester.platform == "slack"`, `{}`, "true"},
		{`requester.person == "ann"`, `{}`, "true"},
		{`requester.groups == ["leads", "ops"]`, `{}`, "true"},
		{`"ops" in requester.groups`, `{}`, "true"},
		{`"desk" in requester.groups`, `{}`, "false"},
		{`requester["person"] == "ann"`, `{}`, "true"},
		{`requester.groups[5] == "ops"`, `{}`, "fails"},
	} {
		t.Run(tc.when+" "+tc.args, func(t *testing.T) {
			if tc.want == "refused" {
				if _, err := policy.Parse("p",
					[]byte("version: 1\nrules: [{name: a, action: deny, when: '"+tc.when+"'}]"),
					policy.Defaults{Platforms: known}); err == nil {
					t.Error("it is no fault")
				}
				return
			}
			turn := core.Turn{Actor: core.Actor{ID: "slack:U1"}, Conversation: "slack:C1/2"}
			call := core.Call{Tool: "deploy", Arguments: json.RawMessage(tc.args)}
			for _, action := range []string{"allow", "deny", "ask"} {
				d := conditional(t, action, tc.when).Decide(turn, call)
				failed := len(d.Failed) > 0
				if matched := d.Rule.Name == "it"; matched != (tc.want == "true" ||
					tc.want != "false" && action != "allow") {
					t.Errorf("%s: the rule matches: %v, %+v", action, matched, d.Failed)
				}
				if failed != (tc.want != "true" && tc.want != "false") ||
					failed && tc.want != "fails" && !strings.Contains(d.Failed[0].Err.Error(), tc.want) {
					t.Errorf("%s: failed is %v, want %s", action, d.Failed, tc.want)
				}
			}
		})
	}
}

// TestRequesterGroups: people are in a group by any of their accounts, and through a platform's group that they are in.
func TestRequesterGroups(t *testing.T) {
	p := conditional(t, "allow", `"ops" in requester.groups`)
	for want, who := range map[bool][]core.Actor{
		true: {{ID: "slack:U1"}, {ID: "discord:11"}, {ID: "slack:U5", Groups: []string{"slack:S456"}}},
		false: {
			{ID: "slack:U7"}, {ID: "slack:U5"}, {ID: "slack:U5", Groups: []string{"slack:S457"}},
			{ID: "console:me", Local: true},
		},
	} {
		for _, actor := range who {
			if got := p.Rule(core.Turn{Actor: actor}, core.Call{}).Name == "it"; got != want {
				t.Errorf("%+v: %v", actor, got)
			}
		}
	}
	for id, want := range map[string]map[string][]string{
		"slack:U1":   {"slack:U1": {"slack:S456"}},
		"discord:11": {"slack:U1": {"slack:S456"}}, // the other account of the same person
		"slack:U5":   {"slack:U5": {"slack:S456"}},
		"discord:12": {}, // no group of its platform is named
	} {
		if diff := cmp.Diff(want, p.RequesterGroups(id)); diff != "" {
			t.Errorf("the groups to look up for %s: %s", id, diff)
		}
	}
	for _, when := range []string{`requester.person == "ann"`, `requester["id"] == "slack:U1"`} {
		if got := conditional(t, "allow", when).RequesterGroups("slack:U1"); got != nil {
			t.Errorf("%s needs %v", when, got)
		}
	}
	for _, when := range []string{`let r = requester; "ops" in r.groups`, `len(requester["groups"]) > 0`} {
		if got := conditional(t, "allow", when).RequesterGroups("slack:U1"); len(got) != 1 {
			t.Errorf("%s needs %v", when, got)
		}
	}
	if r := conditional(t, "allow",
		`"desk" in requester.groups`).Rule(core.Turn{Actor: core.Actor{ID: "console:me", Local: true}},
		core.Call{}); r.Name != "it" {
		t.Error("a local person is not in the group of local")
	}
}
