package mcp

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"gatehouse/core"
)

// Report is how a server is.
type Report struct {
	Server   string
	Running  bool
	About    string // the name and version that it gives itself
	Reason   string // why it does not run
	Remote   bool   // it has a URL
	Login    bool   // it does not run for want of a login
	Tools    []ToolReport
	Warnings []string // tools that are left out, renamed or changed, and why
	Values   []Value  // of its entry
}

// ToolReport is what one tool may do.
type ToolReport struct {
	Name     string
	Standing Standing
	Call     core.Call       // any call of it, as the policy sees it
	Schema   json.RawMessage // of its arguments
	Pin      Pin
	Digest   string // hexadecimal, of the definition
	Confirm  string // the entry of readOnly that confirms a definition that changed

	Unchecked []string // the parts of its schema that the server alone checks: where and what
}

// Report gives how each server is now, in the order of the configuration.
func (s *Servers) Report() []Report {
	var all []Report
	for _, one := range s.list() {
		all = append(all, one.report())
	}
	return all
}

func (s *server) report() Report {
	values := s.states()
	s.mu.Lock()
	defer s.mu.Unlock()
	r := Report{
		Values: values, Server: s.Name, Running: s.session != nil, About: s.about, Warnings: s.listing.warnings,
		Remote: s.URL != "",
	}
	if s.reason != nil && !r.Running {
		r.Reason, r.Login = s.reason.Error(), needsLogin(s.reason)
	}
	for _, t := range s.listing.tools {
		d := s.listing.known[t.Name]
		one := ToolReport{
			Name: d.name, Standing: d.standing, Pin: d.pin, Digest: d.digest, Call: t.AnyCall(), Schema: t.Schema,
			Unchecked: d.unchecked,
		}
		if d.pin == Differs {
			one.Confirm = d.confirmation()
		}
		r.Tools = append(r.Tools, one)
	}
	return r
}

// Look starts the servers, reports how they are, and ends them. It waits no longer than limit for them, and stores
// nothing: what a running gatehouse sees first counts.
func Look(ctx context.Context, o Options, limit time.Duration) []Report {
	if o.Pins != nil {
		o.Pins = unchanged{o.Pins}
	}
	servers := New(o)
	running, stop := context.WithCancel(ctx)
	var ended sync.WaitGroup
	ended.Go(func() { _ = servers.Run(running) }) // what it has to say is in the report
	waiting, cancel := context.WithTimeout(ctx, limit)
	servers.Ready(waiting)
	cancel()
	reports := servers.Report()
	stop()
	ended.Wait()
	for i, r := range reports {
		if !r.Running && r.Reason == "" {
			reports[i].Reason = "it did not start within " + limit.String()
		}
	}
	return reports
}

// unchanged are pins that are read, and stay as they are.
type unchanged struct{ Pins }

func (unchanged) Put(context.Context, string, string) error { return nil }
