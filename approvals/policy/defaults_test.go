package policy_test

import (
	"strings"
	"testing"
	"time"

	"gatehouse/approvals/policy"
	"gatehouse/core"
)

func TestParseApprovers(t *testing.T) {
	p, err := policy.ParseApprovers(" slack:U1, discord:role:7 ,,console:ann ", time.Hour, known)
	if err != nil || strings.Join(p.Approvers, "|") != "slack:U1|discord:role:7|console:ann" || p.Timeout != time.Hour {
		t.Errorf("%+v, %v", p, err)
	}
	for _, bad := range []string{"U1", "slack:", ":U1", "slack:U1,nobody", "teams:U1", "local:ann"} {
		if _, err := policy.ParseApprovers(bad, 0, known); core.CategoryOf(err) != core.Invalid ||
			!strings.Contains(core.MessageOf(err), "GATEHOUSE_APPROVERS") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestRuleWithoutConfiguredApprovers(t *testing.T) {
	var unconfigured policy.Defaults
	local := unconfigured.Rule(core.Turn{Actor: core.Actor{ID: "console:me", Local: true}}, core.Call{})
	if local.Verdict != core.VerdictAsk ||
		!local.MayDecide(core.Actor{ID: "console:me", Local: true}, core.Actor{ID: "console:me", Local: true}) {
		t.Errorf("the local person may: %+v", local)
	}
	if local.MayDecide(core.Actor{ID: "slack:U1"}, core.Actor{ID: "console:me"}) {
		t.Error("somebody from elsewhere may not")
	}
	far := unconfigured.Rule(core.Turn{Actor: core.Actor{ID: "slack:U1"}}, core.Call{})
	if far.Verdict != core.VerdictDeny || !strings.Contains(far.Why, "GATEHOUSE_APPROVERS") {
		t.Errorf("from elsewhere it is refused by name of the setting: %+v", far)
	}
	named := policy.Defaults{Platforms: known, Approvers: []string{"slack:U2"}}
	if r := named.Rule(core.Turn{Actor: core.Actor{ID: "console:me", Local: true}},
		core.Call{}); r.MayDecide(core.Actor{ID: "console:me", Local: true}, core.Actor{}) {
		t.Error("where approvers are named, nobody else may")
	}
}
