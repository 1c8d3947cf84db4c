package doctor

import (
	"fmt"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"gatehouse/adapters/mcp"
	"gatehouse/approvals/policy"
	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/cmd/gatehouse/internal/settings"
	"gatehouse/core"
)

// checkPolicy says what is probably not meant in the policy's file, and which rule decides a call of each tool. Faults
// of the file are faults of the configuration.
func checkPolicy(program Program, cfg settings.Config, servers []mcp.Report) []finding {
	if cfg.Policy.Path() == "" {
		return nil
	}
	tools := cli.PolicyTools(program.Tools().Tools())
	more, away := cli.ServerTools(servers)
	tools = append(tools, more...)
	p := cfg.Policy.Policy()
	var found []finding
	for _, w := range p.Warnings(tools, away) {
		state := stateFail
		if w.Works {
			state = stateWarn
		}
		found = append(found, finding{"policy", state, w.Where() + ": " + w.What + ".", sentence(w.Do)})
	}
	var rows strings.Builder
	table := tabwriter.NewWriter(&rows, 0, 0, 2, ' ', 0)
	turn := core.Turn{Actor: core.Actor{ID: core.LocalPerson, Local: true}}
	for _, t := range tools {
		d := p.Decide(turn, t.Call)
		row := []string{t.Call.Tool, policy.RiskOf(t.Call), d.Decider(), d.Because(), d.Happens()}
		fmt.Fprint(table, "\n"+strings.Join(row, "\t"))
	}
	_ = table.Flush() // to memory
	what := filepath.Base(cfg.Policy.Path()) + " is valid. What decides a call of each tool " +
		"that the person at this machine asks for:" + rows.String()
	return append(found, finding{"policy", stateOK, what,
		"To try a call of your own, run gatehouse approvals explain; a table of calls, gatehouse approvals test FILE."})
}
