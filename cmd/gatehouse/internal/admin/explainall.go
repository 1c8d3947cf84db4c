package admin

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"gatehouse/adapters/mcp"
	"gatehouse/approvals/policy"
	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/core"
)

// toolView is the JSON output of what the policy says of a tool.
type toolView struct {
	Tool string `json:"tool"`
	Risk string `json:"risk"`
	explanation
	ByArguments []string `json:"depends_on_arguments"` // the rules with which other arguments may be decided otherwise
}

// viewTool says what would happen to a call of a tool. Without arguments of its own, it also says on which rules they may have an effect.
func viewTool(p *policy.Policy, turn core.Turn, call core.Call, args string) toolView {
	if args != "" {
		call.Arguments = json.RawMessage(args)
	}
	d := p.Decide(turn, call)
	view := toolView{Tool: call.Tool, Risk: policy.RiskOf(call), explanation: viewDecision(d), ByArguments: []string{}}
	if args == "" {
		view.ByArguments = append(view.ByArguments, d.ByArgs...)
	}
	if d.Nobody != nil {
		view.Action = d.Rule.Verdict // which nobody could decide
	}
	return view
}

// decider is the rule for people.
func (v toolView) decider() string {
	if v.Rule == nil {
		return "none matches"
	}
	return *v.Rule
}

// happens says it in a few words.
func (v toolView) happens() (text string) {
	switch v.Action {
	case core.VerdictAllow:
		text = "runs without an approval"
	case core.VerdictAsk:
		if text = "asks " + strings.Join(v.Approvers, ", "); v.Quorum > 1 {
			text += fmt.Sprintf("; %d must approve", v.Quorum)
		}
	default:
		text = "is refused: " + v.Why
	}
	if len(v.ByArguments) > 0 {
		text += fmt.Sprintf(" (other arguments: %s)", strings.Join(v.ByArguments, ", "))
	}
	return text
}

// all explains each tool.
func (c Explain) all(ctx context.Context, a *cli.App, p *policy.Policy, turn core.Turn) error {
	cfg, _, _ := a.Settings.Read() // policy has told the faults
	if c.Server != "" {
		if cfg.MCP.Servers = slices.DeleteFunc(cfg.MCP.Servers, func(s mcp.Server) bool { return s.Name != c.Server }); len(cfg.MCP.Servers) == 0 {
			return core.Errorf(core.NotFound, "There is no MCP server %q in the file of GATEHOUSE_MCP_CONFIG.", c.Server)
		}
	}
	var calls []core.Call
	if c.Server == "" {
		for _, t := range c.Tools().Tools() {
			calls = append(calls, t.AnyCall())
		}
	}
	reports, err := look(ctx, a, cfg.MCP)
	if err != nil {
		return err
	}
	for _, r := range reports {
		if !r.Running {
			a.Warn("The MCP server " + r.Server + " is away: " + r.Reason + ".")
		}
		for _, t := range r.Tools {
			calls = append(calls, t.Call)
		}
	}
	views := cli.List(calls, func(call core.Call) toolView { return viewTool(p, turn, call, c.Args) })
	if c.JSON {
		return a.PrintJSON(views)
	}
	return a.Table("There are no tools.", []string{"TOOL", "RISK", "RULE", "A CALL"}, cli.List(views, func(v toolView) []string {
		return []string{v.Tool, v.Risk, v.decider(), v.happens()}
	}))
}
