package main

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"gatehouse/adapters/mcp"
	"gatehouse/cmd/gatehouse/internal/settings"
	"gatehouse/core"
	"gatehouse/storage"
)

// mcpServers are the configured MCP servers, which follow their file.
type mcpServers struct {
	*mcp.Servers
	file string // "": there is none
	used string // the text of the file that was read last
	log  *slog.Logger
}

// newServers makes the configured MCP servers.
func newServers(cfg settings.Config, store *storage.Store, log *slog.Logger) *mcpServers {
	version, _ := build()
	servers := mcp.New(mcp.Options{Config: cfg.MCP, Pins: store, Logins: store, Version: version, Log: log})
	return &mcpServers{Servers: servers, file: cfg.MCPFile, used: cfg.MCP.Text, log: log}
}

// A file is read again once it has been unchanged for some time: an editor may write it in pieces.
const (
	fileLook    = time.Second
	fileSettles = 2 * time.Second
)

// follow reads the file again when it has changed, and on SIGHUP, until ctx ends.
func (s *mcpServers) follow(ctx context.Context) {
	if s.file == "" {
		return
	}
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	look := time.NewTicker(fileLook)
	defer look.Stop()
	last, since := s.used, time.Now()
	for {
		select {
		case <-hangup:
			s.reload()
		case now := <-look.C:
			text, _ := os.ReadFile(s.file) // a file that can't be read is one that changed
			if string(text) != last {
				last, since = string(text), now
			} else if last != s.used && now.Sub(since) >= fileSettles {
				s.used = last
				s.reload()
			}
		case <-ctx.Done():
			return
		}
	}
}

// reload reads the file again. One with a fault changes nothing.
func (s *mcpServers) reload() {
	cfg, err := mcp.Load(s.file, os.LookupEnv)
	if err != nil {
		for fault := range strings.SplitSeq(core.MessageOf(err), "\n") {
			s.log.Error("the file of MCP servers is invalid: "+fault, "category", core.CategoryOf(err))
		}
		s.log.Error("the old MCP servers stay in force; correct the file", "file", s.file,
			"category", core.CategoryOf(err))
		return
	}
	s.used = cfg.Text
	s.Use(cfg)
	s.log.Info("the file of MCP servers was read again", "file", s.file, "servers", len(cfg.Servers))
}

// notes are lines for /readyz. They do not make it fail: a server that is away harms the calls of its own tools alone.
func (s *mcpServers) notes() (lines []string) {
	up := s.Up()
	for _, server := range slices.Sorted(maps.Keys(up)) {
		if !up[server] {
			lines = append(lines, fmt.Sprintf("MCP server %s: it does not run", server))
		}
	}
	return lines
}
