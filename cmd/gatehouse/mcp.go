package main

import (
	"context"
	"log/slog"
	"time"

	"gatehouse/adapters/mcp"
	"gatehouse/cmd/gatehouse/internal/settings"
	"gatehouse/storage"
)

// newServers makes the configured MCP servers.
func newServers(cfg settings.Config, store *storage.Store, log *slog.Logger) *mcp.Servers {
	version, _ := build()
	return mcp.New(mcp.Options{Config: cfg.MCP, Pins: mcp.Pins{Get: store.Get, Put: store.Put}, Version: version, Log: log})
}

// toolsTimeout is how long the first turn waits for MCP servers to start. A turn that is resumed before its tool is there would be refused.
const toolsTimeout = 30 * time.Second

// awaitTools waits until each MCP server runs, or could not be started once.
func awaitTools(ctx context.Context, servers *mcp.Servers) {
	ctx, cancel := context.WithTimeout(ctx, toolsTimeout)
	defer cancel()
	servers.Ready(ctx)
}
