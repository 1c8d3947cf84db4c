package doctor

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"gatehouse/adapters/mcp"
	"gatehouse/cmd/gatehouse/internal/settings"
	"gatehouse/storage"
)

// serversTimeout is how long the MCP servers may take to start.
const serversTimeout = time.Minute

// lookAtServers starts the configured MCP servers, lists their tools and ends them. store is nil where the database
// can't be used.
func lookAtServers(ctx context.Context, cfg settings.Config, store *storage.Store) []mcp.Report {
	if len(cfg.MCP.Servers) == 0 {
		return nil
	}
	o := mcp.Options{Config: cfg.MCP, Log: silent}
	if store != nil {
		o.Pins, o.Logins = store, store
	}
	return mcp.Look(ctx, o, serversTimeout)
}

// checkServers says how the MCP servers are.
func checkServers(cfg settings.Config, all []mcp.Report) []finding {
	if len(all) == 0 {
		return nil
	}
	found := warnings(cfg.MCP.Warnings)
	for _, r := range all {
		found = append(append(found, serverFindings(r)...), valueFindings(r)...)
	}
	found = append(found, unchecked(all)...)
	return found
}

func warnings(all []string) (found []finding) {
	for _, warning := range all {
		found = append(found, finding{"mcp", stateWarn, "The file of GATEHOUSE_MCP_CONFIG: " + warning + ".", ""})
	}
	return found
}

// unchecked is a table of the tools that have arguments which gatehouse can't check in full.
func unchecked(all []mcp.Report) []finding {
	var rows strings.Builder
	table := tabwriter.NewWriter(&rows, 0, 0, 2, ' ', 0)
	for _, r := range all {
		for _, t := range r.Tools {
			if len(t.Unchecked) > 0 {
				fmt.Fprintf(table, "\n%s\t%s", t.Name, strings.Join(t.Unchecked, ", "))
			}
		}
	}
	_ = table.Flush() // to memory
	if rows.Len() == 0 {
		return nil
	}
	return []finding{{
		"mcp", stateOK, "These arguments of tools are checked by their servers alone, because gatehouse can't read " +
			"what the schemas say about them:" + rows.String(), "",
	}}
}

// valueFindings is a table of the values in a server's entry: which are hidden from models and people.
func valueFindings(r mcp.Report) (found []finding) {
	width := 0
	for _, v := range r.Values {
		width = max(width, len([]rune(v.Place)))
	}
	for _, v := range r.Values {
		found = append(found, finding{"mcp " + r.Server, stateOK, fmt.Sprintf("%-*s  %s", width, v.Place, v.State), ""})
	}
	return found
}

// serverFindings says how a server is, and what is to be known about its tools.
func serverFindings(r mcp.Report) []finding {
	name := "mcp " + r.Server
	if !r.Running {
		do := "Correct its entry in the file of GATEHOUSE_MCP_CONFIG, or run its command by hand to see " +
			"what it says. " +
			"See gatehouse help adapters/mcp#keys."
		switch {
		case r.Login:
			do = "Run gatehouse mcp login " + r.Server + "."
		case r.Remote:
			do = "Correct its entry in the file of GATEHOUSE_MCP_CONFIG, or ask whoever runs the server. " +
				"See gatehouse " +
				"help adapters/mcp#keys."
		}
		return []finding{{name, stateFail, "The MCP server does not run: " + r.Reason + ".", do}}
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
			found = append(found, finding{name, stateWarn, t.Name + " has changed since it was first seen, so each " +
				"call needs an approval, although readOnly names it.",
				fmt.Sprintf("If it still only reads, add %q to readOnly of the server.", t.Confirm)})
		}
	}
	for _, warning := range r.Warnings {
		found = append(found, finding{name, stateWarn, "A tool of the server: " + warning + ".", ""})
	}
	return found
}
