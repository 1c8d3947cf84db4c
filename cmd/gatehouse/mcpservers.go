package main

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
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
	log  *slog.Logger

	using sync.Mutex // one file's servers replace another's at a time

	mu   sync.Mutex
	used string // the text of the file that was read last; guarded by mu
}

// mcpPing is the servers' Ping; 0: its default. Tests shorten it.
var mcpPing time.Duration

// newServers makes the configured MCP servers.
func newServers(cfg settings.Config, store *storage.Store, log *slog.Logger) *mcpServers {
	version, _ := build()
	servers := mcp.New(mcp.Options{
		Config: cfg.MCP, Pins: store, Logins: store, Version: version, Log: log, Ping: mcpPing,
	})
	return &mcpServers{Servers: servers, file: cfg.MCPFile, used: cfg.MCP.Text, log: log}
}

// A file is read again once it has been unchanged for some time: an editor may write it in pieces.
const (
	fileLook    = time.Second
	fileSettles = 2 * time.Second
)

// follow reads the file again when it has changed, until ctx ends.
func (s *mcpServers) follow(ctx context.Context) {
	if s.file == "" {
		return
	}
	look := time.NewTicker(fileLook)
	defer look.Stop()
	last, since := s.text(), time.Now()
	for {
		select {
		case now := <-look.C:
			text, _ := os.ReadFile(s.file) // a file that can't be read is one that changed
			if string(text) != last {
				last, since = string(text), now
			} else if last != s.text() && now.Sub(since) >= fileSettles {
				s.setText(last)
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
	s.use(cfg)
	s.log.Info("the file of MCP servers was read again", "file", s.file, "servers", len(cfg.Servers))
}

// use makes another file's servers the ones in force.
func (s *mcpServers) use(cfg mcp.Config) {
	s.using.Lock()
	defer s.using.Unlock()
	s.setText(cfg.Text)
	s.Use(cfg)
}

func (s *mcpServers) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used
}

func (s *mcpServers) setText(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used = text
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
