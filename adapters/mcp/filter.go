package mcp

import (
	"path"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Filter says which tools of a server are offered: none of Deny, and, if there is an Allow, only those of it. Both hold
// patterns as ReadOnly does.
type Filter struct {
	Allow, Deny []string
	Only        bool // there is an Allow, if only an empty one
}

// offers reports whether a tool of these names is offered: its own on the server, and the one here.
func (f Filter) offers(tool ...string) bool {
	of := func(patterns []string) bool {
		return slices.ContainsFunc(patterns, func(pattern string) bool { return names(pattern, tool...) })
	}
	return !of(f.Deny) && (!f.Only || of(f.Allow))
}

// offered gives the tools of a server's list that are offered.
func (f Filter) offered(listed []*sdk.Tool) []*sdk.Tool {
	return slices.DeleteFunc(slices.Clone(listed), func(t *sdk.Tool) bool {
		return !f.offers(t.Name, toolName(t.Name))
	})
}

// warn warns of patterns that match no tool of a server's list.
func (f Filter) warn(found *listing, listed []*sdk.Tool) {
	for _, pattern := range slices.Concat(f.Allow, f.Deny) {
		if !slices.ContainsFunc(listed, func(t *sdk.Tool) bool {
			return names(pattern, t.Name, toolName(t.Name), found.names[t.Name])
		}) {
			found.warn("there is none that %q in \"tools\" matches", pattern)
		}
	}
}

// noPath lets a "*" stand for any characters: path.Match keeps it from those of a path.
var noPath = strings.NewReplacer("/", "\x00")

// names reports whether a pattern is for a tool that has these names: a glob of one, or NAME@DIGEST.
func names(pattern string, tool ...string) bool {
	name, _, exact := strings.Cut(pattern, "@")
	return slices.ContainsFunc(tool, func(one string) bool {
		if exact {
			return name == one
		}
		matches, err := path.Match(noPath.Replace(name), noPath.Replace(one))
		return err == nil && matches
	})
}
