package mcp

import (
	"maps"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"gatehouse/core"
)

// How a call of a server ended, beside the categories of errors.
const (
	CallAnswered = "ok"
	CallRefused  = "error" // the server answered with an error of the tool
)

// counts are the calls of a server in this process, by how they ended. Several goroutines may use them.
type counts struct {
	mu sync.Mutex
	by map[string]int64
}

func (c *counts) note(result *sdk.CallToolResult, err error) {
	how := CallAnswered
	switch {
	case err != nil:
		how = string(core.CategoryOf(err))
	case result != nil && result.IsError:
		how = CallRefused
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by == nil {
		c.by = map[string]int64{}
	}
	c.by[how]++
}

func (c *counts) all() map[string]int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.by)
}

// Calls are the calls of each server in this process, each round of one by itself, by how they ended: CallAnswered and
// its like, or the category of an error.
func (s *Servers) Calls() map[string]map[string]int64 {
	all := map[string]map[string]int64{}
	for _, one := range s.list() {
		all[one.Name] = one.called.all()
	}
	return all
}
