package mcp

// Report is how a server is.
type Report struct {
	Server   string
	Running  bool
	About    string // the name and version that it gives itself
	Reason   string // why it does not run
	Tools    []ToolReport
	Warnings []string // tools that are left out, renamed or changed, and why
}

// ToolReport is what one tool may do.
type ToolReport struct {
	Name     string
	Standing Standing
	Confirm  string // the entry of readOnly that confirms a definition that changed
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
	s.mu.Lock()
	defer s.mu.Unlock()
	r := Report{Server: s.Name, Running: s.session != nil, About: s.about, Warnings: s.listing.warnings}
	if s.reason != nil && !r.Running {
		r.Reason = s.reason.Error()
	}
	for _, t := range s.listing.tools {
		d := s.listing.known[t.Name]
		one := ToolReport{Name: d.name, Standing: d.standing}
		if d.standing == Changed {
			one.Confirm = d.confirmation()
		}
		r.Tools = append(r.Tools, one)
	}
	return r
}
