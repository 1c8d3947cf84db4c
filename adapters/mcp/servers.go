package mcp

import (
	"context"
	"log/slog"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"gatehouse/core"
	"gatehouse/core/tool"
)

// Pins keeps the digests of definitions, in the store that all processes share.
type Pins interface {
	// Get gives "" for what was never put.
	Get(ctx context.Context, name string) (string, error)
	Put(ctx context.Context, name, value string) error
}

// Options are the parts of Servers.
type Options struct {
	Config  Config
	Pins    Pins     // nil: no tool only reads, but those that the configuration confirms
	Logins  Logins   // to remote servers; nil: none
	Environ []string // as os.Environ gives it; nil: that of the process
	Version string   // of gatehouse, for the servers
	Log     *slog.Logger

	// Ping is how often a server is asked whether it lives; 0: every half minute. The answer may take a third of it.
	Ping time.Duration

	times times
}

// Servers are the MCP servers of a configuration.
type Servers struct {
	options Options

	mu      sync.Mutex
	all     []*server
	running context.Context // that of Run; nil: it has not begun, or has ended
	group   sync.WaitGroup
}

// New makes the servers, with the tools that each listed last; Run starts them.
func New(o Options) *Servers {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Environ == nil {
		o.Environ = os.Environ()
	}
	if o.times == (times{}) {
		o.times = usual
	}
	if o.Ping > 0 {
		o.times.ping, o.times.pong = o.Ping, o.Ping/3
	}
	s := &Servers{options: o}
	s.Use(o.Config)
	return s
}

// Use makes another configuration the one in force. A server whose entry is as before goes on; one whose entry is gone
// or another is ended once its calls have ended, and has no tools from now on.
func (s *Servers) Use(c Config) {
	for _, warning := range c.Warnings {
		s.options.Log.Warn("mcp.json: " + warning)
	}
	before := s.list()
	var all []*server
	for _, entry := range c.Servers {
		i := slices.IndexFunc(before, func(one *server) bool { return reflect.DeepEqual(one.Server, entry) })
		if i < 0 {
			all = append(all, newServer(entry, s.options))
		} else {
			all = append(all, before[i])
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = all
	if s.running == nil {
		return
	}
	for _, one := range all {
		if !slices.Contains(before, one) {
			s.start(one)
		}
	}
	for _, one := range before {
		if !slices.Contains(all, one) {
			close(one.removed)
			s.group.Go(one.drain)
		}
	}
}

func (s *Servers) list() []*server {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all
}

// start starts a server, for as long as Run runs. The caller holds the lock.
func (s *Servers) start(one *server) {
	ctx, end := context.WithCancel(s.running)
	one.end = end
	s.group.Go(func() {
		defer end()
		one.run(ctx)
	})
}

// Run keeps the servers running until ctx ends, then ends them; it returns when nothing of them is left. It never
// fails: a server that can't be started is a warning in the log, and an error of the calls of its tools.
func (s *Servers) Run(ctx context.Context) error {
	s.tellShown(ctx)
	s.mu.Lock()
	s.running = ctx
	for _, one := range s.all {
		s.start(one)
	}
	s.mu.Unlock()
	<-ctx.Done()
	s.mu.Lock()
	s.running = nil // so that the group does not grow
	s.mu.Unlock()
	s.group.Wait()
	return nil
}

// Ready waits until each server runs or could not be started once, or ctx ends.
func (s *Servers) Ready(ctx context.Context) {
	for _, one := range s.list() {
		select {
		case <-one.tried:
		case <-ctx.Done():
			return
		}
	}
}

var _ tool.Source = (*Servers)(nil)

// Tools gives the tools of all servers; those of a server that is away, too.
func (s *Servers) Tools() []tool.Tool {
	var all []tool.Tool
	for _, one := range s.list() {
		all = append(all, one.Tools()...)
	}
	return all
}

// Missing says which server is away, if a tool's name is one of its own.
func (s *Servers) Missing(name string) error {
	if one := s.of(name); one != nil && one.away() {
		return one.notRunning()
	}
	return nil
}

// of gives the server that a tool's name belongs to; nil: there is none.
func (s *Servers) of(name string) *server {
	for _, one := range s.list() {
		if strings.HasPrefix(name, one.Name+".") {
			return one
		}
	}
	return nil
}

// Await waits for the first list of the server that a tool's name belongs to, as long as a call waits.
func (s *Servers) Await(ctx context.Context, name string) {
	if one := s.of(name); one != nil && !one.listed() {
		_, _ = one.live(ctx) // whether it came is seen by its tools
	}
}

// Up gives the names of the servers, and whether each runs.
func (s *Servers) Up() map[string]bool {
	up := map[string]bool{}
	for _, one := range s.list() {
		up[one.Name] = !one.away()
	}
	return up
}

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
