package view

import (
	"regexp"
	"strconv"

	"gatehouse/core"
)

// What every vendor takes as the id of a call.
const maxID = 40

var (
	validID = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,40}$`)
	notID   = regexp.MustCompile(`[^a-zA-Z0-9_-]+`)
)

// uniqueIDs replaces the ids of calls that a vendor would refuse or that were used before in msgs, and those of their
// results, which follow their message in the order of the calls. It changes msgs, which must be the view's own.
func uniqueIDs(msgs []core.Message) {
	ids := ids{reserved: map[string]bool{}, used: map[string]bool{}, last: map[string]int{}}
	for _, m := range msgs {
		for _, c := range m.ToolCalls {
			ids.reserved[c.ID] = true
		}
	}
	for i, m := range msgs {
		for n := range m.ToolCalls {
			id := ids.next(m.ToolCalls[n].ID)
			m.ToolCalls[n].ID, msgs[i+1+n].ToolCallID = id, id
		}
	}
}

// ids gives out ids.
type ids struct {
	reserved map[string]bool // occur in the messages
	used     map[string]bool
	last     map[string]int // the last number behind an id
}

func (u ids) next(id string) string {
	if validID.MatchString(id) && !u.used[id] {
		u.used[id] = true
		return id
	}
	base := notID.ReplaceAllString(id, "_")
	if base == "" {
		base = "call"
	}
	base = base[:min(len(base), maxID-10)]
	for n := u.last[base] + 1; ; n++ {
		if other := base + "_" + strconv.Itoa(n); !u.reserved[other] && !u.used[other] {
			u.last[base], u.used[other] = n, true
			return other
		}
	}
}
