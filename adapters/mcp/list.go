package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"gatehouse/core"
	"gatehouse/core/tool"
)

const (
	maxTools  = 256 // of a server
	maxPages  = 64  // of its list
	maxLogged = 20  // warnings of a list
)

// listing is what a server's last list came to.
type listing struct {
	tools    []tool.Tool
	known    map[string]definition // by the tool's full name
	names    map[string]string     // of the tools here, by those on the server
	warnings []string
	changes  []string // warnings of tools whose standing is Changed
}

// refresh lists the server's tools and replaces those listed before.
func (s *server) refresh(c *session) error {
	ctx, cancel := context.WithTimeout(c.gate.Context(), s.times.list)
	defer cancel()
	said := c.InitializeResult()
	about := "a server without a name"
	if said.ServerInfo != nil {
		about = cut(s.Hide(said.ServerInfo.Name+" "+said.ServerInfo.Version), 100)
	}
	var listed []*sdk.Tool
	var warning string
	if said.Capabilities != nil && said.Capabilities.Tools != nil {
		var err error
		if listed, warning, err = s.pages(ctx, c); err != nil {
			if cause := c.gate.Cause(); cause != nil {
				err = cause
			}
			return fmt.Errorf("its tools can't be listed: %w", err)
		}
	}
	found := s.listingOf(ctx, listed)
	if warning != "" {
		found.warnings = append(found.warnings, warning)
	}
	s.Filter.warn(&found, listed)
	s.remember(ctx, about, listed)
	s.mu.Lock()
	news := !slices.Equal(s.listing.warnings, found.warnings) || !slices.Equal(s.listing.changes, found.changes)
	sameName := func(a, b tool.Tool) bool { return a.Name == b.Name }
	others := s.listing.known != nil && !slices.EqualFunc(s.listing.tools, found.tools, sameName)
	s.listing, s.about = found, about
	s.mu.Unlock()
	if others {
		s.log.Info("the tools of the MCP server changed", "tools", len(found.tools))
	}
	if news {
		all := slices.Concat(found.warnings, found.changes)
		for _, warning := range all[:min(maxLogged, len(all))] {
			s.log.Warn("a tool of the MCP server: " + warning)
		}
		if more := len(all) - maxLogged; more > 0 {
			s.log.Warn("more is to be known about tools of the MCP server; gatehouse doctor tells all of it",
				"warnings", more)
		}
	}
	return nil
}

// pages reads the list, page by page, up to the limit, which a warning says.
func (s *server) pages(ctx context.Context, c *session) (all []*sdk.Tool, warning string, err error) {
	for page, cursor := 0, ""; ; page++ {
		list, err := c.ListTools(ctx, &sdk.ListToolsParams{Cursor: cursor})
		if err != nil {
			return nil, "", err
		}
		all = append(all, list.Tools...)
		if some := s.Filter.offered(all); len(some) > maxTools {
			return some[:maxTools],
				fmt.Sprintf("it lists more than %d tools; only the first %d are used", maxTools, maxTools), nil
		}
		if list.NextCursor == "" {
			return all, "", nil
		}
		if page >= maxPages {
			return nil, "", errors.New("the list does not end")
		}
		cursor = list.NextCursor
	}
}

func (l *listing) warn(format string, args ...any) {
	l.warnings = append(l.warnings, fmt.Sprintf(format, args...))
}

// listingOf makes the tools of a list. It asks nothing of the server.
func (s *server) listingOf(ctx context.Context, listed []*sdk.Tool) listing {
	found := listing{known: map[string]definition{}}
	var remote []string
	first := make([]*sdk.Tool, 0, len(listed))
	for _, t := range listed {
		if slices.Contains(remote, t.Name) {
			found.warn("%s is left out: the server lists another tool of that name before", s.shown(t))
			continue
		}
		remote, first = append(remote, t.Name), append(first, t)
	}
	found.names = s.names(ctx, remote)
	for _, t := range first {
		s.add(ctx, &found, t, found.names[t.Name])
	}
	return found
}

func (s *server) shown(t *sdk.Tool) string { return fmt.Sprintf("%q", cut(s.Hide(t.Name), 100)) }

// add adds a tool to the list if it is offered, or a warning that says why it is left out.
func (s *server) add(ctx context.Context, found *listing, t *sdk.Tool, name string) {
	if !s.Filter.offers(t.Name, toolName(t.Name), name) {
		return
	}
	if name == "" {
		found.warn("%s is left out: the server's tools have had too many names", s.shown(t))
		return
	}
	d, err := define(t, s)
	if err != nil {
		found.warn("%s is left out: %v", s.shown(t), err)
		return
	}
	d.name = s.Name + "." + name
	if name != t.Name {
		found.warn("%s is called %s here, because names of tools hold letters, digits, _ and - only, up to %d, and "+
			"are never another tool's", s.shown(t), s.Hide(d.name), maxName)
	}
	if s.betrays(t.Name + string(d.schema)) {
		found.warn("%q is left out: its name, or one in its schema, holds a secret of the server's entry",
			cut(s.Hide(t.Name), 100))
		return
	}
	s.judge(ctx, &d, found)
	made, err := s.tool(d)
	if err != nil {
		found.warn("%s is left out: %s", s.shown(t), cut(s.Hide(core.MessageOf(err)), maxReason))
		return
	}
	found.known[d.name] = d
	found.tools = append(found.tools, made)
}
