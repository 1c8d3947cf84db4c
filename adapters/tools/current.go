package tools

import (
	"context"
	"sync/atomic"

	"gatehouse/core/strictyaml"
	"gatehouse/core/tool"
)

// Current holds the tools of a file, which can be read again. Any number of goroutines may use it.
type Current struct {
	path string // "" = no file
	file atomic.Pointer[loaded]
}

// loaded is what a file says.
type loaded struct {
	tools    []tool.Tool
	warnings strictyaml.Faults
}

// Open reads the tools of a file; path "": there is none. If the file is invalid, the error is of type
// strictyaml.Faults, and there are no tools.
func Open(path string, o Options) (*Current, error) {
	c := &Current{path: path}
	c.file.Store(&loaded{})
	if path == "" {
		return c, nil
	}
	all, warnings, err := load(path, o)
	if err == nil {
		c.file.Store(&loaded{all, warnings})
	}
	return c, err
}

// Use puts what another one read in force.
func (c *Current) Use(read *Current) { c.file.Store(read.file.Load()) }

// Path is the file's; "" = none.
func (c *Current) Path() string { return c.path }

var _ tool.Source = (*Current)(nil)

// Tools are those of the file as it was last read.
func (c *Current) Tools() []tool.Tool { return c.file.Load().tools }

// Warnings are what may be wrong with the programs of the tools, as of when the file was last read.
func (c *Current) Warnings() strictyaml.Faults { return c.file.Load().warnings }

// Missing is nil: a tool that is not in the file is unknown.
func (c *Current) Missing(string) error { return nil }

// Await does not wait: the file has been read.
func (c *Current) Await(context.Context, string) {}
