package admin

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"gatehouse/approvals/policy"
	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/core"
	"gatehouse/core/strictyaml"
	"gatehouse/core/tool"
)

// PolicyTest is gatehouse approvals test: a table of calls with the decisions that are expected of a policy. It needs
// no database.
type PolicyTest struct {
	cli.JSONFlag
	File   string `arg:"" placeholder:"FILE" help:"YAML: cases: [{tool, risk, args, as, expect, rule, approvers}]."`
	Policy string `placeholder:"FILE" help:"The policy's file. Not given: GATEHOUSE_APPROVAL_POLICY."`
}

// testCase is one call of the table. What is "" or nil is not compared.
type testCase struct {
	at                   *yaml.Node
	tool, risk, args, as string
	expect, rule         string
	approvers            []string
}

// caseView is the JSON output of a case.
type caseView struct {
	Line  int      `json:"line"`
	Tool  string   `json:"tool"`
	OK    bool     `json:"ok"`
	Wrong []string `json:"wrong"`
}

// Run compares each case with what the policy says. It exits with 1 if one differs.
func (c PolicyTest) Run(_ context.Context, a *cli.App, agent Agent) error {
	explain := Explain{Policy: c.Policy}
	p, err := explain.policy(a)
	if err != nil {
		return err
	}
	cases, err := readCases(c.File)
	if err != nil {
		faults := strings.ReplaceAll(err.Error(), "\n", "\n  ")
		return core.Errorf(core.Invalid, "The table of calls is invalid:\n  %s", faults)
	}
	cfg, _, _ := a.Settings.Read() // policy has told the faults
	known := people{core.PlatformsOf(a.Settings.Platforms()), cfg.Tokens}
	tools := agent.Tools()
	views := make([]caseView, len(cases))
	failed := 0
	for i, one := range cases {
		wrong, err := one.compare(p, known, explain, tools)
		if err != nil {
			return core.Errorf(core.Invalid, "%s:%d: %s", c.File, one.at.Line, core.MessageOf(err))
		}
		if views[i] = (caseView{one.at.Line, one.tool, len(wrong) == 0, append([]string{}, wrong...)}); len(wrong) > 0 {
			failed++
		}
	}
	if c.JSON {
		err = a.PrintJSON(views)
	} else {
		for _, v := range views {
			if !v.OK {
				a.PrintLine("%s:%d: %s: %s", c.File, v.Line, v.Tool, strings.Join(v.Wrong, "; "))
			}
		}
		a.PrintLine("%d of %d calls are decided as expected.", len(cases)-failed, len(cases))
	}
	if err == nil && failed > 0 {
		err = cli.Exit(cli.ExitBad, cli.ErrReported)
	}
	return err
}

// compare says what is not as expected.
func (t testCase) compare(
	p *policy.Policy, known people, e Explain, tools *tool.Registry,
) (wrong []string, err error) {
	e.Tool, e.Risk = t.tool, t.risk
	requester, err := actor(p, known, "as", t.as, nil)
	if err != nil {
		return nil, err
	}
	call := core.Call{Tool: t.tool, Arguments: json.RawMessage(t.args), Risk: e.risk(tools)}
	d := p.Decide(core.Turn{Actor: requester}, call)
	if got := string(d.Rule.Verdict); got != t.expect {
		because := ""
		if d.Rule.Why != "" {
			because = " (" + d.Rule.Why + ")"
		}
		wrong = append(wrong, fmt.Sprintf("expected %s, got %s by %s%s", t.expect, got, called(d), because))
	}
	if t.rule != "" && t.rule != d.Decider() {
		wrong = append(wrong, fmt.Sprintf("expected the rule %q, got %s", t.rule, called(d)))
	}
	if t.approvers == nil {
		return wrong, nil
	}
	want, err := p.IDs(t.approvers)
	if err != nil {
		return nil, err
	}
	got := slices.Sorted(slices.Values(d.Rule.Approvers))
	if got = slices.Compact(got); !slices.Equal(want, got) {
		wrong = append(wrong, fmt.Sprintf("expected the approvers %s, got %s", orNone(want), orNone(got)))
	}
	return wrong, nil
}

// called names what decided.
func called(d policy.Decision) string {
	if !d.Matched {
		return "no rule"
	}
	return fmt.Sprintf("the rule %q in line %d", d.Rule.Name, d.Line)
}

func orNone(ids []string) string {
	if len(ids) == 0 {
		return "nobody"
	}
	return strings.Join(ids, ", ")
}

// readCases reads the table.
func readCases(file string) ([]testCase, error) {
	r := &strictyaml.Reader{File: file}
	data, ok := r.ReadFile()
	if !ok {
		return nil, r.Err()
	}
	root := r.Parse(data, "begin with cases:")
	if root == nil {
		return nil, r.Err()
	}
	parts := r.Values(root, "the table", "version", "cases")
	const example = "[{tool: billing.refund, args: {amount: 2000}, as: slack:U0123BOB, expect: ask}]"
	var all []testCase
	switch list := parts["cases"]; {
	case root.Kind != yaml.MappingNode:
	case list == nil:
		r.Fault(root, "add cases: "+example, "the table has no cases")
	default:
		for _, item := range r.List(list, "cases", example) {
			all = append(all, readCase(r, item))
		}
	}
	return all, r.Err()
}

func readCase(r *strictyaml.Reader, n *yaml.Node) testCase {
	one := testCase{at: n, args: "{}", as: core.LocalPerson}
	has := r.Values(n, "a case", "tool", "risk", "args", "as", "expect", "rule", "approvers")
	for _, key := range []string{"tool", "expect"} {
		if n.Kind == yaml.MappingNode && has[key] == nil {
			r.Fault(n, "write it like {tool: billing.refund, expect: ask}", "a case has no %s", key)
		}
	}
	for _, text := range []struct {
		key, example string
		to           *string
	}{{"tool", "billing.refund", &one.tool}, {"as", "slack:U0123BOB", &one.as}, {"rule", "big refunds", &one.rule}} {
		if v := has[text.key]; v != nil {
			*text.to, _ = r.Text(v, text.key, text.example)
		}
	}
	if has["risk"] != nil {
		one.risk, _ = r.Word(has["risk"], "risk", []string{"read", "write", "destructive"})
	}
	if has["expect"] != nil {
		one.expect, _ = r.Word(has["expect"], "expect", []string{"allow", "ask", "deny"})
	}
	if v := has["args"]; v != nil {
		if v.Kind != yaml.MappingNode {
			r.Fault(v, "write them as keys and values, such as {amount: 2000}",
				"args is %s, not a mapping", strictyaml.Shown(v))
		} else if text, ok := r.JSON(v, "args"); ok {
			one.args = string(text)
		}
	}
	if v := has["approvers"]; v != nil {
		one.approvers = []string{}
		for _, item := range r.Items(v, "approvers", "[group:ops]") {
			if id, ok := r.Text(item, "an entry of approvers", "group:ops"); ok {
				one.approvers = append(one.approvers, id)
			}
		}
	}
	return one
}
