package approvals

import (
	"gatehouse/core"
	"gatehouse/core/audit"
)

// comparison checks the records against the stories.
type comparison struct {
	*LogReport
	keys    audit.Keys
	stories map[core.ApprovalID]*audit.Story
}

// tell adds an entry to its approval's story.
func (c comparison) tell(e audit.Entry) {
	s := c.stories[e.Approval]
	if s == nil {
		s = &audit.Story{}
	}
	if s.Tell(e); s.Last > 0 {
		c.stories[e.Approval] = s
	}
}

// records skips approvals that the log mentions after the records were begun to be read.
func (c comparison) records(records audit.Records) {
	changing := map[core.ApprovalID]bool{}
	for id, s := range c.stories {
		changing[id] = s.Last > records.Before.Seq
	}
	stored, begun := map[core.ApprovalID]*core.Approval{}, map[core.ApprovalID]bool{}
	for _, a := range records.Approvals {
		if stored[a.ID] = &a.Approval; changing[a.ID] {
			continue
		}
		c.Approvals++
		c.approval(c.stories[a.ID], a)
	}
	for _, i := range records.Intents {
		if begun[i.Approval] = true; changing[i.Approval] {
			continue
		}
		if !i.BegunAt.IsZero() {
			c.Intents++
		}
		s := c.stories[i.Approval]
		c.faults(s.CallFaults(c.keys, stored[i.Approval], i))
		if s.ResultErased(c.keys, i) {
			c.Results++
		}
	}
	for id, s := range c.stories {
		if s.Begun && s.NotRun {
			c.fault("The audit log says of the tool of the approval %s both that it was started and that it was not "+
				"run.", id)
		}
		pruned := s.State != "" && !s.Opened.After(records.After.Pruned)
		switch {
		case changing[id]:
			c.Changing++
		case pruned:
		case stored[id] == nil:
			c.fault("The audit log tells of the approval %s, which is not in the database and was not pruned: it was "+
				"removed.", id)
		case s.Begun && !begun[id]:
			c.fault("The audit log says that the tool of the approval %s was started, but the database has no intent "+
				"of it: it was removed.", id)
		case s.NotRun && !begun[id]:
			c.fault("The audit log says that the tool of the approval %s was not run, but the database does not: "+
				"that was removed.", id)
		}
	}
}

func (c comparison) approval(s *audit.Story, a audit.Approval) {
	if a.Fault != nil {
		c.fault("The approval %s can't be read from the database (%v): somebody changed it.", a.ID, a.Fault)
		return
	}
	c.faults(s.Faults(c.keys, a.Approval))
	if s != nil && !s.Whole() {
		c.NotRecorded++
	}
	switch {
	case audit.IsErased(a.Approval):
		c.Calls++
	case altered(a.Call):
		c.fault("The tool or the arguments of the approval %s were changed: they are not those that its digest is of.",
			a.ID)
	}
}

func (c comparison) faults(all []string) {
	for _, text := range all {
		c.fault("%s", text)
	}
}
