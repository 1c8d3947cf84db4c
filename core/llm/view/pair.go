package view

import "gatehouse/core"

// place is where a call is: the message, and the call's index there.
type place struct{ row, call int }

// pairs joins calls and results.
type pairs struct {
	answers map[int]place // the call that a tool message answers
	results map[place]int // the tool message that answers a call
}

// pair pairs by position, then id, as core.OpenCalls does: a tool message answers the first open call of its id in the
// latest message before it that has one. The pairs within a history's last messages do not depend on those before.
func pair(msgs []core.Message) pairs {
	p := pairs{answers: map[int]place{}, results: map[place]int{}}
	open := map[string][]place{}
	for row, m := range msgs {
		for i, c := range m.ToolCalls {
			open[c.ID] = append(open[c.ID], place{row, i})
		}
		if m.Role != core.ToolRole {
			continue
		}
		waiting := open[m.ToolCallID]
		first := len(waiting) - 1
		if first < 0 {
			continue
		}
		for first > 0 && waiting[first-1].row == waiting[first].row {
			first--
		}
		p.answers[row], p.results[waiting[first]] = waiting[first], row
		open[m.ToolCallID] = append(waiting[:first:first], waiting[first+1:]...)
	}
	return p
}

// unanswered gives what is shown as the result of each call that has none: calls run in order, so all but the first of
// a message wait for it.
func (p pairs) unanswered(msgs []core.Message) map[place]string {
	shown := map[place]string{}
	for row, m := range msgs {
		text := waits
		for i := range m.ToolCalls {
			if _, answered := p.results[place{row, i}]; !answered {
				shown[place{row, i}] = text
				text = waitsForOther
			}
		}
	}
	return shown
}
