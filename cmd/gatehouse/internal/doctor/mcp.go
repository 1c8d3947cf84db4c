package doctor

import (
	"context"
	"fmt"
	"strings"
	"time"

	"gatehouse/adapters/mcp"
	"gatehouse/cmd/gatehouse/internal/settings"
	"gatehouse/storage"
)

// serversTimeout is how long the MCP servers may take to start.
const serversTimeout = time.Minute

// checkServers starts the configured MCP servers, lists their tools and ends them. store is nil where the database can't be used.
func checkServers(ctx context.Context, cfg settings.Config, store *storage.Store) []finding {
	if len(cfg.MCP.Servers) == 0 {
		return nil
	}
	o := mcp.Options{Config: cfg.MCP, Log: silent}
	if store != nil {
		o.Pins.Get = store.Get
	}
	found := warnings(cfg.MCP.Warnings)
	for _, r := range mcp.Look(ctx, o, serversTimeout) {
		found = append(found, serverFindings(r)...)
	}
	return found
}

func warnings(all []string) (found []finding) {
	for _, warning := range all {
		found = append(found, finding{"mcp", stateWarn, "The file of GATEHOUSE_MCP_CONFIG: " + warning + ".", ""})
	}
	return found
}

// serverFindings says how a server is, and what is to be known about its tools.
func serverFindings(r mcp.Report) []finding {
	name := "mcp " + r.Server
	if !r.Running {
		return []finding{{name, stateFail, "The MCP server does not run: " + r.Reason + ".", "Correct its entry in the file of GATEHOUSE_MCP_CONFIG, or run its command by hand to see what it says."}}
	}
	names := map[mcp.Standing][]string{}
	for _, t := range r.Tools {
		standing := t.Standing
		if standing == mcp.Changed {
			standing = mcp.Writes
		}
		names[standing] = append(names[standing], t.Name)
	}
	var parts []string
	for _, standing := range []mcp.Standing{mcp.Reads, mcp.Writes, mcp.Dangerous} {
		if len(names[standing]) > 0 {
			parts = append(parts, fmt.Sprintf("%s: %s", standing, strings.Join(names[standing], ", ")))
		}
	}
	tools := "1 tool"
	if len(r.Tools) != 1 {
		tools = fmt.Sprintf("%d tools", len(r.Tools))
	}
	message := fmt.Sprintf("%s runs; %s.", r.About, tools)
	if len(parts) > 0 {
		message += " " + strings.Join(parts, "; ") + "."
	}
	found := []finding{{name, stateOK, message, ""}}
	for _, t := range r.Tools {
		if t.Standing == mcp.Changed {
			found = append(found, finding{name, stateWarn, t.Name + " has changed since it was first seen, so each call needs an approval, although readOnly names it.",
				fmt.Sprintf("If it still only reads, add %q to readOnly of the server.", t.Confirm)})
		}
	}
	for _, warning := range r.Warnings {
		found = append(found, finding{name, stateWarn, "A tool of the server: " + warning + ".", ""})
	}
	return found
}
