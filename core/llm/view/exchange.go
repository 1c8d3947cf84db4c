package view

import (
	"slices"

	"gatehouse/core"
)

// exchange is a user's message and everything up to the next one, as it is shown.
type exchange struct {
	row      int // the first of the history's
	rows     int // how many messages of the history it is
	parts    []part
	tokens   int
	answers  []int // the earlier exchanges whose calls have their results here
	dangling bool  // it has a result whose call is in no exchange of the messages
}

// part is a message with the results of its calls, or the note of a late result.
type part struct {
	msgs []core.Message
	late *late
}

// late is a result that is moved to an earlier exchange.
type late struct {
	exchange int // -1: its call is in none
	tool     string
}

// layout is a history's last messages as exchanges.
type layout struct {
	options   Options
	noted     bool // a note that the conversation goes on was added
	exchanges []exchange
	before    int // how many messages of the history are before the first exchange
}

// arrangement is a layout that is being made.
type arrangement struct {
	layout
	msgs       []core.Message
	pairs      pairs
	unanswered map[place]string
	of         []int // the exchange of each message; -1: before the first
}

// arrange makes exchanges of messages.
func arrange(msgs []core.Message, o Options) layout {
	a := arrangement{layout: layout{options: o, before: o.Earlier}, msgs: msgs, pairs: pair(msgs)}
	a.unanswered = a.pairs.unanswered(msgs)
	asks := -1 // the exchange's latest message with calls
	for row, m := range msgs {
		if slices.Contains(o.Epoch.Notes, o.Earlier+row) {
			a.goOn()
		}
		if m.Role == core.User {
			a.exchanges = append(a.exchanges, exchange{row: o.Earlier + row})
			asks = -1
		}
		a.of = append(a.of, len(a.exchanges)-1)
		if len(a.exchanges) == 0 {
			a.before++
			continue
		}
		a.exchanges[len(a.exchanges)-1].rows++
		switch {
		case m.Role == core.User:
			a.add(part{msgs: []core.Message{o.user(o.dated(o.Earlier+row, m))}})
		case m.Role == core.ToolRole:
			a.noteLate(row)
		case m.Role == core.Assistant && len(m.ToolCalls) > 0:
			asks = row
			a.add(a.withResults(row))
		case m.Role == core.Assistant && !a.isOver(asks, row):
			if shown, ok := o.assistant(m, a.isOld(row)); ok {
				a.add(part{msgs: []core.Message{shown}})
			}
		}
	}
	a.noted = a.goOn()
	return a.layout
}

// goOn adds a note if the last message is the assistant's.
func (a *arrangement) goOn() bool {
	n := len(a.exchanges)
	if n == 0 || a.exchanges[n-1].lastRole() != core.Assistant {
		return false
	}
	a.add(part{msgs: []core.Message{note(goOn)}})
	return true
}

// isOld reports whether a message is of an earlier epoch.
func (a *arrangement) isOld(row int) bool { return a.options.Earlier+row < a.options.Epoch.Began }

// withResults is an assistant's message and one result for each call, and then the images of the results, since a tool
// message is a text.
func (a *arrangement) withResults(row int) part {
	shown, _ := a.options.assistant(a.msgs[row], a.isOld(row))
	p := part{msgs: []core.Message{shown}}
	var images []core.Block
	for i, c := range a.msgs[row].ToolCalls {
		text, open := a.unanswered[place{row, i}]
		if !open {
			result := a.msgs[a.pairs.results[place{row, i}]]
			text = result.Content.String()
			if result.Kept != nil && len(result.Kept.Images) > 0 {
				images = append(append(images, core.Block{Type: core.TextBlock, Text: imagesOf(c.Name)}),
					result.Kept.Images...)
			}
		}
		p.msgs = append(p.msgs, core.Result(c.ID, text))
	}
	if len(images) > 0 {
		p.msgs = append(p.msgs, a.options.user(core.Message{Role: core.User, Content: core.Blocks(images...)}))
	}
	return p
}

// noteLate adds the note of a result whose call is in another exchange.
func (a *arrangement) noteLate(row int) {
	here := len(a.exchanges) - 1
	e := &a.exchanges[here]
	call, found := a.pairs.answers[row]
	switch {
	case !found || a.of[call.row] < 0:
		e.dangling = true
		a.add(part{late: &late{exchange: -1}})
	case a.of[call.row] < here:
		e.answers = append(e.answers, a.of[call.row])
		a.add(part{late: &late{exchange: a.of[call.row], tool: a.msgs[call.row].ToolCalls[call.call].Name}})
	}
}

// isOver reports whether a message without calls says that a call needs an approval, and the call has its result: it
// stands between the exchange's latest calls and one of their results.
func (a *arrangement) isOver(asks, row int) bool {
	if asks < 0 {
		return false
	}
	for i := range a.msgs[asks].ToolCalls {
		answer, ok := a.pairs.results[place{asks, i}]
		if ok && answer > row && !a.userBetween(row, answer) {
			return true
		}
	}
	return false
}

func (a *arrangement) userBetween(from, to int) bool {
	for _, m := range a.msgs[from:to] {
		if m.Role == core.User {
			return true
		}
	}
	return false
}

// add adds a part to the last exchange. Thinking may not follow what the assistant said just before, which a vendor
// takes for one message with it, so a note is put between.
func (a *arrangement) add(p part) {
	e := &a.exchanges[len(a.exchanges)-1]
	if len(p.msgs) > 0 && thinks(p.msgs[0]) && e.lastRole() == core.Assistant {
		a.add(part{msgs: []core.Message{note(goOn)}})
	}
	e.parts = append(e.parts, p)
	if p.late != nil {
		e.tokens += cameTokens
	}
	e.tokens += sum(p.msgs)
}

// lastRole is the role of the last message that is shown of it.
func (e *exchange) lastRole() core.Role {
	if len(e.parts) == 0 {
		return ""
	}
	last := e.parts[len(e.parts)-1]
	if last.late != nil {
		return core.User
	}
	return last.msgs[len(last.msgs)-1].Role
}
