package policy

import (
	"sync/atomic"
	"time"

	"gatehouse/core"
)

// Current is the policy in force: that of a file, which can be read again, or the defaults alone. Any number of
// goroutines may use it.
type Current struct {
	path  string // "" = no file
	state atomic.Pointer[state]
}

// state is what is in force.
type state struct {
	defaults Defaults
	policy   *Policy
}

// Open reads the policy of a file; path "": there is none. If the file is invalid, the error is of type
// strictyaml.Faults, and the defaults are in force.
func Open(path string, defaults Defaults) (*Current, error) {
	c := &Current{path: path}
	c.state.Store(&state{defaults, New(defaults)})
	if path == "" {
		return c, nil
	}
	p, err := Load(path, defaults)
	if err == nil {
		c.state.Store(&state{defaults, p})
	}
	return c, err
}

// Use puts what another one read in force.
func (c *Current) Use(read *Current) { c.state.Store(read.state.Load()) }

// Path is the file's; "" = none.
func (c *Current) Path() string { return c.path }

// Defaults decide where no rule of the file matches.
func (c *Current) Defaults() Defaults { return c.state.Load().defaults }

// Policy is the policy in force.
func (c *Current) Policy() *Policy { return c.state.Load().policy }

// Rule is that of the policy in force.
func (c *Current) Rule(turn core.Turn, call core.Call) core.Rule { return c.Policy().Rule(turn, call) }

// Asks is that of the policy in force.
func (c *Current) Asks(turn core.Turn, call core.Call, of []string, expires time.Duration, agent bool) core.Rule {
	return c.Policy().Asks(turn, call, of, expires, agent)
}

// Approvers are those of the policy in force.
func (c *Current) Approvers() []string { return c.Policy().Approvers() }

// RequesterGroups are those of the policy in force.
func (c *Current) RequesterGroups(id string) map[string][]string {
	return c.Policy().RequesterGroups(id)
}
