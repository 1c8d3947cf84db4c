package cli

import (
	"gatehouse/adapters/mcp"
	"gatehouse/approvals/policy"
	"gatehouse/core/tool"
)

// PolicyTools are tools as a policy knows them.
func PolicyTools(all []tool.Tool) []policy.Tool {
	return List(all, func(t tool.Tool) policy.Tool { return policy.Tool{Call: t.AnyCall(), Schema: t.Schema} })
}

// ServerTools are the tools of MCP servers as a policy knows them, and the names of the servers that do not say now
// which they have.
func ServerTools(reports []mcp.Report) (all []policy.Tool, away []string) {
	for _, r := range reports {
		if !r.Running {
			away = append(away, r.Server)
		}
		for _, t := range r.Tools {
			all = append(all, policy.Tool{Call: t.Call, Schema: t.Schema})
		}
	}
	return all, away
}
