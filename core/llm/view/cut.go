package view

import (
	"math"
	"slices"

	"gatehouse/core"
)

// enough reports whether earlier messages would change nothing: an exchange is left out already, even if none were
// before it, and the calls of all results of the kept ones are found.
func (l layout) enough() bool {
	if len(l.exchanges) == 0 || l.options.Budget <= 0 {
		return false
	}
	all, must, dangling := 0, 0, false
	for i, needed := range l.needed() {
		e := l.exchanges[i]
		all += e.tokens
		if needed {
			must += e.tokens
			dangling = dangling || e.dangling
		}
	}
	room := l.options.Budget - l.options.systemTokens(0)
	return must > room || all > room && !dangling
}

// needed marks the exchanges that are always kept: the newest, and those whose calls got their results in one of these.
func (l layout) needed() []bool {
	keep := make([]bool, len(l.exchanges))
	keep[len(keep)-1] = true
	for i := len(keep) - 1; i >= 0; i-- {
		if keep[i] {
			for _, earlier := range l.exchanges[i].answers {
				keep[earlier] = true
			}
		}
	}
	return keep
}

// cut marks the exchanges that are kept: those that are needed, and of the others as many of the newest as fit.
func (l layout) cut() ([]bool, error) {
	if len(l.exchanges) == 0 {
		return nil, core.Errorf(core.ProviderInvalidRequest, "This conversation has no message of a person that "+
			"could be answered.")
	}
	if l.options.Sticky {
		return l.sticky(), nil
	}
	keep := l.needed()
	all, must := 0, 0
	for i, e := range l.exchanges {
		all += e.tokens
		if keep[i] {
			must += e.tokens
		}
	}
	budget, fill := l.options.Budget, l.options.Fill
	if fits := l.options.systemTokens(0) + all; budget <= 0 ||
		l.before == 0 && fits <= budget && (!l.options.Cut || fits <= fill) {
		for i := range keep {
			keep[i] = true
		}
		return keep, nil
	}
	system := l.options.systemTokens(math.MaxInt32)
	room := budget - system - must
	if room < 0 {
		return nil, core.Errorf(core.ProviderInvalidRequest,
			"Your latest message, with what belongs to it, is too long for the model: about %d tokens, and %d fit. "+
				"Please send a shorter message.", must, max(0, budget-system)).
			Because(core.ConversationTooLong)
	}
	if fill > 0 {
		room -= budget - fill
	}
	for i := len(keep) - 1; i >= 0; i-- {
		if keep[i] {
			continue
		}
		if room -= l.exchanges[i].tokens; room < 0 {
			break
		}
		keep[i] = true
	}
	return keep, nil
}

// sticky marks what the epoch shows, and what came since.
func (l layout) sticky() []bool {
	keep := make([]bool, len(l.exchanges))
	for i, e := range l.exchanges {
		keep[i] = e.row >= l.options.Epoch.From || slices.Contains(l.options.Epoch.Also, e.row)
	}
	return keep
}

// lacks reports whether an exchange that is needed is not kept, or was not read.
func (l layout) lacks(keep []bool) bool {
	for i, needed := range l.needed() {
		if needed && (!keep[i] || l.exchanges[i].dangling) {
			return true
		}
	}
	return false
}

// view puts the messages of the kept exchanges in a row.
func (l layout) view() (View, error) {
	keep, err := l.cut()
	if err != nil {
		return View{}, err
	}
	left := l.before
	var said []core.Message
	var rows []int // of the kept exchanges
	v := View{Noted: l.noted, From: l.exchanges[0].row}
	for i, e := range l.exchanges {
		if !keep[i] {
			left += e.rows
			v.From, v.Also = e.row+e.rows, rows
			continue
		}
		rows = append(rows, e.row)
		for _, p := range e.parts {
			said = append(said, p.shown(keep)...)
		}
	}
	if l.options.Sticky {
		v.Lacks = l.lacks(keep)
	}
	if text := l.options.system(left); text != "" {
		v.Messages = append(v.Messages, core.Message{Role: core.System, Content: core.Text(text)})
	}
	v.Messages = append(v.Messages, said...)
	uniqueIDs(v.Messages)
	v.Tokens = sum(v.Messages)
	return v, nil
}

// shown are the part's messages when these exchanges are kept.
func (p part) shown(keep []bool) []core.Message {
	switch {
	case p.late == nil:
		return p.msgs
	case p.late.exchange >= 0 && keep[p.late.exchange]:
		return []core.Message{note(came(p.late.tool))}
	}
	return []core.Message{note(came(""))}
}

// system is the text of the system message when so many messages are left out; "": there is none.
func (o Options) system(left int) string {
	text := o.System
	if blank(text) {
		text = ""
	}
	if left == 0 {
		return text
	}
	if text != "" {
		text += "\n\n"
	}
	return text + leftOut(left)
}

// systemTokens is what the system message takes.
func (o Options) systemTokens(left int) int {
	text := o.system(left)
	if text == "" {
		return 0
	}
	return Tokens(core.Message{Role: core.System, Content: core.Text(text)})
}
