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
	maxTools = 256 // of a server
	maxPages = 64  // of its list
)

// listing is what a server's last list came to.
type listing struct {
	tools    []tool.Tool
	known    map[string]definition // by the tool's full name
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
		about = cut(s.hide(said.ServerInfo.Name+" "+said.ServerInfo.Version), 100)
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
		for _, warning := range slices.Concat(found.warnings, found.changes) {
			s.log.Warn("a tool of the MCP server: " + warning)
		}
	}
	return nil
}

// listingOf makes the tools of a list.
func (s *server) listingOf(ctx context.Context, listed []*sdk.Tool) listing {
	found := listing{known: map[string]definition{}}
	for _, t := range listed {
		s.add(ctx, &found, t, listed)
	}
	return found
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
			return some[:maxTools], fmt.Sprintf("it lists more than %d tools; only the first %d are used", maxTools, maxTools), nil
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

// maxWarnings is how many warnings of a list are kept.
const maxWarnings = 20

func (l *listing) warn(format string, args ...any) {
	if len(l.warnings) < maxWarnings {
		l.warnings = append(l.warnings, fmt.Sprintf(format, args...))
	}
}

// add adds a tool to the list, or a warning that says why it is left out.
func (s *server) add(ctx context.Context, found *listing, t *sdk.Tool, all []*sdk.Tool) {
	shown := fmt.Sprintf("%q", cut(s.hide(t.Name), 100))
	name := toolName(t.Name)
	if !s.Filter.offers(t.Name, name) {
		return
	}
	if name == "" {
		found.warn("%s is left out: the name has no letter or digit, or more than %d characters", shown, maxName)
		return
	}
	if slices.ContainsFunc(all, func(other *sdk.Tool) bool { return other != t && toolName(other.Name) == name }) {
		found.warn("%s is left out: there is another tool %s.%s", shown, s.Name, name)
		return
	}
	d, err := define(t, s.hide)
	if err != nil {
		found.warn("%s is left out: %v", shown, err)
		return
	}
	d.name = s.Name + "." + name
	if name != t.Name {
		found.warn("%s is called %s here, because names of tools hold letters, digits, _ and - only", shown, d.name)
	}
	s.judge(ctx, &d, found)
	made, err := s.tool(d)
	if err != nil {
		found.warn("%s is left out: %s", shown, cut(s.hide(core.MessageOf(err)), maxReason))
		return
	}
	found.known[d.name] = d
	found.tools = append(found.tools, made)
}
