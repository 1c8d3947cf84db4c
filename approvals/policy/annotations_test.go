package policy_test

import (
	"strings"
	"testing"

	"gatehouse/approvals/policy"
	"gatehouse/core"
)

const trusting = `version: 1
rules:
  - name: tickets that only read
    tools: ["tickets.*"]
    when: annotations.readOnly
    action: allow
  - name: tickets that destroy nothing
    tools: ["tickets.*"]
    when: '!annotations.destructive && annotations.idempotent'
    action: ask
    approvers: [slack:U1]
  - name: the rest
    action: deny
`

// TestLaw5_AnnotationsCountForTheServerThatARuleNames: what a server says of its tools counts where a rule that names
// it asks for it; nothing said is the worst.
func TestLaw5_AnnotationsCountForTheServerThatARuleNames(t *testing.T) {
	p := parse(t, trusting, policy.Defaults{Platforms: known})
	for _, c := range []struct {
		tool string
		says core.Annotations
		rule string
	}{
		{"tickets.list", core.Annotations{ReadOnly: true, Additive: true}, "tickets that only read"},
		{"files.list", core.Annotations{ReadOnly: true, Additive: true}, "the rest"},
		{"tickets.list", core.Annotations{}, "the rest"},
		{"tickets.add", core.Annotations{Additive: true, Idempotent: true}, "tickets that destroy nothing"},
		{"tickets.add", core.Annotations{Additive: true}, "the rest"},
		{"tickets.add", core.Annotations{Idempotent: true}, "the rest"},
	} {
		d := p.Decide(core.Turn{}, core.Call{Tool: c.tool, Arguments: []byte(`{}`), Annotations: c.says})
		if d.Rule.Name != c.rule || len(d.Failed) > 0 {
			t.Errorf("%s %+v: %q, %v", c.tool, c.says, d.Rule.Name, d.Failed)
		}
	}
}

// TestARuleThatTrustsAnnotationsNamesTheServer: it is a fault otherwise.
func TestARuleThatTrustsAnnotationsNamesTheServer(t *testing.T) {
	for _, tools := range []string{
		"", `    tools: ["*"]` + "\n", `    tools: ["tickets.*", "*.list"]` + "\n",
		`    tools: ["ticket?.list"]` + "\n", `    tools: ["tickets*"]` + "\n",
	} {
		_, err := policy.Parse("p.yaml",
			[]byte("version: 1\nrules:\n  - name: a\n    action: allow\n    when: let a = annotations; a.readOnly\n"+
				tools), policy.Defaults{Platforms: known})
		if err == nil ||
			!strings.Contains(err.Error(),
				`p.yaml:5:11: annotations count only in a rule that names the tools' `+
					`servers; add tools: ["SERVER.*"]`) {
			t.Errorf("%q: %v", tools, err)
		}
	}
}

// TestADecisionNamesTheRulesThatReadArguments: with other arguments they may decide otherwise.
func TestADecisionNamesTheRulesThatReadArguments(t *testing.T) {
	p := parse(t, shop, policy.Defaults{Platforms: known})
	d := p.Decide(core.Turn{Actor: core.Actor{ID: "slack:U5"}},
		core.Call{Tool: "billing.refund", Arguments: []byte(`{"amount":100}`)})
	if got := strings.Join(d.ByArgs, ", "); d.Rule.Name != "refunds" || got != "small refunds, big refunds" {
		t.Errorf("%q, after %q", d.Rule.Name, got)
	}
}
