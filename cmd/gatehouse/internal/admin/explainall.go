package admin

import (
	"context"
	"encoding/json"
	"slices"

	"gatehouse/adapters/mcp"
	"gatehouse/approvals/policy"
	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/core"
	"gatehouse/core/tool"
)

// toolView is the JSON output of what the policy says of a tool.
type toolView struct {
	Tool string `json:"tool"`
	Risk string `json:"risk"`
	explanation
	ByArguments []string `json:"depends_on_arguments"` // the rules with which other arguments may be decided otherwise
	Line        int      `json:"line,omitempty"`       // of the rule, in the file

	decision policy.Decision
}

// viewTool says what would happen to a call of a tool. Without arguments of its own, it also says on which rules they
// may have an effect.
func viewTool(p *policy.Policy, turn core.Turn, call core.Call, args string) toolView {
	if args != "" {
		call.Arguments = json.RawMessage(args)
	}
	d := p.Decide(turn, call)
	if args != "" {
		d.ByArgs = nil
	}
	view := toolView{
		Tool: call.Tool, Risk: policy.RiskOf(call), explanation: viewDecision(d),
		ByArguments: append([]string{}, d.ByArgs...), Line: d.Line, decision: d,
	}
	if d.Nobody != nil {
		view.Action = d.Rule.Verdict // which nobody could decide
	}
	return view
}

// all explains each tool.
func (c Explain) all(
	ctx context.Context, a *cli.App, tools *tool.Registry, p *policy.Policy, turn core.Turn,
) error {
	cfg, _, _ := a.Settings.Read() // policy has told the faults
	if c.Server != "" {
		if cfg.MCP.Servers = slices.DeleteFunc(cfg.MCP.Servers, func(s mcp.Server) bool {
			return s.Name != c.Server
		}); len(cfg.MCP.Servers) == 0 {
			return core.Errorf(core.NotFound, "There is no MCP server %q in the file of GATEHOUSE_MCP_CONFIG.",
				c.Server)
		}
	}
	known := cli.PolicyTools(tools.Tools())
	shown := len(known)
	if c.Server == "" {
		shown = 0
	}
	reports, err := look(ctx, a, cfg.MCP)
	if err != nil {
		return err
	}
	for _, r := range reports {
		if !r.Running {
			a.Warn("The MCP server " + r.Server + " is away: " + r.Reason + ".")
		}
	}
	more, away := cli.ServerTools(reports)
	known = append(known, more...)
	if c.Server == "" { // otherwise most tools are not known
		for _, w := range p.Warnings(known, away) {
			a.Warn(w.String())
		}
	}
	views := cli.List(known[shown:], func(t policy.Tool) toolView { return viewTool(p, turn, t.Call, c.Args) })
	if c.JSON {
		return a.PrintJSON(views)
	}
	return a.Table("There are no tools.", []string{"TOOL", "RISK", "RULE", "A CALL"},
		cli.List(views, func(v toolView) []string {
			return []string{v.Tool, v.Risk, v.decision.Decider(), v.decision.Happens()}
		}))
}
