package policy_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gatehouse/approvals/policy"
	"gatehouse/core"
	"gatehouse/core/strictyaml"
)

// randomCondition draws a condition of comparisons.
func randomCondition(t *rapid.T, depth int) string {
	if depth > 0 {
		left, right := rapid.Deferred(func() *rapid.Generator[string] {
			return rapid.Custom(func(t *rapid.T) string { return randomCondition(t, depth-1) })
		}), ""
		switch kind := rapid.IntRange(0, 3).Draw(t, "kind"); kind {
		case 0, 1:
			right = left.Draw(t, "right")
			return "(" + left.Draw(t, "left") + []string{" && ", " || "}[kind] + right + ")"
		case 2:
			return "!(" + left.Draw(t, "negated") + ")"
		}
	}
	number := rapid.SampledFrom([]string{"0", "1", "2", "1.5"}).Draw(t, "number")
	switch rapid.IntRange(0, 8).Draw(t, "atom") {
	case 0, 1, 2:
		return "args.n " + rapid.SampledFrom([]string{"<", "<=", ">", ">=", "==", "!="}).Draw(t, "operator") +
			" " + number
	case 3:
		return "(args.n ?? 1) > " + number
	case 4:
		return `args.s ` + rapid.SampledFrom([]string{"==", "!=", "startsWith"}).Draw(t, "operator") +
			` "` + rapid.SampledFrom([]string{"a", "b"}).Draw(t, "text") + `"`
	case 5:
		return `risk == "` + rapid.SampledFrom([]string{"read", "write", "destructive"}).Draw(t, "risk") + `"`
	case 6:
		return `requester.platform == "` + rapid.SampledFrom([]string{"slack", "discord"}).Draw(t, "platform") + `"`
	case 7:
		return `"ops" in requester.groups`
	}
	return `"n" in args`
}

// randomPolicy draws the text of a policy.
func randomPolicy(t *rapid.T) string {
	text := head
	for i := range rapid.IntRange(1, 5).Draw(t, "rules") {
		text += fmt.Sprintf("  - name: r%d\n    action: %s\n", i,
			rapid.SampledFrom([]string{"allow", "deny", "ask"}).Draw(t, "action"))
		if some := rapid.SliceOfNDistinct(
			rapid.SampledFrom([]string{"s.*", "s.a", "s.b", "t.?", "*.b", "*", "S.A", "u.*", "external.*"}), 0, 2,
			rapid.ID).Draw(t, "tools"); len(some) > 0 {
			list, _ := json.Marshal(some)
			text += "    tools: " + string(list) + "\n"
		}
		if some := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"read", "write", "destructive"}), 0, 2,
			rapid.ID).Draw(t, "risks"); len(some) > 0 {
			text += "    risk: [" + strings.Join(some, ", ") + "]\n"
		}
		if rapid.Bool().Draw(t, "conditional") {
			when, _ := json.Marshal(randomCondition(t, 2))
			text += "    when: " + string(when) + "\n"
		}
	}
	return text
}

// TestEveryRuleDecidesACallOrIsTold: of random policies and tools, each rule decides some call of the tools or of an
// agent, or the refusal of the file or a warning names it; and no rule is said to decide nothing that does.
func TestEveryRuleDecidesACallOrIsTold(t *testing.T) {
	var arguments []string
	for _, n := range []string{"", "-1", "0", "0.5", "1", "1.2", "1.5", "1.7", "2", "3", `"-"`, "null"} {
		for _, s := range []string{"", `"a"`, `"b"`, `"a-b"`, `"b-a"`, `"c"`, "1"} {
			var parts []string
			if n != "" {
				parts = append(parts, `"n":`+n)
			}
			if s != "" {
				parts = append(parts, `"s":`+s)
			}
			arguments = append(arguments, "{"+strings.Join(parts, ",")+"}")
		}
	}
	refused, warned, decided := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		text := randomPolicy(t)
		var tools []policy.Tool
		var calls []core.Call
		for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"s.a", "s.b", "t.c", "people.ask"}), 1,
			4, rapid.ID).Draw(t, "names") {
			call := core.Call{
				Tool: name,
				Risk: rapid.SampledFrom([]core.Risk{core.ReadOnly, core.Ordinary, core.Dangerous}).Draw(t, "risk"),
			}
			tools, calls = append(tools, policy.Tool{Call: call}), append(calls, call)
		}
		// of a tool that comes later, and of an agent
		for _, risk := range []core.Risk{core.ReadOnly, core.Ordinary, core.Dangerous} {
			for _, name := range []string{"later.b", "later.x", "external.ci.b", "external.ci.x"} {
				if risk != core.ReadOnly || !policy.Requested(name) {
					calls = append(calls, core.Call{Tool: name, Risk: risk})
				}
			}
		}
		p, err := policy.Parse("p.yaml", []byte(text),
			policy.Defaults{Platforms: known, Approvers: []string{"slack:U9", "slack:U8"}})
		var faults strictyaml.Faults
		if errors.As(err, &faults) {
			refused++
			for _, f := range faults {
				if !strings.Contains(f.What, `the rule "r`) || f.Line < 7 {
					t.Fatalf("%s\n%s", text, f)
				}
			}
			return
		}
		decides := map[string]bool{}
		for _, call := range calls {
			for _, args := range arguments {
				call.Arguments = json.RawMessage(args)
				for _, who := range []string{"slack:U1", "discord:11", "slack:U5", "discord:55", "openharness:x"} {
					if d := p.Decide(core.Turn{Actor: actor(who)}, call); d.Matched &&
						(len(d.Failed) == 0 || d.Failed[len(d.Failed)-1].Rule != d.Rule.Name) {
						decides[d.Rule.Name] = true
					}
				}
			}
		}
		var all []string
		for _, w := range p.Warnings(tools, nil) {
			all = append(all, w.String())
		}
		for i := range strings.Count(text, "- name: r") {
			name := fmt.Sprintf("r%d", i)
			named := slices.ContainsFunc(all, func(w string) bool { return strings.Contains(w, `"`+name+`"`) })
			useless := slices.ContainsFunc(all, func(w string) bool {
				return strings.Contains(w, `the rule "`+name+`" decides no call`)
			})
			switch {
			case decides[name] && useless:
				t.Fatalf("%s decides a call, and is said to decide none: %q\n%s", name, all, text)
			case !decides[name] && !named:
				t.Fatalf("%s decides no call, and that is not said: %q\n%s", name, all, text)
			case named:
				warned++
			default:
				decided++
			}
		}
	})
	if t.Logf("%d files refused, %d rules with a warning, %d without", refused, warned, decided); !testing.Short() &&
		(refused == 0 || warned == 0 || decided == 0) {
		t.Error("something never came up")
	}
}
