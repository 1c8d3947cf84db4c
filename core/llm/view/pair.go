package view

import "gatehouse/core"

// place is where a call is: the message, and the call's index there.
type place struct{ row, call int }

// pairs joins calls and results.
type pairs struct {
	answers map[int]place // the call that a tool message answers
	results map[place]int // the tool message that answers a call
}

// pair pairs by position, then id, as core.OpenCalls does: a tool message answers the first open call of its id in the latest message before it
// that has one. The pairs within a history's last messages do not depend on those before.
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

// unanswered gives what is shown as the result of each call that has none. It goes from the newest message to the oldest, so that it does not
// depend on how far back a history was read.
func (p pairs) unanswered(msgs []core.Message, o Options) map[place]string {
	shown := map[place]string{}
	waiting := append([]core.Call(nil), o.Waiting...)
	for row := len(msgs) - 1; row >= 0; row-- {
		text := ""
		for i, c := range msgs[row].ToolCalls {
			if _, answered := p.results[place{row, i}]; answered {
				continue
			}
			switch {
			case text != "": // calls run in order: it waits for the first one
			case o.Waiting == nil:
				text = waits("")
			default:
				text, waiting = lookUp(waiting, c)
			}
			shown[place{row, i}] = text
			if text != outcomeUnknown {
				text = waitsForOther
			}
		}
	}
	return shown
}

// lookUp gives the placeholder of a message's first open call, and the waiting calls without it.
func lookUp(waiting []core.Call, c core.ToolCall) (string, []core.Call) {
	for i, w := range waiting {
		if w.CallID == c.ID && w.Tool == c.Name {
			return waits(w.Summary), append(waiting[:i:i], waiting[i+1:]...)
		}
	}
	return outcomeUnknown, waiting
}
